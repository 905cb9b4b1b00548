"""The search for a number of kernels, and the default noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.exceptions import RankWarning
from mercer.kernels import Gaussian
from mercer.sparse import MM, Greedy, KernelRows, noise
from mercer.sparse.base import BoundSelection, span
from mercer.sparse.noise import (
    MAX_FITS,
    MORE_FITS,
    choose_kernels,
    default_variance,
    for_count,
)


@pytest.fixture
def bound(rng):
    return Greedy().bind(KernelRows(Gaussian(width=1.5), rng.standard_normal((120, 3)), rng), None)


@pytest.mark.parametrize("wanted", [1, 2, 7, 20, 45])
def test_the_number_is_met_exactly(bound, wanted):
    found, fits = for_count(bound, wanted)
    assert len(found) == wanted == len(found.indices) == len(found.points)
    assert fits <= MAX_FITS + MORE_FITS
    assert np.abs(found.likelihood.ratio - 1).max() <= 1e-6


def test_more_than_there_are_is_said_so(rng):
    X = np.repeat(rng.standard_normal((5, 2)), 6, axis=0)
    bound = Greedy().bind(KernelRows(Gaussian(width=1.0), X, rng), None)
    with pytest.warns(RankWarning, match="only 5"):
        found, _ = for_count(bound, 12)
    assert len(found) == 5


def test_many_rows_are_searched_by_a_sample(rng, monkeypatch):
    """The number is met exactly, by a few fits to all rows, and the kernels are as good."""
    monkeypatch.setattr(noise, "SEARCHED_ROWS", 100)
    X = rng.standard_normal((400, 3))
    rows = KernelRows(Gaussian(width=1.5), X, rng)
    sizes = []
    bind = Greedy.bind

    def counted(self, rows, n_kernels):
        sizes.append(rows.n)
        return bind(self, rows, n_kernels)

    monkeypatch.setattr(Greedy, "bind", counted)
    found, _ = choose_kernels(rows, Greedy(), 10, None)
    assert len(found) == 10
    assert sizes == [400, 100]
    whole, _ = for_count(bind(Greedy(), rows, None), 10)
    assert span_loss(rows, found) < 1.1 * span_loss(rows, whole)


def span_loss(rows, chosen):
    """Mean of eq. (18) over the rows."""
    return float(span(rows.kernel, chosen.points).residual(rows.X).mean())


def test_the_search_begins_where_the_last_fit_ended(bound, monkeypatch):
    """At a smaller noise most of the kernels are those of the larger one."""
    solve, steps = type(bound).solve, {"from nothing": 0, "from a fit": 0}

    def counted(self, variance, limit=None, start=None):
        assert start is None or start.variance > variance
        found = solve(self, variance, limit, start)
        steps["from a fit"] += found.steps
        steps["from nothing"] += solve(self, variance, limit).steps
        return found

    monkeypatch.setattr(type(bound), "solve", counted)
    found, _ = for_count(bound, 20)
    assert len(found) == 20
    assert steps["from a fit"] < 0.6 * steps["from nothing"]


def test_iterations_on_the_weights_of_all_rows_need_no_start(rng):
    rows = KernelRows(Gaussian(width=1.5), rng.standard_normal((40, 3)), rng)
    bound = MM(max_iter=20).bind(rows, None)
    cold, warm = (bound.solve(0.05, start=start) for start in (None, bound.solve(0.1)))
    assert_array_equal(warm.weights, cold.weights)


class _Jumps(BoundSelection):
    """Never returns the number that is asked for."""

    def __init__(self, bound, never):
        self.bound, self.never, self.rows = bound, never, bound.rows

    @property
    def largest_variance(self):
        return self.bound.largest_variance

    def solve(self, variance, limit=None, start=None):
        found = self.bound.solve(variance, limit, start)
        while len(found) == self.never:
            variance *= 0.95
            found = self.bound.solve(variance)
        return found


def test_a_number_that_is_jumped_over_is_thinned_to(bound):
    found, _ = for_count(_Jumps(bound, 15), 15)
    assert len(found) == 15
    assert "thinned" in found.note
    assert np.abs(found.likelihood.ratio - 1).max() <= 1e-6
    assert found.kkt > 0  # one of the kernels that had to go would like to return


def test_default_is_a_hundredth_of_the_mean_square_length(bound):
    assert_allclose(default_variance(bound), 0.01)


def test_default_leaves_something_where_every_point_is_alone(rng):
    rows = KernelRows(Gaussian(width=1e-3), rng.standard_normal((150, 3)), rng)
    bound = Greedy().bind(rows, None)
    assert len(bound.solve(default_variance(bound))) == 150
