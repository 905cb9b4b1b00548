r"""The one tile engine: everything of size n × m is computed here, a tile at a time.

A tile is a small block of kernel values in a buffer that stays in a core's own cache, where ``exp``
runs four times faster than in main memory. Threads share the tiles out; BLAS stays at one thread.
Tile sizes, threads, buffers and precision are decided in this file and nowhere else.

It is also the seam for another device or a cluster: an implementation has to provide
:meth:`Tiles.gram`, :meth:`Tiles.matmat`, :meth:`Tiles.symmetric_matmat`, :meth:`Tiles.lower` and
:meth:`Tiles.map_rows` for packed rows that live there, and a ``fill`` for them; nobody above asks
for more. Sums over a thread's tiles are added in a fixed order, so that a result depends on the
number of threads by rounding only, and never on timing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import iadd
from typing import Any, Protocol, TypeVar

import numpy as np

from mercer._base.machine import blocks, n_threads, split_evenly, thread_map
from mercer._base.types import Array, Precision

#: Rows and columns of a tile, by the type of its entries.
EDGE = {"d": 512, "f": 768}

Result = TypeVar("Result")


class Packed(Protocol):
    """Rows made ready for tiles: they have a length and a type, and can be cut into blocks."""

    @property
    def dtype(self) -> np.dtype:
        """The floating type of the tiles that they make."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice) -> Packed: ...


#: ``fill(A, B, out)`` writes the values between packed rows into a tile.
Fill = Callable[[Any, Any, Array], object]
#: The tiles of some rows, with the columns that each of them covers.
RowTiles = Iterator[tuple[slice, Array]]


@dataclass(frozen=True)
class Tiles:
    """A matrix between two sets of packed rows that is never kept.

    Attributes
    ----------
    fill : writes a tile
    left, right : packed rows (n) and columns (m)
    dtype : of the tiles; sums are in the type of what they are multiplied by
    edge : rows and columns of a tile, by the type if not given
    kept : tiles of a symmetric matrix from its first product on, if they shall be kept
    """

    fill: Fill
    left: Packed
    right: Packed
    dtype: np.dtype
    edge: int | None = None
    kept: dict[tuple[int, int], Array] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.left), len(self.right)

    def of_rows(self, rows: slice) -> RowTiles:
        """The tiles of some rows from left to right, in one buffer: use each before the next."""
        height, left = rows.stop - rows.start, self.left[rows]
        buffer = np.empty(height * min(self.width, self.shape[1]), dtype=self.dtype)
        for columns in blocks(self.shape[1], self.width):
            width = columns.stop - columns.start
            tile = buffer[: height * width].reshape(height, width)
            self.fill(left, self.right[columns], tile)
            yield columns, tile

    def map_rows(self, function: Callable[[slice, RowTiles], Result]) -> list[Result]:
        """``function(rows, tiles)`` for blocks of rows, in threads; the results in order."""
        parts = blocks(self.shape[0], self.width)
        return thread_map(lambda rows: function(rows, self.of_rows(rows)), parts)

    def gram(self, dtype: Precision = None) -> Array:
        """The whole matrix; O(n m) memory, as the name admits."""
        (n, m), K = self.shape, np.empty(self.shape, dtype=dtype or self.dtype)
        thread_map(lambda rows: self._write(K, rows, m), blocks(n, self.width))
        return K

    def lower(self, out: Array, height: int = 128) -> None:
        """The triangle on and below the diagonal of a symmetric matrix, written into ``out``."""
        # Long rows first, so that no thread is left with the longest at the end.
        longest_first = blocks(self.shape[0], height)[::-1]
        thread_map(lambda rows: self._write(out, rows, rows.stop), longest_first)

    def _write(self, out: Array, rows: slice, stop: int) -> None:
        """The tiles of some rows up to a column, into their place."""
        left = self.left[rows]
        for columns in blocks(stop, self.width):
            self.fill(left, self.right[columns], out[rows, columns])

    def matmat(self, W: Array) -> Array:
        """The product with W (m, b); O(n m (d + b)) time, a tile per thread of memory."""
        product = np.zeros((self.shape[0], W.shape[1]), dtype=W.dtype)
        factor = W.astype(self.dtype, copy=False)

        def multiply(rows: slice, tiles: RowTiles) -> None:
            for columns, tile in tiles:
                product[rows] += tile @ factor[columns]

        self.map_rows(multiply)
        return product

    def symmetric_matmat(self, V: Array, diagonal: Array) -> Array:
        """The product with V (n, b) of a symmetric matrix whose diagonal is known exactly.

        Each tile above the diagonal serves both halves; O(n (d + b)) memory per thread, and n²/2
        numbers where tiles are kept.
        """
        rows = blocks(self.shape[0], self.width)
        pairs = [(i, j) for i in range(len(rows)) for j in range(i, len(rows))]
        factor = V.astype(self.dtype, copy=False)
        kept = {} if self.kept is None else self.kept

        def multiply(hand: list[tuple[int, int]]) -> Array:
            Y = np.zeros(V.shape, dtype=V.dtype)
            buffer = np.empty(self.width**2, dtype=self.dtype)
            for a, b in hand:
                i, j = rows[a], rows[b]
                tile = kept.get((a, b))
                if tile is None:
                    shape = (i.stop - i.start, j.stop - j.start)
                    tile = buffer[: shape[0] * shape[1]].reshape(shape)
                    if self.kept is not None:
                        tile = kept[a, b] = np.empty(shape, self.dtype)
                    self.fill(self.left[i], self.right[j], tile)
                    if a == b:
                        np.fill_diagonal(tile, diagonal[i])
                Y[i] += tile @ factor[j]
                if a != b:
                    Y[j] += tile.T @ factor[i]
            return Y

        return reduce(iadd, thread_map(multiply, split_evenly(pairs, n_threads())))

    @property
    def width(self) -> int:
        """Rows and columns of a tile, and so terms of a sum in the tiles' type."""
        return self.edge or EDGE[np.dtype(self.dtype).char]
