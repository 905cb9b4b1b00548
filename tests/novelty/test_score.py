"""Scores and their gradients, over kernels, kinds and precisions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.kernels import Cauchy, Gaussian, Laplacian, Linear, Polynomial
from mercer.novelty import KINDS, novelty_score
from mercer.solvers import Landmarks

KERNELS = [Gaussian(sigma=1.0), Cauchy(2.0), Polynomial(3), Linear(), Gaussian() * Polynomial(2)]


def fitted(kernel, dtype=np.float64, q=4, solver="dense"):
    X = np.random.default_rng(0).standard_normal((40, 4)).astype(dtype)
    return KernelPCA(q, kernel=kernel, solver=solver, random_state=0).fit(X)


def score_of(model, kind):
    return novelty_score(kind, model.subspace_, model.explained_variance_)


def queries(dtype=np.float64, n=7):
    return np.random.default_rng(1).standard_normal((n, 4)).astype(dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_their_formulas(kind, dtype):
    model = fitted(Gaussian(sigma=1.0), dtype)
    Y, lam = queries(dtype), model.explained_variance_
    Z, error = model.transform(Y), model.reconstruction_error(Y)
    hotelling = sum(Z[:, k] ** 2 / lam[k] for k in range(4))
    expected = {
        "reconstruction": error,
        "hotelling": hotelling,
        "combined": hotelling + error / lam[-1],
    }[kind]
    got = score_of(model, kind)(Y)
    assert got.dtype == dtype
    assert_allclose(got, expected, rtol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("solver", ["dense", Landmarks(15)], ids=["exact", "landmarks"])
def test_gradient_is_the_slope(kind, kernel, solver):
    score, Y, h = score_of(fitted(kernel, solver=solver), kind), queries(), 1e-5
    numeric = np.empty_like(Y)
    for j in range(Y.shape[1]):
        step = np.zeros(Y.shape[1])
        step[j] = h
        numeric[:, j] = (score(Y + step) - score(Y - step)) / (2 * h)
    assert_allclose(score.gradient(Y), numeric, rtol=1e-4, atol=1e-9 + 1e-6 * np.abs(numeric).max())


def test_gradient_does_not_depend_on_the_batch():
    score, Y = score_of(fitted(Laplacian()), "combined"), queries(n=600)
    parts = np.concatenate([score.gradient(Y[:5]), score.gradient(Y[5:])])
    assert_allclose(score.gradient(Y), parts, rtol=1e-12, atol=1e-12)


def test_linear_hotelling_is_mahalanobis():
    X = np.random.default_rng(3).standard_normal((200, 3)) @ np.diag([3.0, 1.0, 0.2])
    model = KernelPCA(3, kernel="linear").fit(X)
    Y = np.random.default_rng(4).standard_normal((9, 3))
    inverse = np.linalg.inv(np.cov(X.T, bias=True))
    expected = np.einsum("ij,jk,ik->i", Y - X.mean(0), inverse, Y - X.mean(0))
    assert_allclose(score_of(model, "hotelling")(Y), expected, rtol=1e-8)


def test_unknown_kind_names_the_known_ones():
    model = fitted(Gaussian(sigma=1.0))
    with pytest.raises(DataError, match="'reconstruction', 'hotelling', 'combined'"):
        novelty_score("distance", model.subspace_, model.explained_variance_)
