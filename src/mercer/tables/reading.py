"""A file as columns of numbers, texts and dates."""

import csv
import datetime
import glob
import io
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.machine import available_bytes
from mercer._base.optional import require
from mercer._base.types import Array, PathLike
from mercer.exceptions import DataError, Remedy, warn
from mercer.io import files
from mercer.io.arrays import parquet_files
from mercer.io.look import (
    SHEETS,
    TEXT,
    Look,
    after_titles,
    delimiter_of,
    first_line,
    is_missing,
    numbers_of,
    wrong_width,
)
from mercer.tables.columns import as_kind
from mercer.tables.frames import Frame, absent, kind_of, objects, take_apart
from mercer.tables.numerals import decimal_mark, numerals_of, read_numerals, units_of


def is_pattern(path: PathLike) -> bool:
    """Whether a name stands for several files, and is not that of one."""
    return glob.has_magic(os.fspath(path)) and not Path(path).exists()


def matching(paths: PathLike | Sequence[PathLike]) -> list[Look]:
    """The files of a name, a pattern (in order of their names) or a list of these."""
    looks: list[Look] = []
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        # A pattern may be of any form, as a shell would take it.
        named = sorted(glob.glob(os.fspath(path))) if is_pattern(path) else [path]  # noqa: PTH207
        if not named:
            raise DataError(f"no file matches '{os.fspath(path)}'; check the pattern.")
        looks += map(Look.at, named)
    if not looks:
        raise DataError("there are no files in the list; give at least one.")
    return looks


def joined(frames: Sequence[Frame], paths: Sequence[Path]) -> Frame:
    """Tables of the same columns, in any order, one below the other."""
    first, names = frames[0], set(frames[0].columns)
    for frame, path in zip(frames, paths, strict=True):
        lacking, more = sorted(names - frame.columns.keys()), sorted(frame.columns.keys() - names)
        if lacking or more:
            verb, which = "lacks" if lacking else "has one more than", lacking or more
            what = f"'{path}' {verb} the columns of '{paths[0]}': {files.names_text(which)}"
            raise DataError(f"{what}; give files of the same columns.")
    parts = {name: [frame.columns[name] for frame in frames] for name in first.columns}
    columns = {name: np.concatenate(_alike(name, parts[name], paths)) for name in parts}
    dtypes = {
        name: dtype if all(frame.dtypes.get(name) == dtype for frame in frames) else ""
        for name, dtype in first.dtypes.items()
    }
    long = {name for frame in frames for name in frame.exact}
    as_given = [frame.make(frame.columns) for frame in frames] if long else []
    exact = {name: np.concatenate([part[name] for part in as_given]) for name in long}
    return Frame(columns, first.container, dtypes, exact=exact)


def _alike(name: str, parts: list[Array], paths: Sequence[Path]) -> list[Array]:
    """Parts of the same kind; a part without any value fits every kind."""
    filled = [i for i, part in enumerate(parts) if not absent(part).all()]
    like = parts[filled[0]] if filled else np.empty(0)
    for i in filled:
        if parts[i].dtype.kind != like.dtype.kind:
            here = f"{kind_of(like)} in '{paths[filled[0]]}', {kind_of(parts[i])} in '{paths[i]}'"
            raise DataError(f"column {name!r} holds {here}; fix it, or make it a category.")
    nothing = np.full(1, {"f": np.nan, "M": np.datetime64("NaT", "us")}.get(like.dtype.kind))
    return [part if i in filled else nothing.repeat(len(part)) for i, part in enumerate(parts)]


