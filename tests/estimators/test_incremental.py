"""partial_fit: many chunks are one fit; the basis may grow, the past may fade."""

import numpy as np
import pytest

from mercer import IncrementalKernelPCA, KernelPCA
from mercer.exceptions import DataError, KernelError, RankWarning
from mercer.kernels import FunctionKernel, Gaussian, Sigmoid
from mercer.solvers import Dense, Landmarks
from tests.cross.problems import random_problem

KERNEL = Gaussian(sigma=2.0)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_hundred_chunks_are_one_fit(dtype, rng):
    X = rng.standard_normal((2000, 3)).astype(dtype)
    Z = X[:40]
    model = IncrementalKernelPCA(5, kernel=KERNEL, select=Z)
    for chunk in np.array_split(X, 100):
        model.partial_fit(chunk)
    whole = KernelPCA(5, kernel=KERNEL, solver=Landmarks(40, select=Z)).fit(X)
    tol = 1e-10 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=tol)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), atol=100 * tol)
    assert model.n_samples_seen_ == 2000
    assert model.explained_variance_.dtype == dtype
    # A small difference of large sums, whose order is BLAS's: 1.5e-10 with SciPy 1.18.
    assert abs(model.report_.unexplained - whole.report_.unexplained) < 10 * tol


def test_fit_starts_anew_and_takes_files(rng, tmp_path):
    X = rng.standard_normal((500, 3))
    np.save(tmp_path / "x.npy", X)
    model = IncrementalKernelPCA(3, kernel=KERNEL, select=X[:20]).partial_fit(X[:100])
    first = model.fit(X).eigenvalues_
    np.testing.assert_array_equal(model.fit(str(tmp_path / "x.npy")).eigenvalues_, first)
    assert model.n_samples_seen_ == 500


def test_forgetting_follows_a_drift(rng):
    """After the drift the model with a short memory is that of the new data alone."""
    before, after = rng.standard_normal((1000, 2)), rng.normal([6, 0], 1, (2000, 2))
    Z = np.concatenate([before[:20], after[:20]])
    model = IncrementalKernelPCA(3, kernel=KERNEL, select=Z, forget=0.5)
    for chunk in np.array_split(np.concatenate([before, after]), 60):
        model.partial_fit(chunk)
    new = KernelPCA(3, kernel=KERNEL, solver=Landmarks(40, select=Z)).fit(after)
    np.testing.assert_allclose(model.explained_variance_, new.explained_variance_, rtol=0.3)
    faithful = IncrementalKernelPCA(3, kernel=KERNEL, select=Z)
    for chunk in np.array_split(np.concatenate([before, after]), 60):
        faithful.partial_fit(chunk)
    assert faithful.explained_variance_[0] > 2 * model.explained_variance_[0]


def test_a_growing_basis_finds_what_comes_later(rng):
    early, late = rng.standard_normal((300, 2)), rng.normal([8, 8], 1, (700, 2))
    X = np.concatenate([early, late])
    exact = KernelPCA(4, kernel=KERNEL, solver=Dense()).fit(X)
    errors = {}
    for growth in (0.0, 0.05):
        model = IncrementalKernelPCA(
            4, kernel=KERNEL, n_landmarks=60, growth=growth, random_state=0
        )
        for chunk in np.array_split(X, 10):
            model.partial_fit(chunk)
        assert len(model.landmarks_) <= 60
        errors[growth] = np.abs(model.eigenvalues_ / exact.eigenvalues_ - 1).max()
        assert errors[growth] <= model.report_.estimated_error
    assert errors[0.05] < 0.02 < errors[0.0]


def test_what_cannot_be_done_is_said(rng):
    X = rng.standard_normal((20, 2))
    with pytest.raises(DataError, match="forget=0"):
        IncrementalKernelPCA(2, forget=0).partial_fit(X)
    with pytest.raises(KernelError, match="no vectors"):
        IncrementalKernelPCA(2, kernel=FunctionKernel(lambda a, b: a @ b)).partial_fit(X)
    model = IncrementalKernelPCA(2, random_state=0).partial_fit(X)
    with pytest.raises(DataError, match="features"):
        model.partial_fit(X[:, :1])


def test_a_stream_with_fewer_components_than_asked_for_says_so(rng):
    X = rng.standard_normal((3, 2))[rng.integers(3, size=40)]
    with pytest.warns(RankWarning, match="8 components were asked for"):
        model = IncrementalKernelPCA(8, n_landmarks=10, select="rpcholesky", random_state=0).fit(X)
    assert model.report_.estimated_error > 0  # rounding, where nothing is left outside


def test_sums_that_show_an_indefinite_kernel(rng):
    with pytest.raises(KernelError, match="not positive definite"):
        IncrementalKernelPCA(6, kernel=Sigmoid(gamma=1.0), n_landmarks=6, random_state=0).fit(
            random_problem(166, hard=False).X
        )
