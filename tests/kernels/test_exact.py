"""``exact`` and the tiles are the kernel's definition, at extreme parameters and scales, too."""

import numpy as np
import pytest

from mercer import KernelPCA
from mercer.exceptions import KernelError, NumericalWarning
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RadialKernel,
    RationalQuadratic,
    Sigmoid,
)
from tests.cross.definitions import definition

EPS = np.finfo(np.float64).eps
ALPHAS = [1e-3, 0.7, 1.0, 30.0, 1e6, 1e8]

EXTREMES = [
    *(Gaussian(gamma=gamma) for gamma in (1e-12, 1.0, 1e12)),
    *(Gaussian(**{width: value}) for width in ("sigma", "width") for value in (1e-6, 1e3)),
    *(RationalQuadratic(length, alpha=a) for a in ALPHAS for length in (1e-3, 1.0, 1e3)),
    *(Matern(length, nu=nu) for nu in (0.5, 1.5, 2.5) for length in (1e-6, 1.0, 1e6)),
    *(Cauchy(length) for length in (1e-6, 1.0, 1e6)),
    *(Laplacian(gamma) for gamma in (1e-12, 1.0, 1e12)),
    *(Chi2(gamma) for gamma in (1e-12, 1.0, 1e12)),
    *(
        Polynomial(degree, gamma=gamma, coef0=coef0)
        for degree in (1, 2, 3, 4, 7, 20)
        for gamma in (1e-12, 1.0, 1e12)
        for coef0 in (0.0, 1e-6, 1e3)
        if degree < 20 or gamma == 1
    ),
    *(Sigmoid(gamma, coef0=coef0) for gamma in (1e-12, 1.0, 1e12) for coef0 in (0.0, -1e3)),
    Linear(),
    Cosine(),
    1e-9 * RationalQuadratic(1e3, alpha=1e6) + Polynomial(20) * Gaussian(1e-6),
    Chi2(3.0) * (Cosine() + 1e6 * Matern(1e3, nu=2.5)),
]


@pytest.fixture
def rows():
    """Histograms with copies, an empty one, and zeros in common."""
    X = np.random.default_rng(0).uniform(0, 1, (40, 5))
    X[3], X[5], X[6, 2], X[7, 2] = X[4], 0, 0, 0
    return X


def off_by(values, kernel, A, B):
    """The largest error in units of eps times the largest kernel value."""
    truth = definition(kernel, A, B)
    largest = max(np.abs(definition(kernel, P, P)).max() for P in (A, B))
    return float(np.abs(values - truth).max() / (EPS * largest))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("kernel", EXTREMES, ids=repr)
def test_exact_is_the_definition(kernel, offset, rows):
    X = rows + offset
    assert off_by(kernel.exact(X[:9], X), kernel, X[:9], X) < 4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", EXTREMES, ids=repr)
def test_tiles_are_the_definition(kernel, dtype, rows):
    X = rows.astype(dtype)
    if isinstance(kernel, RadialKernel) and kernel.length < 1e-2:
        pytest.skip("rows spread wide beside the length: test_contract has these")
    limits = np.finfo(dtype)
    if not limits.tiny < np.abs(definition(kernel, X, X)).max() < limits.max:
        pytest.skip("no values of this kernel in this precision")
    K = kernel(X[:9], X).astype(np.float64)
    assert off_by(K, kernel, X[:9], X) < 40 * float(limits.eps / EPS)


@pytest.mark.parametrize("scale", [1e-290, 1e-150, 1e150, 1e290])
@pytest.mark.parametrize(
    "make",
    [
        lambda s: Gaussian(sigma=s),
        lambda s: Gaussian(width=1e-3 * s),
        lambda s: RationalQuadratic(s, alpha=1e6),
        lambda s: Cauchy(s),
        lambda s: Matern(s, nu=0.5),
        lambda s: Matern(s, nu=2.5),
        lambda s: Laplacian(1 / s),
        lambda s: Chi2(1 / s),
        lambda _: Cosine(),
        lambda s: Chi2(1 / s) + Gaussian(sigma=s) * Cosine(),
    ],
)
def test_the_scale_of_the_rows_does_not_matter(make, scale, rows):
    kernel, X = make(scale), rows * scale
    assert off_by(kernel.exact(X[:9], X), kernel, X[:9], X) < 4
    assert off_by(kernel(X[:9], X), kernel, X[:9], X) < 40


