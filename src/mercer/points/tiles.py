r"""The one tile engine: everything of size n × m is computed here, a tile at a time.

A tile is a small block of kernel values in a buffer that stays in a core's own cache, where ``exp``
runs four times faster than in main memory. Threads share the tiles out; BLAS stays at one thread.
Tile sizes, threads, buffers and precision are decided in this file and nowhere else.

It is also the seam for another device or a cluster: an implementation has to provide
:meth:`Tiles.gram`, :meth:`Tiles.matmat`, :meth:`Tiles.symmetric_matmat`, :meth:`Tiles.lower` and
:meth:`Tiles.map_rows` for packed rows that live there, and a ``fill`` for them; nobody above asks
for more. Sums of products in float32 have the same bits in whatever order they are added
(:func:`add_rounded`); those in float64 depend on the number of threads by rounding only, and never
on timing. :mod:`mercer.gram.passes` hands the tiles of a symmetric product to other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import iadd
from typing import Any, Protocol, TypeVar

import numpy as np

from mercer._base.machine import blocks, n_threads, thread_map
from mercer._base.progress import announce
from mercer._base.types import Array, Precision

#: Rows and columns of a tile, by the type of its entries.
EDGE = {"d": 512, "f": 768}
#: Tiles of a thread after which progress is announced, and a fit can be cancelled: half a second.
ROUND = 256

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
    """A matrix between two sets of packed rows that is never kept."""

    fill: Fill  #: writes a tile
    left: Packed  #: n packed rows
    right: Packed  #: m packed columns
    dtype: np.dtype  #: of the tiles; sums are in the type of what they are multiplied by
    edge: int | None = None  #: rows and columns of a tile, by the type if not given
    #: tiles of a symmetric matrix from its first product on, if they shall be kept
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
        grid = blocks(self.shape[0], self.width)
        pairs = [(a, b) for a in range(len(grid)) for b in range(a, len(grid))]
        factor, shift = self.factor(V), self.shift(V, diagonal)
        # Dealt by the number of threads, not by timing: sums are the same in every run.
        count = min(n_threads(), len(pairs))
        hands = [pairs[k::count] for k in range(count)]
        sums = [np.zeros(V.shape, V.dtype) for _ in hands]

        def multiply(number: int) -> None:
            rounds, Y = hands[number][done : done + ROUND], sums[number]
            self.add_products(rounds, (grid, grid), (factor, factor), (Y, Y), shift, diagonal)

        for done in range(0, len(hands[0]), ROUND):
            thread_map(multiply, range(len(hands)))
            if len(hands[0]) > ROUND:
                announce("tiles", min(len(pairs), (done + ROUND) * len(hands)), len(pairs))
        return reduce(iadd, sums)

    def factor(self, V: Array) -> Array:
        """V as tiles are multiplied by it."""
        return np.ascontiguousarray(V, dtype=self.dtype)

    def shift(self, V: Array, diagonal: Array) -> float | None:
        """What :func:`add_rounded` rounds the parts of a product with V by.

        Of float32 tiles only: products in float64 have digits beyond such a unit. Where the matrix
        is not positive definite, and has entries above its diagonal, sums may round again.
        """
        if self.dtype != np.float32 or V.dtype != np.float64:
            return None
        with np.errstate(over="ignore"):
            most = np.abs(V).sum(axis=0).max(initial=0.0) * np.abs(diagonal).max(initial=0.0)
        return float(1.5 * 2.0 ** np.ceil(np.log2(2 * most))) if 0 < most < np.inf else None

    def add_products(
        self,
        pairs: Sequence[tuple[int, int]],
        cuts: tuple[Sequence[slice], Sequence[slice]],
        factors: tuple[Array, Array],
        sums: tuple[Array, Array],
        shift: float | None,
        diagonal: Array | None = None,
    ) -> None:
        """Tiles of rows and columns, times the factor of the columns; and turned, of the rows.

        With the diagonal, rows and columns are the same, and its tiles are not turned.
        """
        kept = {} if self.kept is None else self.kept
        buffer = np.empty(self.width**2, self.dtype)
        count = factors[0].shape[1]
        # Made once: dask's workers give freed memory back, and each tile would ask for it again.
        part, work = np.empty((self.width, count), self.dtype), np.empty((self.width, count))
        for a, b in pairs:
            i, j = cuts[0][a], cuts[1][b]
            on_diagonal = diagonal is not None and a == b
            tile = kept.get((a, b))
            if tile is None:
                shape = (i.stop - i.start, j.stop - j.start)
                tile = buffer[: shape[0] * shape[1]].reshape(shape)
                if self.kept is not None:
                    tile = kept[a, b] = np.empty(shape, self.dtype)
                self.fill(self.left[i], self.right[j], tile)
                if diagonal is not None and on_diagonal:
                    np.fill_diagonal(tile, diagonal[i])
            np.matmul(tile, factors[1][j], out=part[: len(tile)])
            add_rounded(sums[0][i], part[: len(tile)], shift, work)
            if not on_diagonal:
                np.matmul(tile.T, factors[0][i], out=part[: tile.shape[1]])
                add_rounded(sums[1][j], part[: tile.shape[1]], shift, work)

    @property
    def width(self) -> int:
        """Rows and columns of a tile, and so terms of a sum in the tiles' type."""
        return self.edge or EDGE[np.dtype(self.dtype).char]


def add_rounded(total: Array, part: Array, shift: float | None, work: Array) -> None:
    """``total += part``, rounded so that the sum does not depend on the order of its parts.

    ``(part + shift) - shift`` is a whole number of units of 2⁻⁵² of a power of two that exceeds all
    sums: these are exact, and have the same bits for any number of threads and workers.
    """
    if shift is None:
        total += part
        return
    rounded = work[: len(part)]
    np.add(part, np.float64(shift), out=rounded)
    rounded -= shift
    total += rounded
