"""A fit that outliers cannot turn: trust a core of rows, look at errors, lower weights, repeat.

The errors are those of rows that the fit has not seen. In feature space an outlier is nearly
orthogonal to everything else; among the fitted rows it takes a component for itself, has no error
left, and would keep its weight for ever.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from mercer._base import catalogue, held_out, machine, numbers, progress
from mercer._base.config import Config
from mercer._base.registry import by_name
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.kernels import Basis, Kernel
from mercer.model import Subspace
from mercer.points import Points

# Bounded losses: beyond some size an error no longer counts more.
#
# A loss :math:`\rho(u)` of the error in units of its own spread acts through its weight
# :math:`w(u) = \rho'(u)/u`, which goes to zero: a gross outlier has no pull at all.


class Loss(Config, ABC):
    """How much an error counts, given in units of its spread."""

    @abstractmethod
    def weight(self, u: Array) -> Array:
        """w(u) for u ≥ 0: 1 at 0, falling to 0."""


class Hampel(Loss):
    r"""Full weight up to ``full``, none beyond ``none``, and a smooth fall between them.

    With ``v = (u - full) / (none - full)`` cut to [0, 1] the weight is ``(1 - v²)²``. Rows that are
    no outliers count exactly as in a plain fit, and do not turn its components.

    Parameters
    ----------
    full, none : float, default=6.0, 8.0
        In units of the spread of the errors above their median.
    """

    def __init__(self, full: float = 6.0, none: float = 8.0) -> None:
        self.full = full
        self.none = none

    def weight(self, u: Array) -> Array:
        if not 0 <= self.full < self.none:
            raise DataError(f"{self!r}: give 0 <= full < none; 6 and 8 are usual.")
        v = np.clip((u - self.full) / (self.none - self.full), 0, 1)
        return np.asarray((1 - v**2) ** 2)


class Tukey(Loss):
    r"""The biweight: :math:`w(u) = (1 - (u/c)^2)^2` up to c, and exactly 0 beyond.

    Parameters
    ----------
    cutoff : float, default=4.685
        c; the default keeps 95 % efficiency on normal errors. Smaller errors lose weight, too.
    """

    def __init__(self, cutoff: float = 4.685) -> None:
        self.cutoff = cutoff

    def weight(self, u: Array) -> Array:
        if not self.cutoff > 0:
            raise DataError(f"cutoff={self.cutoff} must be positive; 4.685 is usual.")
        return np.asarray((1 - np.minimum(u / self.cutoff, 1) ** 2) ** 2)


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name, ``"hampel"`` or ``"tukey"``, or the loss itself."""
    return by_name("loss", loss, Loss, catalogue.LOSSES)


#: The spread counts as no less than this share of the way from the median error to that of an
#: isolated point: where the data are described closely, a little less closely is no outlier.
SMALLEST_SPREAD = 0.11
#: If fewer rows are trusted, or more form a group apart, outliers cannot be told from data.
FEW_TRUSTED, LARGE_GROUP = 0.65, 0.15
#: If there are more rows than this, as many take part in the rounds; their model weighs the others.
ROUND_ROWS = 3000


@dataclass(frozen=True)
class Reweighting:
    """Weights, and how the rounds went.

    Attributes
    ----------
    weights : (n,) array, between 0 and 1
    errors : (n,) array
        Held-out distances from the subspace in feature space; 1 for a point with nothing near it.
    changes : (rounds,) array
        The mean change of the weights in each round.
    converged : bool
    trust : Trust
        The start.
    """

    weights: Array
    errors: Array
    changes: Array
    converged: bool
    trust: "Trust"

    @property
    def doubt(self) -> str | None:
        """Why outliers and data may have been confused, in words; None if they were not."""
        n, kept = len(self.weights), self.trust.trusted
        group = int(self.trust.grouped.sum())
        if group >= LARGE_GROUP * n:
            apart = f"{group} of {n} rows lie apart from the others but close together"
            return f"{apart}: they may be data, not outliers. They have weight 0"
        two = "two groups are plausible as the data: "
        if kept.mean() < FEW_TRUSTED:
            both = f"{kept.sum()} of {n} rows that lie close together, and {n - kept.sum()} others"
            return f"{two}{both}, which have weights_ == 0. The dense group may be the outliers"
        if len(dense := self.trust.dense):
            such = ", ".join(map(str, dense[:3]))
            close = f"{len(dense)} of {min(n, MOST_GROWN)} rows, such as {such}, that lie close"
            return f"{two}{close}, and the rest. Both were fitted; leave out the one that is wrong"
        return None


