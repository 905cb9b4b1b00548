"""A table: rows of numbers with names, and whole columns of other kinds beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer._base.machine import available_bytes, blocks
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.points import as_points
from mercer.points.source import CHUNK, MemoryRows, Source
from mercer.points.sparse import SparseRows


@dataclass(frozen=True)
class Table:
    """Rows of numbers, and what belongs to them.

    Attributes
    ----------
    rows : Rows
        The numbers; the names of their columns are in ``rows.columns``.
    beside : mapping
        Whole columns of other kinds (a label, a flag), by name.
    files : names, optional
        Of the image files that the rows come from.
    unused : names
        Columns that the file has and a model does not know.
    """

    rows: Source
    beside: Mapping[str, Array] = field(default_factory=dict)
    files: Sequence[str] | None = None
    unused: Sequence[str] = ()

    @property
    def label(self) -> Array | None:
        """The class of each row, if a column of labels was asked for."""
        return next(iter(self.beside.values()), None)

    def loaded(self) -> Table:
        """The same with all rows in memory."""
        return replace(self, rows=MemoryRows(self.rows[:], self.rows.columns))

    def map(
        self, function: Callable[[MemoryRows], Any], width: int, columns: Sequence[str] | None
    ) -> Table:
        """The table of ``function(block)``, computed block by block when it is written.

        Parameters
        ----------
        function : from a block of rows with names, in memory, to as many rows of numbers
        width : number of its columns
        columns : their names, if they have any
        """
        names = [f"x{j}" for j in range(width)] if columns is None else columns
        rows = _Mapped(self.rows, function, width, columns)
        return replace(self, rows=rows, beside=self.beside_of(names))

    def beside_of(self, names: Sequence[str]) -> dict[str, Array]:
        """The columns beside the numbers; ``data_`` goes before a name that results have taken."""
        found: dict[str, Array] = {}
        for name, column in self.beside.items():
            own = name
            while own in names or own in found:
                own = f"data_{own}"
            found[own] = column
        return found

    def blocks(self) -> Iterator[MemoryRows]:
        """The rows in consecutive parts, in memory, with their names."""
        for rows, part in self.rows.stream(blocks(len(self.rows), CHUNK)):
            announce("rows", rows.start, len(self.rows))
            yield MemoryRows(part, self.rows.columns)

    def parts(self) -> Iterator[tuple[Array, list[Array]]]:
        """Each block with its part of the columns beside it."""
        start = 0
        for block in self.blocks():
            stop = start + len(block)
            yield block.X, [column[start:stop] for column in self.beside.values()]
            start = stop

    @property
    def names(self) -> list[str]:
        """All names; made up where there are none."""
        own = self.rows.columns or [f"x{j}" for j in range(self.rows.shape[1])]
        return [*own, *self.beside]


class _Mapped(Source):
    """What a function makes of the blocks of other rows."""

    def __init__(
        self,
        base: Source,
        function: Callable[[MemoryRows], Any],
        width: int,
        columns: Sequence[str] | None,
    ) -> None:
        self.base, self.function = base, function
        self.shape, self.dtype = (len(base), width), base.dtype
        self.columns = None if columns is None else tuple(columns)

    def read(self, start: int, stop: int) -> Iterator[Array]:
        return (block for _, block in self.stream([slice(start, stop)]))

    def stream(self, chunks: Sequence[slice]) -> Iterator[tuple[slice, Array]]:
        """Blocks in the type that the function gives; it has seen to their values."""
        for rows, block in self.base.stream(chunks):
            found = self.function(MemoryRows(block, self.base.columns))
            yield rows, _written_out(found) if issparse(found) else np.asarray(found)

    def fingerprint(self) -> str:
        return f"{self.base.fingerprint()}{self.function!r}"


def _written_out(block: Any) -> Array:
    """Sparse rows as a table has them, zeros and all, unless that would take the memory."""
    if (size := block.shape[0] * block.shape[1] * 8) > available_bytes() // 4:
        raise DataError(
            f"{block.shape[0]} sparse rows of {block.shape[1]} columns take {size >> 20} MB as a "
            "table; give fewer rows at a time, or keep them sparse in Python: model.denoise(X)."
        )
    return np.asarray(block.toarray())


class _Picked(Source):
    """Some columns of a table without names."""

    def __init__(self, base: Source, index: list[int]) -> None:
        self.base, self.index = base, index
        self.shape, self.dtype = (len(base), len(index)), base.dtype
        self.allow_nan, self.watch = base.allow_nan, base.watch

    def read(self, start: int, stop: int) -> Iterator[Array]:
        return (piece[:, self.index] for piece in self.base.read(start, stop))

    def fingerprint(self) -> str:
        return f"{self.base.fingerprint()}{self.index}"


def pick(rows: Source, index: list[int]) -> Source:
    """Some columns of a table, by their numbers; sparse rows stay sparse."""
    if not isinstance(rows, MemoryRows):
        return _Picked(rows, index)
    columns = as_points(rows.X).for_user()[:, index]
    return MemoryRows(
        SparseRows.of(columns) if issparse(columns) else np.ascontiguousarray(columns)
    )
