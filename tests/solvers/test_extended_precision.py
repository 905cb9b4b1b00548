"""Fits that once gave a wrong answer in silence, claimed too much, refused without cause, or never
ended: the smallest case of each, beside the definition."""

import warnings

import numpy as np
import pytest

from mercer import KernelPCA
from mercer.kernels import Cauchy, Chi2, Cosine, Gaussian, Laplacian, Polynomial
from mercer.solvers import Davidson, Dense, Lanczos
from tests import naive
from tests.cross.limits import bounded

KINDS = {
    "README": (
        lambda: 0.7 * Gaussian(sigma=2) + Polynomial(3),
        lambda A, B: 0.7 * np.exp(-squares(A, B) / 8) + (A @ B.T + 1) ** 3,
    ),
    "Gaussian * Cosine": (
        lambda: Gaussian(gamma=0.1) * Cosine(),
        lambda A, B: np.exp(-0.1 * squares(A, B)) * (unit(A) @ unit(B).T),
    ),
}


def squares(A, B):
    return ((A[:, None] - B[None]) ** 2).sum(axis=2)


def unit(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def truth(K, w=None):
    """Eigenvalues of the centred, weighted matrix in extended precision, decreasing."""
    K = K.astype(np.longdouble)
    w = np.ones(len(K), np.longdouble) if w is None else w.astype(np.longdouble)
    p = w / w.sum()
    to_mean = K @ p
    C = K - to_mean[:, None] - to_mean + p @ to_mean
    root = np.sqrt(w)
    M = (root[:, None] * C * root).astype(float)
    return np.linalg.eigvalsh((M + M.T) / 2)[::-1]


def quiet(model, X, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **more)


def longdouble(X):
    return X.astype(np.longdouble)


# Row 1: sums and products of which only one part may be shifted.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [40, 400], ids=["LAPACK", "passes"])
def test_parts_that_may_not_be_shifted(kind, n, rng):
    make, definition = KINDS[kind]
    X = rng.standard_normal((n, 5)) + 2
    K = definition(longdouble(X), longdouble(X))
    true = truth(K)
    model = quiet(KernelPCA(5, kernel=make(), solver=Davidson(), random_state=0), X)
    np.testing.assert_allclose(model.eigenvalues_, true[:5], rtol=1e-5)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-5 * Z.std(axis=0).max())
    own = (np.diag(K) - 2 * K.mean(axis=0) + K.mean()).astype(float)
    errors = own - (Z**2).sum(axis=1)
    np.testing.assert_allclose(model.reconstruction_error(X), errors, atol=1e-5 * own.max())
    np.testing.assert_allclose(model.explained_variance_ratio_, true[:5] / true.sum(), rtol=1e-5)


@pytest.mark.slow
def test_readme_kernel_is_near_exact_in_few_passes():
    X = np.random.default_rng(0).standard_normal((6000, 5)) + 2
    kernel = 0.7 * Gaussian(sigma=2) + Polynomial(3)
    near = KernelPCA(10, kernel=kernel, random_state=0).fit(X)
    exact = KernelPCA(10, kernel=kernel, solver="lanczos", random_state=0).fit(X)
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-5)
    errors = exact.reconstruction_error(X)
    np.testing.assert_allclose(near.reconstruction_error(X), errors, atol=1e-4 * errors.max())
    assert near.report_.passes <= 6


# Row 2: fits that never end.


def test_lanczos_ends_where_components_are_asked_for_beyond_the_rank():
    X = np.random.default_rng(1).standard_normal((60, 3)) + 100
    with bounded(5, {"lanczos": 1600}):
        model = quiet(KernelPCA(30, kernel="linear", solver="lanczos", random_state=0), X)
    assert model.n_components_ == 3


def test_auto_ends_on_copies_far_from_the_origin():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3, 4))[rng.integers(3, size=501)] + 1000
    with bounded(4, {"lanczos": 6000}):
        model = quiet(KernelPCA(50, kernel="linear", random_state=0), X)
    assert model.n_components_ == 2


# Row 3: claims that are too small.


def test_few_rows_in_davidson_are_as_exact_as_they_claim(rng):
    X = rng.standard_normal((6, 3))
    true = truth(np.exp(-1.6 * np.abs(longdouble(X)[:, None] - longdouble(X)[None]).sum(axis=2)))
    model = quiet(KernelPCA(5, kernel=Laplacian(gamma=1.6), solver=Davidson()), X)
    assert_claimed(model, true)


def test_a_small_variance_beside_the_diagonal(rng):
    X = rng.standard_normal((317, 3))
    true = truth(1 / (1 + squares(longdouble(X), longdouble(X)) / 40**2))
    model = quiet(KernelPCA(8, kernel=Cauchy(40.0), solver=Davidson(), random_state=0), X)
    assert_claimed(model, true)
    np.testing.assert_allclose(model.eigenvalues_, true[:8], rtol=3e-6)


