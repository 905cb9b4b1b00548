"""A few rows of the Gram matrix by the kernel's definition: what fast entries are judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer.kernels import Kernel
from mercer.landmarks.base import take

__all__ = ["SpotCheck"]

#: Rows looked at: their direct distances cost about a hundredth of a fit of 2,000 rows.
ROWS = 32
#: With more columns than this, fewer rows, down to :data:`FEWEST`.
COLUMNS = 32
FEWEST = 8
#: A vector with more than this share of its square in a row is looked at there.
LOCAL = 0.1


@dataclass(frozen=True)
class SpotCheck:
    """Random rows of K in float64, half of them where the diagonal times the weight is large.

    Attributes
    ----------
    kernel, X : the matrix
    weight : sample weights, if there are any
    """

    kernel: Kernel
    X: Any
    weight: Array | None = None

    @cached_property
    def index(self) -> Array:
        """The numbers of the rows, (s,)."""
        n, s = len(self.X), self._size
        if s == n:
            return np.arange(n)
        return np.random.default_rng(0).choice(n, s, p=self._chance)

    @cached_property
    def values(self) -> Array:
        """The rows themselves, (s, n)."""
        return self.rows(self.index)

    def rows(self, index: Array) -> Array:
        """Rows of K by their numbers."""
        if self.kernel.is_pairwise:
            return np.asarray(self.X[index], dtype=np.float64)
        return self.kernel.exact(take(self.X, index), self.X)

    @cached_property
    def skew(self) -> float:
        """How far a given matrix is from a symmetric one at these rows; rounding, or refused."""
        if not self.kernel.is_pairwise:
            return 0.0
        across = np.asarray(self.X[:, self.index], dtype=np.float64).T
        return float(np.abs(self.values - across).max())

    def entry_errors(
        self, fast: Callable[[Array], Array], V: Array, row_scale: Array | None
    ) -> Array:
        """Estimated norms ``|E v|``, where ``fast(index)`` are rows of K + E.

        Vectors that live on a few rows are looked at on these: a sample would miss them.
        """
        sampled = self.norms((self.values - fast(self.index)) @ V, row_scale)
        scaled = V if row_scale is None else V * row_scale[:, None]
        own = np.setdiff1d(np.flatnonzero(self._is_local(scaled)), self.index)
        if not len(own):
            return sampled
        R = (self.rows(own) - fast(own)) @ V
        R = R if row_scale is None else R * row_scale[own, None]
        return np.asarray(np.sqrt(sampled**2 + np.einsum("ij,ij->j", R, R)))

    def _is_local(self, V: Array) -> Array:
        """Rows that hold more than :data:`LOCAL` of a vector's square."""
        squares = np.einsum("ij,ij->j", V, V)
        return np.asarray((LOCAL * squares < V**2).any(axis=1))

    def norms(self, R: Array, row_scale: Array | None = None) -> Array:
        """Estimated norms of columns (n, b) of which ``R`` (s, b) are the rows looked at.

        ``row_scale`` (n,) multiplies the rows first.
        """
        if row_scale is not None:
            R = R * row_scale[self.index, None]
        if self._size == len(self.X):
            return np.asarray(np.linalg.norm(R, axis=0))
        drawn = self._size * self._chance[self.index, None]
        return np.asarray(np.sqrt((R**2 / drawn).sum(axis=0)))

    def sums(self, T: Array) -> tuple[Array, Array]:
        """Estimated sums of columns (n, b) of which ``T`` (s, b) are the rows looked at.

        With three standard errors, which are zero if all rows were looked at.
        """
        if self._size == len(self.X):
            return T.sum(axis=0), np.zeros(T.shape[1])
        parts = T / (self._size * self._chance[self.index, None])
        return parts.sum(axis=0), 3 * np.sqrt(self._size * parts.var(axis=0))

    @property
    def _size(self) -> int:
        n, d = len(self.X), getattr(self.X, "shape", (0, 1))[1]
        size = ROWS if d <= COLUMNS else max(FEWEST, ROWS * COLUMNS // d)
        return n if n <= 2 * size else size

    @cached_property
    def _chance(self) -> Array:
        diag = np.abs(self.kernel.diag(self.X)).astype(np.float64)
        share = diag if self.weight is None else diag * self.weight
        share = share / share.sum() if share.sum() > 0 else 0 * share + 1 / len(share)
        return np.asarray(0.5 / len(share) + 0.5 * share)
