"""denoise, inverse_transform and their kin on the estimators."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer import KernelPCA
from mercer.exceptions import (
    ConvergenceWarning,
    DataError,
    DenoisingWarning,
    KernelError,
    NotFittedError,
)
from mercer.kernels import FunctionKernel, Gaussian, Linear, Polynomial
from mercer.preimage import FixedPoint, Ridge
from tests import naive_preimage as naive


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data / 16
    return X[:400], X[400:460]


@pytest.fixture(scope="module")
def model(digits):
    return KernelPCA(40, kernel=Gaussian("median"), solver="dense").fit(digits[0])


def test_linear_kernel_is_pca_in_every_way(digits):
    X, new = digits
    pca = PCA(7).fit(X)
    model = KernelPCA(7, kernel=Linear(), solver="dense").fit(X)
    expected = pca.inverse_transform(pca.transform(new))
    for found in (
        model.denoise(new),
        model.reconstruct(new),
        model.inverse_transform(model.transform(new)),
    ):
        assert_allclose(found, expected, atol=1e-10)
    level = 0.5 * np.sqrt(new.var(axis=0).mean())
    noisy = new + level * np.random.default_rng(0).standard_normal(new.shape)
    left = pca.inverse_transform(pca.transform(noisy)) - new
    assert model.score(new) == pytest.approx(-(left**2).sum(axis=1).mean())
    axes = model.component_images()
    assert_allclose(np.abs(np.sum(axes * pca.components_, axis=1)), 1, atol=1e-10)


def test_denoise_removes_noise(model, digits, rng):
    _, new = digits
    noisy = new + 0.3 * rng.standard_normal(new.shape)
    before = ((noisy - new) ** 2).mean()
    assert ((model.denoise(noisy) - new) ** 2).mean() < 0.5 * before
    scores_only = model.inverse_transform(model.transform(noisy))
    assert ((scores_only - new) ** 2).mean() < before


def test_reconstruction_gets_better_with_components(digits):
    X, new = digits
    models = [KernelPCA(q, solver="dense").fit(X) for q in (2, 20, 100)]
    errors = [((model.reconstruct(new) - new) ** 2).sum() for model in models]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("match_noise", [False, True, "auto"])
def test_report_is_the_objective(model, digits, rng, match_noise):
    """The squared distance to what was looked for: the projection of the matched kernel row."""
    noisy = digits[1][:9] + np.linspace(0, 0.4, 9)[:, None] * rng.standard_normal((9, 64))
    found = model.preimages(noisy, match_noise=match_noise)
    assert_allclose(found.points, model.denoise(noisy, match_noise=match_noise))
    K, subspace = Gaussian(gamma=model.kernel_.gamma), model.subspace_
    S, factors = subspace.support, []
    for i, x in enumerate(noisy):
        row = K(x[None], S)[0]
        factor = 1.0 if match_noise is False else naive.match_noise(K, S, x, row)
        factors.append(max(factor, 1.0) if match_noise == "auto" else factor)
        z = factors[-1] * row @ subspace.coef - subspace.offset
        gamma = naive.expansion(subspace, z)
        expected = naive.objective(K, S, gamma, found.points[i]) + gamma @ K(S) @ gamma
        assert found.objective[i] == pytest.approx(expected, abs=1e-8)
    assert match_noise is False or max(factors) > 1.1
    assert model.preimages(noisy, report=False).objective is None


def test_match_noise_rescales_the_kernel_row(model, digits, rng):
    _, new = digits
    noisy = new[:5] + 0.4 * rng.standard_normal((5, 64))
    kernel, S, subspace = model.kernel_, model.subspace_.support, model.subspace_
    rows = kernel(noisy, S)
    factors = np.array([naive.match_noise(kernel, S, noisy, row) for row in rows])
    Z = (factors[:, None] * rows) @ subspace.coef - subspace.offset
    expected = FixedPoint().init(subspace).solve(Z, noisy).points
    assert_allclose(model.denoise(noisy, match_noise=True), expected, atol=1e-6)


def test_match_noise_helps_clean_models_with_noisy_queries(digits, rng):
    X, new = digits
    model = KernelPCA(100, kernel=Gaussian("median"), solver="dense").fit(X)
    noisy = new + 0.45 * rng.standard_normal(new.shape)
    plain = ((model.denoise(noisy, match_noise=False) - new) ** 2).mean()
    matched = ((model.denoise(noisy, match_noise=True) - new) ** 2).mean()
    assert matched < 0.95 * plain


def test_each_row_tells_whether_it_is_to_be_matched(model, digits, rng):
    X, new = digits
    noisy = new + rng.uniform(0, 0.4, (60, 1)) * rng.standard_normal(new.shape)
    own = model.denoise(X[:20])  # rows of the model: nothing to match
    assert_allclose(own, model.denoise(X[:20], match_noise=False), atol=1e-6)
    factors = np.array(
        [
            naive.match_noise(model.kernel_, X, row[None], model.kernel_(row[None], X))
            for row in noisy
        ]
    ).ravel()
    assert factors.min() < 1 < factors.max()
    matched, plain, auto = (model.denoise(noisy, match_noise=how) for how in (True, False, "auto"))
    assert_allclose(auto, np.where(factors[:, None] > 1, matched, plain), atol=1e-5)
    assert_allclose(auto, model.denoise(noisy))


@pytest.mark.parametrize("kernel", [Polynomial(2), Linear()])
def test_kernels_that_cannot_be_matched_are_left_alone(kernel, digits):
    X, new = digits
    model = KernelPCA(5, kernel=kernel, solver="dense").fit(X)
    assert_array_equal(model.denoise(new), model.denoise(new, match_noise=False))


def test_a_model_that_keeps_everything_says_so(digits):
    X, new = digits
    with pytest.warns(DenoisingWarning, match=r"all 399 components.*tune\(X, noise=...\)"):
        KernelPCA(solver="dense").fit(X).denoise(new)
    KernelPCA(399, solver="dense").fit(X).denoise(new)  # asked for: no news
    KernelPCA(0.9, solver="dense").fit(X).denoise(new)


def test_match_noise_needs_a_constant_diagonal(digits):
    X, new = digits
    model = KernelPCA(5, kernel=Polynomial(2), solver="dense").fit(X)
    with pytest.raises(KernelError, match="constant"):
        model.denoise(new, match_noise=True)


def test_component_preimages_are_ends_of_the_components(model):
    images = model.component_preimages()
    assert images.shape == (2, 40, 64)
    plus, minus = (model.transform(side) for side in images)
    own = model.transform(model.subspace_.support)
    for k in range(5):
        assert plus[k, k] >= own[:, k].max() - 1e-6
        assert minus[k, k] <= own[:, k].min() + 1e-6


def test_component_images_are_projections_of_the_basis(model):
    images = model.component_images()
    expected = (model.transform(np.eye(64)) + model.subspace_.offset).T
    assert_allclose(images, expected, atol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_codes_that_are_not_finite_are_refused(model, value):
    Z = np.zeros((3, 40))
    Z[1, 2] = value
    with pytest.raises(DataError, match="Z"):
        model.inverse_transform(Z)


def test_codes_of_another_model_are_refused(model):
    with pytest.raises(DataError, match="40 components"):
        model.inverse_transform(np.zeros((3, 7)))


def test_codes_off_the_manifold_give_finite_points(model, rng):
    assert np.isfinite(model.inverse_transform(np.zeros((3, 40)))).all()
    with pytest.warns(ConvergenceWarning, match="3 failed: use another kernel width"):
        far = model.inverse_transform(1e8 * rng.standard_normal((3, 40)))
    assert np.isfinite(far).all()
    fixed = clone(model).set_params(preimage="fixed_point")
    fixed.fit(model.subspace_.support)
    Z = 1e8 * rng.standard_normal((20, 40))
    found = FixedPoint().init(fixed.subspace_).solve(Z)
    assert np.isfinite(found.points).all()
    far = model.preimages(np.full((2, 64), 1e6))  # where every kernel value vanishes
    assert np.isfinite(far.points).all()


def test_unfitted():
    model = KernelPCA(2)
    for call in (model.denoise, model.inverse_transform, model.reconstruct, model.preimages):
        with pytest.raises(NotFittedError):
            call(np.zeros((3, 2)))
    for call in (model.component_images, model.component_preimages):
        with pytest.raises(NotFittedError):
            call()


def test_points_that_did_not_converge_are_announced(digits):
    X, new = digits
    model = KernelPCA(5, preimage=FixedPoint(tol=1e-12, max_iter=1), solver="dense").fit(X)
    with pytest.warns(ConvergenceWarning, match="60 of 60"):
        model.denoise(new)
    stopped = KernelPCA(5, preimage=FixedPoint(early_stop=1), solver="dense").fit(X)
    assert_allclose(stopped.denoise(new).shape, new.shape)  # on purpose: no warning


def test_the_bound_solver_follows_model_and_parameters(digits):
    X, new = digits
    model = KernelPCA(5, preimage=FixedPoint(early_stop=1), solver="dense").fit(X)
    one = model.denoise(new)
    model.set_params(preimage__early_stop=3)
    three = model.denoise(new)
    assert np.abs(one - three).max() > 1e-3
    model.set_params(n_components=20).fit(X)
    assert np.abs(model.denoise(new) - three).max() > 1e-3
    again = pickle.loads(pickle.dumps(model))
    assert "_made" not in again.__dict__
    assert_array_equal(again.denoise(new), model.denoise(new))


def test_inverse_transform_does_not_depend_on_chance(digits):
    X, new = digits
    first, second = (
        KernelPCA(10, preimage=Ridge(), solver="dense").fit(X).reconstruct(new) for _ in range(2)
    )
    assert_array_equal(first, second)


def test_objects_have_no_score():
    shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
    model = KernelPCA(1, kernel=shared).fit(["abc", "abd", "xyz"])
    with pytest.raises(KernelError, match="no input space"):
        model.score(["abc"])
    with pytest.raises(KernelError, match="no canonical basis"):
        model.component_images()


def test_float32_stays(digits):
    X, new = (part.astype(np.float32) for part in digits)
    model = KernelPCA(10, solver="dense").fit(X)
    assert model.denoise(new).dtype == np.float32
    assert model.reconstruct(new).dtype == np.float32
    assert model.component_preimages().dtype == np.float32
