"""Eqs. (6)-(8) beside the printed sums, and the choice of S."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from mercer import GenerativeKernelPCA, KernelPCA
from mercer.exceptions import DataError, KernelError
from mercer.generative import KernelSmoother, scaled_similarities
from mercer.kernels import Chi2, Cosine, FunctionKernel, Gaussian, Laplacian, Polynomial
from mercer.papers.schreurs2018 import circle
from mercer.preimage import Smoother, as_preimage
from mercer.testing import check_preimage
from tests import naive_generative as naive


@pytest.mark.parametrize("eta", [1.0, 4.0])
def test_similarities_and_points_are_the_papers(rng, eta):
    X = rng.standard_normal((25, 3))
    K = naive.centred_gram(X, 0.3)
    H, lam = naive.hidden_units(K, 4, eta)
    model = GenerativeKernelPCA(
        4, kernel=Gaussian(gamma=0.3), eta=eta, preimage=KernelSmoother(6), solver="dense"
    ).fit(X)
    H *= np.sign((H * model.hidden_).sum(axis=0))
    assert_allclose(model.hidden_, H, atol=1e-9)
    assert_allclose(model.rkm_.lam, lam)
    h_star = 0.2 * rng.standard_normal((3, 4))
    for h, similarity, point in zip(
        h_star, model.similarities(h_star), model.generate(h_star), strict=True
    ):
        wanted = naive.similarities(K, H, h, eta)
        assert_allclose(similarity, wanted, atol=1e-10)
        assert_allclose(point, naive.smooth(wanted, X, 6), atol=1e-9)


def test_denoised_similarities_are_eq_7(rng):
    X = rng.standard_normal((20, 2))
    K = naive.centred_gram(X, 0.5)
    H, _ = naive.hidden_units(K, 5)
    model = GenerativeKernelPCA(5, kernel=Gaussian(gamma=0.5), solver="dense").fit(X)
    assert_allclose(model.similarities(model.hidden_), K @ H @ H.T, atol=1e-9)


@pytest.mark.parametrize("by", ["similarity", "distance"])
def test_neighbours(by, rng):
    X = rng.standard_normal((40, 2))
    model = KernelPCA(3).fit(X)
    Z = model.transform(X)
    bound = KernelSmoother(5, by=by).init(model.subspace_)
    some, weight = bound.ranked(Z[:4], 5)
    for i in range(4):
        key = -(Z @ Z[i]) if by == "similarity" else ((Z - Z[i]) ** 2).sum(axis=1)
        assert_allclose(some[i], np.argsort(key)[:5])
        assert_allclose(weight[i], scaled_similarities(Z[i : i + 1] @ Z.T)[0][some[i]], atol=1e-12)


def test_points_stay_in_the_hull(rng):
    X = rng.uniform(0, 1, (50, 4))
    model = GenerativeKernelPCA(5, preimage=KernelSmoother(7), random_state=0).fit(X)
    found = model.generate(10 * rng.standard_normal((30, 5)))
    assert (found >= X.min(axis=0)).all()
    assert (found <= X.max(axis=0)).all()


def test_all_points_and_equal_similarities(rng):
    X = rng.standard_normal((12, 2))
    model = KernelPCA(2).fit(X)
    bound = KernelSmoother(100).init(model.subspace_)
    assert bound.count == 12
    # The mean of feature space is equally similar to all points: their plain mean.
    assert_allclose(bound.solve(np.zeros((1, 2))).points, [X.mean(axis=0)], atol=1e-9)


@pytest.mark.parametrize("by", ["similarity", "distance"])
def test_auto_size_denoises_the_circle(by, rng):
    scene = circle(rng)
    model = GenerativeKernelPCA(2, kernel=Gaussian(sigma=1.0)).fit(scene.points)
    clean = model.denoise(scene.points, smoother=KernelSmoother(by=by))
    assert scene.distance(clean) < 0.6 * scene.distance(scene.points)
    if by == "similarity":
        assert scene.distance(clean) < 0.08


def test_auto_size_grows_with_the_noise(rng):
    X = rng.standard_normal((300, 2))
    subspace = KernelPCA(5).fit(X).subspace_
    sizes = [KernelSmoother(noise=noise).init(subspace).count for noise in (0.01, 1.0)]
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_auto_size_of_few_rows(n, rng):
    model = KernelPCA(1).fit(rng.standard_normal((n, 2)))
    assert 1 <= KernelSmoother().init(model.subspace_).count <= n


def test_contract_of_a_preimage():
    check_preimage(KernelSmoother(5))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (KernelSmoother(0), "n_neighbors=0"),
        (KernelSmoother("all"), "n_neighbors='all'"),
        (KernelSmoother(by="name"), "by='name'"),
        (KernelSmoother(noise=-1), "noise=-1"),
    ],
)
def test_mistakes_are_named(wrong, message, rng):
    model = KernelPCA(1).fit(rng.standard_normal((9, 2)))
    with pytest.raises(DataError, match=message):
        wrong.init(model.subspace_)


def test_objects_have_no_mean():
    model = KernelPCA(1, kernel=FunctionKernel(lambda a, b: len(set(a) & set(b))))
    with pytest.raises(KernelError, match="nearest"):
        KernelSmoother(2).init(model.fit(["abc", "abd", "xyz"]).subspace_)


def test_one_class_by_two_names():
    assert Smoother is KernelSmoother
    assert isinstance(as_preimage("smoother"), KernelSmoother)


@pytest.mark.parametrize("preimage", ["smoother", Smoother(150), KernelSmoother(150)], ids=repr)
def test_the_circle_of_the_paper_by_either_name(preimage):
    """Figure 1 (a): .24 before, .148 with the mean left in the similarities, .07 as printed."""
    apart = []
    for seed in range(3):
        scene = circle(np.random.default_rng(seed))
        model = KernelPCA(2, kernel=Gaussian(sigma=1.0), preimage=preimage).fit(scene.points)
        apart.append(scene.distance(model.denoise(scene.points, match_noise=False)))
    assert np.mean(apart) < 0.09


@pytest.mark.parametrize("kernel", [Polynomial(3, gamma="scale"), Laplacian(), Cosine()], ids=repr)
def test_the_nearest_restore_digits_with_any_kernel(kernel):
    """Inner products that keep the mean took the longest rows: 2.6 for the polynomial kernel."""
    digits = load_digits().data / 16
    X, new = digits[:600], digits[600:650]
    noisy = new + 0.3 * np.random.default_rng(0).standard_normal(new.shape)
    subspace = KernelPCA(20, kernel=kernel, solver="dense").fit(X).subspace_
    clean = Smoother(10, by="nearest").init(subspace).solve(subspace.scores(noisy)).points
    assert ((clean - new) ** 2).sum(axis=1).mean() < 1.7


def test_auto_size_of_histograms(rng):
    """The noise that it adds leaves no negative entries, which the kernel would refuse."""
    X = rng.gamma(0.3, size=(80, 4))
    assert Smoother().init(KernelPCA(3, kernel=Chi2()).fit(X).subspace_).count >= 1