@machine.blas_limited
def reweight(
    learn: Callable[[Array, Array], Subspace],
    X: RowsLike,
    kernel: Kernel,
    loss: Loss,
    rng: np.random.Generator,
    *,
    folds: int = 5,
    max_iter: int = 20,
    tol: float = 5e-3,
) -> Reweighting:
    """Iteratively reweighted fits under a bounded loss of the held-out feature-space error.

    Rows that are not trusted (:func:`~mercer.robust.reweight.trusted_rows`) have weight 0 from the
    start to the end; the loss judges the others, beside each other. Of more than 3,000 rows as many
    are drawn for the rounds, and a model of these weighs the others, which it has not seen.

    Parameters
    ----------
    learn : callable
        ``learn(row numbers, their weights)`` fits and returns the subspace.
    X : (n, d) rows, or n objects
    kernel : Kernel
    loss : Loss
    rng : numpy.random.Generator
    folds : int, default=5
    max_iter : int, default=20
        At most ``folds · max_iter`` fits; two to five rounds are usual.
    tol : float, default=5e-3
        Stop when the weights change by less on the mean: single rows on the border may go in and
        out for ever.
    """
    points = kernel.points(X)
    n = len(points)
    trust = trusted_rows(points, kernel)
    weights = trust.trusted.astype(float)
    seed = int(rng.integers(2**31))
    seen = np.arange(n) if n <= ROUND_ROWS else np.sort(rng.permutation(n)[:ROUND_ROWS])
    inside, rows = trust.trusted[seen], points.subset(seen).rows
    # The same folds in every round, so that the rounds can settle.
    fold_of = held_out.deal_folds(len(seen), folds, numbers.fixed_rng(seed))
    changes: list[float] = []
    errors, converged = weights.copy(), False
    for _ in progress.announced("reweight", range(max_iter)):
        before = weights[seen]

        def fitted(index: Array, weights: Array = before) -> Callable[[Any], Array]:
            return partial(_distance, learn(seen[index], weights[index]))

        errors[seen] = held_out.scores_by_fold(fitted, rows, fold_of)
        weights[seen] = np.where(inside, loss.weight(excess(errors[seen], inside)), 0)
        changes.append(float(np.abs(weights[seen] - before).mean()))
        converged = changes[-1] <= tol
        if converged:
            break
    if n > ROUND_ROWS:
        others = np.setdiff1d(np.arange(n), seen)
        errors[others] = _distance(learn(seen, weights[seen]), points.subset(others).rows)
        beyond = excess(errors, np.isin(np.arange(n), seen) & trust.trusted)
        weights[others] = np.where(trust.trusted, loss.weight(beyond), 0)[others]
    return Reweighting(weights, errors, np.array(changes), converged, trust)


def excess(errors: Array, among: Array) -> Array:
    """How far errors lie above the median of these rows, in units of the spread above it."""
    middle = float(np.median(errors[among]))
    above = errors[among] - middle
    spread = 1.4826 * float(np.median(above[above >= 0]))
    spread = max(spread, SMALLEST_SPREAD * (1 - middle), np.finfo(float).tiny)
    return np.asarray(np.maximum(errors - middle, 0) / spread)


def _distance(subspace: Subspace, X: RowsLike) -> Array:
    """Distance from the subspace, relative to that of a point with k(x, S) = 0."""
    # The residual k(x,x) - 2 cᵀk(S,x) + cᵀK_SS c - |z|² where k(S,x) = 0 and thus z = -b.
    mean_outside = max(subspace.mean_square - float(subspace.offset @ subspace.offset), 0.0)
    isolated = float(np.median(subspace.kernel.diag(X))) + mean_outside
    return np.asarray(np.sqrt(subspace.residual(X) / (isolated or 1.0)))


# Which rows belong together: a start that neither gross outliers nor small groups of them turn.
#
# Nothing that is fitted can be trusted before the outliers are out: they stretch the kernel's
# width, take components for themselves and lend each other support. Distances between rows can. The
# half of the rows that has the other rows nearest is the start, because even a tight group has most
# rows far away unless it is most of them. From there the trusted rows grow: a row enters when it
# lies as close to trusted ones as these to each other (in the spirit of the forward search,
# Atkinson & Riani 2000). A tight group *inside* the data may fill most of the start. Where the rows
# that hang together in the end are fewer than half, they are such a group, and trust begins anew
# among the others.


