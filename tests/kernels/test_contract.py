"""Every kernel keeps the contract of mercer.testing, and is its textbook formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from mercer._base import catalogue
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    as_kernel,
)
from mercer.points.tiles import Tiles
from mercer.testing import check_kernel
from tests import naive


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


WORDS = ["abc", "abd", "xyz", "axz", "bdc", "q", "abcd", "xq", "zz"]

# kernel -> the same formula as a loop
FORMULAS = [
    (Gaussian(gamma=0.8), naive.gaussian(0.8)),
    (Gaussian(sigma=0.6), naive.gaussian(1 / (2 * 0.6**2))),
    (Gaussian(width=0.6), naive.gaussian(1 / 0.6**2)),
    (Laplacian(0.7), naive.laplacian(0.7)),
    (Matern(0.8, nu=0.5), naive.matern(0.8, 0.5)),
    (Matern(0.8, nu=1.5), naive.matern(0.8, 1.5)),
    (Matern(0.8, nu=2.5), naive.matern(0.8, 2.5)),
    (RationalQuadratic(0.8, alpha=0.7), naive.rational_quadratic(0.8, 0.7)),
    (Cauchy(0.8), naive.cauchy(0.8)),
    (Linear(), naive.dot),
    (Polynomial(1, coef0=0), naive.polynomial(1, 1.0, 0.0)),
    (Polynomial(2, coef0=0.5), naive.polynomial(2, 1.0, 0.5)),
    (Polynomial(3, gamma=0.7), naive.polynomial(3, 0.7, 1.0)),
    (Polynomial(5, gamma=0.7, coef0=0), naive.polynomial(5, 0.7, 0.0)),
    (Sigmoid(0.4, coef0=0.1), naive.sigmoid(0.4, 0.1)),
    (Cosine(), naive.cosine),
    (Chi2(0.9), naive.chi2(0.9)),
    (
        0.7 * Gaussian(sigma=2) + Polynomial(3),
        lambda x, y: 0.7 * naive.gaussian(1 / 8)(x, y) + naive.polynomial(3, 1.0, 1.0)(x, y),
    ),
    (
        Laplacian(0.7) * Cosine() * 2,
        lambda x, y: 2 * naive.laplacian(0.7)(x, y) * naive.cosine(x, y),
    ),
    (
        Normalized(Gaussian(gamma=0.8)),
        lambda x, y: naive.gaussian(0.8)(naive.unit(x), naive.unit(y)),
    ),
    (
        Normalized(Polynomial(2) + 0.5 * Cauchy(0.8)),
        lambda x, y: (
            naive.polynomial(2, 1.0, 1.0)(naive.unit(x), naive.unit(y))
            + 0.5 * naive.cauchy(0.8)(naive.unit(x), naive.unit(y))
        ),
    ),
]
BY_RULE = [
    Normalized(Gaussian()),
    Normalized(Matern("scale", nu=2.5)),
    Gaussian(gamma="scale"),
    RationalQuadratic("scale"),
    Polynomial(2, gamma="scale"),
    Gaussian() * Cauchy("scale") + 0.1 * Linear(),
]


def name(value):
    return repr(value) if isinstance(value, Kernel) else ""


NAMED = [kernel for kernel in map(as_kernel, catalogue.KERNELS) if kernel.takes_vectors]


@pytest.mark.parametrize("kernel", [k for k, _ in FORMULAS] + BY_RULE + NAMED, ids=name)
def test_contract(kernel):
    check_kernel(kernel)


def test_contract_of_the_adapters():
    X = np.random.default_rng(0).standard_normal((12, 3))
    check_kernel(Precomputed(), X @ X.T)
    check_kernel(FunctionKernel(shared_letters), WORDS)


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_textbook_formula(kernel, formula, dtype, rng):
    X, Y = rng.uniform(0.05, 1, (7, 3)).astype(dtype), rng.uniform(0.05, 1, (4, 3)).astype(dtype)
    K = kernel(X, Y)
    assert K.dtype == dtype
    tol = {np.float32: 2e-5, np.float64: 1e-13}[dtype]
    assert_allclose(K, naive.gram(formula, X, Y), rtol=0, atol=tol * max(1, np.abs(K).max()))
    assert_allclose(
        kernel(X), naive.gram(formula, X, X), rtol=0, atol=tol * max(1, np.abs(kernel(X)).max())
    )


@pytest.mark.parametrize("n", [511, 512, 513, 1030])
def test_tiles_meet_without_a_gap(n, rng):
    X = rng.standard_normal((n, 2))
    assert_allclose(Linear()(X), X @ X.T, atol=1e-12)


def test_composites_are_searchable_by_name():
    kernel = 0.7 * Gaussian(sigma=2) + Polynomial(3)
    kernel.set_params(k1__kernel__sigma=5, k2__degree=2, k1__factor=0.1)
    assert kernel.k1.kernel.sigma == 5
    assert kernel.k2.degree == 2
    assert clone(kernel).get_params()["k1__factor"] == 0.1


def test_resolving_takes_the_width_from_the_data(rng):
    X = rng.standard_normal((50, 3))
    squared = [naive.squared_distance(X[i], X[j]) for i in range(50) for j in range(i)]
    assert_allclose(1 / Gaussian().resolve(X).gamma, np.median(squared))
    assert_allclose(Gaussian("scale").resolve(X).gamma, 1 / (3 * X.var()))
    assert_allclose(Cauchy().resolve(X).length_scale ** 2, np.median(squared))


def test_a_kernel_needs_its_numbers_before_it_is_used():
    with pytest.raises(ValueError, match="call resolve"):
        Gaussian().length  # noqa: B018  the access itself raises


def test_radial_profiles_and_their_inverse(rng):
    t = -rng.uniform(1e-3, 5, 40)
    for kernel in (
        Gaussian(gamma=1.0),
        Cauchy(1.0),
        RationalQuadratic(1.0, alpha=0.7),
        *(Matern(1.0, nu=nu) for nu in (0.5, 1.5, 2.5)),
    ):
        k = kernel.profile(t.copy())
        assert_allclose(kernel.invert(k), t, rtol=1e-7)
        both = kernel.profile_and_slope(t.copy())
        assert_allclose(both[0], k)
        h = 1e-6
        difference = (kernel.profile(t + h) - kernel.profile(t - h)) / (2 * h)
        assert_allclose(both[1], difference, rtol=1e-5)


def test_dot_product_profiles_and_their_inverse(rng):
    p = rng.uniform(-1, 1, 40)
    for kernel in (Linear(), Polynomial(3, gamma=0.4), Sigmoid(0.7, coef0=0.1)):
        assert_allclose(kernel.invert(kernel.profile(p.copy())), p, rtol=1e-9)
    with pytest.raises(ValueError, match="odd degree"):
        Polynomial(2).invert(p)


def test_objects_are_compared_pair_by_pair():
    kernel = FunctionKernel(shared_letters)
    assert_allclose(kernel(WORDS, WORDS[:3]), naive.gram(shared_letters, WORDS, WORDS[:3]))


@pytest.mark.parametrize("name", ["gaussian", "laplacian", "rational_quadratic", "chi2", "cosine"])
def test_names(name):
    assert type(as_kernel(name)).__name__.lower() == name.replace("_", "")


@pytest.mark.parametrize(("wrong", "hint"), [("gausian", "gaussian"), (3, "gaussian")])
def test_what_is_not_a_kernel_is_refused_with_a_hint(wrong, hint):
    with pytest.raises(ValueError, match=hint):
        as_kernel(wrong)


def test_the_origin_does_not_matter_to_radial_kernels(rng):
    X = rng.standard_normal((20, 3))
    kernel = Gaussian(gamma=0.3)
    A = kernel.pack(X, None)
    B = kernel.pack(X, X.mean(axis=0))
    first, second = (Tiles(kernel.fill, P, P, P.dtype).gram() for P in (A, B))
    assert_allclose(first, second, atol=1e-13)


def test_rows_spread_wide_fall_back_to_exact_distances(rng):
    """Beside a row at 1e7 lengths the product formula would lose nine digits."""
    X = rng.standard_normal((30, 3))
    X[0] = 1e7
    assert_allclose(Gaussian(gamma=1.0)(X), naive.gram(naive.gaussian(1.0), X, X), atol=1e-12)


def test_a_formula_that_says_something_else():
    class Doubled(Gaussian):
        def formula(self, t, xp):
            return xp.exp(t), 2 * xp.exp(t)

    with pytest.raises(AssertionError, match="formula of the slope"):
        check_kernel(Doubled(1.0))
