"""The first sheet of a workbook (Excel, OpenDocument) as columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mercer._extras import require
from mercer.exceptions import DataError, MercerWarning, warn
from mercer.rows.files import decoding, repeated
from mercer.tables.frames import Frame, take_apart

#: Endings of workbooks.
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


def read_sheet(path: Path) -> Frame:
    """The first sheet: its first line has the names, empty cells are missing."""
    calamine = require("python_calamine", "excel")
    with decoding(path, "workbook"):
        book = calamine.CalamineWorkbook.from_path(str(path))
        names = list(book.sheet_names)
        lines = book.get_sheet_by_index(0).to_python(skip_empty_area=False) if names else []
    lines = [line for line in lines if any(cell != "" for cell in line)]
    if not lines:
        raise DataError(f"the first sheet of '{path}' is empty; put the table there.")
    if len(names) > 1:
        others = ", ".join(repr(name) for name in names[1:6])
        warn(
            f"of '{path}' the first sheet {names[0]!r} is read, and not {others}; save another "
            "one as a file of its own if you mean it.",
            MercerWarning,
        )
    head = [str(cell).strip() for cell in lines[0]]
    if "" in head:
        raise DataError(f"column {head.index('') + 1} of '{path}' has no name; give it one.")
    if twice := repeated(head):
        raise DataError(f"'{path}' has several columns called {twice[0]!r}; rename them.")
    if len(lines) < 2:
        raise DataError(f"'{path}' has names of columns, and no rows; give a file with data.")
    columns: dict[str, list[Any]] = {
        name: [None if cell == "" else cell for cell in cells]
        for name, cells in zip(head, zip(*lines[1:], strict=True), strict=True)
    }
    # A sheet knows one kind of number, and its cells show 3.0 as 3.
    whole = {
        name: "int"
        for name, cells in columns.items()
        if all(type(cell) in (int, float) and cell == int(cell) for cell in cells)
    }
    return Frame(take_apart(columns).columns, "columns", whole)