#: The neighbour whose distance counts: one near row is chance.
NEIGHBOUR = 5
#: For a row that is to enter it is an earlier one: at the end of what is trusted of a curve the
#: neighbours are on one side only.
EDGE = 2
#: A row is trusted up to so many spreads (of the logarithms) above the median distance. The
#: logarithm makes the tails of tables short.
REACH = 4.0
#: A tight group is trusted up to here only: single rows may stray, groups do not.
GROUP_REACH = 3.0
#: A group is tight where its rows are this much nearer to each other than to trusted rows.
TIGHT = 5.0
#: Single rows beyond the reach stay if there is no gap of so many spreads before them, and they are
#: no more than this share: strays of the data. Outliers come in numbers, or far out.
GAP, STRAYS = 4.0, 0.02
#: The spread counts as no less, a tenth of a distance: on a grid, and among counts, all neighbours
#: are equally far, and the next point of the grid, 1.4 times as far, is in reach.
LEAST_SPREAD = 0.1
#: Rows that others are compared with, and rows among which trust grows.
MOST_REFERENCES, MOST_GROWN = 2000, 3000
#: Rounds of growing; each adds at least one row.
MAX_ROUNDS = 50


@dataclass(frozen=True)
class Trust:
    """What the trusted start has grown into."""

    trusted: Array  #: (n,) bool
    #: (n,), how far the distance to trusted rows lies above their median, in spreads of the
    #: logarithm
    excess: Array
    #: (n,), rows that are not trusted, but as close to each other as trusted ones: a group of
    #: its own
    grouped: Array
    #: numbers of the rows among which trust would have grown, had they not been fewer than half
    dense: Array
    #: of the logarithms of distances between trusted rows
    middle: float
    spread: float
    rounds: int


def trusted_rows(X: RowsLike, kernel: Kernel) -> Trust:
    """Rows that belong to the bulk of the data.

    The kernel measures objects, by their distance in feature space; vectors are measured by
    themselves, so that a width that has yet to be found plays no part. O(n r d) time for r = min(n,
    2000) references. Of more than 3,000 rows as many are drawn, from which trust grows; the others
    are measured by where it ends.
    """
    points = kernel.points(X)
    n = len(points)
    order = numbers.fixed_rng(0).permutation(n)
    references, seen = np.sort(order[:MOST_REFERENCES]), np.sort(order[:MOST_GROWN])
    base = points.chosen(references)
    place = np.searchsorted(seen, references)
    D = _distances(points.take(seen), base, kernel)
    near = _log_neighbour(D, place, np.ones(len(seen), dtype=bool), NEIGHBOUR)
    grown = _grown(D, place, near, np.arange(len(place)))
    core = grown.trusted & (grown.excess <= REACH)
    dense = seen[core] if 2 * core.sum() < len(seen) else seen[:0]
    if len(dense):  # data are the majority, so trust begins anew among the others
        grown = _grown(D, place, near, np.flatnonzero(~core[place]))
    trusted, grouped, excess = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), np.zeros(n)
    trusted[seen], grouped[seen], excess[seen] = grown.trusted, grown.grouped, grown.excess
    if n > len(seen):
        others = np.setdiff1d(np.arange(n), seen)
        near, far = _neighbours(points.take(others), base, kernel, grown.trusted[place])
        excess[others], grouped[others] = _placed(near, far, grown.middle, grown.spread)
        trusted[others] = (excess[others] <= REACH) & ~grouped[others]
    trusted[_strays(excess, ~trusted & ~grouped, float(excess[trusted].max()))] = True
    return replace(grown, trusted=trusted, excess=excess, grouped=grouped, dense=dense)


