"""Rows in text files: CSV with commas, semicolons or tabs."""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.types import Array, Names
from mercer.exceptions import DataError, Remedy
from mercer.io.files import COMPRESSED, look_inside, pick_columns
from mercer.io.look import MISSING, Line, Look, is_missing, is_number, lines_of
from mercer.points.source import CHUNK, LONGEST, Source, fill_in, warn_of_long

#: The place of every so-many-th row in the file is remembered.
STRIDE = 1024
#: Bytes of text that pyarrow parses at once.
BLOCK = 1 << 22
#: Bytes of numbers that are cached once they are parsed.
CACHED = 1 << 26
#: Rows of large numbers whose text is looked at, of each block.
LOOK_AT = 1000
_WHOLE = re.compile(r"[-+]?\d{16,300}")


class CsvRows(Source):
    """A text file of numbers in UTF-8, with or without a line of names; also as ``.gz`` or ``.xz``.

    A compressed file is unpacked while it is read, again from its beginning for each read: passes
    over all rows cost little more, single rows as much as all before them.

    One pass over its lines counts the rows. Numbers are parsed when they are read, and cached after
    a pass over all rows if they take at most 64 MB: by pyarrow where it is installed and the file
    is plain (no quotes), else by NumPy. Whatever is wrong is reported with its line. Where
    ``allow_nan`` is set, empty fields, ``NA`` and the like are read as NaN.
    """

    def __init__(self, path: Path | Look, columns: Names | None = None) -> None:
        self._look = Look.at(path)
        self.path = path = self._look.path
        self._dialect = self._look.dialect
        self.watch = self._look.watch
        self.dtype = np.dtype(np.float64)
        self._parsed: Array | None = None
        look_inside(path)
        named, names = self._dialect.named, self._dialect.names
        self._use = pick_columns(names, columns, path)
        self.columns = tuple(names[i] for i in self._use) if named else None
        self._scan()

    def _scan(self) -> None:
        """Count the rows, and remember where some of them are."""
        self._marks: list[Line] = []  # every STRIDE-th row
        self._plain = True
        rows = 0
        with self._look.open() as file:
            file.seek(self._dialect.place)
            for line in lines_of(file, self._dialect.line, self.path):
                content = line.content
                if content.isspace():
                    self._plain &= content in (b"\n", b"\r\n")  # which pyarrow skips, too
                    continue
                if rows % STRIDE == 0:
                    self._marks.append(line._replace(content=b""))
                rows += 1
                if b'"' in content or b"\0" in content or b"\r" in content[:-2]:
                    self._plain = False
        if rows == 0:
            raise DataError(f"'{self.path}' has no rows of numbers; give a file with data.")
        self.shape = (rows, len(self._use))

    def read(self, start: int, stop: int) -> Iterator[Array]:
        if self._parsed is not None:
            yield self._parsed[start:stop].copy()
            return
        # A fit passes over all rows three or four times, and parsing is what a pass costs.
        caches = (start, stop) == (0, len(self)) and 8 * self.shape[0] * self.shape[1] <= CACHED
        parsed: list[Array] = []
        for block in self._parse_rows(start, stop):
            parsed += [block] * caches
            if caches and sum(map(len, parsed)) == stop:
                self._parsed = np.concatenate(parsed)
            yield block

    def _parse_rows(self, start: int, stop: int) -> Iterator[Array]:
        for block in self._read_plain(start, stop):
            self._look_for_long(block, self._from(start))
            yield block
            start += len(block)
        rest = islice(self._from(start), stop - start)
        while batch := list(islice(rest, CHUNK)):
            block = self._parse(batch)
            self._look_for_long(block, batch)
            yield block

    def _read_plain(self, start: int, stop: int) -> Iterator[Array]:
        """What pyarrow reads without complaint; our own parser reads the rest, or says why not."""
        try:
            from pyarrow import OSFile, csv
        except ImportError:
            return
        if not self._plain or self.path.suffix.lower() in COMPRESSED:
            return
        row, mark = self._mark(start)
        # A file of pyarrow's own: its threads read ahead, and one that asks for a Python object
        # while the interpreter ends aborts the process.
        with OSFile(str(self.path)) as file, contextlib.suppress(ValueError):
            # pyarrow's errors are of this kind; they know no line, so that we look for it again
            file.seek(mark.place)
            for batch in _arrow_reader(csv, file, self):
                part = batch[max(start - row, 0) : max(stop - row, 0)]
                row += len(batch)
                columns = [column.to_numpy(zero_copy_only=False) for column in part.columns]
                yield np.column_stack(columns)
                if row >= stop:
                    return

    def labels(self, name: str) -> list[str]:
        """A column of any text."""
        at = self._dialect.names.index(name)
        return [self._dialect.split(line)[at].strip() for line in self._from(0)]

    def _look_for_long(self, block: Array, lines: Iterable[Line]) -> None:
        """Look at the text of large numbers, which shows if they are whole and were rounded."""
        far = np.asarray((np.abs(block) > LONGEST).any(axis=1))
        if self.told_of_long or not far.any():
            return
        rows = map(self._dialect.split, islice(compress(lines, far), LOOK_AT))
        fields = [[row[j].strip() for j in self._use] for row in rows]
        whole = [[int(f) if _WHOLE.fullmatch(f) else 0 for f in row] for row in fields]
        self.told_of_long = warn_of_long(np.array(whole, dtype=object), self.columns)

    def refuse_nan(self) -> None:
        super().refuse_nan()
        if self._parsed is not None and np.isnan(self._parsed).any():
            self._parsed = None  # the parser says what the text is

    def place(self, row: int) -> str:
        return f"line {next(self._from(row)).number}"

    def fingerprint(self) -> str:
        return self._look.fingerprint + ",".join(self.columns or ())

    def _mark(self, row: int) -> tuple[int, Line]:
        """The last row at or before another whose place is known, and its line."""
        last = min(row // STRIDE, len(self._marks) - 1)
        return last * STRIDE, self._marks[last]

    def _from(self, row: int) -> Iterator[Line]:
        """The lines of the rows from ``row`` on."""
        known, mark = self._mark(row)
        with self._look.open() as file:
            file.seek(mark.place)
            lines = lines_of(file, mark.number, self.path)
            filled = (line for line in lines if not line.content.isspace())
            yield from islice(filled, row - known, None)

    def _parse(self, batch: Sequence[Line]) -> Array:
        if not any(line.content.count(b'"') % 2 for line in batch):
            # NumPy closes an open quote in silence.
            texts, shape = [line.text for line in batch], (len(batch), len(self._dialect.fields))
            how: Any = {"delimiter": self._dialect.delimiter, "quotechar": '"', "comments": None}
            with contextlib.suppress(ValueError):
                block = np.loadtxt(texts, ndmin=2, **how)
                if block.shape == shape:
                    return block[:, self._use]
        # Line by line: finds the line at fault, and reads tables that are numbers only in part.
        return np.array([self._numbers(line) for line in batch])

    def _numbers(self, line: Line) -> list[float]:
        fields, numbers = self._dialect.split(line), []
        for column in self._use:
            text = fields[column]
            if not is_number(text) and not (self.allow_nan and is_missing(text)):
                raise line.fault(f", column {self._dialect.names[column]!r}: " + _complain(text))
            numbers.append(float(text) if is_number(text) else np.nan)
        return numbers


def _arrow_reader(csv: Any, file: Any, rows: CsvRows) -> Any:
    """Batches of the columns in use, read strictly: nothing passes that our parser would refuse."""
    dialect = rows._dialect
    types = dict.fromkeys((dialect.names[i] for i in rows._use), "float64")
    missing = [*MISSING, *map(str.upper, MISSING), *map(str.title, MISSING), "NaN"]
    nulls = missing if rows.allow_nan else []
    reads = csv.ReadOptions(column_names=dialect.names, block_size=BLOCK)
    parses = csv.ParseOptions(delimiter=dialect.delimiter, quote_char=False)
    converts = csv.ConvertOptions(include_columns=[*types], column_types=types, null_values=nulls)
    return csv.open_csv(file, read_options=reads, parse_options=parses, convert_options=converts)


def _complain(text: str) -> str:
    if is_missing(text):
        return f"{text!r} is not a number but missing; remove the line, or " + fill_in("it") + "."
    others = "give open_rows(path, columns=...), or fit a TableModel to read_table(path)."
    shell = "choose others with --columns."
    return f"{text[:40]!r} is not a number; fix it, or " + Remedy(others, shell=shell)
