"""Loops of pre-images, imputation and reweighting: each ends at its bound, and says so."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer import KernelPCA, MissingKernelPCA
from mercer._base.numbers import fixed_rng
from mercer.exceptions import ConvergenceWarning
from mercer.kernels import Gaussian, Laplacian
from mercer.preimage import FixedPoint, Gradient, PreImages, PreImageSolver
from mercer.preimage.base import BoundPreImage
from mercer.robust import Hampel, Imputer, fill_missing, impute, reweight


@pytest.fixture
def X(rng):
    angle = rng.uniform(0, 2 * np.pi, 60)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((60, 2))


@pytest.fixture
def model(X):
    return KernelPCA(5, kernel=Gaussian(width=0.7), solver="dense").fit(X)


@pytest.mark.parametrize("max_iter", [1, 2, 15])
@pytest.mark.parametrize(
    "solver", [FixedPoint(0.0), FixedPoint(0.0, accelerate=False), Gradient(0.0)], ids=repr
)
def test_pre_images_that_run_out_of_steps(solver, max_iter, model, X):
    """With tolerance zero: only a step or a slope that is nothing but rounding converges."""
    start = X + 0.3
    bound = solver.set_params(max_iter=max_iter).init(model.subspace_)
    found = bound.solve(model.transform(start), start)
    assert (found.status == "iteration limit").any()
    assert set(found.status) <= {"iteration limit", "stalled", "converged"}
    if isinstance(solver, FixedPoint):
        assert (found.iterations <= max_iter).all()
    assert_array_equal(found.converged, found.status == "converged")


def test_steps_back_without_end_are_a_stall(X):
    """A kink: no halving of the step lowers the objective."""
    model = KernelPCA(5, kernel=Laplacian(1.0), solver="dense").fit(X)
    found = Gradient(0.0).init(model.subspace_).solve(model.transform(X), X)
    assert (found.status == "stalled").any()
    assert not found.converged.any()


def test_early_stop_is_said(model, X):
    found = FixedPoint(early_stop=1).init(model.subspace_).solve(model.transform(X), X + 0.3)
    assert set(found.status) == {"stopped early"}
    assert (found.iterations == 1).all()


class Fails(PreImageSolver):
    """Gives every point back, and says that it failed."""

    def init(self, subspace):
        class Bound(BoundPreImage):
            def solve(self, Z, start=None):
                return PreImages.direct(start, np.zeros(len(Z), bool))

        return Bound()


def test_imputation_at_its_bound_or_on_a_failing_solver(model, X):
    rows = X[:6].copy()
    rows[:4, 1] = np.nan
    found = impute(model.subspace_, rows, limits=Imputer(tol=0.0, max_iter=3))
    assert_array_equal(found.status, ["iteration limit"] * 4 + ["converged"] * 2)
    assert_array_equal(found.iterations, [3, 3, 3, 3, 0, 0])
    failed = impute(model.subspace_, rows, Fails())
    assert_array_equal(failed.status, ["failed"] * 4 + ["converged"] * 2)
    assert_array_equal(failed.converged, found.converged)


def test_filling_in_says_when_its_rounds_are_over(X):
    rows = X.copy()
    rows[::3, 1] = np.nan
    with pytest.warns(ConvergenceWarning, match=r"after 1 rounds \(tol=0.02\)"):
        MissingKernelPCA(KernelPCA(5), random_state=0, max_iter=1).fit(rows)

    def learn(filled):
        model = KernelPCA(5, kernel=Gaussian(width=0.7)).fit(filled)
        return model.subspace_, model.explained_variance_

    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        _, changes, _ = fill_missing(learn, rows, np.random.default_rng(0), rounds=2, tol=0.0)
    assert len(changes) == 2


def test_rounds_of_reweighting_end_at_their_bound(X):
    def learn(index, weights):
        model = KernelPCA(5, kernel=Gaussian(width=0.7))
        return model.fit(X[index], sample_weight=weights).subspace_

    rounds = [
        reweight(learn, X, Gaussian(), Hampel(), fixed_rng(0), max_iter=count, tol=tol)
        for count, tol in [(1, -1.0), (3, -1.0), (3, 1.0)]
    ]
    assert [found.converged for found in rounds] == [False, False, True]
    assert [len(found.changes) for found in rounds] == [1, 3, 1]
