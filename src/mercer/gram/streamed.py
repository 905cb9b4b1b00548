"""The Gram matrix as tiles that every product computes again, or that the first one keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._linalg import SQUARABLE, Array, mirror
from mercer._parallel import blocks
from mercer._types import RowsLike
from mercer.gram.base import GramOperator
from mercer.gram.low_rank import LowRank, nystrom
from mercer.gram.spot_check import SpotCheck
from mercer.kernels import Basis, Kernel
from mercer.points import Points, SparseVectors
from mercer.tiles import Tiles

__all__ = ["StreamedGram"]

#: Columns that a pass has at least.
BLOCK = 16


@dataclass(frozen=True)
class StreamedGram(GramOperator):
    """Products with K in O(n² (d + b)) time and O(n (d + b)) memory.

    Tiles may be in float32 while sums are in float64: the products are then right to about 1e-7 of
    the largest eigenvalue, at half the time. With ``keep`` the first product keeps its tiles, n²/2
    numbers, for the others.
    """

    basis: Basis
    tiles: Tiles
    diag: Array
    spot: SpotCheck

    @classmethod
    def from_rows(
        cls,
        kernel: Kernel,
        X: RowsLike,
        dtype: Any = np.float64,
        tile_dtype: Any = None,
        block: int | None = None,
        spot: SpotCheck | None = None,
        *,
        keep: bool = False,
    ) -> StreamedGram:
        """Pack the rows once; nothing of size n × n is made, unless a product shall keep it."""
        points = kernel.points(X)
        diag = kernel.diag(points.cast(dtype).rows)
        tile = np.dtype(tile_dtype or dtype)
        if tile == np.float32 and not _fit_float32(points, diag):
            return cls.from_rows(kernel, X, np.float64, block=block, spot=spot)
        basis = Basis(kernel, X, tile)
        tiles = Tiles(kernel.fill, basis.packed, basis.packed, tile, block, {} if keep else None)
        return cls(basis, tiles, diag.astype(dtype), spot or SpotCheck(kernel, X))

    @property
    def n(self) -> int:
        return len(self.diag)

    @property
    def dtype(self) -> np.dtype:
        return self.diag.dtype

    @property
    def precision(self) -> np.dtype:
        return self.tiles.dtype

    def matmat(self, V: Array) -> Array:
        return self.tiles.symmetric_matmat(V.astype(self.dtype, copy=False), self.diag)

    def diagonal(self) -> Array:
        return self.diag

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:
        return self.spot.shifts(self._product, V, row_scale)

    def _product(self, index: Array, V: Array) -> Array:
        """Rows of ``K V`` as a pass makes them: sums in the tiles' type within a tile.

        BLAS sums for a block of columns in another order than for one; rows that are copies of each
        other make the difference one of digits, so a narrow V is repeated.
        """
        rows = self.basis.at(self.basis.as_points.take(index).rows)
        rows[np.arange(len(index)), index] = self.diag[index]
        factor = np.tile(V, -(-BLOCK // V.shape[1])).astype(self.precision, copy=False)
        product = np.zeros((len(index), factor.shape[1]), dtype=V.dtype)
        for columns in blocks(self.n, self.tiles.width):
            product += rows[:, columns] @ factor[columns]
        return product[:, : V.shape[1]]

    def packed_rows(self) -> Basis:
        return self.basis

    @property
    def can_refine(self) -> bool:
        return self.precision == np.float32 and self.basis.as_points.has_finer_entries

    def refined(self) -> StreamedGram:
        kernel, X = self.basis.kernel, self.basis.points
        return StreamedGram.from_rows(kernel, X, np.float64, spot=self.spot)

    def low_rank(self, rank: int, rng: np.random.Generator) -> LowRank | None:
        return nystrom(self.basis, rank, rng)

    def to_dense(self) -> Array:
        K = np.empty((self.n, self.n), dtype=self.dtype)
        self.tiles.lower(K)
        np.fill_diagonal(K, self.diag)
        return mirror(K)


def _fit_float32(points: Points, diag: Array) -> bool:
    """True if the rows, the kernel's values and the squares of both are in float32's range."""
    if not float(np.abs(diag).max(initial=0.0)) < SQUARABLE:
        return not points.has_finer_entries
    if not points.can_wait or points.dtype == np.float32:
        return True
    entries = points.rows.data if isinstance(points, SparseVectors) else points.rows
    span = float(np.abs(entries).max(initial=0.0))
    return span == 0 or 1 / SQUARABLE < span < SQUARABLE