def test_rows_of_ordinary_size_beside_huge_ones(rows):
    X = np.vstack([rows, [[1e300] * 5]])
    for kernel in (Gaussian(sigma=1.0), Matern(1.0, nu=0.5), RationalQuadratic(1.0, alpha=30.0)):
        assert off_by(kernel.exact(X, X), kernel, X, X) < 4


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_a_matern_fades_where_squares_overflow(nu, rows):
    """Infinity times zero: scores of such rows were not numbers, without a word."""
    kernel, far = Matern(1.0, nu=nu), np.full((1, rows.shape[1]), 1e300)
    assert (kernel.exact(far, rows) == 0).all()
    for dtype in (np.float32, np.float64):
        assert (kernel(far.astype(np.float64), rows.astype(dtype)) == 0).all()


def test_a_gaussian_of_no_width_is_constant_at_every_scale(rows):
    assert (Gaussian(width=1e308).exact(rows * 1e290, rows * 1e290) == 1).all()


def test_exact_says_what_overflows():
    X = np.full((3, 2), 1e200)
    with pytest.raises(KernelError, match="magnitude of 1e\\+200"):
        Polynomial(2).exact(X, X)


@pytest.mark.parametrize("kernel", [RationalQuadratic(2.0, alpha=a) for a in ALPHAS], ids=repr)
def test_a_rational_quadratic_is_inverted(kernel):
    t = -np.geomspace(1e-6, 5, 30)
    np.testing.assert_allclose(kernel.invert(kernel.profile(t.copy())), t, rtol=1e-8)


@pytest.mark.filterwarnings("ignore:K is close to a constant")
def test_a_fit_with_large_alpha_keeps_its_claim():
    X = np.random.default_rng(0).normal(size=(40, 3))
    kernel = RationalQuadratic(1e3, alpha=1e6)
    model = KernelPCA(3, kernel=kernel, solver="dense").fit(X)
    K = definition(kernel, X, X)
    H = np.eye(40, dtype=np.longdouble) - np.longdouble(1) / 40
    # K is 1 up to 1e-5: centred in extended precision, what is left has its digits in float64.
    truth = np.linalg.eigvalsh((H @ K @ H).astype(np.float64))[::-1][:3]
    error = np.abs(model.eigenvalues_ / truth - 1).max()
    assert error <= 3 * model.report_.estimated_error < 1e-8


@pytest.mark.filterwarnings("ignore:K is close to a constant")
def test_the_audit_sees_a_profile_that_rounds():
    class Rounding(RationalQuadratic):
        def profile(self, t):
            t *= -0.5 / self.alpha
            return np.power(1 + t, -self.alpha, out=t)

        def formula(self, t, xp):
            return super().formula(t, xp)

    X = np.random.default_rng(0).normal(size=(40, 3))
    kernel = Rounding(1e3, alpha=1e6)
    assert off_by(kernel.exact(X, X), RationalQuadratic(1e3, alpha=1e6), X, X) < 4
    with pytest.warns(NumericalWarning, match="by the kernel's definition"):
        KernelPCA(3, kernel=kernel, solver="dense").fit(X)


@pytest.mark.parametrize("kernel", [Cosine(), Chi2(gamma=5.0)], ids=repr)
def test_float32_rows_are_widened_before_anything_else(rng, kernel):
    X = (rng.random((50, 3)) + 10).astype(np.float32)
    packed = kernel.pack(X, kernel.origin(X), np.float64)
    K = np.empty((50, 50))
    kernel.fill(packed, packed, K)
    wide = X.astype(np.float64)
    assert np.abs(K - kernel.exact(wide, wide)).max() < 1e-9
