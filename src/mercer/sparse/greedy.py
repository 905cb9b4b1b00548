"""Constructive optimisation: kernels enter one at a time, and all weights move after each entry."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer._base.machine import lapack_threads, one_blas_thread
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.solvers.policy import noise_floor, refuse_negative
from mercer.sparse.base import PoolSelection, Selection, SparseSolver, selected
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

    def __init__(self, tol: float = 1e-4) -> None:
        self.tol = tol

    def bind(self, rows: KernelRows, n_kernels: int | None) -> PoolSelection:  # noqa: ARG002
        return _Dense(rows, dense_pool(rows), self.tol)

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        return 8 * (3 * rows.n * rows.n + 6 * rows.n * m)


@dataclass(frozen=True)
class _Dense(PoolSelection):
    tol: float

    def solve(self, variance: float, limit: int | None = None) -> Selection:
        with one_blas_thread():
            found = construct(empty(self.pool, variance), excess=self.tol, limit=limit)
            return selected(self.rows, np.arange(self.rows.n), found)


def construct(
    start: Likelihood, *, excess: float = 0.0, least_gain: float = 0.0, limit: int | None = None
) -> Ascent:
    """Add the kernels of a pool while they gain; all weights are re-optimised after each entry.

    Parameters
    ----------
    start : Likelihood
        Where to start; its pool holds the candidates.
    excess : float
        A candidate may enter if q/S > 1 + ``excess`` ...
    least_gain : float
        ... and if it gains this much per row.
    limit : int, optional
        Stop as soon as there are more kernels than this.
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


def empty(pool: Pool, variance: float) -> Likelihood:
    """The model without kernels: C = σ² I."""
    return Likelihood(pool, np.empty(0, dtype=np.intp), np.empty(0), variance)


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
