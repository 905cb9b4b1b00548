"""The Gram matrix computed once and kept: its upper triangle, as column panels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks, n_threads, split_evenly, thread_map
from mercer.gram.base import GramOperator
from mercer.gram.low_rank import LowRank, nystrom
from mercer.kernels import Kernel

__all__ = ["DenseGram"]

PANEL = 512
TILE = 256


@dataclass(frozen=True)
class DenseGram(GramOperator):
    """Column panels ``K[:end, start:end]``: half of the matrix, every product contiguous.

    O(n² d) time to build, n²/2 numbers of memory. Use :class:`StreamedGram` where that is too much.
    """

    kernel: Kernel
    X: Any
    panels: list[Array]
    columns: list[slice]
    diag: Array

    @classmethod
    def from_rows(cls, kernel: Kernel, X: Any, dtype: np.dtype) -> DenseGram:
        """Fill the panels tile by tile in threads; no temporaries beyond the tiles."""
        packed = kernel.pack(X, kernel.origin(X))
        diag = kernel.diag(X).astype(dtype, copy=False)
        columns = blocks(len(packed), PANEL)

        def panel(j: slice) -> Array:
            K = np.empty((j.stop, j.stop - j.start), dtype=dtype)
            right = packed[j]
            for i in blocks(j.start, PANEL):
                kernel.fill(packed[i], right, K[i])
            corner = K[j.start :]
            kernel.fill(right, right, corner)
            np.fill_diagonal(corner, diag[j])
            symmetrize(corner)
            return K

        # Long panels first, so that no thread is left with the longest one at the end.
        panels = thread_map(panel, columns[::-1])[::-1]
        return cls(kernel, X, panels, columns, diag)

    @property
    def n(self) -> int:
        return len(self.diag)

    @property
    def dtype(self) -> np.dtype:
        return self.diag.dtype

    def matmat(self, V: Array) -> Array:
        """Both halves of the symmetric product from each panel; one pass over n²/2 numbers."""
        V = V.astype(self.dtype, copy=False)

        def product(hand: list[int]) -> Array:
            Y = np.zeros((self.n, V.shape[1]), dtype=self.dtype)
            for p in hand:
                j, panel = self.columns[p], self.panels[p]
                Y[j] += panel[j.start :] @ V[j]
                for i in blocks(j.start, TILE):
                    tile = panel[i]  # still in cache when it is used the second time
                    Y[i] += tile @ V[j]
                    Y[j] += tile.T @ V[i]
            return Y

        return sum_in_order(thread_map(product, self._hands))

    def diagonal(self) -> Array:
        return self.diag

    def low_rank(self, rank: int, rng: np.random.Generator) -> LowRank | None:
        origin = self.kernel.origin(self.X)
        packed = self.kernel.pack(self.X, origin)
        return nystrom(self.kernel, self.X, packed, origin, rank, rng)

    def to_dense(self) -> Array:
        K = np.empty((self.n, self.n), dtype=self.dtype)
        for j, panel in zip(self.columns, self.panels, strict=True):
            K[: j.stop, j] = panel
            K[j, : j.start] = panel[: j.start].T
        return K

    @cached_property
    def _hands(self) -> list[list[int]]:
        return split_evenly(range(len(self.panels) - 1, -1, -1), n_threads())


def symmetrize(corner: Array) -> None:
    """Copy the upper triangle over the lower one, which differs from it by rounding."""
    upper = np.triu(corner)
    np.add(upper, np.triu(upper, k=1).T, out=corner)


def sum_in_order(parts: list[Array]) -> Array:
    """Add the threads' shares, always in the same order."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total
