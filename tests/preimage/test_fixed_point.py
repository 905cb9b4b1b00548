"""Mika's iteration: the textbook's points, however they are batched, accelerated or disturbed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer.exceptions import KernelError
from mercer.kernels import Gaussian, Polynomial
from mercer.preimage import FixedPoint, fixed_point
from tests import naive_preimage as naive
from tests.preimage.conftest import fitted

TIGHT = FixedPoint(tol=1e-11, max_iter=3000)


def solve(subspace, X, solver=TIGHT):
    return solver.init(subspace).solve(subspace.scores(X), X)


def test_is_the_textbook_iteration(radial):
    subspace, X = fitted(radial)
    found = solve(subspace, X)
    Z = subspace.scores(X)
    assert found.converged.all()
    for i in range(4):
        gamma = naive.expansion(subspace, Z[i])
        expected = naive.fixed_point(radial, subspace.support, gamma, X[i])
        assert_allclose(found.points[i], expected, atol=1e-9)


def test_points_are_stationary(radial):
    subspace, X = fitted(radial)
    found = solve(subspace, X)
    Z = subspace.scores(X)
    for i in range(6):
        gamma = naive.expansion(subspace, Z[i])
        slope = naive.difference_gradient(radial, subspace.support, gamma, found.points[i])
        before = naive.difference_gradient(radial, subspace.support, gamma, X[i])
        assert np.linalg.norm(slope) < 1e-7 < 1e-3 * np.linalg.norm(before)


def test_without_the_mean_in_gamma_the_points_would_differ():
    subspace, X = fitted(Gaussian(width=1.5))
    Z = subspace.scores(X)
    without = replace(subspace, mean=np.zeros_like(subspace.mean))
    right = solve(subspace, X).points
    wrong = TIGHT.init(without).solve(Z, X).points
    assert np.abs(right - wrong).max() > 0.1


def test_a_batch_is_the_loop(radial):
    subspace, X = fitted(radial)
    together = solve(subspace, X)
    alone = [solve(subspace, X[i : i + 1]) for i in range(len(X))]
    assert_allclose(together.points, np.concatenate([one.points for one in alone]), atol=1e-10)
    assert_array_equal(together.iterations, [one.iterations[0] for one in alone])


@pytest.mark.parametrize("rows", [1, 3, 1000])
@pytest.mark.parametrize("sweeps", [1, 2, 50])
@pytest.mark.parametrize("thin", [0.0, 1.0])
def test_batching_changes_nothing(monkeypatch, rows, sweeps, thin):
    subspace, X = fitted(Gaussian(width=1.5))
    usual = solve(subspace, X)
    monkeypatch.setattr(fixed_point, "ROWS", (rows, rows))
    monkeypatch.setattr(fixed_point, "SWEEPS", sweeps)
    monkeypatch.setattr(fixed_point, "THIN", thin)
    other = solve(subspace, X)
    assert_allclose(other.points, usual.points, atol=1e-12)
    assert_array_equal(other.iterations, usual.iterations)


def test_acceleration_finds_the_same_points_in_fewer_sweeps(radial):
    subspace, X = fitted(radial, q=3)
    fast = solve(subspace, X)
    slow = solve(subspace, X, FixedPoint(tol=1e-11, max_iter=3000, accelerate=False))
    assert_allclose(fast.points, slow.points, atol=1e-8)
    assert fast.iterations.mean() < 0.85 * slow.iterations.mean()


def test_a_leap_that_lowers_the_objective_is_undone(monkeypatch):
    subspace, X = fitted(Gaussian(width=1.5))
    slow = solve(subspace, X, FixedPoint(tol=1e-9, accelerate=False))
    calls = []

    def astray(self, rows, image):
        calls.append(len(rows))
        return image + 0.3  # far from anything that would raise the objective

    monkeypatch.setattr(fixed_point._Points, "extrapolate", astray)
    found = solve(subspace, X, FixedPoint(tol=1e-9))
    assert sum(calls) > 0
    assert found.converged.all()
    assert_allclose(found.points, slow.points, atol=1e-7)


def test_float32_is_float32_and_close(radial):
    double, X = fitted(radial)
    single, _ = fitted(radial, dtype=np.float32)
    found = FixedPoint().init(single).solve(single.scores(X.astype("f")), X.astype("f"))
    assert found.points.dtype == np.float32
    assert found.converged.all()
    assert_allclose(found.points, solve(double, X).points, atol=2e-3)


def test_an_offset_of_the_data_costs_no_digits():
    subspace, X = fitted(Gaussian(width=1.5))
    offset = 2.0**24
    moved = replace(subspace, support=subspace.support + offset)
    moved_points = TIGHT.init(moved).solve(subspace.scores(X), X + offset).points
    assert_allclose(moved_points - offset, solve(subspace, X).points, atol=1e-7)


def test_returns_a_training_point_to_itself_when_nothing_is_dropped(radial):
    subspace, _ = fitted(radial, q=None)
    X = subspace.support
    found = TIGHT.init(subspace).solve(subspace.scores(X), X)
    assert_allclose(found.points, X, atol=1e-6)
    assert found.measured(subspace, subspace.scores(X)).objective.max() < 1e-10


def test_early_stop_takes_exactly_so_many_steps():
    subspace, X = fitted(Gaussian(width=1.5))
    found = solve(subspace, X, FixedPoint(early_stop=2))
    gamma = naive.expansion(subspace, subspace.scores(X)[0])
    expected = naive.fixed_point(subspace.kernel, subspace.support, gamma, X[0], max_iter=2)
    assert_allclose(found.points[0], expected, atol=1e-6)
    assert set(found.status) == {"stopped early"}
    assert not found.converged.any()


def test_input_weight_holds_the_point_near_the_noisy_one():
    subspace, X = fitted(Gaussian(width=1.5))
    held = solve(subspace, X, FixedPoint(tol=1e-11, input_weight=0.5, max_iter=3000))
    free = solve(subspace, X)
    gamma = naive.expansion(subspace, subspace.scores(X)[1])
    expected = naive.fixed_point(subspace.kernel, subspace.support, gamma, X[1], hold=0.5)
    assert_allclose(held.points[1], expected, atol=1e-9)
    assert (np.linalg.norm(held.points - X, axis=1) < np.linalg.norm(free.points - X, axis=1)).all()


def test_iteration_limit_is_not_convergence():
    subspace, X = fitted(Gaussian(width=1.5))
    found = solve(subspace, X, FixedPoint(tol=1e-12, max_iter=2))
    assert set(found.status) == {"iteration limit"}
    assert not found.converged.any()
    assert (found.iterations == 2).all()


def test_a_limit_returns_the_last_point_that_was_judged(radial):
    subspace, X = fitted(radial)
    Z = subspace.scores(X)
    limited = [solve(subspace, X, FixedPoint(tol=1e-14, max_iter=k)) for k in range(1, 12)]
    errors = np.array([found.measured(subspace, Z).objective for found in limited])
    assert (np.diff(errors, axis=0) <= 1e-12).all()


def test_mismatch_names_kernel_and_remedy():
    subspace, _ = fitted(Polynomial(2))
    with pytest.raises(KernelError, match=r"RadialKernel.*Polynomial.*gradient"):
        FixedPoint().init(subspace)
    subspace, _ = fitted(Gaussian(width=1.5))
    for wrong in ({"input_weight": -1}, {"early_stop": 0}, {"max_iter": 0}, {"tol": np.nan}):
        with pytest.raises(KernelError, match="of at least 1"):
            FixedPoint(**wrong).init(subspace)


def truthful(subspace, Z, found):
    """Every point is finite; each that claims so is a fixed point of a map with positive weight."""
    assert np.isfinite(found.points).all()
    sweep = FixedPoint().init(subspace).sweep
    Y = sweep.to_shifted(found.points)
    seen = sweep(Y, sweep.coefficients(Z))
    image = seen.pull / np.where(seen.weight == 0, 1, seen.weight)[:, None]
    step = np.linalg.norm(image - Y, axis=1) / sweep.scale
    claims = found.converged
    assert (step[claims] < 2e-5).all()
    assert (seen.weight[claims] > 0).all()
    assert_array_equal(claims, np.isin(found.status, ["converged", "restarted"]))


def test_ten_thousand_hostile_starts():
    subspace, _ = fitted(Gaussian(width=0.6), q=12)
    rng = np.random.default_rng(3)
    m, q = subspace.support.shape[0], subspace.n_components
    train = subspace.scores(subspace.support)
    own = rng.integers(m, size=10_000)
    Z, X = train[own], subspace.support[own]  # exactly on a training point
    X[2000:4000] = 10.0 ** rng.uniform(1, 12, (2000, 1)) * rng.standard_normal((2000, 3))
    Z[4000:6000] = 10.0 ** rng.uniform(-3, 6, (2000, 1)) * rng.standard_normal((2000, q))
    Z[6000:8000] *= -rng.uniform(1, 50, (2000, 1))  # negative denominators
    Z[8000:9000] = 0
    X[9000:] = subspace.support[rng.integers(m, size=1000)]  # on another training point
    found = FixedPoint().init(subspace).solve(Z, X)
    truthful(subspace, Z, found)
    assert {"converged", "restarted"} <= set(found.status)
    assert found.converged[:2000].all()


def test_codes_against_everything_fail_finitely():
    subspace, X = fitted(Gaussian(width=1.5), center=False)
    # -Φγ has a negative inner product with every point: there is no pre-image to be found.
    Z = -np.abs(subspace.scores(X))
    Z[:, 1:] = 0
    against = replace(subspace, coef=np.abs(subspace.coef))
    found = FixedPoint().init(against).solve(Z, X)
    assert np.isfinite(found.points).all()
    assert set(found.status) == {"failed"}
    assert not found.converged.any()


@given(
    shift=st.floats(-1e6, 1e6),
    stretch=st.sampled_from([1e-6, 1.0, 1e6]),
    seed=st.integers(0, 20),
)
def test_moves_and_scales_with_the_data(shift, stretch, seed):
    subspace, X = fitted(Gaussian(width=1.5))
    X = X[seed % 5 :]
    scaled = replace(
        subspace,
        kernel=Gaussian(width=1.5 * stretch),
        support=subspace.support * stretch + shift * stretch,
    )
    start = X * stretch + shift * stretch
    found = FixedPoint(tol=1e-9).init(scaled).solve(subspace.scores(X), start).points
    expected = solve(subspace, X, FixedPoint(tol=1e-9)).points
    assert_allclose(found / stretch - shift, expected, atol=1e-6 + 1e-8 * abs(shift))
