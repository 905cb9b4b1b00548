"""The nearest of many rows: compared with all of them, or with those of a few cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mercer._base.machine import blocks, thread_map
from mercer._base.types import Array, Rows
from mercer.kernels import Basis, Matern
from mercer.kernels.width import variance_length
from mercer.landmarks import KMeans, Uniform
from mercer.points import Points, as_points
from mercer.points.tiles import RowTiles, Tiles
from mercer.preimage.nearest import smallest

#: Rows that are all compared; of more, a cell has about so many, and so many cells are looked into.
LARGEST, IN_A_CELL, PROBES = 5000, 250, 4
#: Rows that are sought in cells at a time, and the number of nearest that is found one by one.
ROWS, FEW = 1 << 15, 24


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
        return Basis(ruler, points if self.centres is None else points.take(self._cells.order))

    def nearest(self, X: Any, count: int, leave_out: Array | None = None) -> tuple[Array, Array]:
        """Numbers of the nearest rows, the nearest first, and their distances, (n, count).

        ``leave_out`` is the number of a row that does not count, for each of X. Fewer than
        ``count`` where there are no more rows.
        """
        points, some = as_points(X), 0 if leave_out is None else 1
        count = min(count + some, len(self.rows))
        find = self._in_cells if self.centres is not None else self._search
        index, t = find(points, count)
        if leave_out is not None and count > 1:
            # The row itself goes to the end, or the farthest does where a twin stands for it.
            own = index == leave_out[:, None]
            own[:, -1] |= ~own.any(axis=1)
            index, t = (part[~own].reshape(len(index), count - 1) for part in (index, t))
        return index, np.sqrt(-t) * self.basis.kernel.length

    def _search(self, X: Points, count: int) -> tuple[Array, Array]:
        return self._among(self._pack(X), count, slice(None))

    def _pack(self, X: Points) -> Any:
        return self.basis.pack(self.basis.kernel.points(X))

    def _among(self, packed: Any, count: int, columns: slice) -> tuple[Array, Array]:
        """Numbers of the nearest among rows that lie side by side, and −|a − b|²/ℓ²."""

        def look(_: slice, tiles: RowTiles) -> tuple[Array, Array]:
            parts = []
            for part, tile in tiles:
                some, t = _largest(tile, min(count, tile.shape[1]))
                parts.append((some + part.start, t))
            index, t = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
            best, t = _largest(t, min(count, t.shape[1]))
            return np.take_along_axis(index, best, axis=1), t

        basis: Any = self.basis
        tiles = Tiles(basis.kernel.arguments, packed, basis.packed[columns], packed.dtype)
        return tuple(np.concatenate(part) for part in zip(*tiles.map_rows(look), strict=True))  # type: ignore[return-value]

    def _in_cells(self, X: Points, count: int) -> tuple[Array, Array]:
        parts = [self._in_their_cells(X.take(rows), count) for rows in blocks(len(X), ROWS)]
        return tuple(map(np.concatenate, zip(*parts, strict=True)))  # type: ignore[return-value]

    def _in_their_cells(self, X: Points, count: int) -> tuple[Array, Array]:
        """Of so many rows that each may be packed once for every cell that it is sought in."""
        cells = self._cells
        probes = cells.centres.nearest(X, PROBES)[0]
        index = np.zeros((*probes.shape, count), dtype=np.intp)
        t = np.full(index.shape, -np.inf)
        order = np.argsort(probes, axis=None, kind="stable")
        edges = np.searchsorted(probes.ravel()[order], np.arange(len(cells.starts)))
        row, probe = np.divmod(order, probes.shape[1])
        packed = self._pack(X.take(row))

        def look(cell: int) -> None:
            queries, columns = (slice(*ends[cell : cell + 2]) for ends in (edges, cells.starts))
            if queries.stop == queries.start or columns.stop == columns.start:
                return
            some, near = self._among(packed[queries], count, columns)
            at = row[queries], probe[queries], slice(some.shape[1])
            index[at], t[at] = cells.order[some + columns.start], near

        thread_map(look, range(len(cells.starts) - 1))
        best, t = _largest(t.reshape(len(t), -1), count)
        index = np.take_along_axis(index.reshape(len(index), -1), best, axis=1)
        short = np.flatnonzero(t[:, -1] == -np.inf)  # cells with too few rows: compared with all
        if len(short):
            some, t[short] = self._search(X.take(short), count)
            index[short] = cells.order[some]
        return index, t

    @cached_property
    def _cells(self) -> _Cells:
        centres = Neighbours(self.centres)
        cell = centres.nearest(self.rows, 1)[0][:, 0]
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(len(centres.rows) + 1))
        return _Cells(centres, order, starts)


class _Cells(NamedTuple):
    centres: Neighbours
    order: Array  #: row numbers, cell by cell
    starts: Array  #: where each cell begins, and where the last one ends


def _largest(t: Array, count: int) -> tuple[Array, Array]:
    """(n, count) columns of the largest entries of each row, and these; t is used up."""
    if count > FEW:
        some = smallest(-t, count)
        return some, np.take_along_axis(t, some, axis=1)
    # One maximum after the other: vector units find it, while they do not part rows.
    index, values = np.empty((len(t), count), dtype=np.intp), np.empty((len(t), count), t.dtype)
    rows = np.arange(len(t))
    for k in range(count):
        index[:, k] = at = t.argmax(axis=1)
        values[:, k] = t[rows, at]
        t[rows, at] = -np.inf
    return index, values
