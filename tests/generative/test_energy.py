"""Both energies: their values, and that kernel PCA makes them stationary."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from mercer import KernelPCA, SparseKernelPCA
from mercer.exceptions import DataError
from mercer.generative import RKM, generation_energy, total_energy, train_energy
from mercer.kernels import Gaussian, Polynomial
from mercer.solvers import Davidson, Landmarks
from tests import naive_generative as naive

ETAS = [1.0, 0.3, 7.0]


def machine(rng, eta, q=None, n=12, d=4):
    """Visible and hidden units, W and λ at the solution, by the singular value decomposition."""
    V = rng.standard_normal((n, d))
    V -= V.mean(axis=0)
    U, s, axes = np.linalg.svd(V, full_matrices=False)
    q = d if q is None else q
    return V, np.sqrt(eta) * U[:, :q], axes[:q].T * s[:q] / np.sqrt(eta), s[:q] ** 2 / eta


@pytest.mark.parametrize("eta", ETAS)
def test_values_are_the_printed_sums(rng, eta):
    V, H, W = (rng.standard_normal(shape) for shape in [(6, 4), (6, 3), (4, 3)])
    lam = rng.random(3)
    trained = naive.train_energy(V, H, W, lam, eta)
    generated = naive.generation_energy(V, H, W)
    assert_allclose(train_energy(V, H, W, lam, eta), trained)
    assert_allclose(generation_energy(V, H, W), generated)
    # Eq. (3) is both together: the interaction and the weights once for each pair.
    one = naive.train_energy(V[:1], H[:1], W, lam, eta) + V[0] @ V[0] / 2
    assert_allclose(total_energy(V, H, W, lam, eta)[0], one)


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("q", [2, 4])
def test_training_is_stationary_in_hidden_units_and_weights(rng, eta, q):
    V, H, W, lam = machine(rng, eta, q)
    by_hidden = naive.numerical_gradient(lambda H: train_energy(V, H, W, lam, eta), H)
    by_weights = naive.numerical_gradient(lambda W: train_energy(V, H, W, lam, eta), W)
    assert_allclose(by_hidden, 0, atol=1e-8)
    assert_allclose(by_weights, 0, atol=1e-8)
    assert_allclose(W, V.T @ H / eta)  # eq. (2)
    assert_allclose(train_energy(V, H, W, lam, eta), 0, atol=1e-9)
    # Elsewhere it is not: the check above can fail.
    away = naive.numerical_gradient(lambda W: train_energy(V, 1.1 * H, W, lam, eta), W)
    assert np.abs(away).max() > 1e-2


@pytest.mark.parametrize("eta", ETAS)
def test_generation_is_stationary_at_the_training_points(rng, eta):
    """With all hidden units W h gives the visible units back, for every η."""
    V, H, W, _ = machine(rng, eta)
    gradient = naive.numerical_gradient(lambda V: generation_energy(V, H, W), V)
    assert_allclose(gradient, 0, atol=1e-8)
    assert_allclose(H @ W.T, V, atol=1e-10)
    assert generation_energy(V + 0.1, H, W) > generation_energy(V, H, W)


@pytest.mark.parametrize("eta", ETAS)
def test_linear_kernel_with_explicit_weights_is_pca(rng, eta):
    """Eq. (5): X̂ = W H = X HᵀH / η."""
    X = rng.standard_normal((30, 5)) * [3, 2, 1, 0.5, 0.1]
    model = KernelPCA(2, kernel="linear").fit(X)
    rkm = RKM(model.subspace_, model.eigenvalues_, eta)
    H = rkm.hidden(model.transform(X))
    W = X.T @ rkm.interaction
    centred = X - X.mean(axis=0)
    assert_allclose(W, centred.T @ H / eta, atol=1e-10)
    pca = PCA(2).fit(X)
    assert_allclose(H @ W.T + X.mean(axis=0), pca.inverse_transform(pca.transform(X)), atol=1e-9)
    assert_allclose(centred.T @ H @ H.T / eta, (H @ W.T).T, atol=1e-9)


MODELS = {
    "exact": KernelPCA(4, solver="dense"),
    "davidson": KernelPCA(4, solver=Davidson(tol=1e-11), random_state=0),
    "landmarks": KernelPCA(4, solver=Landmarks(25), random_state=0),
    "sparse": SparseKernelPCA(n_kernels=20, n_components=4),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("eta", [1.0, 2.5])
def test_every_solver_makes_a_stationary_machine(rng, name, eta):
    X = rng.standard_normal((60, 3))
    model = MODELS[name].set_params(kernel=Gaussian(gamma=0.2)).fit(X)
    rkm = RKM(model.subspace_, model.eigenvalues_, eta)
    H = rkm.hidden(model.transform(X))
    assert_allclose(H.T @ H, eta * np.eye(4), atol=1e-6)
    assert_allclose(rkm.train_energy(X), 0, atol=1e-5)
    gradient = naive.numerical_gradient(lambda H: rkm.train_energy(X, H), H)
    assert_allclose(gradient, 0, atol=1e-5)
    V, W = model.transform(X), np.diag(rkm.gain)
    assert_allclose(train_energy(V, H, W, rkm.lam, eta), rkm.train_energy(X), atol=1e-8)
    # Clamped hidden units fit their own rows better than other rows.
    assert rkm.generation_energy(X, H) < rkm.generation_energy(X[::-1], H)


def test_implicit_energies_are_the_explicit_ones(rng):
    """A polynomial feature map that has coordinates, beside the kernel that has none."""
    X = rng.standard_normal((20, 2))
    a, b = X.T
    V = np.column_stack([a * a, b * b, np.sqrt(2) * a * b])
    V -= V.mean(axis=0)
    model = KernelPCA(2, kernel=Polynomial(2, gamma=1.0, coef0=0.0)).fit(X)
    rkm = RKM(model.subspace_, model.eigenvalues_, 1.7)
    H = rkm.hidden(model.transform(X)) + 0.1 * rng.standard_normal((20, 2))
    W = V.T @ rkm.hidden(model.transform(X)) / 1.7
    assert_allclose(rkm.train_energy(X, H), train_energy(V, H, W, rkm.lam, 1.7))
    assert_allclose(rkm.generation_energy(X, H), generation_energy(V, H, W))
    assert_allclose(rkm.total_energy(X, H), total_energy(V, H, W, rkm.lam, 1.7))


def test_hidden_units_of_another_number_are_refused(rng):
    X = rng.standard_normal((20, 2))
    model = KernelPCA(3).fit(X)
    rkm = RKM(model.subspace_, model.eigenvalues_)
    with pytest.raises(DataError, match=r"shape \(5, 3\), but \(20, 3\)"):
        rkm.train_energy(X, np.zeros((5, 3)))
