"""Columns of all kinds on their way into a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mercer._linalg import Array
from mercer.rows import MemoryRows, Table
from mercer.tables.frames import Frame, no_column, objects

__all__ = ["classes_of", "columns_table", "kept_columns"]


def columns_table(columns: Mapping[str, Array]) -> Table:
    """Columns of any kind as a table to be written; what is missing is empty."""
    n = len(next(iter(columns.values())))
    return Table(MemoryRows(np.empty((n, 0)), ()), {k: _written(v) for k, v in columns.items()})


def kept_columns(frame: Frame, names: Sequence[str]) -> dict[str, Array]:
    """Columns of a table as they are, to go beside results."""
    for name in names:
        if name not in frame.columns:
            raise no_column(name, list(frame.columns))
    columns = frame.make(frame.columns)
    return {name: classes_of(columns[name]) for name in names}


def classes_of(values: Array) -> Array:
    """Whole numbers where all are, else text."""
    listed = values.tolist()
    if all(isinstance(value, int) for value in listed):
        return np.array(listed)
    return np.array(["" if value is None else str(value) for value in listed])


def _written(values: Array) -> Array:
    if values.dtype.kind == "M":
        return objects(None if text == "NaT" else text for text in values.astype(str))
    if values.dtype.kind == "f" and not np.isnan(values).any():
        return values
    return objects(None if value != value else value for value in values.tolist())
