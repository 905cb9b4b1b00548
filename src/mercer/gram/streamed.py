"""The Gram matrix as tiles that every product computes again, or that the first one keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._base.linalg import mirror
from mercer._base.machine import blocks
from mercer._base.types import Array
from mercer.gram.base import KernelGram, in_range
from mercer.gram.spot_check import SpotCheck
from mercer.kernels import Basis, Kernel
from mercer.points import Points
from mercer.points.tiles import Tiles

#: Columns that a pass has at least.
BLOCK = 16


@dataclass(frozen=True, eq=False)
class StreamedGram(KernelGram):
    """Products with K in O(n² (d + b)) time and O(n (d + b)) memory.

    Tiles may be in float32 while sums are in float64: the products are then right to about 1e-7 of
    the largest eigenvalue, at half the time. With ``keep`` the first product keeps its tiles, n²/2
    numbers, for the others.
    """

    tiles: Tiles

    @classmethod
    def from_rows(
        cls,
        kernel: Kernel,
        X: Points,
        dtype: Any = np.float64,
        tile_dtype: Any = None,
        block: int | None = None,
        spot: SpotCheck | None = None,
        *,
        keep: bool = False,
    ) -> StreamedGram:
        """Pack the rows once; nothing of size n × n is made, unless a product shall keep it."""
        given = kernel.points(X)
        points = in_range(kernel, given)
        if points is not given:
            dtype = tile_dtype = np.float64
        diag = kernel.diag(points.cast(dtype).rows)
        tile = np.dtype(tile_dtype or dtype)
        if tile == np.float32 and not points.fit_float32(diag):
            return cls.from_rows(kernel, points, np.float64, block=block, spot=spot)
        basis = Basis(kernel, points, tile)
        tiles = Tiles(kernel.fill, basis.packed, basis.packed, tile, block, {} if keep else None)
        return cls(basis, diag.astype(dtype), spot or SpotCheck(kernel, points), tiles)

    @property
    def precision(self) -> np.dtype:
        return self.tiles.dtype

    def matmat(self, V: Array) -> Array:
        return self.tiles.symmetric_matmat(V.astype(self.dtype, copy=False), self.diag)

    def row_products(self, index: Array, V: Array) -> Array:
        """Rows of ``K V`` as a pass makes them: sums in the tiles' type within a tile.

        BLAS sums for a block of columns in another order than for one; rows that are copies of each
        other make the difference one of digits, so a narrow V is repeated.
        """
        rows = self._sampled if index is self.spot.index else self._rows(index)
        factor = np.tile(V, -(-BLOCK // V.shape[1])).astype(self.precision, copy=False)
        product = np.zeros((len(index), factor.shape[1]), dtype=V.dtype)
        for columns in blocks(self.n, self.tiles.width):
            product += rows[:, columns] @ factor[columns]
        return product[:, : V.shape[1]]

    @cached_property
    def _sampled(self) -> Array:
        """The rows that are judged again and again."""
        return self._rows(self.spot.index)

    def _rows(self, index: Array) -> Array:
        rows = self.basis.at(self.basis.points.take(index))
        rows[np.arange(len(index)), index] = self.diag[index]
        return rows

    def refined(self) -> StreamedGram:
        kernel, X = self.basis.kernel, self.basis.points
        return StreamedGram.from_rows(kernel, X, np.float64, spot=self.spot)

    def to_dense(self) -> Array:
        K = np.empty((self.n, self.n), dtype=self.dtype)
        self.tiles.lower(K)
        np.fill_diagonal(K, self.diag)
        return mirror(K)
