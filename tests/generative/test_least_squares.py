"""The least-squares machine: its linear system, its energy, and the directions that it keeps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.exceptions import DataError, KernelError
from mercer.generative import fit_least_squares, machine_energy
from mercer.kernels import Gaussian, Linear, Sigmoid
from tests import naive_generative as naive


@pytest.mark.parametrize(("lam", "eta"), [(0.1, 1.0), (2.0, 0.3), (0.01, 5.0)])
def test_the_whole_system(rng, lam, eta):
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    kernel = Gaussian(gamma=0.4)
    machine = fit_least_squares(kernel, X, Y, lam=lam, eta=eta)
    H, bias = naive.least_squares_machine(kernel(X), Y, lam, eta)
    assert_allclose(machine.hidden, H, atol=1e-9)
    assert_allclose(machine.bias, bias, atol=1e-10)
    assert_allclose(machine.hidden.sum(axis=0), 0, atol=1e-9)
    assert_allclose(machine.hidden, (Y - machine.predict(X)) / lam, atol=1e-8)


def test_the_energy_is_stationary_and_touches_the_least_squares_objective(rng):
    V, Y = rng.standard_normal((15, 4)), rng.standard_normal((15, 2))
    lam, eta = 0.3, 1.7
    machine = fit_least_squares(Linear(), V, Y, lam=lam, eta=eta)
    H, bias, W = machine.hidden, machine.bias, V.T @ machine.hidden / eta
    at = {"lam": lam, "eta": eta}
    for gradient in (
        naive.numerical_gradient(lambda h: machine_energy(V, Y, h, W, bias, **at), H),
        naive.numerical_gradient(lambda w: machine_energy(V, Y, H, w, bias, **at), W),
        naive.numerical_gradient(lambda b: machine_energy(V, Y, H, W, b, **at), bias),
    ):
        assert_allclose(gradient, 0, atol=1e-7)

    def objective(W, bias):
        return ((Y - V @ W - bias) ** 2).sum() / (2 * lam) + eta / 2 * (W**2).sum()

    assert_allclose(machine_energy(V, Y, H, W, bias, **at), objective(W, bias))
    # Conjugate feature duality: a lower bound for all other hidden units.
    for _ in range(20):
        other = H + rng.standard_normal(H.shape)
        assert machine_energy(V, Y, other, W, bias, **at) <= objective(W, bias)


def test_the_subspace_is_the_span_of_the_weights(rng):
    X, Y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    Y = np.column_stack([Y, -Y.sum(axis=1)])  # three targets that span two directions
    machine = fit_least_squares(Linear(), X, Y, lam=0.5)
    subspace = machine.subspace()
    W = X.T @ machine.hidden
    directions = X.T @ subspace.coef
    assert subspace.n_components == 2
    assert_allclose(directions.T @ directions, np.eye(2), atol=1e-10)
    assert_allclose(directions @ directions.T @ W, W, atol=1e-10)
    assert_allclose(subspace.scores(X), X @ directions, atol=1e-10)


def test_constant_targets_span_nothing(rng):
    X = rng.standard_normal((10, 2))
    machine = fit_least_squares(Gaussian(gamma=1.0), X, np.ones((10, 1)), lam=0.1)
    assert_allclose(machine.predict(X), 1)
    with pytest.raises(DataError, match="constant"):
        machine.subspace()


def test_an_indefinite_kernel_is_named(rng):
    X = rng.standard_normal((20, 2))
    with pytest.raises(KernelError, match="not positive definite"):
        fit_least_squares(Sigmoid(gamma=1.0, coef0=-2.0), X, X, lam=1e-6)


def test_the_signs_of_its_directions_are_fixed(rng):
    """As in every other subspace: the largest coefficient is positive, whatever LAPACK says."""
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 4))
    for targets in (Y, -Y):
        B = fit_least_squares(Gaussian(gamma=0.4), X, targets, lam=0.1).subspace().coef
        assert (B[np.abs(B).argmax(axis=0), np.arange(4)] > 0).all()
