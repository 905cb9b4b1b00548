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
    Cauchy,
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


def test_a_width_by_another_name_needs_its_own_method():
    class Narrow(Cauchy):
        def __init__(self, breadth=1.0):
            self.breadth = breadth

    with pytest.raises(KernelError, match="Narrow has no length_scale.*with_length"):
        Narrow().with_length(2.0)
