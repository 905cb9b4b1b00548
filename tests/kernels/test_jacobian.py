"""Derivatives of all expansions at once are those of finite differences, for every kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from mercer.kernels.jacobian import jacobian

KERNELS = [
    Gaussian(gamma=0.8),
    Gaussian(width=0.6),
    Laplacian(0.7),
    Matern(0.8, nu=0.5),
    Matern(0.8, nu=1.5),
    Matern(0.8, nu=2.5),
    RationalQuadratic(0.8, alpha=0.7),
    Cauchy(0.8),
    Linear(),
    Polynomial(1, coef0=0),
    Polynomial(2, coef0=0.5),
    Polynomial(5, gamma=0.3),
    Sigmoid(0.4, coef0=0.1),
    Cosine(),
    Chi2(0.9),
    0.7 * Gaussian(sigma=2) + Polynomial(3, gamma=0.5),
    Gaussian(gamma=0.3) * Cosine() * 2,
    Gaussian(gamma=1.0) * Polynomial(2) + Linear(),
    Laplacian(0.7) * Cosine() * 2,
    Chi2(0.4) + Gaussian(gamma=0.5),
    Normalized(Gaussian(width=0.6)),
    Normalized(Polynomial(3) + Laplacian(0.7)),
]


def finite_differences(kernel, X, S, B, h=1e-6):
    def sums(points):
        return kernel(points, S) @ B

    steps = h * np.eye(X.shape[1])
    return np.stack([(sums(X + e) - sums(X - e)) / (2 * h) for e in steps], axis=-1)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    S, X = rng.random((40, 4)) + 0.1, rng.random((7, 4)) + 0.1
    return X, S, rng.standard_normal((40, 3))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_finite_differences(kernel, problem):
    X, S, B = problem
    J = jacobian(kernel, X, S, B)
    assert J.shape == (7, 3, 4)
    assert_allclose(J, finite_differences(kernel, X, S, B), atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_gradient_column_by_column(kernel, problem):
    X, S, B = problem
    J = jacobian(kernel, X, S, B)
    for k in range(3):
        G = np.broadcast_to(B[:, k], (7, 40))
        assert_allclose(J[:, k], kernel.gradient(X, S, G), atol=1e-12)


def test_many_tiles_and_many_columns(problem):
    """More support points than a tile, more components × variables than one product."""
    rng = np.random.default_rng(1)
    S, X, B = (rng.standard_normal(shape) for shape in ((1100, 300), (5, 300), (1100, 20)))
    kernel = Gaussian(sigma=20)
    G = np.broadcast_to(B[:, 13], (5, 1100))
    assert_allclose(jacobian(kernel, X, S, B)[:, 13], kernel.gradient(X, S, G), atol=1e-11)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.8), Cosine(), Polynomial(3)], ids=repr)
def test_float32_stays_float32(kernel, problem):
    exact = jacobian(kernel, *problem)
    J = jacobian(kernel, *(array.astype(np.float32) for array in problem))
    assert J.dtype == np.float32
    assert_allclose(J, exact, rtol=1e-3, atol=1e-3 * np.abs(exact).max())


def test_no_digits_are_lost_far_from_the_origin(problem):
    X, S, B = problem
    near = jacobian(Gaussian(gamma=0.8), X, S, B)
    assert_allclose(jacobian(Gaussian(gamma=0.8), X + 1e6, S + 1e6, B), near, atol=1e-7)


def test_a_zero_row_of_the_cosine_has_no_slope(problem):
    _, S, B = problem
    assert_allclose(jacobian(Cosine(), np.zeros((1, 4)), S, B), 0)


def test_every_vector_kernel_is_in_the_table():
    from mercer import kernels

    families = {type(kernel) for kernel in KERNELS}
    listed = {
        cls
        for cls in vars(kernels).values()
        if isinstance(cls, type) and issubclass(cls, Kernel) and not cls.__abstractmethods__
    }
    others = {"Precomputed", "FunctionKernel", "Product", "Scaled", "Sum"}
    missing = {cls.__name__ for cls in listed - families} - others
    assert not missing


def test_composites_of_entrywise_kernels_go_by_their_gradient(problem):
    X, S, _ = problem
    assert (Laplacian(0.7) + Linear()).slopes(X, S) is None
    assert (Gaussian(gamma=1.0) + Linear()).slopes(X, S) is not None
