"""Kernels for many rows: screen all rows approximately, decide exactly on a small pool."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mercer._linalg import Array, first_unlike
from mercer._parallel import one_blas_thread
from mercer._progress import announce
from mercer.kernels import Basis
from mercer.sparse.base import BoundSelection, Selection, SparseSolver, selected, violation
from mercer.sparse.greedy import construct, positive_part
from mercer.sparse.likelihood import Likelihood, gain
from mercer.sparse.pool import KernelRows, Pool
from mercer.sparse.screening import ExactScreen, LowRankScreen, Screen

#: Two candidates of one round may not be more alike than this (normalised kernel).
MOST_ALIKE = 0.8
#: Of the rows with the largest gains, so many are looked at for a short list.
LOOKED_AT = 2000
MAX_ROUNDS = 100


class ColumnGeneration(SparseSolver):
    """Screen every row by an approximate likelihood, and decide exactly on the best few.

    Each round takes the rows whose kernels promise the largest gains, computes their columns of K
    exactly and runs the greedy optimiser on them together with the kernels chosen so far. It ends
    when no row promises more than ``tol``.

    Parameters
    ----------
    rank : int, default=400
        Rank of the partial Cholesky factor behind the approximate screening; 0 screens exactly from
        the start. Smooth kernels need no more; for kernels of high rank (images) add exact sweeps.
    sweeps : int, default=0
        Exact screenings, O(n²) each, that may follow. When one of them finds nothing the result is
        certified: ``kkt_`` then covers all rows.
    tol : float, default=1e-6
        Least gain of log-likelihood per row for which a kernel is added.

    Notes
    -----
    O(n (r + m)²) time and O(n (r + 2 m)) memory for n rows, rank r and m kernels; no n × n array.
    The rows may be a memmap.
    """

    def __init__(self, rank: int = 400, *, sweeps: int = 0, tol: float = 1e-6) -> None:
        self.rank = rank
        self.sweeps = sweeps
        self.tol = tol

    def bind(self, rows: KernelRows, n_kernels: int | None) -> BoundSelection:  # noqa: ARG002
        if self.rank:  # rank=0 screens without approximation
            rows.kernel.points(rows.X).require_open(
                "approximate screening", "use ColumnGeneration(rank=0, sweeps=20)"
            )
        return _Columns(rows, self.rank, self.sweeps, self.tol)

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        pool = 1.5 * m + 50
        return int(8 * rows.n * (self.rank + m + 2 * pool))


@dataclass(frozen=True)
class _Round:
    """The kernels chosen so far, with their columns of K."""

    at: Likelihood | None
    index: Array
    columns: Array
    rejected: Array
    kkt: float = np.inf


@dataclass(frozen=True)
class _Columns(BoundSelection):
    rows: KernelRows
    rank: int
    sweeps: int
    tol: float

    @cached_property
    def approximate(self) -> Screen | None:
        """Independent of the noise: serves a whole search."""
        return LowRankScreen.of(self.rows, self.rank) if self.rank else None

    def exact(self, variance: float) -> Screen:
        """In float32 where its rounding cannot be mistaken for a gain."""
        rows = self.rows
        vectors = rows.kernel.points(rows.X).can_wait
        safe = vectors and variance > 1e-4 * rows.diag.mean()
        return ExactScreen(rows, np.float32 if safe else np.float64)

    @cached_property
    def _start(self) -> Array:
        screen = self.approximate or self.exact(np.inf)
        return screen.start()

    @property
    def largest_variance(self) -> float:
        present = self.rows.diag > 0
        return float((self._start[present] / self.rows.diag[present]).max(initial=0.0))

    def solve(self, variance: float, limit: int | None = None) -> Selection:
        screens = [self.approximate] if self.approximate else []
        screens += [self.exact(variance)] * max(self.sweeps, 0 if screens else 1)
        now = _Round(None, np.empty(0, dtype=np.intp), np.empty((self.rows.n, 0)), np.empty(0, int))
        rounds, certified, seen = 0, False, 0.0
        while screens and rounds < MAX_ROUNDS:
            screen, rounds = screens[0], rounds + 1
            announce("sparse", rounds)
            short, seen = self._short_list(screen, now, variance)
            before = -np.inf if now.at is None else now.at.value
            now = self._decide(now, short, variance) if len(short) else now
            if limit is not None and len(now.index) > limit:
                break
            grown = now.at is not None and now.at.value > before + self.tol
            certified = screen.is_exact and not len(short)
            if screen.is_exact or not grown:
                screens = [] if certified else screens[1:]
        return self._result(now, variance, rounds, certified, seen)

    def _short_list(self, screen: Screen, now: _Round, variance: float) -> tuple[Array, float]:
        """Rows that promise most, none much like another, and the largest excess of q/S over 1."""
        if now.at is None or not len(now.index):
            S, q = self.rows.diag / variance, self._start / variance**2
            S = np.maximum(S, np.finfo(float).tiny)
        else:
            S, q = screen.candidates(now.at, now.columns, now.index)
        gains = gain(S, q)
        gains[now.index] = 0
        excess = float(max((np.where(gains > 0, q / S, 1) - 1).max(), 0.0))
        if not screen.is_exact:
            gains[now.rejected] = 0  # looked at exactly a moment ago
        ranked = np.argsort(-gains)[:LOOKED_AT]
        ranked = ranked[gains[ranked] >= self.tol]
        return self._spread(ranked, max(50, len(now.index) // 2)), excess

    def _spread(self, ranked: Array, size: int) -> Array:
        """The first ``size`` rows of a ranking that are not too much alike."""
        if not len(ranked):
            return ranked
        rows = self.rows
        K = Basis(rows.kernel, rows.kernel.points(rows.X).subset(ranked).rows).gram()
        return ranked[first_unlike(K, MOST_ALIKE, size)]

    def _decide(self, now: _Round, short: Array, variance: float) -> _Round:
        """The greedy optimiser on the pool of chosen kernels and short list."""
        index = np.concatenate([now.index, short])
        columns = np.hstack([now.columns, self.rows.columns(short)])
        pool = Pool.of_columns(columns, index, self.rows)
        pool = replace(pool, K=positive_part(self.rows, pool.K))
        weights = np.empty(0) if now.at is None else now.at.weights
        start = Likelihood(pool, np.arange(len(now.index)), weights, variance)
        with one_blas_thread():
            at = construct(start, least_gain=self.tol).at
            kkt = violation(at)
            rejected = np.setdiff1d(index, index[at.active])
            kept = Likelihood(
                pool.subset(at.active), np.arange(len(at.active)), at.weights, variance
            )
        return _Round(kept, index[at.active], columns[:, at.active], rejected, kkt)

    def _result(
        self, now: _Round, variance: float, rounds: int, certified: bool, seen: float
    ) -> Selection:
        nothing = Pool(np.empty((0, 0)), np.empty((0, 0)), self.rows.n, 0.0)
        at = now.at or Likelihood(nothing, now.index, np.empty(0), variance)
        kkt = max(now.kkt, seen) if certified else now.kkt
        found = selected(
            self.rows, now.index, at, kkt=kkt, steps=rounds, converged=rounds < MAX_ROUNDS
        )
        note = "certified by an exact sweep" if certified else "screened approximately"
        return replace(found, note=note)
