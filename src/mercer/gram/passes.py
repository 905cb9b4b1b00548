"""Passes over a Gram matrix: who makes them, and who holds the packed rows meanwhile.

For a crew rows lie in strips on the tile grid, with a task for each pair of them. The tiles are
those of :meth:`Tiles.symmetric_matmat`, and so are the bits of a product in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._base.machine import blocks
from mercer._base.types import Array
from mercer.points.crew import Crew, Threads
from mercer.points.tiles import Fill, Packed, Tiles

if TYPE_CHECKING:
    from mercer.gram.checkpoint import PassLog

#: Rows of a strip, and strips at least: a task is then a third of a second of work, and dask takes
#: ten milliseconds to hand it out; or all of it is ten tasks.
STRIP, FEWEST = 12_288, 4


class Passes:
    """How products with a matrix of tiles are made.

    Parameters
    ----------
    crew : who computes them; the threads of this process if not given
    log : a file that keeps them, optional
    """

    def __init__(self, crew: Crew | None = None, log: PassLog | None = None) -> None:
        self.crew = Threads() if crew is None else crew
        self._is_here, self._log = crew is None, log
        self._shared: list[tuple[Packed, list[Any]]] = []

    def product(self, tiles: Tiles, V: Array, diagonal: Array) -> Array:
        """The product with V, or what the file has kept of it."""
        if self._log is None:
            return self._compute(tiles, V, diagonal)
        return self._log.product(V, lambda: self._compute(tiles, V, diagonal))

    def shared(self, packed: Packed, width: int) -> tuple[list[slice], list[Any]]:
        """Strips of rows, and what the crew knows the packed ones by."""
        rows = [whole(strip) for strip in strips(len(packed), width)]
        for known, handles in self._shared:
            if known is packed:
                return rows, handles
        handles = self.crew.share([packed[part] for part in rows])
        self._shared.append((packed, handles))
        return rows, handles

    def _compute(self, tiles: Tiles, V: Array, diagonal: Array) -> Array:
        if self._is_here:
            return tiles.symmetric_matmat(V, diagonal)
        _, handles = self.shared(tiles.left, tiles.width)
        return symmetric_matmat(tiles, handles, self.crew, V, diagonal)


def strips(n: int, width: int) -> list[list[slice]]:
    """Rows in strips of whole tiles, as the slices of these; by n alone."""
    grid = blocks(n, width)
    count = max(FEWEST, -(-n // STRIP))
    return [grid[part] for part in blocks(len(grid), -(-len(grid) // count))]


def whole(strip: Sequence[slice]) -> slice:
    """The rows of a strip."""
    return slice(strip[0].start, strip[-1].stop)


def symmetric_matmat(
    tiles: Tiles, shared: Sequence[Any], crew: Crew, V: Array, diagonal: Array
) -> Array:
    """:meth:`Tiles.symmetric_matmat` by a crew that shares the packed rows of the strips."""
    cut = strips(tiles.shape[0], tiles.width)
    rows = [whole(strip) for strip in cut]
    factor, shift = tiles.factor(V), tiles.shift(V, diagonal)
    factors = crew.lend([factor[part] for part in rows])
    pairs = [(i, j) for i in range(len(cut)) for j in range(i, len(cut))]
    ij = list(zip(*pairs, strict=True))
    task = BlockProducts(tiles.fill, tiles.dtype, tiles.width, shift, V.dtype)
    own = [[slice(t.start - s[0].start, t.stop - s[0].start) for t in s] for s in cut]
    columns = [[each[place] for place in side] for each in (shared, factors, own) for side in ij]
    known = [diagonal[rows[i]] if i == j else None for i, j in pairs]
    Y = np.zeros(V.shape, V.dtype)
    for i, part in crew.add(task, pairs, *columns, known):
        Y[rows[i]] += part
    return Y


@dataclass(frozen=True)
class BlockProducts:
    """What a worker computes of tiles between two strips of rows."""

    fill: Fill
    dtype: np.dtype  #: of the tiles
    width: int
    shift: float | None  #: what products are rounded by
    kind: np.dtype  #: of the sums

    def __call__(
        self,
        left: Packed,
        right: Packed,
        left_factor: Array,
        right_factor: Array,
        left_cuts: Sequence[slice],
        right_cuts: Sequence[slice],
        diagonal: Array | None,
    ) -> tuple[Array, Array]:
        """Tiles times the factor of the second strip, and turned, of the first."""
        tiles = Tiles(self.fill, left, right, self.dtype, self.width)
        here = np.zeros(left_factor.shape, self.kind)
        there = here if diagonal is not None else np.zeros(right_factor.shape, here.dtype)
        every = product(range(len(left_cuts)), range(len(right_cuts)))
        pairs = [(a, b) for a, b in every if diagonal is None or a <= b]
        cuts, factors = (left_cuts, right_cuts), (left_factor, right_factor)
        tiles.add_products(pairs, cuts, factors, (here, there), self.shift, diagonal)
        return here, there
