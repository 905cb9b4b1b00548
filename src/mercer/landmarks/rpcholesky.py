"""Randomly pivoted Cholesky: landmarks where the kernel is least explained so far.

Chen, Epperly, Tropp & Webber 2024 (Communications on Pure and Applied Mathematics); blocks with
rejection sampling after Epperly, Tropp & Webber 2024 ("Embrace rejection").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer._linalg import Array, square_sums
from mercer._types import RowsLike
from mercer.kernels import Basis, Kernel
from mercer.landmarks.base import LandmarkRule, sample_rows, take
from mercer.tiles import Tiles

__all__ = ["RPCholesky", "partial_cholesky"]


class RPCholesky(LandmarkRule):
    """Each landmark is drawn with probability proportional to what the others leave unexplained.

    Finds small far-away groups that uniform sampling misses.

    Parameters
    ----------
    oversample : int, default=5
        Rows looked at per landmark: a uniform sample of ``oversample * m`` rows stands for all.

    Notes
    -----
    O(s m (d + m)) time and O(s m) memory with s = ``oversample * m``.
    """

    def __init__(self, oversample: int = 5) -> None:
        self.oversample = oversample

    def select(self, kernel: Kernel, X: RowsLike, m: int, rng: np.random.Generator) -> Any:
        sample = sample_rows(X, self.oversample * m, rng)
        # float32 would stop at the first hundred pivots of a smooth kernel.
        exact = kernel.points(sample).cast(np.float64).rows
        pivots, _ = partial_cholesky(kernel, exact, m, rng)
        return take(sample, np.sort(pivots))


def partial_cholesky(
    kernel: Kernel, X: RowsLike, m: int, rng: np.random.Generator, block: int = 64
) -> tuple[Array, Array]:
    """Pivots and factor F (n, r ≤ m) with ``K ≈ F Fᵀ``, exact on the pivots' rows.

    Stops early when what is left is rounding.
    """
    rows = Basis(kernel, X)
    n = len(rows)
    left = kernel.diag(X).astype(np.float64)
    rounding = 1e-13 * left.sum()
    F = np.empty((n, min(m, n)))
    pivots = np.empty(0, dtype=np.intp)
    while len(pivots) < F.shape[1] and left.sum() > rounding:
        r = len(pivots)
        drawn = np.unique(rng.choice(n, min(block, F.shape[1] - r), p=left / left.sum()))
        columns = rows.pack(take(X, drawn))
        K = Tiles(kernel.fill, rows.packed, columns, columns.dtype).gram(np.float64)
        K -= F[:, :r] @ F[drawn, :r].T
        # What the entries themselves leave of a drawn row: a row that rounding alone would have
        # drawn, and that is rejected for ever, is not drawn again.
        own = np.maximum(K[drawn, np.arange(len(drawn))], 0)
        accepted, L = _accept(K[drawn], left[drawn], rng)
        new = solve_triangular(L, K[:, accepted].T, lower=True).T
        F[:, r : r + len(accepted)] = new
        left[drawn] = np.minimum(left[drawn], own)
        left = np.maximum(left - square_sums(new), 0)
        pivots = np.append(pivots, drawn[accepted])
        left[pivots] = 0
    return pivots, F[:, : len(pivots)]


def _accept(H: Array, bar: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Keep a drawn row with the probability that it would have been drawn after the earlier ones.

    ``bar`` is the diagonal with which it was drawn; returns the rows kept and the Cholesky factor
    of their block.
    """
    H = H.copy()
    b = len(H)
    L = np.zeros((b, b))
    kept: list[int] = []
    for i in range(b):
        if H[i, i] <= max(rng.random() * bar[i], 1e-12 * bar[i]):
            continue
        L[i:, i] = H[i:, i] / np.sqrt(H[i, i])
        H[i:, i:] -= np.outer(L[i:, i], L[i:, i])
        kept.append(i)
    return np.array(kept, dtype=np.intp), L[np.ix_(kept, kept)]
