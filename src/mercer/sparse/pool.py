r"""Solvers whose candidates are all there from the start: one by one, or all at once.

:class:`Greedy` is constructive: kernels enter one at a time, and all weights move after each entry.
The paper's own iterations start from equal weights on all rows. With :math:`\Sigma_{ii} = w_i -
w_i^2 S_i` and :math:`\mu_{ni}^2` averaging to :math:`w_i^2 q_i`, eqs. (13) and (14) need neither
:math:`W^{-1}` nor a division by w. They are here to be compared with: they take thousands of
iterations where Greedy takes a fraction of a second.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mercer._base.machine import lapack_threads
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.landmarks import LandmarkRule
from mercer.solvers.landmarks import as_landmark_rule
from mercer.solvers.policy import noise_floor, refuse_negative
from mercer.sparse import likelihood
from mercer.sparse.base import PoolSelection, SparseSolver
from mercer.sparse.likelihood import Ascent, KernelRows, Likelihood, Pool, ascend, gain, one_weight

#: Weights are this exact before the next kernel enters: a copy of a kernel whose own weight is not
#: yet right would seem to gain.
STATIONARY = 1e-7
#: Kernels may enter together if they are coupled less than this.
INDEPENDENT = 0.2


class Greedy(SparseSolver):
    """Start without kernels; add the best one, re-optimise all weights, drop what vanishes; repeat.

    The gain of a candidate is known in closed form: with leave-one-out quantities q and S the best
    weight is ``(q − S)/S²`` and the log-likelihood grows by ``(x − 1 − log x)/2`` per row, x = q/S.
    It ends at a point where the optimality conditions hold, not where an iteration became slow.

    Parameters
    ----------
    tol : float, default=1e-4
        Kernels enter while q/S > 1 + ``tol`` for some candidate.

    Notes
    -----
    O(n²) memory and O(n² m) time per entry: for up to a few thousand rows.
    """

    cost = 2.4e-7

    def __init__(self, tol: float = 1e-4) -> None:
        self.tol = tol

    def bind(self, rows: KernelRows, n_kernels: int | None) -> PoolSelection:  # noqa: ARG002
        return PoolSelection(rows, dense_pool(rows), partial(construct, excess=self.tol))

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        return 8 * (3 * rows.n * rows.n + 6 * rows.n * m)


def construct(
    start: Likelihood, *, excess: float = 0.0, least_gain: float = 0.0, limit: int | None = None
) -> Ascent:
    """Add the kernels of a pool while they gain; all weights are re-optimised after each entry.

    A candidate of ``start.pool`` may enter if q/S > 1 + ``excess`` and if it gains ``least_gain``
    per row. It ends as soon as there are more than ``limit`` kernels.
    """
    at, entries, refused = start, 0, np.zeros(len(start.pool), dtype=bool)
    most = len(start.pool) if limit is None else limit
    while entries < 10 * len(start.pool) + 100 and len(at.active) <= most:
        S, q = at.candidates()
        gains = gain(S, q)
        gains[at.active] = 0
        gains[refused | (q <= S * (1 + excess)) | (gains < least_gain)] = 0
        if not gains.any():
            return Ascent(at, entries, True)
        entering = _together(at, gains)
        entries += len(entering)
        tried = ascend(at.add(entering, one_weight(S, q)[entering]), tol=STATIONARY)
        # A near-copy of a chosen kernel can gain less than rounding, or leave again at once.
        useless = tried.at.value <= at.value + at.rounding
        refused[entering] = useless
        at = at if useless else tried.at
        announce("sparse", len(at.active))
    return Ascent(at, entries, False)


def _together(at: Likelihood, gains: Array) -> Array:
    """The best candidate, and others nearly as good that have nothing to do with it or each other.

    At most one for eight that are already in: early on, each entry changes what the next should be.
    """
    ranked = np.argsort(-gains)[: 8 * max(1, len(at.active) // 8)]
    ranked = ranked[gains[ranked] >= gains[ranked[0]] / 2]
    coupling = at.coupling(ranked)
    chosen = [0]
    for i in range(1, len(ranked)):
        if len(chosen) < len(at.active) // 8 and coupling[i, chosen].max() < INDEPENDENT:
            chosen.append(i)
    return np.asarray(ranked[chosen])


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
        return PoolSelection(rows, dense_pool(rows), self._optimise)

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:  # noqa: ARG002
        return 8 * 8 * rows.n * rows.n

    def _optimise(self, start: Likelihood, limit: int | None) -> Ascent:  # noqa: ARG002
        present = np.flatnonzero(start.pool.diag > 0)
        equal = np.full(len(present), 1 / len(start.pool))
        at = Likelihood.empty(start.pool, start.variance).add(present, equal)
        for step in range(1, self.max_iter + 1):
            at = likelihood.prune(self.step(at))
            announce("sparse", step, self.max_iter)
            if not len(at.active) or np.abs(at.ratio - 1).max() <= self.tol:
                # The kernel that is missed most returns.
                S, q = at.candidates()
                ratio: Array = q / S
                ratio[at.active] = 0
                best = int(ratio.argmax())
                if ratio[best] <= 1 + self.tol:
                    return Ascent(at, step, True)
                at = at.add(best, float(one_weight(S, q)[best]))
        return Ascent(at, self.max_iter, False)


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
        rows.data.require_open("choosing centres", "use solver='greedy'")
        rule = as_landmark_rule(self.select)
        points = rule.select(rows.kernel, rows.X, min(n_kernels, rows.n), rows.rng)
        K = positive_part(rows, rows.among(points))
        H = likelihood.triangular_factor(rows.against(points))
        pool = Pool(K, H, rows.n, float(rows.diag.mean()))
        return PoolSelection(rows, pool, _weigh, points)

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        return 8 * rows.n * m


def _weigh(start: Likelihood, limit: int | None) -> Ascent:  # noqa: ARG001
    """The weights of all candidates, from equal ones."""
    m = len(start.pool)
    return ascend(start.add(np.arange(m), np.full(m, 1 / m)))


def dense_pool(rows: KernelRows) -> Pool:
    """Every row is a candidate, with the positive part of the kernel matrix."""
    pool = Pool.of_all(rows)
    K = positive_part(rows, pool.K)
    return replace(pool, K=K, H=K)


def positive_part(rows: KernelRows, K: Array) -> Array:
    """The policy for kernels that may be indefinite, on the matrix of the candidates."""
    if rows.kernel.is_mercer:
        return K
    with lapack_threads(len(K)):
        values, U = np.linalg.eigh(K)
    floor = noise_floor(values[-1], len(K), float(np.abs(np.diagonal(K)).max()), K.dtype)
    refuse_negative(values[0], values[-1], floor)
    return np.asarray((U * np.maximum(values, 0)) @ U.T) if values[0] < -floor else K
