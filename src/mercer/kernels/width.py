"""Widths from data: the median distance and the variance."""

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from mercer._base.linalg import square_sums
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Rows
from mercer.exceptions import DataError, DegenerateKernelWarning, warn
from mercer.points import Vectors, as_points
from mercer.points.sparse import SparseRows

#: Rows used for the median; its sampling error is then about 1 %.
SAMPLE = 1000
#: Rows and columns from which on one product of all rows is quicker than the distances of all
#: pairs; and so many pairs that are close to the median, or to coinciding, take what it saves.
FEWEST, WIDE, MOST = 200, 32, 500


def resolve_length(rule: str, X: Rows, weight: Array | None = None) -> float:
    """The length ℓ for a rule: ``"median"`` or ``"scale"``."""
    if len(X) < 2:
        raise DataError(f"{len(X)} row(s) do not have a width; give at least 2, or a number.")
    return {"median": median_length, "scale": variance_length}[rule](X, weight)


def median_length(X: Rows, weight: Array | None = None) -> float:
    """Square root of the median squared distance between different points.

    Pairs of equal points do not count, so that a row given twice and a row of weight 2 agree. Above
    1,000 rows a sample with a fixed seed is used: the width depends on the data alone.
    """
    points, weight = sampled(X, weight, SAMPLE)
    points, unit = points.to_unit()
    quick = _by_products(points) if weight is None and points.has_coordinates else None
    if quick is not None:
        return float(quick * unit)
    r2 = points.pair_squares()
    apart = r2 > 0
    if weight is not None:
        i, j = np.triu_indices(len(points), k=1)
        pair_weight = weight[i] * weight[j]
        apart &= pair_weight > 0
    if not apart.any():
        raise DataError("kernel has no variance: all rows are equal; give others, or a width.")
    if weight is None:
        if 2 * apart.sum() < len(r2):
            coincide = f"{len(r2) - apart.sum()} of {len(r2)} pairs of rows coincide"
            warn(f"{coincide}, and do not count; give a width.", DegenerateKernelWarning)
        return float(np.sqrt(_middle(r2 if apart.all() else r2[apart]).mean()) * unit)
    around = [0.5 - 1e-12, 0.5 + 1e-12]  # where two central values tie, both, as np.median does
    middle = np.quantile(r2[apart], around, weights=pair_weight[apart], method="inverted_cdf")
    return float(np.sqrt(middle.mean()) * unit)


def variance_length(X: Rows, weight: Array | None = None) -> float:
    """Square root of (number of columns × variance of all entries), as scikit-learn's "scale"."""
    points = as_points(X)
    if not points.is_here:  # a sample stands for it, as for the median
        points, weight = sampled(X, weight)
    w = np.ones(len(points)) if weight is None else weight
    variance, unit = (_sparse_variance if points.is_sparse else _variance)(points.rows, w)
    if variance <= 0:
        raise DataError("kernel has no variance: all entries are equal; give others, or a width.")
    return float(np.sqrt(points.width * variance) * unit)


def sampled(X: Rows, weight: Array | None, size: int = 20 * SAMPLE) -> tuple[Any, Array | None]:
    """At most so many of the rows, in memory, with their weights."""
    points = as_points(X)
    if len(points) <= size:
        return points.loaded(), weight
    rows = np.sort(fixed_rng(0).choice(len(points), size, replace=False))
    return points.take(rows), None if weight is None else weight[rows]


def _variance(X: Array, weight: Array) -> tuple[float, float]:
    """The variance of all entries, in the square of a unit that suits them.

    Around one mean: columns that differ in level count as variance, as in scikit-learn.
    """
    points = X - X.mean(dtype=np.float64)
    unit = float(np.abs(points).max(initial=0.0)) or 1.0
    points /= unit  # so that squares neither overflow nor vanish
    mean = np.average(points.mean(axis=1), weights=weight)
    return float(np.average(((points - mean) ** 2).mean(axis=1), weights=weight)), unit


def _sparse_variance(X: SparseRows, weight: Array) -> tuple[float, float]:
    X, unit = X.to_unit()
    mean = np.average(X.row_sums(), weights=weight) / X.width
    zeros = X.width - np.diff(X.indptr)
    squares = X.row_sums((X.data - mean) ** 2) + zeros * mean**2
    return float(np.average(squares, weights=weight) / X.width), unit


def _by_products(points: Vectors) -> float | None:
    """The same median of wide rows, to the last bit, from one matrix product.

    Up to its rounding the product tells which pairs are the middle ones, and which coincide. These
    are measured directly. None where they are too many, or rows and columns too few to gain.
    """
    X = points.rows
    if len(X) < FEWEST or X.shape[1] < WIDE:
        return None
    norms = square_sums(X)
    squares = X @ X.T
    squares *= -2
    squares += norms
    squares += norms[:, None]
    r2 = squares[np.tri(len(X), k=-1, dtype=bool)]  # each pair once
    # (4 d + 8) eps N of the product, and no more than that of the direct sum.
    error = 8 * (X.shape[1] + 2) * float(np.finfo(np.float64).eps) * float(norms.max())
    close = np.flatnonzero(r2 <= error)
    if len(close) > MOST:
        return None
    r2[close] = _direct(X, close)
    different = r2[r2 > 0] if len(close) else r2
    low, high = _middle(different)
    inside = np.flatnonzero((low - 2 * error <= r2) & (r2 <= high + 2 * error))
    if low <= 3 * error or len(inside) > MOST:
        return None
    nearer = np.count_nonzero(different < low - 2 * error)
    exact = np.sort(_direct(X, inside))[_central(len(different)) - nearer]
    return float(np.sqrt(exact.mean()))


def _central(n: int) -> Array:
    """The ranks of the one or two central values of n."""
    return np.array([(n - 1) // 2, n // 2])


def _middle(values: Array) -> Array:
    """The two central values, (2,); their mean is the median.

    A sample brackets them, so that few have to be sorted: a fifth of the time of ``np.partition``.
    """
    ranks = _central(len(values))
    sample = np.sort(values[:: max(1, len(values) // 4096)])
    place, spread = len(sample) // 2, 3 * int(np.sqrt(len(sample)))
    low, high = sample[max(place - spread, 0)], sample[min(place + spread, len(sample) - 1)]
    inside = values[(low <= values) & (values <= high)]
    inner = ranks - np.count_nonzero(values < low)
    if inner[0] < 0 or inner[1] >= len(inside):  # a sample may be off
        inside, inner = values, ranks
    return np.asarray(np.partition(inside, inner)[inner])


def _direct(points: Array, pairs: Array) -> Array:
    """Squared distances of some pairs below the diagonal, by the same sums as those of all."""
    i = ((1 + np.sqrt(1 + 8 * pairs)) // 2).astype(np.intp)
    j = pairs - i * (i - 1) // 2
    both = zip(points[i], points[j], strict=True)
    return np.array([pdist(pair, "sqeuclidean")[0] for pair in map(np.stack, both)])
