"""Landmarks as cluster centres: a few Lloyd steps after a good start."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._linalg import Array, square_sums, write_shifted
from mercer._parallel import blocks, thread_map
from mercer._types import Precision, RowsLike
from mercer.kernels import Kernel, Linear
from mercer.landmarks.base import LandmarkRule, sample_rows
from mercer.landmarks.rpcholesky import RPCholesky
from mercer.sparse_rows import SparseRows
from mercer.tiles import EDGE

__all__ = ["KMeans", "lloyd"]

#: Rows that are assigned at a time; and parts in which their means are summed, in fixed order.
STEP, PARTS = 512, 4
#: Rows with WIDE times as many columns are compared along that many axes, found by SOME centres.
AXES, WIDE, SOME = 128, 3, 200
#: Entries of a mean of sparse rows, for each of a row: more make every product slower, and see
#: little more of the data (0.01 % of the variance of ten components in a made text, 0.2 % in
#: docstrings; 18 % in 20,000 rows whose columns are alike, where there are no groups to find).
ENTRIES = 8


class KMeans(LandmarkRule):
    """Cluster centres, which see more of the leading eigenvalues than rows do (Zhang et al. 2008).

    Few steps suffice: the first one does most of the work, and it is the start that finds rare
    groups.

    Parameters
    ----------
    start : LandmarkRule, optional
        Where the centres start; :class:`RPCholesky` if not given.
    steps : int, default=2
    sample : int, default=20_000
        Rows that the steps look at.

    Notes
    -----
    For kernels of objects there are no means: the start is returned as it is. O(steps · sample · m
    d) time. Means of sparse rows keep their largest entries, eight times as many as rows have on
    the mean.
    """

    def __init__(
        self, start: LandmarkRule | None = None, *, steps: int = 2, sample: int = 20_000
    ) -> None:
        self.start = start
        self.steps = steps
        self.sample = sample

    def select(self, kernel: Kernel, X: RowsLike, m: int, rng: np.random.Generator) -> Any:
        start = RPCholesky() if self.start is None else self.start
        centres = start.select(kernel, X, m, rng)
        if not kernel.takes_vectors or m >= len(X):
            return centres
        rows = sample_rows(X, max(self.sample, 5 * m), rng)
        if not isinstance(rows, SparseRows):
            return lloyd(rows, centres, self.steps)
        for _ in range(self.steps):
            centres = sparse_lloyd_step(rows, centres)
        return centres


def lloyd(X: Array, centres: Array, steps: int) -> Array:
    """Move each centre to the mean of the rows nearest to it; a centre without rows stays."""
    # |x - c|² orders like |c|²/2 - x·c: around the middle a large offset does not cancel.
    origin = centres.mean(axis=0, dtype=np.float64).astype(X.dtype)
    scale = np.abs(centres - origin).max() or 1
    unit = 1 if 1e-6 < scale < 1e6 else scale  # so that products stay in the range of float32
    C = (centres - origin) / unit
    norms = square_sums(C)
    # Unless a few centres are far away, single precision tells which one is nearest.
    dtype = np.float32 if norms.max() < 1e3 * np.median(norms) else X.dtype
    axes = _leading_axes(C.astype(dtype))
    rows, shadow = _around(X, origin, unit, dtype, axes)
    found = centres.copy()
    for left in range(steps, 0, -1):
        # The last means are of the rows themselves, not of what single precision leaves of them.
        of = (rows, dtype) if left > 1 else (X, np.float64)
        filled, means = _nearest_means(shadow, C.astype(dtype), axes, *of)
        if left > 1:
            C[filled] = means[filled]
            means = unit * means + origin
        found[filled] = means[filled]
    return found


def _around(
    X: Array, origin: Array, unit: float, dtype: Precision, axes: Array | None
) -> tuple[Array, Array]:
    """Rows around an origin, in another unit, and what the axes see of them."""
    rows = np.empty(X.shape, dtype=dtype)
    shadow = rows if axes is None else np.empty((len(X), axes.shape[1]), dtype=dtype)

    def fill(part: slice) -> None:
        write_shifted(X[part], origin, 1 / unit, rows[part])
        if axes is not None:
            np.matmul(rows[part], axes, out=shadow[part])

    thread_map(fill, blocks(len(X), STEP))
    return rows, shadow


def _leading_axes(C: Array) -> Array | None:
    """Axes of most of the centres' variance, (d, r); None where there are not many more columns.

    A product of a row and a centre is that of their shadows, but for what both have beside these
    axes: a mean of rows has little.
    """
    if C.shape[1] < WIDE * AXES or len(C) <= AXES:
        return None
    some = C[:: -(-len(C) // SOME)]
    values, vectors = (part[..., -AXES:] for part in np.linalg.eigh(some @ some.T))
    keep = values > len(some) * np.finfo(C.dtype).eps * values[-1]
    return np.ascontiguousarray(some.T @ (vectors[:, keep] / np.sqrt(values[keep])))


def _nearest_means(
    shadow: Array, C: Array, axes: Array | None, rows: Array, dtype: Precision
) -> tuple[Array, Array]:
    """Whether a centre is the nearest one of any row; and the means of these rows, in a type."""
    points, half = C if axes is None else C @ axes, square_sums(C) / 2
    nearest = np.empty(len(rows), dtype=np.intp)

    def assign(part: slice) -> None:
        near = shadow[part] @ points.T
        near -= half
        np.argmax(near, axis=1, out=nearest[part])

    thread_map(assign, blocks(len(rows), STEP))
    counts = np.bincount(nearest, minlength=len(C))

    def add(part: slice) -> Array:
        each = np.arange(part.stop - part.start)
        shares = (1 / counts[nearest[part]]).astype(dtype)
        member = csr_array((shares, (nearest[part], each)), shape=(len(C), len(each)))
        return member @ rows[part]

    means, *others = thread_map(add, blocks(len(rows), -(-len(rows) // PARTS)))
    for part in others:
        means += part
    return counts > 0, means


def sparse_lloyd_step(X: SparseRows, centres: SparseRows) -> SparseRows:
    """The same for sparse rows: tiles of x·c in float64, and a mean of sparse rows is sparse."""
    dot, origin = Linear(), Linear().origin(centres)
    C = dot.pack(centres, origin, np.float64)
    half = centres.astype(np.float64).square_sums() / 2
    nearest = np.empty(len(X), dtype=np.intp)

    def assign(rows: slice) -> None:
        p = np.empty((rows.stop - rows.start, len(centres)))
        dot.fill(dot.pack(X[rows], origin, np.float64), C, p)
        nearest[rows] = np.argmin(half - p, axis=1)

    thread_map(assign, blocks(len(X), EDGE["d"]))
    counts = np.bincount(nearest, minlength=len(centres))
    share = 1 / counts[nearest]
    member = csr_array((share, (nearest, np.arange(len(X)))), shape=(len(centres), len(X)))
    empty = np.flatnonzero(counts == 0)  # a centre without rows stays
    stays = csr_array((np.ones(len(empty)), (empty, empty)), shape=2 * (len(centres),))
    moved = member @ X.to_scipy() + stays @ centres.to_scipy()
    return _largest_entries(SparseRows.of(moved, X.dtype), ENTRIES * -(-X.nnz // len(X)))


def _largest_entries(C: SparseRows, most: int) -> SparseRows:
    """Rows without the smallest entries of those that have more than so many."""
    keep = np.ones(C.nnz, dtype=bool)
    for i in np.flatnonzero(np.diff(C.indptr) > most):
        start, stop = C.indptr[i], C.indptr[i + 1]
        keep[start + np.argpartition(-np.abs(C.data[start:stop]), most)[most:]] = False
    return SparseRows.of(C.with_data(np.where(keep, C.data, 0)))
