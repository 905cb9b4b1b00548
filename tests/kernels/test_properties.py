"""Properties that hold for all rows, found out by random search."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from mercer.exceptions import KernelError
from mercer.kernels import (
    Basis,
    Cauchy,
    Chi2,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
)

entries = st.floats(-100, 100, allow_nan=False, width=32)
tables = st.integers(2, 12).flatmap(
    lambda n: st.integers(1, 4).flatmap(lambda d: arrays(np.float64, (n, d), elements=entries))
)
KERNELS = [
    Gaussian(gamma=0.3),
    Laplacian(0.3),
    Matern(2.0),
    Cauchy(2.0),
    Linear(),
    Polynomial(2),
    Cosine(),
    0.5 * Gaussian(gamma=0.3) + Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(max_examples=30)
@given(X=tables)
def test_matrices_are_positive_semidefinite(kernel, X):
    K = kernel(X)
    assert np.isfinite(K).all()
    values = np.linalg.eigvalsh((K + K.T) / 2)
    assert values[0] >= -1e-7 * max(1.0, values[-1])


@settings(max_examples=30)
@given(X=tables, shift=st.floats(-1e6, 1e6))
def test_radial_kernels_do_not_notice_a_shift(X, shift):
    kernel = Gaussian(gamma=0.01)
    moved = X + shift
    assert_allclose(kernel(moved), kernel(moved - moved[0]), atol=1e-6)


@settings(max_examples=30)
@given(X=tables, scale=st.floats(1e-30, 1e30))
def test_the_median_width_scales_with_the_data(X, scale):
    if np.ptp(X, axis=0).max() < 1e-3:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # duplicate rows
        K = Gaussian()(X)
        assert_allclose(Gaussian()(X * scale), K, atol=1e-6)


@settings(max_examples=30)
@given(X=tables, order=st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(X, order):
    p = list(range(len(X)))
    order.shuffle(p)
    for kernel in (Gaussian(gamma=0.3), Polynomial(2)):
        K = kernel(X)
        assert_allclose(kernel(X[p]), K[np.ix_(p, p)], atol=1e-9 * max(1.0, np.abs(K).max()))


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(gamma=0.3), Gaussian(sigma=2.0), Cauchy(2.0), RationalQuadratic(alpha=0.7)]
    + [Matern(nu=nu) for nu in (0.5, 1.5, 2.5)],
    ids=repr,
)
def test_another_length_is_another_unit(kernel, rng):
    """Twice the length on twice the rows is the same kernel; other parameters stay."""
    X = rng.standard_normal((9, 3))
    kernel = kernel.resolve(X)
    wide = kernel.with_length(2 * kernel.length)
    assert wide.length == pytest.approx(2 * kernel.length)
    assert_allclose(wide(2 * X), kernel(X), atol=1e-12)
    for name in {"alpha", "nu"} & set(kernel.get_params()):
        assert getattr(wide, name) == getattr(kernel, name)


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(2)], ids=repr)
def test_a_width_may_be_a_number_of_numpys(number, rng):
    resolved = Gaussian(gamma=number).resolve(rng.standard_normal((9, 3)))
    assert resolved.length == pytest.approx(float(number) ** -0.5)


def test_a_width_by_another_name_needs_its_own_method():
    class Narrow(Cauchy):
        def __init__(self, breadth=1.0):
            self.breadth = breadth

    with pytest.raises(KernelError, match="Narrow has no length_scale.*with_length"):
        Narrow().with_length(2.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_gradients_of_huge_and_tiny_rows(rng, scale):
    """The angle has no unit, nor has the slope of a cost that is proportional to the rows."""
    Z, S, G = rng.gamma(2.0, size=(3, 4)), rng.gamma(2.0, size=(5, 4)), rng.random((3, 5))
    found = Cosine().gradient(Z * scale, S * scale, G) * scale
    assert_allclose(found, Cosine().gradient(Z, S, G), rtol=1e-12)
    found = Chi2().formula(Z[0] * scale, S * scale, np)[1]
    assert_allclose(found, (Z[0] - S) * (Z[0] + 3 * S) / (Z[0] + S) ** 2, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_a_factor_may_bring_values_back_into_the_range_of_float32(rng, scale):
    X = rng.standard_normal((6, 3)) * scale
    kernel = scale**-6 * Polynomial(3, coef0=0.0)
    for rows in (X, X.astype(np.float32)):
        tiles = Basis(kernel, rows, np.float32).at(rows)
        assert tiles.dtype == np.float32
        assert_allclose(tiles, kernel.exact(rows, rows), rtol=1e-6)
