"""Rows in text files: CSV with commas, semicolons or tabs."""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import DataError
from mercer.rows.base import CHUNK, Rows
from mercer.rows.files import FileWatch, file_fingerprint, pick_columns

__all__ = ["CsvRows", "is_missing", "is_number"]

#: A longer line is no table of numbers, and would have to be held in memory.
MAX_LINE = 1 << 24
#: Every so many rows their place in the file is remembered.
STRIDE = 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM = b"\xef\xbb\xbf"
#: How tables say that a value is missing, in lower case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "."})


class CsvRows(Rows):
    """A text file of numbers in UTF-8, with or without a line of names.

    One pass counts the rows; values are converted when they are read, by NumPy's own parser.
    Whatever is wrong is reported with its line.

    Parameters
    ----------
    path : Path
    columns : names, optional
        Columns to use; all if not given.
    allow_nan : bool, default=False
        Read empty fields, ``NA`` and the like as NaN.
    """

    def __init__(
        self, path: Path, columns: Sequence[str] | None = None, *, allow_nan: bool = False
    ) -> None:
        self.path = path
        self.watch = FileWatch([path])
        self.allow_nan = allow_nan
        self.dtype = np.dtype(np.float64)
        with path.open("rb") as file:
            self._begin(file, columns)
            # (row, byte, line) of every STRIDE-th row
            self._marks: list[tuple[int, int, int]] = []
            rows = 0
            for place, number, line in self._lines(file, self._first_line):
                if line.isspace():
                    continue
                if rows % STRIDE == 0:
                    self._marks.append((rows, place, number))
                rows += 1
        if rows == 0:
            raise DataError(f"'{path}' has no rows of numbers; give a file with data.")
        self.shape = (rows, len(self._use))

    def read(self, start: int, stop: int) -> Iterator[Array]:
        batch: list[tuple[int, str]] = []
        for row, number, line in self._from(start):
            if row >= stop:
                break
            if row >= start:
                batch.append((number, self._decode(line, number)))
            if len(batch) == CHUNK:
                yield self._parse(batch)
                batch = []
        if batch:
            yield self._parse(batch)

    def place(self, row: int) -> str:
        return f"line {next(number for i, number, _ in self._from(row) if i == row)}"

    def fingerprint(self) -> str:
        return file_fingerprint([self.path]) + ",".join(self.columns or ())

    def _begin(self, file: BinaryIO, wanted: Sequence[str] | None) -> None:
        """Look at the first line: the delimiter, and names if it is not all numbers."""
        start = file.read(3)
        if start[:2] in _UTF16:
            raise DataError(f"'{self.path}' is UTF-16 text; save it as UTF-8.")
        file.seek(3 if start == _UTF8_BOM else 0)
        filled = (entry for entry in self._lines(file, 1) if not entry[2].isspace())
        place, number, line = next(filled, (0, 0, b""))
        if not line:
            raise DataError(f"'{self.path}' is empty; give a file with data.")
        text = self._decode(line, number)
        self._delimiter = max(",;\t", key=text.count)
        fields = [field.strip() for field in self._fields(text, number)]
        named = not all(map(self._is_entry, fields))
        self._width = len(fields)
        self.columns = tuple(fields) if named else None
        if wanted is not None and not named:
            raise DataError(f"'{self.path}' has no line of names to take columns= from; add one.")
        self._use = pick_columns(tuple(fields) if named else (), wanted, self.path)
        if named:
            self.columns = tuple(fields[i] for i in self._use)
        else:
            self._use = list(range(len(fields)))
        self._names = fields if named else [str(j) for j in range(len(fields))]
        self._first_line = number + int(named)
        file.seek(place + (len(line) if named else 0))

    def _lines(self, file: BinaryIO, number: int) -> Iterator[tuple[int, int, bytes]]:
        """Byte, number and content of each line from where the file stands."""
        place = file.tell()
        while line := file.readline(MAX_LINE):
            if len(line) == MAX_LINE:
                raise DataError(
                    f"line {number} of '{self.path}' is longer than {MAX_LINE >> 20} MB; "
                    "give one row per line."
                )
            yield place, number, line
            place += len(line)
            number += 1

    def _from(self, row: int) -> Iterator[tuple[int, int, bytes]]:
        """Row number, line number and content, from the last mark at or before ``row``."""
        mark = self._marks[bisect_right(self._marks, (row, np.inf, 0)) - 1]
        i, place, number = mark
        with self.path.open("rb") as file:
            file.seek(place)
            for _, at, line in self._lines(file, number):
                if not line.isspace():
                    yield i, at, line
                    i += 1

    def _decode(self, line: bytes, number: int) -> str:
        if b"\0" in line:
            raise DataError(f"line {number} of '{self.path}' holds a NUL byte; save it as text.")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"line {number} of '{self.path}' is not UTF-8 (byte {error.start + 1} is "
                f"{line[error.start]:#x}); save it as UTF-8."
            ) from error

    def _parse(self, batch: list[tuple[int, str]]) -> Array:
        if any(line.count('"') % 2 for _, line in batch):  # NumPy closes an open quote in silence
            return self._parse_slowly(batch)
        try:
            block = np.loadtxt(
                [line for _, line in batch],
                delimiter=self._delimiter,
                comments=None,
                quotechar='"',
                ndmin=2,
            )
        except ValueError:
            block = np.empty((0, 0))
        if block.shape != (len(batch), self._width) or len(self._use) != self._width:
            return self._parse_slowly(batch)
        return block

    def _parse_slowly(self, batch: list[tuple[int, str]]) -> Array:
        """Line by line: finds the line at fault, and reads tables that are numbers only in part."""
        block = np.empty((len(batch), len(self._use)))
        for i, (number, line) in enumerate(batch):
            fields = self._fields(line, number, strict=True)
            if len(fields) != self._width:
                raise DataError(
                    f"line {number} of '{self.path}' has {len(fields)} fields, "
                    f"where {self._width} are expected; mend it."
                )
            for j, column in enumerate(self._use):
                if not self._is_entry(fields[column]):
                    raise DataError(
                        f"line {number} of '{self.path}', column {self._names[column]!r}: "
                        f"{_complain(fields[column])}"
                    )
                block[i, j] = float(fields[column]) if is_number(fields[column]) else np.nan
        return block

    def _fields(self, line: str, number: int, *, strict: bool = False) -> list[str]:
        try:
            return next(csv.reader([line], delimiter=self._delimiter, strict=strict))
        except csv.Error as error:
            raise DataError(f"line {number} of '{self.path}': {error}; mend it.") from error

    def _is_entry(self, text: str) -> bool:
        return is_number(text) or (self.allow_nan and is_missing(text))


def _complain(text: str) -> str:
    if is_missing(text):
        return f"{text!r} is not a number but missing; remove the line, or fill it by an imputer."
    return f"{text[:40]!r} is not a number; mend it, or choose columns=."


def is_missing(text: str) -> bool:
    """Whether a field says that there is no value."""
    return text.strip().lower() in MISSING


def is_number(text: str) -> bool:
    """Whether a field can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
