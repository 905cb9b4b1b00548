"""The other ways back: each against its paper, and all of them against the contract."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA
from mercer._base import catalogue
from mercer.exceptions import KernelError
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
)
from mercer.preimage import (
    Auto,
    Distances,
    FixedPoint,
    Gradient,
    InverseDot,
    Nearest,
    PreImageSolver,
    Ridge,
    Smoother,
    as_preimage,
)
from mercer.preimage.nearest import SupportScores
from mercer.preimage.ridge import _leave_one_out
from mercer.testing import check_preimage
from tests import naive_preimage as naive
from tests.preimage.conftest import fitted, ring

GAUSSIAN = Gaussian(width=1.5)
ALL = [Auto(), Distances(5), FixedPoint(), Gradient(), Nearest(), Ridge(), Smoother(5)]


def name_of(solver):
    return type(solver).__name__


def word_of(solver, start):
    """Only a method that iterates converges."""
    chosen = solver
    if isinstance(solver, Auto):
        chosen = FixedPoint() if start else Ridge()
    return "converged" if isinstance(chosen, FixedPoint | Gradient) else "direct"


def run(solver, subspace, X, start=True):
    return solver.init(subspace).solve(subspace.scores(X), X if start else None)


@pytest.mark.parametrize("name", sorted(set(catalogue.PREIMAGES) - {"combination"}))
def test_contract_of_the_catalogue(name):
    check_preimage(as_preimage(name))  # a combination is of sparse rows


@pytest.mark.parametrize("solver", ALL, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_contract(solver, dtype):
    subspace, X = fitted(GAUSSIAN, dtype=dtype)
    for start in (True, False):
        found = run(solver, subspace, X, start)
        assert found.points.shape == X.shape
        assert found.points.dtype == dtype
        assert len(found) == len(X)
        assert found.converged.all()
        assert set(found.status) == {word_of(solver, start)}
        alone = np.concatenate([run(solver, subspace, X[i : i + 1], start).points for i in (0, 7)])
        assert_allclose(found.points[[0, 7]], alone, atol=2e-6 if dtype == np.float64 else 2e-3)


@pytest.mark.parametrize("solver", ALL, ids=name_of)
def test_order_of_the_rows_does_not_matter(solver, rng):
    subspace, X = fitted(GAUSSIAN)
    order = rng.permutation(len(X))
    assert_allclose(
        run(solver, subspace, X[order]).points, run(solver, subspace, X).points[order], atol=1e-5
    )


@pytest.mark.parametrize(
    "solver", [FixedPoint(tol=1e-10), Gradient(tol=1e-9), Nearest(), Distances(8)], ids=name_of
)
def test_the_image_of_a_training_point_returns_to_it(solver):
    # A point and a kernel row determine each other as long as no component is dropped.
    subspace, _ = fitted(GAUSSIAN, q=None, n=30)
    X = subspace.support
    assert_allclose(run(solver, subspace, X).points, X, atol=2e-4)


def test_nearest_is_the_nearest():
    subspace, X = fitted(GAUSSIAN)
    found = run(Nearest(), subspace, X)
    for z, point in zip(subspace.scores(X), found.points, strict=True):
        best = naive.nearest(GAUSSIAN, subspace.support, naive.expansion(subspace, z))
        assert_array_equal(point, subspace.support[best])


def test_support_scores_are_scores():
    subspace, _ = fitted(Cauchy(1.0))
    known = SupportScores(subspace)
    scores, residual = subspace.scores_and_residual(subspace.support)
    assert_allclose(known.scores, scores, atol=1e-12)
    assert_allclose(known.residual, residual, atol=1e-12)


@pytest.mark.parametrize("center", [True, False])
def test_nearest_of_a_precomputed_kernel_is_an_index(center, rng):
    X, new = ring(50, rng), ring(9, rng)
    weight = rng.uniform(0.5, 2, 50) if center else None
    usual = KernelPCA(8, kernel=GAUSSIAN, center=center, solver="dense").fit(
        X, sample_weight=weight
    )
    model = KernelPCA(8, kernel="precomputed", center=center, solver="dense")
    model.fit(GAUSSIAN(X), sample_weight=weight)
    index = model.denoise(GAUSSIAN(new, X))
    Z, own = usual.transform(new), usual.transform(X)
    expected = ((Z[:, None] - own) ** 2).sum(axis=2).argmin(axis=1)
    assert_array_equal(index, expected)
    assert np.isnan(model.preimages(GAUSSIAN(new, X)).objective).all()


def test_precomputed_scores_that_cannot_be_known_are_refused(rng):
    X = ring(50, rng)
    model = KernelPCA(8, kernel="precomputed", center=False, solver="dense")
    model.fit(GAUSSIAN(X), sample_weight=rng.uniform(0.1, 5, 50))
    with pytest.raises(KernelError, match="FunctionKernel"):
        model.denoise(GAUSSIAN(X))


@pytest.mark.parametrize("by", ["similarity", "distance", "nearest"])
def test_smoother_is_equation_8(by):
    subspace, X = fitted(GAUSSIAN)
    found = run(Smoother(7, by=by), subspace, X).points
    K, own = GAUSSIAN(subspace.support), subspace.scores(subspace.support)
    for z, point in zip(subspace.scores(X), found, strict=True):
        gamma = naive.expansion(subspace, z)
        similarity = K @ (gamma - subspace.mean)  # centred, up to a constant
        apart = {
            "similarity": -similarity,
            "distance": ((own - z) ** 2).sum(axis=1),
            "nearest": np.diag(K) - 2 * K @ gamma,
        }
        expected = naive.smoother(similarity, apart[by], subspace.support, 7)
        assert_allclose(point, expected, atol=1e-10)
    assert (found.min(axis=0) >= subspace.support.min(axis=0)).all()


def test_distances_are_kwok_and_tsang():
    subspace, X = fitted(GAUSSIAN)
    found = run(Distances(6), subspace, X).points
    for z, point in zip(subspace.scores(X), found, strict=True):
        gamma = naive.expansion(subspace, z)
        expected = naive.kwok_tsang(1 / 1.5**2, GAUSSIAN, subspace.support, gamma, 6)
        assert_allclose(point, expected, atol=1e-6)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3)], ids=repr)
def test_distances_from_dot_products_are_exact_where_a_pre_image_exists(kernel, rng):
    X = rng.standard_normal((60, 3))
    subspace = KernelPCA(kernel=kernel, solver="dense").fit(X).subspace_
    new = rng.standard_normal((9, 3))
    assert_allclose(run(Distances(8), subspace, new).points, new, atol=1e-5)


def test_ridge_is_ridge_regression():
    subspace, X = fitted(GAUSSIAN)
    kernel, Z_train = Gaussian(gamma=2.0), subspace.scores(subspace.support)
    found = run(Ridge(kernel, alpha=1e-3), subspace, X).points
    for z, point in zip(subspace.scores(X), found, strict=True):
        expected = naive.ridge(kernel, Z_train, subspace.support, 1e-3, z)
        assert_allclose(point, expected, atol=1e-8)


@pytest.mark.parametrize("alpha", [1e-4, 1e-1])
def test_leave_one_out_leaves_one_out(alpha):
    subspace, _ = fitted(GAUSSIAN, n=25)
    kernel, Z = Gaussian(gamma=2.0), subspace.scores(subspace.support)
    quick = _leave_one_out(kernel(Z), subspace.support, (alpha,))[0]
    assert quick == pytest.approx(naive.ridge_leave_one_out(kernel, Z, subspace.support, alpha))


def test_ridge_chooses_better_than_a_bad_width_and_keeps_the_mean(rng):
    X = ring(120, rng) + 100.0
    subspace = KernelPCA(6, kernel=GAUSSIAN, solver="dense").fit(X).subspace_
    new = ring(40, rng) + 100.0
    chosen = ((run(Ridge(), subspace, new).points - new) ** 2).mean()
    bad = ((run(Ridge(Gaussian(gamma=1e3)), subspace, new).points - new) ** 2).mean()
    assert chosen < 0.3 * bad
    far = run(Ridge(alpha=1e6), subspace, new).points  # all penalty: the mean remains
    assert_allclose(far, np.broadcast_to(X.mean(axis=0), far.shape), atol=1e-2)


def test_gradient_finds_the_fixed_points(radial):
    subspace, X = fitted(radial)
    by_gradient = run(Gradient(tol=1e-9), subspace, X)
    by_iteration = run(FixedPoint(tol=1e-10, max_iter=3000), subspace, X)
    assert by_gradient.converged.all()
    assert_allclose(by_gradient.points, by_iteration.points, atol=1e-5)


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(2),
        Polynomial(3, gamma=0.5),
        Sigmoid(0.01),
        Cosine(),
        0.5 * Gaussian(1.0) + Polynomial(2),
        Gaussian(1.0) * Cauchy(2.0),
        3.0 * Matern(1.0, nu=2.5),
    ],
    ids=repr,
)
def test_gradient_ends_where_the_gradient_vanishes(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sigmoid is indefinite
        subspace, X = fitted(kernel, q=3)
    found = run(Gradient(tol=1e-9), subspace, X)
    assert found.converged.all()
    for i in range(5):
        gamma = naive.expansion(subspace, subspace.scores(X)[i])
        S = subspace.support
        slope = naive.difference_gradient(kernel, S, gamma, found.points[i])
        assert np.linalg.norm(slope) < 1e-5
        lower = naive.objective(kernel, S, gamma, found.points[i])
        assert lower <= naive.objective(kernel, S, gamma, X[i]) + 1e-9


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("kernel", [Gaussian(), Matern(), Cosine()], ids=repr)
def test_gradient_takes_the_same_steps_in_any_unit(kernel, scale, rng):
    """Squares of slopes and of steps neither overflow nor vanish; nothing runs to its limit."""
    X = ring(60, rng) + 3.0
    model = KernelPCA(2, kernel=kernel, preimage=Gradient(), solver="dense")
    plain, scaled = (model.fit(X * unit).preimages(X[:6] * unit) for unit in (1.0, scale))
    assert_array_equal(scaled.iterations, plain.iterations)
    assert scaled.converged.all()
    assert_allclose(scaled.points / scale, plain.points, rtol=1e-9)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
@pytest.mark.parametrize("solver", [Gradient(), FixedPoint(), Auto(), Nearest()], ids=name_of)
def test_a_factor_before_the_kernel_changes_no_point(solver, factor, rng):
    X, options = ring(200, rng), {"center": False, "preimage": solver, "solver": "dense"}
    plain, scaled = (
        KernelPCA(4, kernel=kernel, **options).fit(X).preimages(X[:9])
        for kernel in (GAUSSIAN, factor * GAUSSIAN)
    )
    assert scaled.converged.all()
    assert_allclose(scaled.points, plain.points, atol=1e-5)
    assert_allclose(scaled.objective / factor, plain.objective, atol=1e-9)


def test_gradient_says_when_it_stalls_or_runs_out():
    subspace, X = fitted(GAUSSIAN)
    found = run(Gradient(tol=1e-9, max_iter=1), subspace, X)
    assert not found.converged.any()
    assert set(found.status) <= {"iteration limit", "stalled"}
    subspace, X = fitted(Laplacian(1.0))  # kinks
    found = run(Gradient(max_iter=60), subspace, X)
    assert np.isfinite(found.points).all()
    assert_array_equal(found.converged, found.status == "converged")


def test_histograms_stay_histograms(rng):
    X = rng.gamma(2.0, size=(60, 4))
    subspace = KernelPCA(5, kernel=Chi2(0.2), solver="dense").fit(X).subspace_
    for solver in (Gradient(max_iter=40), Auto()):
        found = run(solver, subspace, rng.gamma(2.0, size=(7, 4)))
        assert (found.points >= 0).all()


@pytest.mark.parametrize(
    ("kernel", "atol"),
    [(Linear(), 1e-10), (Polynomial(3), 1e-7), (Polynomial(5, gamma=0.3), 1e-5)],
    ids=repr,
)
def test_inverse_dot_is_exact_where_a_pre_image_exists(kernel, atol, rng):
    X = rng.standard_normal((300, 3))
    subspace = KernelPCA(kernel=kernel, solver="dense").fit(X).subspace_
    new = 0.5 * rng.standard_normal((9, 3))  # all polynomials are in the span: any point has one
    assert_allclose(run(InverseDot(), subspace, new).points, new, atol=atol)


def test_inverse_dot_refuses_even_powers_and_survives_impossible_values():
    subspace, _ = fitted(Polynomial(2))
    with pytest.raises(KernelError, match="odd degree"):
        InverseDot().init(subspace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subspace, X = fitted(Sigmoid(0.01), q=2)
    Z = 1e6 * subspace.scores(X)  # tanh beyond 1
    found = InverseDot().init(subspace).solve(Z)
    assert np.isfinite(found.points).all()
    assert set(found.status) == {"failed"}
    assert not found.converged.any()


@pytest.mark.parametrize(
    ("kernel", "with_start", "without"),
    [
        (Gaussian(1.0), FixedPoint, Ridge),
        (Matern(1.0), FixedPoint, Ridge),
        (Linear(), InverseDot, InverseDot),
        (Polynomial(3), Gradient, Ridge),
        (Polynomial(2), Gradient, Ridge),
        (Laplacian(1.0), Smoother, Ridge),
        (Cosine(), Smoother, Ridge),
        (Gaussian(1.0) + Cauchy(1.0), Gradient, Ridge),
        (2.0 * Gaussian(1.0) * Laplacian(1.0), Smoother, Ridge),
    ],
    ids=repr,
)
def test_auto_follows_its_rule_and_works(kernel, with_start, without):
    subspace, X = fitted(kernel, q=3)
    assert isinstance(Auto().choose(subspace, has_start=True), with_start)
    assert isinstance(Auto().choose(subspace, has_start=False), without)
    for start in (True, False):
        found = run(Auto(), subspace, X, start)
        assert (found.converged | (found.status == "not a minimum")).all()
        assert np.isfinite(found.points).all()


def test_auto_on_objects():
    words = ["abc", "abd", "xyz", "xyw", "abz"]
    shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
    model = KernelPCA(2, kernel=shared).fit(words)
    assert isinstance(Auto().choose(model.subspace_, has_start=True), Nearest)
    assert set(model.denoise(["abq", "xyq"])) <= set(words)
    with pytest.raises(KernelError, match="nearest"):
        Ridge().init(model.subspace_)


def test_one_door_for_strings():
    for name in ("auto", "fixed_point", "gradient", "distances", "ridge", "smoother", "nearest"):
        solver = as_preimage(name)
        assert isinstance(solver, PreImageSolver)
        assert type(solver).__name__.lower() == name.replace("_", "")
    solver = Smoother(3)
    assert as_preimage(solver) is solver
    with pytest.raises(KernelError, match=r"'magic'.*'fixed_point'"):
        as_preimage("magic")
