r"""The paper's own iterations, from equal weights on all rows, as multiplicative updates.

With :math:`\Sigma_{ii} = w_i - w_i^2 S_i` and :math:`\mu_{ni}^2` averaging to :math:`w_i^2 q_i`,
eqs. (13) and (14) need neither :math:`W^{-1}` nor a division by w. They are here to be compared
with: they take thousands of iterations where :class:`~mercer.sparse.Greedy` takes a fraction of a
second.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.machine import one_blas_thread
from mercer._base.progress import announce
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.landmarks import LandmarkRule
from mercer.solvers.landmarks import as_landmark_rule
from mercer.sparse.base import PoolSelection, Selection, SparseSolver, selected, violation
from mercer.sparse.greedy import dense_pool, positive_part
from mercer.sparse.likelihood import (
    Ascent,
    KernelRows,
    Likelihood,
    Pool,
    ascend,
    one_weight,
    prune,
    triangular_factor,
)


class Update(SparseSolver):
    """Iterates on the weights of all rows until the optimality conditions hold.

    Parameters
    ----------
    tol : float, default=1e-3
        Largest ``|q/S − 1|`` that is accepted on the kernels that are left.
    max_iter : int, default=2000

    Notes
    -----
    O(n³) time per iteration at first, when all rows are in the model, and O(n²) memory. Kernels
    leave when their weight is negligible and its gradient negative; those that should not have left
    return.
    """

    def __init__(self, tol: float = 1e-3, *, max_iter: int = 2000) -> None:
        self.tol = tol
        self.max_iter = max_iter

    @abstractmethod
    def step(self, at: Likelihood) -> Likelihood:
        """One iteration."""

    def bind(self, rows: KernelRows, n_kernels: int | None) -> PoolSelection:  # noqa: ARG002
        return _Iterated(rows, dense_pool(rows), self)

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:  # noqa: ARG002
        return 8 * 8 * rows.n * rows.n


class EM(Update):
    """The paper's eq. (13), ``w ← w + w² (q − S)``: expectation-maximisation, monotone and slow."""

    def step(self, at: Likelihood) -> Likelihood:
        return at.at(at.weights * (1 + at.relative_gradient))


class Fast(Update):
    """The paper's eq. (14), ``w ← w q/S``: faster; a half step where it would lose likelihood."""

    def step(self, at: Likelihood) -> Likelihood:
        new = at.at(at.weights * at.ratio)
        return new if new.value >= at.value - at.rounding else at.at(at.weights * np.sqrt(at.ratio))


class MM(Update):
    r"""``w ← w √(q/S)``: monotone by construction, minorise-maximise.

    log|C| is concave in w and lies below its tangent; tr C⁻¹S is bounded by :math:`\sum_i w_{0i}^2
    q_i/w_i`. The maximum of the bound is at the new weights.
    """

    def step(self, at: Likelihood) -> Likelihood:
        return at.at(at.weights * np.sqrt(at.ratio))


@dataclass(frozen=True)
class _Iterated(PoolSelection):
    update: Update

    def solve(self, variance: float, limit: int | None = None) -> Selection:  # noqa: ARG002
        with one_blas_thread():
            return selected(self.rows, np.arange(self.rows.n), self._iterate(variance))

    def _iterate(self, variance: float) -> Ascent:
        present = np.flatnonzero(self.pool.diag > 0)
        weights = np.full(len(present), 1 / self.rows.n)
        at = Likelihood(self.pool, present, weights, variance)
        for step in range(1, self.update.max_iter + 1):
            at = prune(self.update.step(at))
            announce("sparse", step, self.update.max_iter)
            if not len(at.active) or np.abs(at.ratio - 1).max() <= self.update.tol:
                missing = self._missing(at)
                if missing is None:
                    return Ascent(at, step, True)
                at = missing
        return Ascent(at, self.update.max_iter, False)

    def _missing(self, at: Likelihood) -> Likelihood | None:
        """The model with the kernel put back that is missed most; None if none is."""
        S, q = at.candidates()
        ratio: Array = q / S
        ratio[at.active] = 0
        best = int(ratio.argmax())
        if ratio[best] <= 1 + self.update.tol:
            return None
        return at.add(best, float(one_weight(S, q)[best]))


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
