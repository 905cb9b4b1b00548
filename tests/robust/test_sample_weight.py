"""Weight 2 is the row twice and weight 0 the row absent, in every solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.exceptions import KernelError
from mercer.kernels import Gaussian, Polynomial
from mercer.solvers import Davidson, Landmarks

MARKS = np.random.default_rng(7).standard_normal((20, 3))
SOLVERS = {
    "dense": "dense",
    "lanczos": "lanczos",
    "davidson": Davidson(tol=1e-10),
    "landmarks": Landmarks(select=MARKS),  # given: drawn ones depend on the rows
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", [Gaussian(), Polynomial(2)], ids=repr)
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_are_repetitions(name, center, kernel, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    weight = rng.integers(0, 4, 40)
    weight[:12] = 1
    model = KernelPCA(4, kernel=kernel, center=center, solver=SOLVERS[name], random_state=0)
    weighted = model.fit(X, sample_weight=weight.astype(float))
    facts = [weighted.eigenvalues_, weighted.explained_variance_ratio_]
    error = weighted.reconstruction_error(MARKS)
    repeated = model.fit(np.repeat(X, weight, axis=0))
    assert_allclose(facts[0], repeated.eigenvalues_, rtol=1e-6)
    assert_allclose(facts[1], repeated.explained_variance_ratio_, rtol=1e-6)
    size = np.abs(error).max()
    assert_allclose(error, repeated.reconstruction_error(MARKS), atol=1e-5 * size)


def test_weights_that_leave_float32_are_refused():
    X = np.random.default_rng(0).standard_normal((9, 2)).astype(np.float32) * 1e5
    with pytest.raises(KernelError, match="overflows? float32"):
        KernelPCA(2, kernel="linear", solver="dense").fit(X, sample_weight=np.full(9, 1e33))


@pytest.mark.parametrize("X", [[[0.8], [0.0]], [[0.0], [0.8]]], ids=["down", "up"])
def test_where_coefficients_tie_the_first_row_settles_the_sign_of_repeated_ones_too(X):
    weight = np.array([3, 3])
    model = KernelPCA(1, kernel="linear")
    weighted = model.fit(X, sample_weight=weight.astype(float)).transform([[1.0]])
    assert_allclose(model.fit(np.repeat(X, weight, axis=0)).transform([[1.0]]), weighted)