# Row 4: what LAPACK solves is not refused, and no component is dropped.


def test_weights_and_a_wide_kernel_keep_their_components(rng):
    X = rng.standard_normal((268, 3))
    w = 10 ** rng.uniform(0, 7, 268)
    true = truth(np.exp(-1e-4 * squares(longdouble(X), longdouble(X))), w)
    kernel = Gaussian(gamma=1e-4)
    dense = quiet(KernelPCA(8, kernel=kernel, solver=Dense()), X, sample_weight=w)
    assert dense.n_components_ == 8
    model = quiet(
        KernelPCA(8, kernel=kernel, solver=Davidson(), random_state=0), X, sample_weight=w
    )
    assert model.n_components_ == 8
    np.testing.assert_allclose(model.eigenvalues_, true[:8], rtol=3e-6)


def test_a_constant_matrix_to_float32_still_has_variance(rng):
    X = rng.standard_normal((200, 2)) * 1e-4
    true = truth(np.exp(-squares(longdouble(X), longdouble(X))))
    model = quiet(KernelPCA(2, kernel=Gaussian(gamma=1.0), solver=Davidson(), random_state=0), X)
    np.testing.assert_allclose(model.eigenvalues_, true[:2], rtol=3e-6)


# Row 5: weights over many decades.


@pytest.mark.parametrize("solver", [Dense(), Lanczos(), Davidson(), Davidson(1e-10)])
def test_weights_over_many_decades(solver, rng):
    X = rng.standard_normal((80, 3))
    w = 10 ** rng.uniform(-12, 12, 80)
    true = truth(np.exp(-0.2 * squares(longdouble(X), longdouble(X))), w)
    model = KernelPCA(5, kernel=Gaussian(gamma=0.2), solver=solver, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model.fit_transform(X, sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, true[:5], rtol=3e-6)
    np.testing.assert_allclose(model.explained_variance_ratio_, true[:5] / true.sum(), rtol=1e-5)
    np.testing.assert_allclose(fitted, model.transform(X), atol=1e-8)


# Row 6: flat and clustered spectra.


@pytest.mark.parametrize("seed", [134, 159, 225, 262])
def test_lanczos_finds_every_component_of_a_flat_spectrum(seed):
    rng = np.random.default_rng(seed)
    n, gamma = int(rng.integers(40, 90)), 10 ** rng.uniform(0, 1.5)
    X, w = rng.standard_normal((n, 5)), rng.integers(0, 2, n).astype(float)
    there = longdouble(X[w > 0])
    true = truth(np.exp(-gamma * squares(there, there)))
    model = KernelPCA(19, kernel=Gaussian(gamma=gamma), solver="lanczos", random_state=0)
    quiet(model, X, sample_weight=w)
    assert model.n_components_ == 19
    np.testing.assert_allclose(model.eigenvalues_, true[:19], rtol=1e-10)


@pytest.mark.parametrize("solver", [Dense(), Lanczos(), Davidson()])
def test_float32_rows_with_a_clustered_spectrum_claim_what_they_have(solver, rng):
    groups = 20 * rng.standard_normal((6, 4))
    X = (groups[rng.integers(6, size=90)] + 0.004 * rng.standard_normal((90, 4))).astype(np.float32)
    true = truth(np.exp(-1.5 * squares(longdouble(X), longdouble(X))))
    model = quiet(KernelPCA(20, kernel=Gaussian(gamma=1.5), solver=solver, random_state=0), X)
    assert_claimed(model, true, slack=16 * np.finfo(np.float32).eps * (true[0] + np.sqrt(90)))


# Row 9: a histogram kernel inside a product.


def test_chi2_in_a_product_sees_the_rows_as_they_are(rng):
    X = rng.random((30, 4))
    model = quiet(KernelPCA(4, kernel=Gaussian(gamma=0.5) * Chi2(), solver=Davidson()), X)
    gaussian, chi2 = naive.gaussian(0.5), naive.chi2(1.0)
    true = naive.KernelPCA(lambda x, y: gaussian(x, y) * chi2(x, y), X, 4)
    np.testing.assert_allclose(model.eigenvalues_, true.eigenvalues, rtol=1e-5)


def assert_claimed(model, true, slack=0.0):
    """Each error is at most three times the claim, beyond rounding."""
    q = model.n_components_
    rounding = 16 * np.finfo(float).eps * (true[0] + np.sqrt(len(true))) + slack
    error = np.abs(model.eigenvalues_.astype(float) - true[:q])
    allowed = 3 * model.report_.estimated_error * true[:q] + rounding
    assert (error <= allowed).all(), f"{(error / true[:q]).max():.2g}, claim {allowed / true[:q]}"
