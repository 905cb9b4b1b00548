r"""The functions :math:`k(s_i, \cdot)` of fixed points: what every model is written in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._base.linalg import mirror
from mercer._base.types import Array, Precision, RowsLike
from mercer.kernels.base import Kernel, Origin
from mercer.points import Points
from mercer.points.sparse import SparseRows
from mercer.points.tiles import Packed, RowTiles, Tiles

#: Points from which the typical similarity of neighbours is taken.
SAMPLE = 1000


@dataclass(frozen=True)
class Basis:
    """Points S with their kernel, packed once, around an origin that all rows are measured from.

    Attributes
    ----------
    kernel : Kernel, resolved
    points : (m, d) array, m objects, or column numbers
    dtype : type of the tiles; the points' own if not given
    """

    kernel: Kernel
    points: RowsLike
    dtype: Precision = None

    @property
    def as_points(self) -> Points:
        """The points as what they are to the kernel."""
        return self.kernel.points(self.points)

    @cached_property
    def origin(self) -> Origin:
        """What the kernel measures rows from."""
        return self.kernel.origin(self.points)

    @cached_property
    def packed(self) -> Packed:
        """The points, ready for tiles."""
        return self.pack(self.points)

    @cached_property
    def neighbour_similarity(self) -> float:
        """The median similarity of a point to its nearest other one, over at most 1,000 points."""
        m = len(self)
        sample = np.arange(0, m, -(-m // SAMPLE))
        K = self.at(self.as_points.take(sample).rows)
        K[np.arange(len(sample)), sample] = -np.inf
        return float(np.median(K.max(axis=1)))

    def __len__(self) -> int:
        return len(self.packed)

    def pack(self, X: RowsLike) -> Packed:
        """Other rows, measured from the same origin."""
        sparse = isinstance(self.points, SparseRows)
        if isinstance(X, SparseRows) is not sparse and self.kernel.takes_vectors:
            # Rows follow the points: a block of them is small, all of them might not be.
            X = SparseRows.of(X) if sparse else X.to_dense()
        return self.kernel.pack(X, self.origin, self.dtype)

    def tiles(self, X: RowsLike) -> Tiles:
        """k(x_i, s_j), tile by tile."""
        left: Packed = _PackedLater(self, X) if self.kernel.points(X).can_wait else self.pack(X)
        return Tiles(self.kernel.fill, left, self.packed, left.dtype)

    def own_tiles(self) -> Tiles:
        """k(s_i, s_j), tile by tile."""
        return Tiles(self.kernel.fill, self.packed, self.packed, self.packed.dtype)

    def at(self, X: RowsLike) -> Array:
        """The dense matrix k(x_i, s_j), (n, m)."""
        return self.tiles(X).gram()

    def matmat(self, X: RowsLike, W: Array) -> Array:
        """``k(X, S) @ W``, (n, b)."""
        return self.tiles(X).matmat(W)

    def row_products(self, X: RowsLike, G: Array) -> Array:
        """``sum_j k(x_i, s_j) G_ij`` for each row, (n,)."""

        def products(rows: slice, tiles: RowTiles) -> Array:
            parts = (np.einsum("ij,ij->i", tile, G[rows, columns]) for columns, tile in tiles)
            return np.asarray(sum(parts, np.zeros(rows.stop - rows.start, dtype=G.dtype)))

        return np.concatenate(self.tiles(X).map_rows(products))

    def gram(self) -> Array:
        """The dense, symmetric matrix k(s_i, s_j) with its exact diagonal, (m, m)."""
        tiles = self.own_tiles()
        K = np.empty(tiles.shape, dtype=tiles.dtype)
        tiles.lower(K)
        np.fill_diagonal(K, self.kernel.diag(self.as_points.cast(K.dtype).rows))
        return mirror(K)


@dataclass(frozen=True)
class _PackedLater:
    """Rows that are packed block by block as they are needed: no copy of all of them is made."""

    basis: Basis
    X: RowsLike

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.basis.dtype or self.basis.kernel.points(self.X).dtype)

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice) -> Packed:
        return self.basis.pack(self.X[rows])
