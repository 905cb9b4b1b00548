"""Which rows belong together: a start that neither gross outliers nor small groups of them turn.

Nothing that is fitted can be trusted before the outliers are out: they stretch the kernel's width,
take components for themselves and lend each other support. Distances between rows can. The half of
the rows that has the other rows nearest is the start, because even a tight group has most rows far
away unless it is most of them. From there the trusted rows grow: a row enters when it lies as close
to trusted ones as these to each other (in the spirit of the forward search, Atkinson & Riani 2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, RowsLike
from mercer.kernels import Basis, Kernel

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
SMALLEST_SPREAD = 0.1
#: Rows that others are compared with.
MOST_REFERENCES = 2000
#: Rounds of growing; each adds at least one row.
MAX_ROUNDS = 50


@dataclass(frozen=True)
class Trust:
    """What grew out of the start.

    Attributes
    ----------
    trusted : (n,) bool
    excess : (n,) array
        How far the distance to trusted rows lies above their median, in spreads of the logarithm.
    grouped : (n,) bool
        Rows that are not trusted, but as close to each other as trusted ones: a group of its own.
    rounds : int
    """

    trusted: Array
    excess: Array
    grouped: Array
    rounds: int


def trusted_rows(X: RowsLike, kernel: Kernel) -> Trust:
    """Rows that belong to the bulk of the data.

    Parameters
    ----------
    X : (n, d) rows, or n objects
    kernel : Kernel
        Measures objects, by their distance in feature space; rows are measured by themselves, so
        that a width that has yet to be found plays no part.

    Notes
    -----
    O(n r d) time for r = min(n, 2000) references, and n r numbers of memory.
    """
    n = len(X)
    references = np.sort(fixed_rng(0).permutation(n)[:MOST_REFERENCES])
    D = _distances(X, references, kernel)
    size = max(len(references) // 2 + 1, min(NEIGHBOUR + 1, n))
    # The distance to the middle one of all other rows.
    central = np.argsort(np.median(D[references], axis=1), kind="stable")[:size]
    trusted = np.zeros(n, dtype=bool)
    trusted[references[central]] = True
    near = _log_neighbour(D, references, np.ones(n, dtype=bool), NEIGHBOUR)
    for rounds in range(1, MAX_ROUNDS + 1):  # noqa: B007  told in the result
        far = _log_neighbour(D, references, trusted, NEIGHBOUR)
        far = np.where(trusted, far, _log_neighbour(D, references, trusted, EDGE))
        middle = float(np.median(far[trusted]))
        spread = _upper_spread(far[trusted] - middle)
        excess = (far - middle) / spread
        grouped = ~trusted & (near <= far - np.log(TIGHT)) & (excess > GROUP_REACH)
        entering = (excess <= REACH) & ~trusted & ~grouped
        if not entering.any():
            break
        # Growing only: a row that entered lent others support, and may not leave them without.
        trusted = trusted | entering
    trusted[_strays(excess, ~trusted & ~grouped, float(excess[trusted].max()))] = True
    return Trust(trusted, excess, grouped, rounds)


def _strays(excess: Array, lone: Array, reached: float) -> Array:
    """Numbers of single rows that follow the trusted ones without a gap, if they are few."""
    rows = np.flatnonzero(lone)
    rows = rows[np.argsort(excess[rows], kind="stable")]
    gaps = np.diff(excess[rows], prepend=max(reached, GROUP_REACH))
    first = int(np.argmax(gaps > GAP)) if (gaps > GAP).any() else len(rows)
    return rows[:first] if first <= STRAYS * len(excess) else rows[:0]


def _distances(X: RowsLike, references: Array, kernel: Kernel) -> Array:
    """Distances of all rows from the references, (n, r)."""
    points = kernel.points(X)
    if kernel.takes_vectors:
        if points.is_sparse:
            from sklearn.metrics.pairwise import euclidean_distances  # brings in all metrics

            sparse = points.for_user()
            return np.asarray(euclidean_distances(sparse, sparse[references]))
        rows = np.asarray(points.vectors("a robust start"), dtype=np.float64)
        return np.asarray(cdist(rows, rows[references]))
    own = np.asarray(kernel.diag(X), dtype=np.float64)
    K = Basis(kernel, points.chosen(references), np.float64).at(X)
    return np.asarray(np.sqrt(np.maximum(own[:, None] + own[references] - 2 * K, 0)))


def _log_neighbour(D: Array, references: Array, among: Array, count: int) -> Array:
    """Logarithm of the distance to the count-th nearest other reference of these rows."""
    columns = among[references]
    if not columns.any():
        return np.full(len(D), np.inf)
    own = np.zeros(len(D), dtype=int)
    own[references[columns]] = 1  # the distance to itself comes first
    order = np.minimum(count - 1 + own, columns.sum() - 1)
    wanted = np.partition(D[:, columns], np.unique(order), axis=1)
    far = np.take_along_axis(wanted, order[:, None], axis=1)[:, 0]
    smallest = np.min(far[far > 0], initial=np.inf)  # copies of a row lie at no distance
    return np.asarray(np.log(np.maximum(far, smallest if np.isfinite(smallest) else 1.0)))


def _upper_spread(off: Array) -> float:
    """A standard deviation from what lies above the median, for errors are skewed.

    By its half and by its upper tenth, whichever says less: heavy tails stretch the one, zeros and
    copies among the rows the other. Where half of the distances are equal, by the tenth alone.
    """
    above = off[off >= 0]
    half, tenth = np.quantile(above, [0.5, 0.9]) / [0.6745, 1.645]
    return max(float(tenth if half == 0 else min(half, tenth)), SMALLEST_SPREAD)
