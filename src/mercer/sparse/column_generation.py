"""Kernels for many rows: screen all rows approximately, decide exactly on a small pool."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mercer._base.linalg import first_unlike, square_sums
from mercer._base.machine import blocks, one_blas_thread, thread_map
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.kernels import Basis
from mercer.landmarks import partial_cholesky
from mercer.points.tiles import RowTiles, Tiles
from mercer.sparse.base import (
    BoundSelection,
    Selection,
    SparseSolver,
    largest_ratio,
    selected,
    violation,
)
from mercer.sparse.likelihood import Ascent, KernelRows, Likelihood, Pool, gain
from mercer.sparse.pool import Greedy, construct, positive_part

# S and q of all n rows for a given model, to find the kernels that are still missing.
#
# :math:`S_i` needs only the kernel columns of the active set and is exact in both screens.
# :math:`q_i` needs a whole row of K: approximated from a partial Cholesky factor, or summed exactly
# in O(n²).


BLOCK = 1024


class LowRankScreen:
    """q from ``K ≈ F Fᵀ``, with each row's own term put right; O(n m (m + r)) time per screening.

    ``F`` is (n, r) and ``gram`` FᵀF / n; ``squares`` is the diagonal of F (FᵀF/n) Fᵀ, and ``left``
    what F leaves of the diagonal of K.
    """

    is_exact = False

    def __init__(self, rows: KernelRows, rank: int) -> None:
        # By randomly pivoted Cholesky; O(n r (d + r)) time, O(n r) memory.
        _, F = partial_cholesky(rows.kernel, rows.data, min(rank, rows.n), rows.rng)
        parts = blocks(rows.n, 4 * BLOCK)
        self.F, self.diag = F, rows.diag
        self.gram = np.asarray(sum(thread_map(lambda b: F[b].T @ F[b], parts))) / rows.n
        # |F_i L|² with L Lᵀ = FᵀF/n: half the work of F (FᵀF/n) F, and never negative
        s, U = np.linalg.eigh(self.gram)
        root = U * np.sqrt(np.maximum(s, 0))
        self.squares = np.concatenate(thread_map(lambda b: square_sums(F[b] @ root), parts))
        self.left = np.maximum(rows.diag - square_sums(F), 0)

    def start(self) -> Array:
        """Mean of k(x_i, x)² over the rows for each i: q σ⁴ of the model without kernels."""
        return self.squares + self._own(self.diag)

    def candidates(self, at: Likelihood, columns: Array, index: Array) -> tuple[Array, Array]:
        """S and q of all rows; ``columns`` are K_nA for the active kernels, rows ``index``."""
        var = at.variance
        # φᵢᵀC⁻¹Φ ≈ (F_i − u_i F_A) Fᵀ / σ² with u_i = K_iA W^½ B⁻¹ W^½ / σ²
        F_A = self.F[index]
        to_active = self.gram @ F_A.T
        R_AA = F_A @ to_active
        S, q = np.empty(len(columns)), np.empty(len(columns))

        def fill(rows: slice) -> None:
            k = columns[rows]
            S[rows] = at.S_of(k, self.diag[rows])
            u = at.coefficients(k)
            R_iA = self.F[rows] @ to_active
            square = self.squares[rows] + np.einsum("ij,ij->i", u @ R_AA - 2 * R_iA, u)
            q[rows] = np.maximum(square, 0)

        thread_map(fill, blocks(len(columns), BLOCK))
        return S, (q + self._own(var * S)) / var**2

    def _own(self, scaled_S: Array) -> Array:
        """The error of F Fᵀ in the term n = i, which is known: (S² − (S − ρ/σ²)²) σ⁴ / n."""
        return np.asarray(np.maximum(self.left * (2 * scaled_S - self.left), 0)) / self.diag.size


@dataclass(frozen=True)
class ExactScreen:
    """q summed over all pairs of rows: a certificate. O(n² (d + m)) time, O(n m) memory.

    ``dtype`` float32 halves the time; its rounding is harmless while the noise is well above 1e-7.
    """

    rows: KernelRows
    dtype: type

    is_exact = True

    def start(self) -> Array:
        """As of the other screen."""
        nothing = np.zeros((self.rows.n, 0))
        return self._mean_squares(nothing, nothing)

    def candidates(self, at: Likelihood, columns: Array, index: Array) -> tuple[Array, Array]:  # noqa: ARG002
        """As of the other screen."""
        S = at.S_of(columns, self.rows.diag)
        return S, self._mean_squares(at.coefficients(columns), columns) / at.variance**2

    def _mean_squares(self, u: Array, columns: Array) -> Array:
        """Mean over j of (k_ij − u_i · K_jA)² for each i."""
        n, kernel = self.rows.n, self.rows.kernel
        basis = Basis(kernel, self.rows.data, self.dtype)
        right = kernel.pack(np.arange(n)) if kernel.is_pairwise else basis.packed
        u, columns = u.astype(self.dtype), columns.astype(self.dtype)

        def means(i: slice, tiles: RowTiles) -> Array:
            total = np.zeros(i.stop - i.start)
            for j, tile in tiles:
                tile -= u[i] @ columns[j].T
                total += square_sums(tile)
            announce("exact sweep", i.stop, n)
            return total / n

        tiles = Tiles(kernel.fill, basis.packed, right, np.dtype(self.dtype))
        return np.concatenate(tiles.map_rows(means))


#: What looks at every row as a candidate.
Screen = LowRankScreen | ExactScreen
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

    cost = 9e-8

    def __init__(self, rank: int = 400, *, sweeps: int = 0, tol: float = 1e-6) -> None:
        self.rank = rank
        self.sweeps = sweeps
        self.tol = tol

    def bind(self, rows: KernelRows, n_kernels: int | None) -> BoundSelection:  # noqa: ARG002
        if self.rank:  # rank=0 screens without approximation
            rows.data.require_open("a screen of low rank", "use rank=0, sweeps=20")
        return _Columns(rows, self)

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        return int(8 * rows.n * (self.rank + m + 2 * (1.5 * m + 50)))


@dataclass(frozen=True)
class _Round:
    """The kernels chosen so far, with their columns of K."""

    at: Likelihood
    index: Array
    columns: Array
    rejected: Array
    kkt: float = 0.0  #: the largest violation among those that were looked at exactly


@dataclass(frozen=True)
class _Columns(BoundSelection):
    rows: KernelRows
    solver: ColumnGeneration

    @cached_property
    def approximate(self) -> Screen | None:
        """Independent of the noise: serves a whole search."""
        return LowRankScreen(self.rows, self.solver.rank) if self.solver.rank else None

    def exact(self, variance: float) -> Screen:
        """In float32 where its rounding cannot be mistaken for a gain."""
        rows = self.rows
        safe = rows.data.can_wait and variance > 1e-4 * rows.diag.mean()
        return ExactScreen(rows, np.float32 if safe else np.float64)

    @cached_property
    def _start(self) -> Array:
        return (self.approximate or self.exact(np.inf)).start()

    @property
    def largest_variance(self) -> float:
        return largest_ratio(self._start, self.rows.diag)

    def solve(
        self, variance: float, limit: int | None = None, start: Selection | None = None
    ) -> Selection:
        screens = [self.approximate] if self.approximate else []
        screens += [self.exact(variance)] * max(self.solver.sweeps, 0 if screens else 1)
        rows, now = self.rows, self._begin(variance, start)
        rounds, certified, seen, value = 0, False, 0.0, -np.inf
        while screens and rounds < MAX_ROUNDS:
            screen, rounds, grown = screens[0], rounds + 1, False
            announce("sparse", rounds)
            short, seen = self._short_list(screen, now, variance)
            if len(short):
                now = self._decide(now, short, variance)
                grown, value = now.at.value > value + self.solver.tol, now.at.value
            if limit is not None and len(now.index) > limit:
                break
            certified = screen.is_exact and not len(short)
            if screen.is_exact or not grown:
                screens = [] if certified else screens[1:]
        selection = selected(rows, now.index, Ascent(now.at, rounds, rounds < MAX_ROUNDS))
        kkt = max(selection.kkt, now.kkt, seen if certified else 0.0)
        note = "certified by an exact sweep" if certified else "screened approximately"
        return replace(selection, kkt=kkt, note=note)

    def _begin(self, variance: float, start: Selection | None) -> _Round:
        none = np.empty(0, dtype=np.intp)
        if start is None:
            nothing = Pool(np.empty((0, 0)), np.empty((0, 0)), self.rows.n, 0.0)
            columns = np.empty((self.rows.n, 0))
            return _Round(Likelihood.empty(nothing, variance), none, columns, none)
        with one_blas_thread():
            indices, at = start.moved(variance)
        return _Round(at, indices, self.rows.columns(indices), none)

    def _short_list(self, screen: Screen, now: _Round, variance: float) -> tuple[Array, float]:
        """Rows that promise most, none much like another, and the largest excess of q/S over 1."""
        if len(now.index):
            S, q = screen.candidates(now.at, now.columns, now.index)
        else:
            S = np.maximum(self.rows.diag / variance, np.finfo(float).tiny)
            q = self._start / variance**2
        gains = gain(S, q)
        gains[now.index] = 0
        excess = float(max((np.where(gains > 0, q / S, 1) - 1).max(), 0.0))
        if not screen.is_exact:
            gains[now.rejected] = 0  # looked at exactly a moment ago
        ranked = np.argsort(-gains)[:LOOKED_AT]
        ranked = ranked[gains[ranked] >= self.solver.tol]
        if not len(ranked):
            return ranked, excess
        K = Basis(self.rows.kernel, self.rows.data.subset(ranked)).gram()
        return ranked[first_unlike(K, MOST_ALIKE, max(50, len(now.index) // 2))], excess

    def _decide(self, now: _Round, short: Array, variance: float) -> _Round:
        """The greedy optimiser on the pool of chosen kernels and short list."""
        index = np.concatenate([now.index, short])
        columns = np.hstack([now.columns, self.rows.columns(short)])
        pool = Pool.of_columns(columns, index, self.rows)
        pool = replace(pool, K=positive_part(self.rows, pool.K))
        start = Likelihood(pool, np.arange(len(now.index)), now.at.weights, variance)
        with one_blas_thread():
            at = construct(start, least_gain=self.solver.tol).at
            kkt = violation(at)
            rejected = np.setdiff1d(index, index[at.active])
        chosen = np.arange(len(at.active))
        kept = Likelihood(pool.subset(at.active), chosen, at.weights, variance)
        return _Round(kept, index[at.active], columns[:, at.active], rejected, kkt)


# Which optimiser for which number of rows.


#: Up to this many rows the whole matrix is kept.
DENSE_UP_TO = 1500


class Auto(SparseSolver):
    """:class:`Greedy` on up to 1,500 rows, :class:`ColumnGeneration` on more.

    The choice and its reason are in ``report_``.
    """

    def bind(self, rows: KernelRows, n_kernels: int | None) -> BoundSelection:
        return self.choose(rows)[0].bind(rows, n_kernels)

    def choose(self, rows: KernelRows) -> tuple[SparseSolver, str]:
        said = f"auto: {rows.n} rows"
        if rows.n <= DENSE_UP_TO:
            return Greedy(), f"{said}, exact"
        if rows.data.is_open:
            return ColumnGeneration(), said
        return ColumnGeneration(rank=0, sweeps=20), f"{said} of a precomputed matrix"

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        return self.choose(rows)[0].estimate_bytes(rows, m)
