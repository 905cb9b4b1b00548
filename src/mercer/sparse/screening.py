r"""S and q of all n rows for a given model, to find the kernels that are still missing.

:math:`S_i` needs only the kernel columns of the active set and is exact in both screens.
:math:`q_i` needs a whole row of K: approximated from a partial Cholesky factor, or summed exactly
in O(n²).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from mercer._linalg import Array, square_sums
from mercer._parallel import blocks, thread_map
from mercer._progress import announce
from mercer.kernels import Basis
from mercer.landmarks import partial_cholesky
from mercer.sparse.likelihood import Likelihood
from mercer.sparse.pool import KernelRows
from mercer.tiles import RowTiles, Tiles

BLOCK = 1024


class Screen(ABC):
    """Looks at every row as a candidate."""

    is_exact: bool

    @abstractmethod
    def candidates(self, at: Likelihood, columns: Array, index: Array) -> tuple[Array, Array]:
        """S and q of all rows; ``columns`` are K_nA for the active kernels, rows ``index``."""

    @abstractmethod
    def start(self) -> Array:
        """Mean of k(x_i, x)² over the rows for each i: q σ⁴ of the model without kernels."""


@dataclass(frozen=True)
class LowRankScreen(Screen):
    """q from ``K ≈ F Fᵀ``, with each row's own term put right; O(n m (m + r)) time per screening.

    Attributes
    ----------
    F : (n, r)
    gram : (r, r)
        FᵀF / n.
    squares : (n,)
        Diagonal of F (FᵀF/n) Fᵀ.
    left : (n,)
        What F leaves of the diagonal of K.
    diag : (n,)
    """

    F: Array
    gram: Array
    squares: Array
    left: Array
    diag: Array

    is_exact = False

    @classmethod
    def of(cls, rows: KernelRows, rank: int) -> LowRankScreen:
        """By randomly pivoted Cholesky; O(n r (d + r)) time, O(n r) memory."""
        _, F = partial_cholesky(rows.kernel, rows.X, min(rank, rows.n), rows.rng)
        parts = blocks(rows.n, 4 * BLOCK)
        gram = np.asarray(sum(thread_map(lambda b: F[b].T @ F[b], parts))) / rows.n
        # |F_i L|² with L Lᵀ = FᵀF/n: half the work of F (FᵀF/n) F, and never negative
        s, U = np.linalg.eigh(gram)
        root = U * np.sqrt(np.maximum(s, 0))
        squares = np.concatenate(thread_map(lambda b: square_sums(F[b] @ root), parts))
        left = np.maximum(rows.diag - square_sums(F), 0)
        return cls(F, gram, squares, left, rows.diag)

    def start(self) -> Array:
        return self.squares + self._own(self.diag)

    def candidates(self, at: Likelihood, columns: Array, index: Array) -> tuple[Array, Array]:
        var, solve = at.variance, _Solver(at)
        # φᵢᵀC⁻¹Φ ≈ (F_i − u_i F_A) Fᵀ / σ² with u_i = K_iA W^½ B⁻¹ W^½ / σ²
        F_A = self.F[index]
        to_active = self.gram @ F_A.T
        R_AA = F_A @ to_active
        S, q = np.empty(len(columns)), np.empty(len(columns))

        def fill(rows: slice) -> None:
            k = columns[rows]
            S[rows] = solve.S(k, self.diag[rows])
            u = solve.coefficients(k)
            R_iA = self.F[rows] @ to_active
            square = self.squares[rows] + np.einsum("ij,ij->i", u @ R_AA - 2 * R_iA, u)
            q[rows] = np.maximum(square, 0)

        thread_map(fill, blocks(len(columns), BLOCK))
        return S, (q + self._own(var * S)) / var**2

    def _own(self, scaled_S: Array) -> Array:
        """The error of F Fᵀ in the term n = i, which is known: (S² − (S − ρ/σ²)²) σ⁴ / n."""
        return np.asarray(np.maximum(self.left * (2 * scaled_S - self.left), 0)) / self.diag.size


@dataclass(frozen=True)
class ExactScreen(Screen):
    """q summed over all pairs of rows: a certificate. O(n² (d + m)) time, O(n m) memory.

    ``dtype`` float32 halves the time; its rounding is harmless while the noise is well above 1e-7.
    """

    rows: KernelRows
    dtype: type

    is_exact = True

    def start(self) -> Array:
        return self._mean_squares(np.zeros((self.rows.n, 0)), np.zeros((self.rows.n, 0)))

    def candidates(self, at: Likelihood, columns: Array, index: Array) -> tuple[Array, Array]:  # noqa: ARG002
        solve, diag = _Solver(at), self.rows.diag
        S = solve.S(columns, diag)
        q = self._mean_squares(solve.coefficients(columns), columns) / at.variance**2
        return S, q

    def _mean_squares(self, u: Array, columns: Array) -> Array:
        """Mean over j of (k_ij − u_i · K_jA)² for each i."""
        n, kernel = self.rows.n, self.rows.kernel
        basis = Basis(kernel, self.rows.X, self.dtype)
        right = kernel.pack(np.arange(n)) if kernel.is_pairwise else basis.packed
        u, columns = u.astype(self.dtype), columns.astype(self.dtype)

        def means(i: slice, tiles: RowTiles) -> Array:
            total = np.zeros(i.stop - i.start)
            for j, tile in tiles:
                tile -= u[i] @ columns[j].T
                total += square_sums(tile)
            announce("exact sweep", i.stop, n)
            return total / n

        return np.concatenate(
            Tiles(kernel.fill, basis.packed, right, np.dtype(self.dtype)).map_rows(means)
        )


class _Solver:
    """Solves with B for many rows of K_nA at once."""

    def __init__(self, at: Likelihood) -> None:
        self.variance = at.variance
        # W^½ L⁻ᵀ / σ: kernel rows times this are whitened coordinates
        L = at.cholesky
        inverse = solve_triangular(L, np.eye(len(L)), lower=True) if len(L) else L
        self.whitening = np.sqrt(at.weights / at.variance)[:, None] * inverse.T

    def S(self, k: Array, diag: Array) -> Array:  # noqa: N802  the letter of the formula
        """φᵀC⁻¹φ for each row of k = K_iA, never below rounding."""
        S = (diag - square_sums(k @ self.whitening)) / self.variance
        floor = 16 * np.finfo(float).eps * diag / self.variance
        return np.maximum(S, floor + np.finfo(float).tiny)

    def coefficients(self, k: Array) -> Array:
        """u = K_iA W^½ B⁻¹ W^½ / σ²."""
        return np.asarray((k @ self.whitening) @ self.whitening.T)
