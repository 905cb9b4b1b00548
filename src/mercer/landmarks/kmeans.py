"""Landmarks as cluster centres: a few Lloyd steps after a good start."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._linalg import Array, square_sums
from mercer._parallel import blocks, thread_map
from mercer._types import RowsLike
from mercer.kernels import Kernel, Linear
from mercer.landmarks.base import LandmarkRule, sample_rows
from mercer.landmarks.rpcholesky import RPCholesky
from mercer.sparse_rows import SparseRows
from mercer.tiles import EDGE

__all__ = ["KMeans", "lloyd_step"]


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
    d) time. Means of sparse rows are sparse, too, with no more entries than the rows looked at.
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
        step = sparse_lloyd_step if isinstance(rows, SparseRows) else lloyd_step
        for _ in range(self.steps):
            centres = step(rows, centres)
        return centres


def lloyd_step(X: Array, centres: Array) -> Array:
    """Move each centre to the mean of the rows nearest to it; a centre without rows stays."""
    # |x - c|² orders like |c|²/2 - x·c: shift by the mean so that a large offset does not cancel.
    origin = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    scale = np.abs(centres - origin).max() or 1
    C = (centres - origin) / scale
    half = square_sums(C) / 2
    # Unless a few centres are far away, single precision tells which one is nearest.
    dtype = np.float32 if half.max() < 1e3 * np.median(half) else X.dtype
    C, half = C.astype(dtype), half.astype(dtype)
    nearest = np.empty(len(X), dtype=np.intp)

    def assign(rows: slice) -> None:
        shifted = ((X[rows] - origin) / scale).astype(dtype, copy=False)
        nearest[rows] = np.argmin(half - shifted @ C.T, axis=1)

    thread_map(assign, blocks(len(X), 1024))
    counts = np.bincount(nearest, minlength=len(C))
    sums = np.zeros(centres.shape)
    for rows in blocks(len(X), 1024):  # block by block: no second copy of the rows
        member = csr_array(
            (np.ones(rows.stop - rows.start), (nearest[rows], np.arange(rows.stop - rows.start))),
            shape=(len(C), rows.stop - rows.start),
        )
        sums += member @ (X[rows] - origin)
    filled = np.flatnonzero(counts)
    moved = centres.copy()
    moved[filled] = sums[filled] / counts[filled, None] + origin
    return moved


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
    return SparseRows.of(moved, X.dtype)
