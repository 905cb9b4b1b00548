"""Which columns of a file to read: by the options, or as the model has them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer.cli.console import remark
from mercer.cli.options import Reading
from mercer.exceptions import DataError
from mercer.rows import MemoryRows, Rows
from mercer.rows.delimited import is_missing, is_number
from mercer.rows.files import require

__all__ = ["TEXT", "look_at", "pick", "positions", "wanted_columns"]

TEXT = (".csv", ".tsv", ".txt")
#: Bytes of a text file that are looked at for columns that hold no numbers.
LOOK = 1 << 18


def look_at(path: Path) -> tuple[list[str] | None, list[str]]:
    """Names of the columns (None if they have none), and of those that hold no numbers."""
    if path.suffix.lower() in TEXT:
        return _look_at_text(path)
    if path.suffix.lower() == ".parquet" or (path.is_dir() and path.suffix != ".zarr"):
        return _look_at_parquet(path)
    return None, []


def wanted_columns(
    path: Path,
    names: list[str],
    strange: list[str],
    reading: Reading,
    known: Sequence[str] | None,
) -> list[str]:
    """The columns to read, by the options or as the model has them."""
    for name in (
        *reading.columns,
        *reading.drop,
        *([reading.label] if reading.label is not None else []),
    ):
        if name not in names:
            raise DataError(
                f"'{path.name}' has no column {name!r}; its columns are {_list(names)}."
            )
    left = [name for name in names if name not in reading.drop and name != reading.label]
    if reading.columns:
        wanted = list(reading.columns)
    elif known is not None:
        wanted = list(known)
        if missing := [name for name in wanted if name not in names]:
            raise DataError(
                f"'{path.name}' lacks {len(missing)} of the model's {len(wanted)} columns: "
                f"{_list(missing)}; give the columns that were there in fit."
            )
        if extra := [name for name in left if name not in wanted]:
            remark(f"columns of '{path.name}' that the model does not know: {_list(extra)}")
    else:
        wanted = left
    if text := [name for name in wanted if name in strange]:
        raise DataError(
            f"'{path.name}' has columns that hold no numbers: {_list(text)}; "
            f"leave them out with --drop {_quote(text[0])}, or keep the classes with "
            f"--label {_quote(text[0])}."
        )
    if not wanted:
        raise DataError(f"no column of '{path.name}' is left; choose others.")
    return wanted


def _look_at_text(path: Path) -> tuple[list[str] | None, list[str]]:
    """Names of the columns, and of those whose first fields are no numbers.

    Whatever is wrong with the file is left to the reader, which says it with the line.
    """
    with path.open("rb") as file:
        text = file.read(LOOK).decode("utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if len(text) >= LOOK // 4:
        lines = lines[:-1]  # which may be cut
    if not lines or "\0" in text:
        return None, []
    delimiter = max(",;\t", key=lines[0].count)
    try:
        records = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return None, []
    names = [field.strip() for field in records[0]]
    if all(is_number(name) or is_missing(name) for name in names):
        return None, []
    body = [record for record in records[1:] if len(record) == len(names)]
    strange = [
        name
        for j, name in enumerate(names)
        if any(not is_number(record[j]) and not is_missing(record[j]) for record in body)
    ]
    return names, strange


def _look_at_parquet(path: Path) -> tuple[list[str] | None, list[str]]:
    parquet = require("pyarrow.parquet", "io")
    file = path if path.is_file() else next(iter(sorted(path.rglob("*.parquet"))), None)
    if file is None:
        raise DataError(f"the folder '{path}' holds neither .png nor .parquet files.")
    try:
        schema = parquet.read_schema(file)
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"'{file}' is no Parquet file: {reason}; write it again.") from error
    strange = [field.name for field in schema if not _is_numeric(field.type)]
    return list(schema.names), strange


def _is_numeric(kind: Any) -> bool:
    try:
        return np.dtype(kind.to_pandas_dtype()).kind in "fiub"
    except (NotImplementedError, TypeError):
        return False


def positions(names: Sequence[str], d: int, path: Path) -> list[int]:
    """Column numbers from texts such as ``3`` and ``5-8``."""
    found: list[int] = []
    for name in names:
        first, _, last = name.partition("-")
        if not (first.isdigit() and (last.isdigit() or not last)):
            raise DataError(
                f"'{path.name}' has no names of columns, so that {name!r} means nothing; "
                f"give numbers from 0 to {d - 1}, such as 0,2-4."
            )
        found += range(int(first), int(last or first) + 1)
    if found and max(found) >= d:
        raise DataError(f"'{path.name}' has no column {max(found)}; give numbers to {d - 1}.")
    return found


class _Picked(Rows):
    """Some columns of a table without names."""

    def __init__(self, base: Rows, index: list[int]) -> None:
        self.base, self.index = base, index
        self.shape, self.dtype = (len(base), len(index)), base.dtype
        self.allow_nan, self.watch = base.allow_nan, base.watch

    def read(self, start: int, stop: int) -> Iterator[Array]:
        return (piece[:, self.index] for piece in self.base.read(start, stop))

    def fingerprint(self) -> str:
        return f"{self.base.fingerprint()}{self.index}"


def pick(rows: Rows, index: list[int]) -> Rows:
    """Some columns of a table, by their numbers."""
    if isinstance(rows, MemoryRows):
        return MemoryRows(np.ascontiguousarray(rows.X[:, index]))
    return _Picked(rows, index)


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def _quote(name: str) -> str:
    return f"'{name}'" if " " in name or "," in name else name
