"""KernelPCA: what fit keeps, and what it does to what it was given."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA
from mercer.kernels import FunctionKernel, Gaussian, Precomputed

SOLVERS = ["auto", "dense", "lanczos"]


@pytest.fixture
def X(rng):
    return rng.standard_normal((60, 4))


def test_attributes(X):
    model = KernelPCA(5).fit(X)
    assert_allclose(model.explained_variance_, model.eigenvalues_ / 60)
    trace = 60 - Gaussian(gamma=model.kernel_.gamma)(X).sum() / 60
    assert_allclose(model.explained_variance_ratio_, model.eigenvalues_ / trace)
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert model.residuals_.shape == (5,)
    assert model.n_components_ == 5
    assert model.n_features_in_ == 4
    assert isinstance(model.kernel_.gamma, float)
    assert {"solver", "reason", "passes", "seconds", "estimated_error", "bytes"} <= set(
        vars(model.report_)
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_variances_of_the_scores_are_the_eigenvalues(X, solver):
    model = KernelPCA(5, solver=solver)
    Z = model.fit_transform(X)
    assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-10)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    assert_allclose(model.transform(X), Z, atol=1e-9)


@pytest.mark.parametrize("solver", [*SOLVERS, "davidson"])
def test_signs_are_fixed(X, solver):
    coef = KernelPCA(5, solver=solver, random_state=1).fit(X).subspace_.coef
    assert (coef[np.abs(coef).argmax(axis=0), range(5)] > 0).all()


def test_changing_x_afterwards_does_not_change_the_model(X):
    query = X[:5].copy()
    wanted = KernelPCA(3).fit(X.copy()).transform(query)
    model = KernelPCA(3).fit(X)  # no transform before the change: nothing is cached yet
    X[:] = 7
    assert_array_equal(model.transform(query), wanted)


def test_the_support_of_float32_rows_stays_float32(X):
    model = KernelPCA(3).fit(X.astype(np.float32))
    for array in (model.subspace_.support, model.subspace_.coef, model.eigenvalues_):
        assert array.dtype == np.float32
    assert model.transform(X).dtype == np.float32


@pytest.mark.parametrize("solver", [*SOLVERS, "davidson"])
@pytest.mark.parametrize(
    "state",
    [3, np.random.RandomState(3), np.random.default_rng(3), None],
    ids=lambda s: type(s).__name__,
)
def test_random_states(X, solver, state):
    model = KernelPCA(3, solver=solver, random_state=state).fit(X)
    assert_allclose(np.abs(model.transform(X)), np.abs(KernelPCA(3).fit_transform(X)), atol=1e-3)


def test_a_string_and_its_object_are_the_same_model(X):
    by_name, by_object = (
        KernelPCA(2, kernel="gaussian").fit(X),
        KernelPCA(2, kernel=Gaussian()).fit(X),
    )
    assert_array_equal(by_name.transform(X), by_object.transform(X))


def test_precomputed_is_the_kernel_itself(X, rng):
    kernel = Gaussian(gamma=0.2)
    Y = rng.standard_normal((7, 4))
    direct = KernelPCA(4, kernel=kernel).fit(X)
    given = KernelPCA(4, kernel="precomputed").fit(kernel(X))
    assert_allclose(given.eigenvalues_, direct.eigenvalues_)
    assert_allclose(given.transform(kernel(Y, X)), direct.transform(Y), atol=1e-9)
    with pytest.raises(ValueError, match="FunctionKernel"):
        given.reconstruction_error(kernel(Y, X))


def test_float32_matrices_may_be_asymmetric_by_their_rounding(X):
    K = Gaussian(gamma=0.2)(X).astype(np.float32)
    K *= 1 + 1e-7 * np.sign(np.arange(60)[:, None] - np.arange(60)).astype(np.float32)
    assert np.abs(K - K.T).max() > 1e-10
    exact = KernelPCA(3, kernel=Gaussian(gamma=0.2)).fit(X).eigenvalues_
    assert_allclose(KernelPCA(3, kernel=Precomputed()).fit(K).eigenvalues_, exact, rtol=1e-4)


def test_objects_of_any_kind(X):
    """Strings, and vectors that are passed as objects, give what vectors give."""
    words = ["kernel", "colonel", "eigen", "either", "value", "valve", "vector"]
    shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
    model = KernelPCA(2, kernel=shared).fit(words)
    assert model.transform(["kernels"]).shape == (1, 2)
    dot = FunctionKernel(lambda a, b: float(a @ b))
    as_objects = KernelPCA(3, kernel=dot).fit([*X])
    assert_allclose(as_objects.eigenvalues_, KernelPCA(3, kernel="linear").fit(X).eigenvalues_)
    assert_allclose(
        np.abs(as_objects.transform([*X[:5]])),
        np.abs(KernelPCA(3, kernel="linear").fit(X).transform(X[:5])),
        atol=1e-9,
    )


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", ["gaussian", "precomputed"])
def test_weights(X, rng, center, kernel):
    """Weight 2 is the row twice, weight 0 the row absent; also for precomputed matrices."""
    weight = rng.integers(0, 3, 60)
    twice = np.repeat(np.arange(60), weight)
    k = Gaussian(gamma=0.2)
    Y = rng.standard_normal((9, 4))
    if kernel == "precomputed":
        fit_rows, repeated, query = k(X), k(X[twice]), (k(Y, X), k(Y, X[twice]))
    else:
        kernel, fit_rows, repeated, query = k, X, X[twice], (Y, Y)
    weighted = KernelPCA(4, kernel=kernel, center=center)
    Z = weighted.fit_transform(fit_rows, sample_weight=weight)
    plain = KernelPCA(4, kernel=kernel, center=center).fit(repeated)
    assert_allclose(weighted.eigenvalues_, plain.eigenvalues_, rtol=1e-10)
    assert_allclose(weighted.explained_variance_, plain.explained_variance_, rtol=1e-10)
    assert_allclose(weighted.transform(query[0]), plain.transform(query[1]), atol=1e-9)
    assert Z.shape == (60, 4)
    assert_allclose(Z, weighted.transform(fit_rows), atol=1e-9)


@pytest.mark.parametrize("wrong", [[1.0, 2.0], -np.ones(60), np.full(60, np.nan), np.zeros(60)])
def test_wrong_weights(X, wrong):
    with pytest.raises(ValueError, match=r"[Gg]ive"):
        KernelPCA(2).fit(X, sample_weight=wrong)


def test_one_row_with_weight_is_too_few(X):
    weight = np.zeros(60)
    weight[3] = 1
    with pytest.raises(ValueError, match="at least 2"):
        KernelPCA(2).fit(X, sample_weight=weight)


def test_data_frames_with_object_columns_of_numbers(X):
    frame = pd.DataFrame(X).astype(object)
    frame.columns = list("abcd")
    assert_allclose(KernelPCA(2).fit(frame).eigenvalues_, KernelPCA(2).fit(X).eigenvalues_)
