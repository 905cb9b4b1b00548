"""Kernel widths for novelty: a rule that suits most data, and an old search that did not help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from mercer._base.held_out import held_out_scores
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, RowsLike
from mercer.kernels import Gaussian, Kernel
from mercer.model import ComponentRule
from mercer.novelty.score import NoveltyScore
from mercer.points import as_points
from mercer.points.sparse import SparseRows

# How many components novelty needs: enough for most of the variance, and not too many.


class ShareUpTo(ComponentRule):
    """The fewest components that carry a share of the variance, at most ``limit`` and n/4.

    Parameters
    ----------
    share : float, default=0.95
    limit : int, default=40
    rows : int, default=4
        Rows for each component.
    """

    def __init__(self, share: float = 0.95, limit: int = 40, rows: int = 4) -> None:
        self.share = share
        self.limit = limit
        self.rows = rows

    def describe(self) -> str:
        rows = {2: "two", 3: "three", 4: "four"}.get(self.rows, str(self.rows))
        most = f"at most {self.limit} components, one for {rows} rows"
        return f"{self.share:.4g} of the variance in {most}"

    def guess(self, n: int) -> int:
        return min(self.limit, max(1, n // self.rows))

    def count(self, values: Array, trace: float) -> int:
        needed = 1 + int(np.searchsorted(np.cumsum(values), self.share * trace))
        return min(needed, self.limit, len(values))


#: For the distance from the subspace: many, while each has a variance to speak of.
MANY = ShareUpTo(0.8, 400, rows=2)
#: For T², which divides by their variances.
FEW = ShareUpTo(0.95, 40)
#: For rows with outliers among them, which further components would follow.
CORE = ShareUpTo(0.95, 10)
# All by the development list of ``python -m benchmarks defaults novelty``.


def default_rule(measure: str, *, contaminated: bool) -> ShareUpTo:
    """The number of components where nothing is asked for."""
    if contaminated:
        return CORE
    return MANY if measure == "reconstruction" else FEW


#: Which neighbour's distance stands for the distances between neighbours.
NEIGHBOUR = 5
#: The width in units of the geometric mean of that distance and the median distance.
SHARE = 0.6
#: Rows that are looked at.
SAMPLE = 1000

#: How far beyond a row its artificial novelty lies, in units of its distance to another row.
BEYOND = 0.5


def neighbour_kernel(X: RowsLike) -> Gaussian:
    r"""A Gaussian for novelty, narrower than the median rule's.

    Its width is :math:`0.6 \sqrt{d_5\, d}`, with d the median distance between different points and
    :math:`d_5` the median distance to the fifth neighbour: the one alone is too wide for rows that
    fill a curved sheet or many clusters, the other too narrow for rows with many duplicates. Above
    1,000 rows a sample with a fixed seed is used, as for the median.

    Parameters
    ----------
    X : (n, d) rows
    """
    median = Gaussian().resolve(X).length
    points = as_points(X)
    if len(points) > SAMPLE:
        points = points.take(np.sort(fixed_rng(0).choice(len(points), SAMPLE, replace=False)))
    # In units of the median, so that squares stay in the range of floats.
    squares = squareform(points.to_unit(median)[0].pair_squares())
    k = min(NEIGHBOUR, len(points) - 1)
    near = np.sqrt(np.partition(squares, k, axis=1)[:, k])
    near = near[near > 0]  # rows with five copies have no say
    typical = float(np.median(near)) if len(near) else 1.0
    return Gaussian(width=float(SHARE * median * np.sqrt(typical)))


@dataclass(frozen=True)
class WidthChoice:
    """What a search for a width found.

    Attributes
    ----------
    kernel : Kernel
        The best of ``kernels``; give it to :class:`~mercer.KernelNovelty`.
    kernels : tuple of Kernel
        All that were tried.
    separation : (len(kernels),) array
        Area under the curve between held-out rows and artificial novelties; 0.5 is chance.
    """

    kernel: Kernel
    kernels: tuple[Kernel, ...]
    separation: Array


def select_width(
    learn: Callable[[Kernel, Array], NoveltyScore],
    X: RowsLike,
    kernels: Sequence[Kernel],
    rng: np.random.Generator,
    folds: int = 4,
) -> WidthChoice:
    """The kernel that best tells held-out rows from points a little beyond the data.

    The artificial novelties are extrapolations ``x + (x - y)/2`` of pairs of rows: they keep the
    correlations of the data, and so are harder to tell from it than uniform or shuffled points,
    which almost any width finds. ``O(folds · len(kernels))`` fits.

    Parameters
    ----------
    learn : callable
        ``learn(kernel, row numbers)`` fits those rows and returns their score.
    X : (n, d) rows, all taken for normal
    kernels : candidates
    rng : numpy.random.Generator
    folds : int, default=4
    """
    partner = (np.arange(len(X)) + rng.integers(1, len(X), len(X))) % len(X)
    points = as_points(X)
    rows, others = points.for_user(), points.take(partner).for_user()
    beyond = rows + BEYOND * (rows - others)
    if points.is_sparse:
        beyond = SparseRows.of(beyond, X.dtype)
    seed = int(rng.integers(2**31))
    separation = np.empty(len(kernels))
    for i, kernel in enumerate(kernels):
        announce("widths", i, len(kernels))
        separation[i] = _separation(learn, kernel, X, beyond, folds, seed)
    best = int(np.argmax(separation))
    return WidthChoice(kernels[best], tuple(kernels), separation)


def _separation(
    learn: Any, kernel: Kernel, X: RowsLike, beyond: RowsLike, folds: int, seed: int
) -> float:
    """Area under the curve, from scores by models that saw neither the row nor its novelty."""
    from scipy.stats import rankdata  # brings in all distributions

    new = np.empty(len(X))

    def scored_with_novelties(others: Array) -> Any:
        score = learn(kernel, others)
        rows = np.setdiff1d(np.arange(len(X)), others)
        new[rows] = score(beyond[rows])
        return score

    # The same folds for every kernel, so that they differ by the kernel alone.
    old = held_out_scores(scored_with_novelties, X, folds, fixed_rng(seed))
    ranks = rankdata(np.concatenate([old, new]))[len(X) :]
    return float((ranks.sum() / len(X) - (len(X) + 1) / 2) / len(X))
