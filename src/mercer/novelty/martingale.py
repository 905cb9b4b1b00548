r"""Has a stream changed? Conformal test martingales: bets against "all rows are alike".

As long as rows are exchangeable, the rank of a row's statistic among *all* rows before it, with
ties broken at random, is uniform and independent of earlier ranks (Vovk, Gammerman & Shafer 2005).
Whoever bets on such p-values wins nothing on the average: a bettor's capital M is a martingale that
starts at 1, and by Ville's inequality it ever exceeds 1/α with a chance of at most α, however long
the stream. After a change a bet such as

.. math:: b_\delta(p) = e^{\delta z - \delta^2/2}, \qquad z = \Phi^{-1}(1 - p)

wins the Kullback-Leibler divergence with every row. Nobody knows when that begins: capital is kept
aside and put into play little by little, so that each moment is the start of some bets.

Several statistics are watched, each by a bettor of its own. Ranks of one are independent in time;
those of all together need not be, so that the average of K capitals is no martingale. But by the
union bound none of them ever exceeds K/α, except with a chance of α.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from mercer._base.numbers import counted_rng, fixed_rng
from mercer._base.types import Array
from mercer.io.model_file.checks import check_loaded, demand, expect
from mercer.novelty.score import NoveltyScore
from mercer.points import Points

#: Columns, and principal axes, that have a bettor of their own; components where there are none.
MOST, COMPONENTS = 32, 8
#: Support points from which the axes are taken.
SAMPLE = 2_000
#: Shifts δ that are bet on, in standard deviations.
SHIFTS = np.array([-1.0, -0.5, -0.25, 0.25, 0.5, 1.0])
#: Of the capital kept aside, row t brings a share ``OFTEN / (LATER + t)`` into play: half of it is
#: left after 3,000 rows, a tenth after 100,000.
OFTEN, LATER = 0.5, 1000.0
#: Logarithm of a capital of nothing.
NOTHING = -1e9
#: Rows that are compared one with the other before they are put in order.
RECENT = 128
#: Up to this share of their size values are equal: the root of eps, and far above rounding.
EQUAL = 2.0**-26
#: Rounding of kernel values and of their sums, in units of eps.
ROUNDING = 64.0


@dataclass(frozen=True)
class Statistics:
    """What of a row is watched: novelty score, T², columns beside the others, and principal axes.

    A column is watched by its part of Σ⁻¹(x − mean), what it is beyond what the others say of it
    (Hawkins 1991): a sensor that drifts alone moves it more than its own value, and what moves
    columns together moves an axis more than any column.

    Rows without coordinates, and sparse ones, have components in place of the last three.

    Attributes
    ----------
    score : NoveltyScore
    mean : (d,) array
        Of the support points; empty where there are no coordinates.
    axes : (d, r) array
        Principal axes, divided by the standard deviations along them.
    slack : (K,) array
        Up to this values are equal. BLAS rounds a row alone otherwise than among others: without
        it equal rows would no longer tie, and a stream row by row would look like a change.
    """

    score: NoveltyScore
    mean: Array
    axes: Array
    slack: Array

    @classmethod
    def of(cls, score: NoveltyScore) -> Statistics:
        """Those of a model: nothing that the rows of a stream are compared with is learnt."""
        subspace, mean, axes = score.subspace, np.empty(0), np.empty((0, 0))
        points = subspace.points.sample(SAMPLE, fixed_rng(0))
        if points.has_coordinates:
            X = points.to_dense().astype(np.float64)
            mean = X.mean(axis=0)
            _, size, axes = np.linalg.svd(X - mean, full_matrices=False)
            size, axes = size[:MOST], axes[:MOST].T
            kept = size > 1e-9 * max(size[0], np.finfo(float).tiny)
            axes = axes[:, kept] * np.sqrt(len(X)) / size[kept]
        bare = cls(score, mean, axes, np.empty(0))
        # Shares of the sizes at these rows; of the score, no less than the rounding of its sum.
        size = np.abs(bare(points)).max(axis=0)
        eps = np.full(len(size), np.finfo(float).eps)
        eps[: 1 if len(mean) else None] = np.finfo(subspace.coef.dtype).eps
        own = float(np.abs(subspace.kernel.diag(points.rows)).max())
        slack = np.sqrt(eps) * size
        slack[0] += ROUNDING * eps[0] * score.outside * (own + subspace.mean_square)
        return replace(bare, slack=slack)

    @property
    def _columns(self) -> int:
        """How many columns have a bettor: all or none."""
        return len(self.mean) if len(self.mean) <= MOST else 0

    def names(self, columns: list[str] | None = None) -> list[str]:
        """What they are called, with the names of the columns."""
        if not len(self.mean):
            q = min(COMPONENTS, self.score.subspace.n_components)
            return ["score", *(f"component {k}" for k in range(q))]
        columns = columns or [f"x{j}" for j in range(self._columns)]
        axes = [f"axis {k}" for k in range(self.axes.shape[1])]
        return ["score", "T²", *columns[: self._columns], *axes]

    def __call__(self, points: Points) -> Array:
        """Their values, (n, K)."""
        Z, residual = self.score.subspace.scores_and_residual(points)
        score = self.score.combined(Z, residual)[:, None]
        if not len(self.mean):
            return np.hstack([score, Z[:, :COMPONENTS]]).astype(np.float64)
        X = points.to_dense().astype(np.float64)
        along = (X - self.mean) @ self.axes
        inside = (along**2).sum(axis=1, keepdims=True)
        beyond = along @ self.axes[: self._columns].T  # Σ⁻¹ (x − mean); ranks need no scale
        return np.hstack([score, inside, beyond, along])


@dataclass(frozen=True)
class Martingale:
    """The capital of each bettor, and the values that the next row is ranked among.

    Attributes
    ----------
    ordered : (K, N) array
        Values of rows before, in order.
    recent : (K, r) array
        Those of the last rows, as they came.
    aside : float
        Logarithm of the capital that is not in play.
    stakes : (K, 6) array
        Logarithms of what each bettor has in play on each shift.
    run, since : (K, 6) arrays
        What a bet that began at row ``since`` has won, the best moment to begin.
    rows : int
        Rows of the stream so far.
    seed : int
        Of the random numbers that break ties.
    slack : (K,) array
        Values that differ by no more tie.
    """

    ordered: Array
    recent: Array
    aside: float
    stakes: Array
    run: Array
    since: Array
    rows: int
    seed: int
    slack: Array

    @classmethod
    def start(cls, values: Array, seed: int, slack: Array | float = 0.0) -> Martingale:
        """From values of normal rows, (n, K), that the model has not seen; n may be 0."""
        ordered, shape = np.sort(values.T, axis=1), (values.shape[1], len(SHIFTS))
        nothing, none = np.full(shape, NOTHING), np.zeros(shape)
        recent = np.empty((len(ordered), 0))
        since, slack = none.astype(np.int64), np.broadcast_to(slack, len(ordered)).copy()
        return cls(ordered, recent, 0.0, nothing, none, since, 0, seed, slack)

    def restart(self) -> Martingale:
        """New bettors, who know the same rows."""
        values = np.hstack([self.ordered, self.recent]).T
        start = Martingale.start(values, self.seed, self.slack)
        return replace(start, rows=self.rows, since=np.full_like(self.since, self.rows))

    @property
    def capital(self) -> Array:
        """Logarithm of the capital of each bettor, (K,)."""
        return np.asarray(np.logaddexp(self.aside, np.logaddexp.reduce(self.stakes, axis=1)))

    def play(self, values: Array) -> tuple[Martingale, Array, Array]:
        """After rows with these values, (n, K): their p-values, (n, K), and capitals, (n, K).

        O(K (n 128 + N n / 128)) time and O(K N) memory, with N rows before.
        """
        state, ranks, capitals = self, [], []
        while len(values):
            chunk = values[: RECENT - state.recent.shape[1]]
            values = values[len(chunk) :]
            p = state._ranked(chunk)
            state, capital = state._kept(chunk)._bet(p)
            ranks.append(p)
            capitals.append(capital)
        empty = np.empty((0, len(self.ordered)))
        return state, np.concatenate([empty, *ranks]), np.concatenate([empty, *capitals])

    def _ranked(self, values: Array) -> Array:
        """p-values of rows, each among those before it."""
        n, K = values.shape
        before = np.arange(n) + self.recent.shape[1]
        known = np.hstack([self.recent, values.T])[:, None, :]
        seen = np.arange(known.shape[2]) < before[:, None]
        near = np.maximum(self.slack, EQUAL * np.abs(values))
        low, high = (values - near).T, (values + near).T
        is_above = known > high[:, :, None]
        above = (is_above & seen).sum(axis=2)
        equal = ((known >= low[:, :, None]) & ~is_above & seen).sum(axis=2)
        for k, row in enumerate(self.ordered):
            up_to = np.searchsorted(row, high[k], side="right")
            above[k] += len(row) - up_to
            equal[k] += up_to - np.searchsorted(row, low[k], side="left")
        # By a counter: the same numbers for a row, however the stream is cut into blocks.
        width = -(-K // 4)
        ties = 1 - counted_rng(self.seed, self.rows * width).random((n, 4 * width))[:, :K]
        p = (above.T + ties * (equal.T + 1)) / (self.ordered.shape[1] + before[:, None] + 1)
        return np.asarray(p)

    def _kept(self, values: Array) -> Martingale:
        recent = np.hstack([self.recent, values.T])
        if recent.shape[1] < RECENT:
            return replace(self, recent=recent)
        ordered = np.sort(np.hstack([self.ordered, recent]), axis=1, kind="stable")
        return replace(self, ordered=ordered, recent=recent[:, :0])

    def _bet(self, p: Array) -> tuple[Martingale, Array]:
        z = -ndtri(np.clip(p, 1e-15, 1 - 1e-15))
        won = np.cumsum(z[:, :, None] * SHIFTS - SHIFTS**2 / 2, axis=0)
        before = np.concatenate([np.zeros((1, *self.run.shape)), won[:-1]])
        share = OFTEN / (LATER + self.rows + np.arange(len(p)))
        aside = self.aside + np.concatenate([[0], np.cumsum(np.log1p(-share))])
        # Σ_s (what was put into play at s) · (what a bet wins from s on), for every t at once
        added = (aside[:-1] + np.log(share / len(SHIFTS)))[:, None, None] - before
        added[0] = np.logaddexp(added[0], self.stakes)
        stakes = won + np.logaddexp.accumulate(added, axis=0)
        first = before.argmin(axis=0)  # the best moment to begin among these rows, or it was before
        lowest = np.take_along_axis(before, first[None], axis=0)[0]
        since = np.where(-self.run <= lowest, self.since, self.rows + first)
        run = won[-1] - np.minimum(-self.run, lowest)
        capitals = np.logaddexp(aside[1:, None], np.logaddexp.reduce(stakes, axis=2))
        after = replace(self, aside=float(aside[-1]), stakes=stakes[-1], run=run, since=since)
        return replace(after, rows=self.rows + len(p)), capitals


@check_loaded.register
def _check_statistics(watched: Statistics) -> None:
    width = watched.score.subspace.points.width
    expect("mean", watched.mean, (width if len(watched.mean) else 0,))
    expect("axes", watched.axes, (len(watched.mean), None))
    expect("slack", watched.slack, (len(watched.names()),))


@check_loaded.register
def _check_martingale(state: Martingale) -> None:
    expect("ordered", state.ordered, (None, None))
    shape = (len(state.ordered), len(SHIFTS))
    expect("recent", state.recent, (shape[0], None))
    for name in ("stakes", "run"):
        expect(name, getattr(state, name), shape)
    expect("since", state.since, shape, "i")
    expect("slack", state.slack, shape[:1])
    mixed = (np.diff(state.ordered, axis=1) < 0).any() or state.recent.shape[1] >= RECENT
    demand(not mixed, "the values that rows are ranked among are not in order")
