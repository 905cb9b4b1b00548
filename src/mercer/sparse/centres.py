"""Representing vectors by a landmark rule, k-means for one, with weights by likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.machine import one_blas_thread
from mercer._base.types import RowsLike
from mercer.exceptions import DataError
from mercer.landmarks import LandmarkRule
from mercer.solvers.landmarks import as_landmark_rule
from mercer.sparse.base import PoolSelection, Selection, SparseSolver, violation
from mercer.sparse.greedy import positive_part
from mercer.sparse.likelihood import KernelRows, Likelihood, Pool, triangular_factor
from mercer.sparse.newton import ascend


class Centres(SparseSolver):
    """Choose the points first, by k-means; only their weights are left to the likelihood.

    The paper allows for it: eq. (4) with arbitrary vectors in place of the training vectors.
    Centres are not rows, and there is no automatic number of them; but with ``refit`` they usually
    reconstruct better than the same number of rows chosen by likelihood.

    Parameters
    ----------
    select : str, LandmarkRule or (m, d) array, default="kmeans"
        As in :class:`mercer.solvers.Landmarks`.

    Notes
    -----
    O(n m (d + m)) time and O(n m) memory.
    """

    def __init__(self, select: str | LandmarkRule | Any = "kmeans") -> None:
        self.select = select

    def bind(self, rows: KernelRows, n_kernels: int | None) -> PoolSelection:
        if n_kernels is None:
            raise DataError("centres have no automatic number; give n_kernels.")
        rows.kernel.points(rows.X).require_open("choosing centres", "use solver='greedy'")
        rule = as_landmark_rule(self.select)
        points = rule.select(rows.kernel, rows.X, min(n_kernels, rows.n), rows.rng)
        K = positive_part(rows, rows.among(points))
        H = triangular_factor(rows.against(points))
        return _Weighted(rows, Pool(K, H, rows.n, float(rows.diag.mean())), points)

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        return 8 * rows.n * m


@dataclass(frozen=True)
class _Weighted(PoolSelection):
    points: RowsLike

    def solve(self, variance: float, limit: int | None = None) -> Selection:  # noqa: ARG002
        m = len(self.pool)
        with one_blas_thread():
            start = Likelihood(self.pool, np.arange(m), np.full(m, 1 / m), variance)
            found = ascend(start)
            weights = np.zeros(m)
            weights[found.at.active] = found.at.weights
            return Selection(
                points=self.points,
                indices=None,
                weights=weights,
                variance=variance,
                pool=self.pool,
                log_likelihood=found.at.total,
                kkt=violation(found.at),
                steps=found.steps,
                converged=found.converged,
            )
