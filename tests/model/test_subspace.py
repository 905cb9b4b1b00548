"""The Subspace: its formulas against the textbook, and its frozen shape."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.kernels import Gaussian, Polynomial
from mercer.model import from_features
from tests import naive

rng = np.random.default_rng(4)
TRAIN, TEST = rng.standard_normal((15, 3)), rng.standard_normal((6, 3))
KERNELS = [
    (Gaussian(gamma=0.3), naive.gaussian(0.3)),
    (Polynomial(2, coef0=0.5), naive.polynomial(2, 1.0, 0.5)),
]


def fitted(kernel, **params):
    return KernelPCA(4, kernel=kernel, solver="dense", **params).fit(TRAIN)


def up_to_sign(A, B):
    return A * np.sign((A * B).sum(axis=0))


@pytest.mark.parametrize(("kernel", "formula"), KERNELS, ids=["gaussian", "polynomial"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weight", [None, rng.uniform(0.2, 3, 15)], ids=["plain", "weighted"])
def test_textbook(kernel, formula, center, weight):
    model = KernelPCA(4, kernel=kernel, solver="dense", center=center)
    Z_train = model.fit_transform(TRAIN, sample_weight=weight)
    book = naive.KernelPCA(formula, TRAIN, 4, weight, center)
    assert_allclose(model.eigenvalues_, book.eigenvalues, rtol=1e-10)
    assert_allclose(model.explained_variance_ratio_, book.eigenvalues / book.trace, rtol=1e-10)
    wanted = book.scores(TEST)
    assert_allclose(up_to_sign(model.transform(TEST), wanted), wanted, atol=1e-9)
    wanted = book.scores(TRAIN)
    assert_allclose(up_to_sign(Z_train, wanted), wanted, atol=1e-9)
    assert_allclose(model.reconstruction_error(TEST), book.residual(TEST), atol=1e-9)


@pytest.mark.parametrize(("kernel", "formula"), KERNELS, ids=["gaussian", "polynomial"])
def test_directions_are_orthonormal_in_feature_space(kernel, formula):
    subspace = fitted(kernel).subspace_
    K = naive.gram(formula, TRAIN, TRAIN)
    B, c = subspace.coef, subspace.mean
    assert_allclose(B.T @ K @ B, np.eye(4), atol=1e-10)
    assert_allclose(subspace.offset, B.T @ K @ c, atol=1e-10)
    assert_allclose(subspace.mean_square, c @ K @ c)
    assert_allclose(c, 1 / 15)


def test_expansion_and_its_length():
    subspace = fitted(Gaussian(gamma=0.3)).subspace_
    Z = subspace.scores(TEST)
    G = subspace.expansion(Z)
    K = Gaussian(gamma=0.3)(TRAIN)
    assert_allclose(subspace.squared_norm(Z), np.einsum("ij,jk,ik->i", G, K, G), atol=1e-12)


def test_scores_and_residual_from_one_pass():
    subspace = fitted(Gaussian(gamma=0.3)).subspace_
    Z, residual = subspace.scores_and_residual(TEST)
    assert_allclose(Z, subspace.scores(TEST))
    assert_allclose(residual, subspace.residual(TEST))
    assert (residual >= 0).all()


@settings(max_examples=20)
@given(q=st.integers(1, 4))
def test_leading_directions_are_a_smaller_model(q):
    """Fewer components: the same scores, and no smaller residual."""
    whole = fitted(Gaussian(gamma=0.3)).subspace_
    part = whole.leading(q)
    assert part.n_components == q
    assert_allclose(part.scores(TEST), whole.scores(TEST)[:, :q])
    assert (part.residual(TEST) >= whole.residual(TEST) - 1e-12).all()


def test_it_is_frozen_and_can_be_pickled():
    subspace = fitted(Gaussian(gamma=0.3)).subspace_
    with pytest.raises(dataclasses.FrozenInstanceError):
        subspace.mean = None
    again = pickle.loads(pickle.dumps(subspace))
    assert_allclose(again.scores(TEST), subspace.scores(TEST))


def test_all_points_as_landmarks_are_exact():
    """With K_SS = L Lᵀ, features L⁻¹ k(S, x) and every point a landmark: exact kernel PCA."""
    kernel = Gaussian(gamma=0.3)
    exact = fitted(kernel)
    L = np.linalg.cholesky(kernel(TRAIN))
    basis = np.linalg.inv(L).T
    features = kernel(TRAIN) @ basis
    mean = features.mean(axis=0)
    centred = features - mean
    values, vectors = np.linalg.eigh(centred.T @ centred)
    subspace = from_features(kernel, TRAIN, basis, mean, vectors[:, ::-1][:, :4])
    assert_allclose(values[::-1][:4], exact.eigenvalues_)
    wanted = exact.transform(TEST)
    assert_allclose(up_to_sign(subspace.scores(TEST), wanted), wanted, atol=1e-8)
    assert_allclose(subspace.residual(TEST), exact.reconstruction_error(TEST), atol=1e-8)
