"""Tables of numbers, categories and dates on the command line: to vectors, and back to columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from mercer._linalg import Array
from mercer.cli.console import remark
from mercer.cli.options import ColumnKinds, Reading
from mercer.cli.tables import located, open_located
from mercer.exceptions import DataError
from mercer.rows import MemoryRows, Table
from mercer.rows.dialect import LOOK, TEXT, Dialect, is_missing, is_number, sniff
from mercer.rows.parquet import parquet_names
from mercer.tables import Category, Frame, TableEncoder, TableModel, read_table
from mercer.tables.deciding import ROW_NAMES, is_id_name, one_unit
from mercer.tables.joining import is_pattern
from mercer.tables.numerals import read_numerals
from mercer.tables.reading import TABLES
from mercer.tables.spreadsheet import SHEETS
from mercer.tables.writing import classes_of, kept_columns

__all__ = ["open_encoded", "open_frame", "open_vectors"]

#: Rows that the encoder looks at where the numbers are read in place.
LOOK_ROWS = 200_000
#: More columns than this are told by their kinds, not one by one.
SHOWN = 12


@contextlib.contextmanager
def open_encoded(
    data: str, reading: Reading, kinds: ColumnKinds, *, allow_nan: bool
) -> Iterator[tuple[Table, TableEncoder | None]]:
    """A file as rows of numbers for a fit, and the encoder that made them, if one was needed.

    Rows of numbers in one unit stay as they are, and where they are.
    """
    encoder: TableEncoder | None = None
    with located(data, reading) as path:
        if not kinds.raw and _is_mixed(path, reading, kinds):
            frame = _read(path, reading, [n for n, k in kinds.kinds.items() if k == "category"])
            table, encoder = _encode(frame, reading, kinds, allow_nan)
        else:
            reading = _without_useless(path, reading)
            table = open_located(path, reading, allow_nan=allow_nan)
            if not kinds.raw and _wants_scale(path, table, kinds):
                table, encoder = _scale(table, kinds)
        if encoder is not None:
            _tell(encoder)
        yield table, encoder


@contextlib.contextmanager
def open_frame(model: TableModel, data: str, reading: Reading) -> Iterator[Frame]:
    """A file as columns, for a model of tables."""
    known = model.encoder_.columns_
    texts = [name for name, column in known.items() if _is_text(column)]
    texts += [name for name in reading.keep if name not in known]
    with located(data, reading) as path:
        yield _read(path, reading, texts)


@contextlib.contextmanager
def open_vectors(
    model: TableModel, data: str, reading: Reading, *, allow_nan: bool = False
) -> Iterator[Table]:
    """A file as the vectors that the model inside sees; label and row names go beside."""
    with open_frame(model, data, reading) as frame:
        vectors = model.vectors(frame, missing=allow_nan)
        beside = _beside(model.encoder_, frame, reading.label)
        yield Table(MemoryRows(vectors), {**beside, **kept_columns(frame, reading.keep)})


@dataclass(frozen=True)
class _Encode:
    """An encoder on blocks of rows; its text does not change from one process to the next."""

    encoder: TableEncoder

    def __call__(self, block: MemoryRows) -> Array:
        return self.encoder.transform(_named(block.X, block.columns))

    def __repr__(self) -> str:
        return "; ".join(self.encoder.describe())


def _is_mixed(path: Path, reading: Reading, kinds: ColumnKinds) -> bool:
    """Whether a file has columns that are to be encoded one by one."""
    kind = path.suffix.lower()
    if is_pattern(path):
        return True
    if kind not in TABLES or not path.is_file():
        return False
    if kinds.kinds or kind in (".jsonl", ".ndjson", ".feather", ".arrow", *SHEETS):
        return True
    try:
        strange = _strange(path, kind)
    except DataError:
        return False  # the reader of numbers says what is wrong, and where
    if strange is None:
        return True
    left = [name for name in strange if name not in (*reading.drop, reading.label)]
    return any(not reading.columns or name in reading.columns for name in left)


def _strange(path: Path, kind: str) -> list[str] | None:
    """Columns that hold no numbers; None for a text that only our reader of tables understands."""
    if kind not in TEXT:
        return list(parquet_names(path)[1])
    with path.open("rb") as file:
        line = file.readline(LOOK)
    if not _is_utf8(line) or line.count(b'"') % 2:  # a name with a line break in it
        return None
    dialect = sniff(path)
    return [*dialect.strange(path), *_codes(dialect, path)] if dialect.named else []


def _codes(dialect: Dialect, path: Path) -> list[str]:
    """Columns of digits that are no numbers, such as post codes."""
    fields = zip(*dialect.first_rows(path), strict=True)
    return [
        name
        for name, texts in zip(dialect.names, fields, strict=False)
        if read_numerals([text.strip() for text in texts]) is None and any(map(str.strip, texts))
    ]


def _without_useless(path: Path, reading: Reading) -> Reading:
    """The same without columns of a text file that say nothing, and with a word about each."""
    if path.suffix.lower() not in TEXT or not path.is_file():
        return reading
    dialect = sniff(path)
    if not dialect.named:
        return reading
    asked = (*reading.columns, *reading.drop, reading.label, *reading.keep)
    body = dialect.first_rows(path)
    useless = {}
    for name, texts in zip(dialect.names, zip(*body, strict=True), strict=False):
        if name not in asked and (why := _useless(name, texts)):
            useless[name] = why
    if len(useless) == len(dialect.fields):
        return reading
    for name, why in useless.items():
        remark(f"{name or 'the column without a name'}: left out: {why}")
    return replace(reading, drop=(*reading.drop, *useless))


def _useless(name: str, texts: Sequence[str]) -> str:
    """Why a column tells nothing about its row: no values, or the number of the row."""
    if all(map(is_missing, texts)):
        return "no values in the first rows"
    if not is_id_name(name) or not all(map(is_number, texts)):
        return ""
    steps = np.diff([float(text) for text in texts])
    return "numbers of the rows" if len(steps) > 1 and (steps == 1).all() else ""


def _is_utf8(line: bytes) -> bool:
    if line[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that the limit cut in two, or bytes that are no text at all.
        return error.start >= len(line) - 3 or b"\0" in line
    return True


def _read(path: Path, reading: Reading, texts: list[str]) -> Frame:
    """The columns that the options ask for, and the label."""
    label = [*([] if reading.label is None else [reading.label]), *reading.keep]
    frame = read_table(path, texts=(*texts, *reading.drop, reading.label or ""))
    asked = [*reading.columns, *reading.drop, *label]
    for name in asked:
        if name not in frame.columns:
            raise DataError(f"there is no column {name!r}; the columns are {list(frame.columns)}.")
    wanted = [
        name
        for name in frame.columns
        if name not in reading.drop and (not reading.columns or name in (*reading.columns, *label))
    ]
    if all(name in label for name in wanted):
        raise DataError(f"no column of '{path.name}' is left; choose others.")
    return Frame({name: frame.columns[name] for name in wanted}, frame.container, frame.dtypes)


def _is_text(column: object) -> bool:
    return isinstance(column, Category) and isinstance(column.values[0], str)


def _encode(
    frame: Frame, reading: Reading, kinds: ColumnKinds, allow_nan: bool
) -> tuple[Table, TableEncoder]:
    used = {name: values for name, values in frame.columns.items() if name != reading.label}
    encoder = kinds.encoder().fit(Frame(used, frame.container, frame.dtypes))
    vectors = TableModel._vectors(frame, encoder, missing=allow_nan)
    return Table(MemoryRows(vectors), _beside(encoder, frame, reading.label)), encoder


def _wants_scale(path: Path, table: Table, kinds: ColumnKinds) -> bool:
    """By the rule for units, on the first rows, so that a file is parsed once if it stays raw."""
    names = table.rows.columns
    if names is None or table.files is not None:
        if kinds.scale in ("std", "robust"):
            raise click.UsageError("--scale: these columns have no names; scale them before")
        return False
    if kinds.scale != "auto":
        return kinds.scale != "none"
    if path.suffix.lower() in TEXT:
        dialect = sniff(path)
        at = [dialect.fields.index(name) for name in names]
        rows = [[float(f) if is_number(f) else np.nan for f in r] for r in dialect.first_rows(path)]
        X = np.array(rows).reshape(-1, len(dialect.fields))[:, at]
    else:
        X = table.rows[:1000]
    return not one_unit(column for column in X.T if np.isfinite(column).any())


def _scale(table: Table, kinds: ColumnKinds) -> tuple[Table, TableEncoder]:
    """Rows of numbers in many units, scaled block by block as they are read."""
    names, n = table.rows.columns, len(table.rows)
    look = np.unique(np.linspace(0, n - 1, min(n, LOOK_ROWS)).astype(np.intp))
    encoder = TableEncoder(scale="robust" if kinds.scale == "auto" else kinds.scale)
    encoder.fit(_named(table.rows.take(look), names))
    return table.map(_Encode(encoder), len(encoder.groups_), None), encoder


def _named(X: Array, names: Any) -> Frame:
    return Frame({name: X[:, j].astype(np.float64) for j, name in enumerate(names)})


def _beside(encoder: TableEncoder, frame: Frame, label: str | None) -> dict[str, Array]:
    """The label first, then the names of the rows."""
    index = [name for name, reason in encoder.left_out_.items() if reason == ROW_NAMES]
    wanted = [*([label] if label is not None else []), *index]
    return {name: classes_of(frame.make(frame.columns)[name]) for name in wanted}


def _tell(encoder: TableEncoder) -> None:
    """A line for each column; kinds and names where there are many."""
    lines = encoder.describe()
    if len(lines) > SHOWN:
        groups: dict[str, list[str]] = {}
        for line in lines:
            name, _, what = line.partition(": ")
            groups.setdefault(what.partition(" ")[0].strip(",:"), []).append(name)
        lines = [
            f"{len(names)} × {what}: {', '.join(names[:8])}{', ...' * (len(names) > 8)}"
            for what, names in groups.items()
        ]
        lines += [f"{name}: left out: {why}" for name, why in encoder.left_out_.items()]
    for line in lines:
        remark(" ".join(line.split()))  # names may have line breaks
