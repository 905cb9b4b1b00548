"""The nearest of many rows: compared with all of them, or with those of a few cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._base.machine import thread_map
from mercer._base.types import Array, Rows
from mercer.kernels import Basis, Matern
from mercer.kernels.width import variance_length
from mercer.landmarks import KMeans, Uniform
from mercer.points import Points, as_points
from mercer.points.tiles import RowTiles, Tiles
from mercer.preimage.nearest import smallest

#: Rows that are all compared; of more, a cell has about so many, and so many cells are looked into.
LARGEST, IN_A_CELL, PROBES = 5000, 250, 4


@dataclass(frozen=True)
class Neighbours:
    """Rows among which the nearest are looked for.

    More than 5,000 rows lie in cells around ``centres``, and those of the four nearest cells are
    compared: a neighbour may be missed, for a hundredth of the time.

    Attributes
    ----------
    rows : (n, d) array, or sparse rows
    centres : (c, d) array, or sparse rows, or None
    """

    rows: Rows
    centres: Rows | None = None

    @classmethod
    def of(cls, rows: Rows, rng: np.random.Generator, most: int = 1000) -> Neighbours:
        """With at most so many cells where there are many rows; O(n c d) time."""
        n = len(rows)
        if n <= LARGEST:
            return cls(rows)
        rule, ruler = KMeans(Uniform()), cls(rows).basis.kernel
        return cls(rows, rule.select(ruler, rows, max(2, min(most, n // IN_A_CELL)), rng))

    @cached_property
    def basis(self) -> Basis:
        """All rows, ready for tiles of distances; cell by cell where there are cells."""
        points = as_points(self.rows)
        # A kernel with a kink has small distances measured, not left over from large products.
        ruler = Matern(length_scale=variance_length(points), nu=0.5)
        return Basis(ruler, points if self.centres is None else points.take(self._order))

    def nearest(self, X: Any, count: int, leave_out: Array | None = None) -> tuple[Array, Array]:
        """Numbers of the nearest rows, the nearest first, and their distances, (n, count).

        ``leave_out`` is the number of a row that does not count, for each of X. Fewer than
        ``count`` where there are no more rows.
        """
        points, some = as_points(X), 0 if leave_out is None else 1
        count = min(count + some, len(self.rows))
        find = self._among_all if self.centres is None else self._in_cells
        index, t = find(points, count)
        if leave_out is not None and count > 1:
            # The row itself goes to the end, or the farthest does where a twin stands for it.
            own = index == leave_out[:, None]
            own[:, -1] |= ~own.any(axis=1)
            index, t = (part[~own].reshape(len(index), count - 1) for part in (index, t))
        return index, np.sqrt(-t) * self.basis.kernel.length

    def _tiles(self, X: Points, columns: slice) -> Tiles:
        basis: Any = self.basis
        packed = basis.pack(basis.kernel.points(X))
        return Tiles(basis.kernel.arguments, packed, basis.packed[columns], packed.dtype)

    def _among_all(self, X: Points, count: int, columns: slice = slice(None)) -> Any:
        def look(_: slice, tiles: RowTiles) -> tuple[Array, Array]:
            parts = []
            for part, t in tiles:
                some = smallest(-t, min(count, t.shape[1]))
                parts.append((some + part.start, np.take_along_axis(t, some, axis=1)))
            if len(parts) == 1:
                return parts[0]
            index, t = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
            best = smallest(-t, min(count, t.shape[1]))
            return np.take_along_axis(index, best, axis=1), np.take_along_axis(t, best, axis=1)

        found = self._tiles(X, columns).map_rows(look)
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))

    def _in_cells(self, X: Points, count: int) -> tuple[Array, Array]:
        probes = self._cells.nearest(X, PROBES)[0]
        index = np.zeros((*probes.shape, count), dtype=np.intp)
        t = np.full(index.shape, -np.inf)
        order = np.argsort(probes, axis=None, kind="stable")
        edges = np.searchsorted(probes.ravel()[order], np.arange(len(self._starts)))

        def look(cell: int) -> None:
            asked = order[edges[cell] : edges[cell + 1]]
            columns = slice(*self._starts[cell : cell + 2])
            if not len(asked) or columns.stop == columns.start:
                return
            row, probe = np.divmod(asked, probes.shape[1])
            some, near = self._among_all(X.take(row), count, columns)
            index[row, probe, : some.shape[1]] = self._order[some + columns.start]
            t[row, probe, : some.shape[1]] = near

        thread_map(look, range(len(self._starts) - 1))
        flat: Array = t.reshape(len(t), -1)
        best = smallest(-flat, count)
        t = np.take_along_axis(flat, best, axis=1)
        index = np.take_along_axis(index.reshape(len(index), -1), best, axis=1)
        short = np.flatnonzero(t[:, -1] == -np.inf)  # cells with too few rows: compared with all
        if len(short):
            some, t[short] = self._among_all(X.take(short), count)
            index[short] = self._order[some]
        return index, t

    @cached_property
    def _cells(self) -> Neighbours:
        return Neighbours(self.centres)

    @cached_property
    def _cell_of(self) -> Array:
        return self._cells.nearest(self.rows, 1)[0][:, 0]

    @cached_property
    def _order(self) -> Array:
        """Row numbers, cell by cell."""
        return np.argsort(self._cell_of, kind="stable")

    @cached_property
    def _starts(self) -> Array:
        """Where each cell begins, and where the last one ends."""
        cells = np.arange(len(self._cells.rows) + 1)
        return np.searchsorted(self._cell_of[self._order], cells)
