"""Landmarks as cluster centres: a few Lloyd steps after a good start."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._linalg import Array, square_sums
from mercer._parallel import blocks, thread_map
from mercer.kernels import Kernel
from mercer.landmarks.base import LandmarkRule, sample_rows
from mercer.landmarks.rpcholesky import RPCholesky

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
    d) time.
    """

    def __init__(
        self, start: LandmarkRule | None = None, *, steps: int = 2, sample: int = 20_000
    ) -> None:
        self.start = start
        self.steps = steps
        self.sample = sample

    def select(self, kernel: Kernel, X: Any, m: int, rng: np.random.Generator) -> Any:
        start = RPCholesky() if self.start is None else self.start
        centres = start.select(kernel, X, m, rng)
        if kernel.takes_objects or kernel.is_pairwise or m >= len(X):
            return centres
        rows = sample_rows(X, max(self.sample, 5 * m), rng)
        for _ in range(self.steps):
            centres = lloyd_step(rows, centres)
        return centres


def lloyd_step(X: Array, centres: Array) -> Array:
    """Move each centre to the mean of the rows nearest to it; a centre without rows stays."""
    # |x - c|² orders like |c|²/2 - x·c: shift by the mean so that a large offset does not cancel.
    origin = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    C = centres - origin
    half = square_sums(C) / 2
    nearest = np.empty(len(X), dtype=np.intp)

    def assign(rows: slice) -> None:
        nearest[rows] = np.argmin(half - (X[rows] - origin) @ C.T, axis=1)

    thread_map(assign, blocks(len(X), 1024))
    order = np.argsort(nearest, kind="stable")
    counts = np.bincount(nearest, minlength=len(C))
    filled = np.flatnonzero(counts)
    starts = np.cumsum(counts)[filled] - counts[filled]
    moved = centres.copy()
    sums = np.add.reduceat((X - origin)[order], starts, axis=0)
    moved[filled] = sums / counts[filled, None] + origin
    return moved