def read_sheet(look: Look) -> Frame:
    """One sheet of a workbook: its first line has the names, empty cells are missing."""
    calamine, path = require("python_calamine", "excel"), look.path
    with files.decoding(path, "workbook"):
        book = calamine.CalamineWorkbook.from_path(str(path))
    place = _place_of_sheet(look, list(book.sheet_names))
    with files.decoding(path, "workbook"):
        lines = book.get_sheet_by_index(place).to_python(skip_empty_area=False)
    # As of a text file, whose fields are the cells.
    texts = ["\t".join(str(cell).replace("\t", " ") for cell in line) for line in lines[:12]]
    before = look.header_row - 1 if look.header_row else after_titles(texts, path)
    filled = [k for k in range(before, len(lines)) if any(cell != "" for cell in lines[k])]
    if not filled:
        raise DataError(f"sheet {place + 1} of '{path}' is empty; " + _ANOTHER_SHEET)
    head = _names([str(cell).strip() for cell in lines[filled[0]]], len(filled) - 1, path)
    cells = [list(map(_value_of_cell, lines[k])) for k in filled[1:]]
    # A sheet knows one kind of number, and its cells show 3.0 as 3.
    columns = dict(zip(head, zip(*cells, strict=True), strict=True))
    return replace(_frame_of_values(columns, [k + 1 for k in filled[1:]], int, float), exact={})


_ANOTHER_SHEET = Remedy("save another as a file of its own.", shell="name another by --sheet.")


def _place_of_sheet(look: Look, names: list[str]) -> int:
    """The place of the sheet asked for, or the first, with a warning if there are others."""
    sheet, numbers = look.sheet, [str(k) for k in range(1, len(names) + 1)]
    for known in (names, numbers):
        if sheet in known:
            return known.index(sheet)
    if sheet is not None or not names:
        lacks = f"'{look.path}' has no sheet {sheet or ''!r}"
        raise DataError(f"{lacks}; name one of {files.names_text(names)}.")
    if len(names) > 1:
        others = files.names_text(names[1:])
        first = f"of '{look.path}' the first sheet {names[0]!r} is read, and not {others}; "
        warn(first + _ANOTHER_SHEET)
    return 0


def _value_of_cell(cell: Any) -> Any:
    """The value, None if the cell is empty; a time of day as text, which dates can be read from."""
    if isinstance(cell, datetime.time):
        return cell.isoformat()
    return None if cell == "" else cell


def _frame_of_values(columns: Mapping[str, Any], lines: Sequence[int], *whole: type) -> Frame:
    """Columns of Python's values; those of whole numbers, in one of these types, stay whole."""

    def is_whole(cell: Any) -> bool:
        return type(cell) in whole and cell == int(cell)

    dtypes = {name: "int" for name, cells in columns.items() if all(map(is_whole, cells))}
    return replace(take_apart(columns), dtypes=dtypes, lines=lines)


