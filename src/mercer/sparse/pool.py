r"""What the likelihood has to know of the rows, for a pool of candidate kernels.

For candidates J the kernel matrix :math:`K_{JJ}` and a factor H with
:math:`H H^\top = K_{Jn} K_{nJ}` are sufficient: after one pass over the n rows nothing depends on n
any more. H is the triangular factor of a QR decomposition, not the product itself, which would
square the condition number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks, thread_map
from mercer._types import RowsLike
from mercer.kernels import Basis, Kernel

BLOCK = 2048


@dataclass(frozen=True)
class KernelRows:
    """The data of a fit: clean rows, a resolved kernel, and random numbers."""

    kernel: Kernel
    X: RowsLike
    rng: np.random.Generator

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    @cached_property
    def diag(self) -> Array:
        """k(x, x) of each row, in float64."""
        # From rows in float64, like the columns: else a row and its copy would differ.
        X = self.X.astype(np.float64, copy=False) if hasattr(self.X, "dtype") else self.X
        return self.kernel.diag(X).astype(np.float64)

    def columns(self, index: Array) -> Array:
        """k(x_i, x_j) for all rows i and the chosen j, (n, m) in float64."""
        C = self.against(self.points(index))
        C[index, np.arange(len(index))] = self.diag[index]
        return C

    def against(self, points: RowsLike) -> Array:
        """k(x_i, s_j) for all rows and any points, (n, m) in float64; a memmap is read forwards."""
        # In float64 for float32 rows, too: small noise makes the weights feel every digit.
        return Basis(self.kernel, points, np.float64).at(self.X)

    def points(self, index: Array) -> Any:
        """The chosen rows; for a precomputed matrix the numbers of its columns."""
        return self.kernel.points(self.X).chosen(index)

    def among(self, points: RowsLike) -> Array:
        """The symmetric matrix of k between points that are not rows, in float64."""
        return Basis(self.kernel, points, np.float64).gram()


@dataclass(frozen=True)
class Pool:
    """Candidate kernels and the sufficient statistics of the data for them.

    Attributes
    ----------
    K : (p, p)
        Kernel between the candidates.
    H : (p, h)
        Any factor with ``H Hᵀ = K_Jn K_nJ``.
    n : int
        Number of rows.
    mean_diag : float
        Mean of k(x, x) over the rows: the trace of the covariance in feature space.
    """

    K: Array
    H: Array
    n: int
    mean_diag: float

    @classmethod
    def of_all(cls, rows: KernelRows) -> Pool:
        """Every row is a candidate: the dense matrix, O(n²) memory."""
        K = rows.columns(np.arange(rows.n))
        K = (K + K.T) / 2
        return cls(K, K, rows.n, float(rows.diag.mean()))

    @classmethod
    def of_columns(cls, columns: Array, index: Array, rows: KernelRows) -> Pool:
        """From the kernel columns of some rows; O(n p²) time, O(p²) memory."""
        K = columns[index]
        return cls((K + K.T) / 2, triangular_factor(columns), rows.n, float(rows.diag.mean()))

    @cached_property
    def diag(self) -> Array:
        """k(x_j, x_j) of the candidates."""
        return np.diagonal(self.K).copy()

    def __len__(self) -> int:
        return len(self.K)

    def subset(self, index: Array) -> Pool:
        """The same data with fewer candidates."""
        return Pool(self.K[np.ix_(index, index)], self.H[index], self.n, self.mean_diag)


def triangular_factor(C: Array) -> Array:
    """H (p, h) with ``H Hᵀ = Cᵀ C`` and h ≤ 2p: QR of row blocks, then of their stacked factors."""
    n, p = C.shape
    if n <= 2 * p:
        return C.T.copy()
    parts = thread_map(lambda rows: np.linalg.qr(C[rows], mode="r"), blocks(n, max(BLOCK, 4 * p)))
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r")).T