def _grown(D: Array, place: Array, near: Array, allowed: Array) -> Trust:
    """Trusted rows, grown from the half of these references that are closest to all others."""
    size = max(len(allowed) // 2 + 1, min(NEIGHBOUR + 1, len(allowed)))
    # The distance to the middle one of all other rows.
    middles = np.median(D[np.ix_(place[allowed], allowed)], axis=1)
    trusted = np.zeros(len(D), dtype=bool)
    trusted[place[allowed[np.argsort(middles, kind="stable")[:size]]]] = True
    for rounds in range(1, MAX_ROUNDS + 1):  # noqa: B007  told in the result
        far = _log_neighbour(D, place, trusted, NEIGHBOUR)
        far = np.where(trusted, far, _log_neighbour(D, place, trusted, EDGE))
        middle = float(np.median(far[trusted]))
        spread = _upper_spread(far[trusted] - middle)
        excess, grouped = _placed(near, far, middle, spread)
        grouped &= ~trusted
        entering = (excess <= REACH) & ~trusted & ~grouped
        if not entering.any():
            break
        # Growing only: a row that entered lent others support, and may not leave them without.
        trusted = trusted | entering
    return Trust(trusted, excess, grouped, place[:0], middle, spread, rounds)


def _placed(near: Array, far: Array, middle: float, spread: float) -> tuple[Array, Array]:
    """How far out rows lie, in spreads, and which of them are nearer to each other than to these.

    ``near`` and ``far`` are logarithms of distances to any rows, and to trusted ones.
    """
    excess = (far - middle) / spread
    return excess, (near <= far - np.log(TIGHT)) & (excess > GROUP_REACH)


def _neighbours(points: Points, base: Points, kernel: Kernel, among: Array) -> tuple[Array, Array]:
    """Logarithms of the distances of other rows from any references, and from trusted ones."""
    near, far = np.empty(len(points)), np.empty(len(points))
    for part in machine.blocks(len(points), MOST_GROWN):
        D = _distances(points.take(part), base, kernel)
        near[part] = np.partition(D, NEIGHBOUR - 1, axis=1)[:, NEIGHBOUR - 1]
        far[part] = np.partition(D[:, among], EDGE - 1, axis=1)[:, EDGE - 1]
    return _log(near), _log(far)


def _strays(excess: Array, lone: Array, reached: float) -> Array:
    """Indices of single rows that follow the trusted ones without a gap, if they are few."""
    rows = np.flatnonzero(lone)
    rows = rows[np.argsort(excess[rows], kind="stable")]
    gaps = np.diff(excess[rows], prepend=max(reached, GROUP_REACH))
    first = int(np.argmax(gaps > GAP)) if (gaps > GAP).any() else len(rows)
    return rows[:first] if first <= STRAYS * len(excess) else rows[:0]


def _distances(points: Points, base: Points, kernel: Kernel) -> Array:
    """Distances of rows from the references, (n, r)."""
    if kernel.takes_vectors:
        if points.is_sparse:
            from sklearn.metrics.pairwise import euclidean_distances  # brings in all metrics

            return np.asarray(euclidean_distances(points.for_user(), base.for_user()))
        rows, others = (p.vectors("a robust start").astype(float) for p in (points, base))
        return np.asarray(cdist(rows, others))
    own, others = (np.asarray(kernel.diag(p.rows), dtype=float) for p in (points, base))
    K = Basis(kernel, base, np.float64).at(points)
    return np.asarray(np.sqrt(np.maximum(own[:, None] + others - 2 * K, 0)))


def _log_neighbour(D: Array, references: Array, among: Array, count: int) -> Array:
    """Logarithm of the distance to the count-th nearest other reference of these rows."""
    columns = among[references]
    own = np.zeros(len(D), dtype=int)
    own[references[columns]] = 1  # the distance to itself comes first
    order = np.minimum(count - 1 + own, columns.sum() - 1)
    ordered = np.partition(D[:, columns], np.unique(order), axis=1)
    return _log(np.take_along_axis(ordered, order[:, None], axis=1)[:, 0])


def _log(far: Array) -> Array:
    """Logarithms of distances; copies of a row, at distance 0, get the smallest positive one."""
    smallest = np.min(far[far > 0], initial=np.inf)
    return np.asarray(np.log(np.maximum(far, smallest if np.isfinite(smallest) else 1.0)))


def _upper_spread(off: Array) -> float:
    """A standard deviation from what lies above the median, for errors are skewed.

    By its half and by its upper tenth, whichever says less: heavy tails stretch the one, zeros and
    copies among the rows the other. Where half of the distances are equal, by the tenth alone.
    """
    above = off[off >= 0]
    half, tenth = np.quantile(above, [0.5, 0.9]) / [0.6745, 1.645]
    return max(float(tenth if half == 0 else min(half, tenth)), LEAST_SPREAD)