#: Endings of files that hold tables of any kind.
TABLES = (*TEXT, ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow", *SHEETS)
#: Bytes of text that are read at a time.
PART = 1 << 24
#: Values that are not numbers are errors up to this share, and make a category above it.
TYPING_ERRORS = 0.5
#: Dashes, which mean a missing value where all others begin with a digit.
_DASHES = frozenset({"-", "--", "–", "—"})
#: First words of a last row that is a sum, not a row of data.
_SUM = re.compile(r"(grand |sub)?total|sum|summe|gesamt(summe)?|average|mean", re.IGNORECASE)


def read_table(path: PathLike | Sequence[PathLike], *, texts: Collection[str] = ()) -> Frame:
    r"""Read a table of numbers, texts and dates into memory.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt`` (commas, semicolons, tabs or bars; numbers with decimal
        commas, thousands marks, or one unit in all rows), ``.jsonl``, ``.parquet``,
        ``.feather``; the first sheet of ``.xlsx``, ``.xls`` or ``.ods`` (needs
        python-calamine); text also as ``.csv.gz``, ``.csv.xz``, ``.csv.zst``. A pattern
        (``"part-*.csv"``) or a list of files of the same columns is one table.
    texts : names
        Columns of a text file that are texts, whatever they look like.

    Returns
    -------
    Frame
        Give it to :class:`TableModel` in place of a data frame; what comes back are columns by
        name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("name;price\nAnna;1.234,5\nBert;7,25\n")
    >>> read_table(path).columns["price"]
    array([1234.5 ,    7.25])
    """
    looks = matching(path)
    frames = [_read(look, texts) for look in looks]
    return frames[0] if len(frames) == 1 else joined(frames, [look.path for look in looks])


def _read(look: Look, texts: Collection[str]) -> Frame:
    path, kind = look.path, files.plain_name(look.path).suffix.lower()
    files.check_there(path)
    if kind in TEXT:
        return _frame_of_texts(look, texts)
    if kind in (".jsonl", ".ndjson"):
        return _frame_of_records(look)
    if kind in SHEETS:
        return read_sheet(look)
    if kind in (".parquet", ".feather", ".arrow") or parquet_files(path) != [path]:
        return _frame_of_arrow(path, kind)
    raise DataError(files.unknown_ending(path, TABLES) + ".")


def _texts(look: Look) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    """The names, the line and fields of each row, and the delimiter."""
    path, lines = look.path, io.StringIO(_decoded(look), newline="").readlines()
    before = first_line(lines, path, look.header_row)
    delimiter = delimiter_of(lines[before], path)
    records = list(_records(lines[before:], delimiter, before, path))
    names = [name.strip() for name in records[0][1]]
    unnamed = all(is_missing(name) or read_numerals([name], delimiter) for name in names)
    if unnamed and look.header_row is None:
        return [str(j) for j in range(len(names))], records, delimiter
    names, (number, last) = _names(names, len(records) - 1, path), records[-1]
    if any(_SUM.fullmatch(field.strip()) for field in last):
        looks = f"the last, looks like a sum ({', '.join(last)[:60]!r}) and is read as any other"
        warn(f"line {number} of '{path}', {looks}; remove it if it is one.")
    return names, records[1:], delimiter


def _names(names: list[str], n: int, path: Path) -> list[str]:
    if not n:
        raise DataError(f"'{path}' has names of columns, and no rows; give a file with data.")
    return files.numbered(names, path)


def _decoded(look: Look) -> str:
    path, most = look.path, available_bytes() // 4
    with look.open() as file:
        raw = b"".join(islice(iter(partial(file.read, PART), b""), 1 + most // PART))
    if len(raw) > most:
        what = f"'{path}' holds more than {most >> 20} MB of text, a quarter of the free memory; "
        shell = "leave out texts by 'cut'."
        raise DataError(what + Remedy("read its numbers by open_rows of mercer.io.", shell=shell))
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"'{path}' is not UTF-8 (byte {error.start + 1} is {raw[error.start]:#x})"
        warn(f"{why} and is read as Latin-1; save it as UTF-8 if names look wrong.")
        return raw.decode("latin-1")


def _records(
    lines: Sequence[str], delimiter: str, before: int, path: Path
) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that is not blank, with its number in the file."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    width = None
    try:
        for fields in reader:
            if not fields or (len(fields) == 1 and not fields[0].strip()):
                continue
            width = width or len(fields)
            number = before + reader.line_num
            if len(fields) != width:
                raise wrong_width(fields, width, delimiter, number, path)
            yield number, fields
    except csv.Error as error:
        raise files.at_line(before + reader.line_num, path, f": {error}; fix it.") from error


def _frame_of_texts(look: Look, as_texts: Collection[str]) -> Frame:
    path, (names, records, delimiter) = look.path, _texts(look)
    columns, dtypes, exact = {}, {}, {}
    lines, rows = zip(*records, strict=True)
    fields = dict(zip(names, map(_stripped, zip(*rows, strict=True)), strict=True))
    numbers = {name: numbers_of(texts) for name, texts in fields.items()}
    odd = [n for n, values in numbers.items() if values is None or np.isnan(values).any()]
    mark = decimal_mark(fields[name] for name in odd)

    def as_written(texts: list[str]) -> Array:
        return objects(None if is_missing(text) else text for text in texts)

    for name, texts in fields.items():
        values = numbers[name]
        numerals = None if name in as_texts else numerals_of(texts, values, delimiter, mark)
        if numerals is None:
            columns[name], dtypes[name] = as_written(texts), ""
            if name not in as_texts:
                _refuse_typing_errors(path, name, texts, lines)
                _warn_of_units(path, name, texts)
            continue
        columns[name], dtypes[name] = numerals.values, numerals.form
        if numerals.form == "int" and (np.abs(numerals.values) > 2**53).any():
            exact[name] = as_written(texts)
        if numerals.doubtful:
            example = next(i for i, text in enumerate(texts) if "," in text)
            doubt = f"{texts[example]!r} is read as {numerals.values[example]}"
            warn(f"column {name!r} of '{path}': {doubt}; write thousands without a comma.")
    return Frame(columns, "columns", dtypes, exact=exact, lines=lines)


def _stripped(values: Sequence[str]) -> list[str]:
    """Values without blanks; a dash is a missing value where all others begin with a digit."""
    texts = [value.strip() for value in values]
    if _DASHES.isdisjoint(texts):
        return texts
    others = [text for text in texts if text not in _DASHES and not is_missing(text)]
    if others and all(text.lstrip("-+")[:1].isdigit() for text in others):
        return ["" if text in _DASHES else text for text in texts]
    return texts


def _refuse_typing_errors(path: Path, name: str, texts: list[str], lines: Sequence[int]) -> None:
    """Refuse a column of numbers with a few other values, which are probably errors."""
    wrong = {text for text in {*texts} if not is_missing(text) and not read_numerals([text])}
    others = [i for i, text in enumerate(texts) if text in wrong]
    if 0 < len(others) <= TYPING_ERRORS * sum(not is_missing(text) for text in texts):
        wrong_one, instead = texts[others[0]][:40], files.other_use("the column", [name])
        what = f", column {name!r}: {wrong_one!r} is not a number, as most are; fix it, empty it, "
        category = ", or make it a category: " + as_kind(name, "category") + "."
        raise files.at_line(lines[others[0]], path, what + instead + category)


def _warn_of_units(path: Path, name: str, texts: list[str]) -> None:
    """Warn of numbers in several units, which are read as texts; that is rarely meant."""
    units = units_of([text for text in texts if not is_missing(text)])
    if len(units) > 1:
        shown = ", ".join(repr(unit) if unit else "none" for unit in units[:4])
        units_in = f"column {name!r} of '{path}' holds numbers in several units ({shown})"
        warn(f"{units_in} and is read as texts; write all in one unit to have numbers.")


def _frame_of_records(look: Look) -> Frame:
    """JSON lines: one object per line; a key that a line lacks is a missing value."""
    path = look.path
    rows: dict[int, dict[str, Any]] = {}
    for number, line in enumerate(_decoded(look).splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows[number] = json.loads(line)
        except json.JSONDecodeError as error:
            raise files.at_line(number, path, f": {error}; fix it.") from error
        if not isinstance(rows[number], dict):
            raise files.at_line(number, path, " is not an object of names and values; fix it.")
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    if not names:
        raise DataError(f"'{path}' is empty; give a file with data.")
    columns = {name: [row.get(name) for row in rows.values()] for name in names}
    return _frame_of_values(columns, list(rows), int)


def _frame_of_arrow(path: Path, kind: str) -> Frame:
    feather = kind in (".feather", ".arrow")
    with files.decoding(path, "Feather file" if feather else "Parquet file"):
        module = require("pyarrow.feather" if feather else "pyarrow.parquet", "io")
        frame = take_apart(module.read_table(path))
    dtypes = {name: "int" for name, dtype in frame.dtypes.items() if "int" in str(dtype)}
    exact = {name: objects(column.to_pylist()) for name, column in frame.exact.items()}
    return Frame(frame.columns, "columns", dtypes, exact=exact)
