"""Reading: a file, a folder of images or standard input as rows of numbers with their labels."""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks
from mercer._progress import announce
from mercer.cli.columns import TEXT, look_at, pick, positions, wanted_columns
from mercer.cli.files import temporary_folder
from mercer.cli.images import ImageRows, find_images
from mercer.cli.options import Reading
from mercer.exceptions import DataError
from mercer.rows import MemoryRows, Rows, open_rows
from mercer.rows.files import require

__all__ = ["Table", "open_table", "source_of"]


@dataclass(frozen=True)
class Table:
    """Rows of numbers, and what belongs to them.

    Attributes
    ----------
    rows : Rows
    label : (name, values), or None
        The column that ``--label`` named, one value for each row.
    files : names of the image files, or None
    """

    rows: Rows
    label: tuple[str, Array] | None = None
    files: list[str] | None = None

    def loaded(self) -> Table:
        """The same with all rows in memory."""
        return replace(self, rows=source_of(self.rows[:], self.rows.columns))

    def blocks(self, size: int) -> Iterator[Rows]:
        """The rows in consecutive parts of at most ``size``, in memory, with their names."""
        chunks = blocks(len(self.rows), size)
        if isinstance(self.rows, MemoryRows):
            parts: Iterator[Array] = (self.rows.X[rows] for rows in chunks)
        else:
            parts = (block for _, block in self.rows.stream(chunks))
        for rows, part in zip(chunks, parts, strict=True):
            announce("rows", rows.start, len(self.rows))
            yield source_of(part, self.rows.columns)


def source_of(block: Array, columns: tuple[str, ...] | None) -> Rows:
    """A block in memory that estimators take without asking about its names again."""
    rows = MemoryRows(block)
    rows.columns = columns
    return rows


@contextlib.contextmanager
def open_table(
    data: str,
    reading: Reading,
    *,
    known: Sequence[str] | None = None,
    allow_nan: bool = False,
) -> Iterator[Table]:
    """The table that ``data`` names (``-`` for standard input), with the columns that are wanted.

    Parameters
    ----------
    data : path, or "-"
    reading : what the options say about columns, label, array and format
    known : names, optional
        The columns that a model knows: they are taken by name, in this order; a missing one is
        refused.
    allow_nan : bool
        Whether values may be missing.
    """
    with contextlib.ExitStack() as stack:
        path = Path(data)
        if data == "-":
            path = _spool(stack.enter_context(temporary_folder()), reading.format)
        if not path.exists():
            raise DataError(f"there is no file '{path}'; check its name.")
        yield _open(path, reading, known, allow_nan)


def _spool(folder: Path, kind: str) -> Path:
    """Standard input as a file: it is read twice, and may be larger than the memory."""
    if sys.stdin.isatty():
        raise click.UsageError("'-' reads standard input, and nothing is piped into it")
    path = folder / f"standard input.{kind}"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    os.utime(path, (0, 0))  # the same rows through another pipe may resume a fit
    return path


def _open(path: Path, reading: Reading, known: Sequence[str] | None, allow_nan: bool) -> Table:
    if path.is_dir() and path.suffix != ".zarr" and (images := find_images(path)):
        reading.refuse_columns("a folder of images")
        return Table(ImageRows(images), files=[image.name for image in images])
    names, strange = look_at(path)
    if names is None:
        return _open_unnamed(path, reading, allow_nan)
    wanted = wanted_columns(path, names, strange, reading, known)
    columns = None if wanted == names else wanted
    rows = open_rows(path, columns=columns, array=reading.array, allow_nan=allow_nan)
    if reading.label is None:
        return Table(rows)
    return Table(rows, (reading.label, _read_label(path, names, reading.label, len(rows))))


def _open_unnamed(path: Path, reading: Reading, allow_nan: bool) -> Table:
    """A table without names: columns are numbered from 0; an archive may hold the labels."""
    rows = open_rows(path, array=reading.array or _usual_array(path), allow_nan=allow_nan)
    label = None
    if reading.label is not None and path.suffix.lower() == ".npz":
        label = (reading.label, _npz_label(path, reading.label, len(rows)))
    elif reading.label is not None:
        at = positions([reading.label], rows.shape[1], path)[0]
        label = (reading.label, rows[:][:, at])
        reading = reading.dropping(reading.label)
    if reading.columns or reading.drop:
        d = rows.shape[1]
        index = positions(reading.columns, d, path) if reading.columns else range(d)
        drop = set(positions(reading.drop, d, path))
        rows = pick(rows, [i for i in index if i not in drop])
    return Table(rows, label)


def _read_label(path: Path, names: list[str], label: str, n: int) -> Array:
    if path.suffix.lower() in TEXT:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                delimiter = max(",;\t", key=next(line for line in file if line.strip()).count)
                records = csv.reader((line for line in file if line.strip()), delimiter=delimiter)
                values: Any = [record[names.index(label)] for record in records]
        except (UnicodeDecodeError, csv.Error, IndexError) as error:
            raise DataError(f"column {label!r} of '{path.name}': {error}; mend it.") from error
    else:
        parquet = require("pyarrow.parquet", "io")
        values = parquet.read_table(path, columns=[label]).column(0).to_pylist()
    return _check_count(_as_classes(values), n, path)


def _usual_array(path: Path) -> str | None:
    """X, if that is one of several arrays of an archive; as ``mercer`` writes them."""
    if path.suffix.lower() != ".npz" or not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        return "X" if "X.npy" in archive.namelist() else None


def _npz_label(path: Path, name: str, n: int) -> Array:
    """Another array of the archive; nothing is unpickled, and its size is looked at first."""
    with zipfile.ZipFile(path) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    if f"{name}.npy" not in sizes:
        listed = ", ".join(entry.removesuffix(".npy") for entry in list(sizes)[:20])
        raise DataError(f"'{path.name}' has no array {name!r}, only {listed}; name one of them.")
    if sizes[f"{name}.npy"] > 256 * n + 4096:
        raise DataError(f"array {name!r} of '{path.name}' is too long for {n} labels.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return _check_count(archive[name].ravel(), n, path)
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"array {name!r} of '{path.name}': {error}; give numbers.") from error


def _as_classes(values: Sequence[Any]) -> Array:
    """Whole numbers where all are, else text."""
    text = [str(value).strip() for value in values]
    try:
        return np.array([int(value) for value in text])
    except ValueError:
        return np.array(text)


def _check_count(values: Array, n: int, path: Path) -> Array:
    if len(values) != n:
        raise DataError(f"'{path.name}' has {n} rows but {len(values)} labels; mend it.")
    return values
