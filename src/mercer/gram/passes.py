"""Passes over a Gram matrix: who makes them, and who holds the packed rows meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mercer._base.types import Array
from mercer.points import spread
from mercer.points.crew import Crew, Threads
from mercer.points.tiles import Packed, Tiles

if TYPE_CHECKING:
    from mercer.gram.pass_log import PassLog


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
        rows = [spread.whole(strip) for strip in spread.strips(len(packed), width)]
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
        return spread.symmetric_matmat(tiles, handles, self.crew, V, diagonal)
