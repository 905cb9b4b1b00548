"""Landmarks as cluster centres: a few Lloyd steps after a good start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._linalg import Array, square_sums
from mercer._parallel import blocks, ordered_map, thread_map
from mercer._types import RowsLike
from mercer.kernels import Kernel, Linear
from mercer.landmarks.base import LandmarkRule, sample_rows
from mercer.landmarks.rpcholesky import RPCholesky
from mercer.sparse_rows import SparseRows
from mercer.tiles import EDGE

__all__ = ["KMeans", "lloyd"]

#: Rows that are assigned at a time.
STEP = 1024
#: Rows with WIDE times as many columns are compared along that many axes, found by SOME centres.
AXES, WIDE, SOME = 128, 3, 300
#: Entries of a mean of sparse rows, for each of a row: more make every product slower, and see no
#: more of the data (0.01 % of the variance of ten components in a made text, 0.2 % in docstrings).
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
    # |x - c|² orders like |c|²/2 - x·c: shift by the mean so that a large offset does not cancel.
    origin = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    scale = np.abs(centres - origin).max() or 1
    C = (centres - origin) / scale
    norms = square_sums(C)
    # Unless a few centres are far away, single precision tells which one is nearest.
    dtype = np.float32 if norms.max() < 1e3 * np.median(norms) else X.dtype
    rows = np.empty(X.shape, dtype=dtype)
    shifted = _Shifted(X, origin, scale)

    def fill(part: slice) -> None:
        rows[part] = shifted[part]

    thread_map(fill, blocks(len(X), STEP))
    axes = _leading_axes(C.astype(dtype))
    shadow = rows if axes is None else rows @ axes
    moved = np.zeros(len(C), dtype=bool)
    for left in range(steps, 0, -1):
        # The last means are of the rows themselves, not of what single precision leaves of them.
        counts, sums = _nearest_sums(shifted if left == 1 else rows, shadow, C.astype(dtype), axes)
        filled = np.flatnonzero(counts)
        C[filled] = sums[filled] / counts[filled, None]
        moved[filled] = True
    return np.where(moved[:, None], scale * C + origin, centres).astype(centres.dtype)


@dataclass(frozen=True)
class _Shifted:
    """Rows around an origin, in another unit, block by block."""

    X: Array
    origin: Array
    unit: float

    def __getitem__(self, part: slice) -> Array:
        moved = self.X[part] - self.origin
        moved /= self.unit
        return moved


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


def _nearest_sums(
    rows: Array | _Shifted, shadow: Array, C: Array, axes: Array | None
) -> tuple[Array, Array]:
    """How many rows are nearest to each centre, and their sums in float64."""
    points, half = C if axes is None else C @ axes, square_sums(C) / 2

    def assign(part: slice) -> tuple[Array, Array]:
        near = shadow[part] @ points.T
        near -= half
        nearest = np.argmax(near, axis=1)
        ones, each = np.ones(len(nearest), dtype=C.dtype), np.arange(len(nearest))
        member = csr_array((ones, (nearest, each)), shape=(len(C), len(nearest)))
        return np.bincount(nearest, minlength=len(C)), member @ rows[part]

    counts, sums = np.zeros(len(C), dtype=np.intp), np.zeros(C.shape)
    for count, part in ordered_map(assign, blocks(len(shadow), STEP)):
        counts += count
        sums += part
    return counts, sums


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
