"""Writing a table: by the ending of its name, whole or not at all, block by block."""

import csv
import io
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np

from mercer._base.files import atomic_file, atomic_folder, is_device
from mercer._base.machine import blocks
from mercer._base.optional import require
from mercer._base.types import Array, Names, PathLike, RowsLike
from mercer.exceptions import OutputError
from mercer.io.files import unknown_ending
from mercer.io.images import encode_png, image_shape, to_bytes
from mercer.io.look import is_number
from mercer.io.opening import Table, as_rows, is_source
from mercer.points.source import CHUNK, MemoryRows

#: What a stream can carry.
FORMATS = ("csv", "tsv", "npy", "npz", "parquet")
ENDINGS = {**{f".{name}": name for name in FORMATS}, ".txt": "csv", ".zarr": "zarr"}


def write_table(path: PathLike, table: RowsLike, *, columns: Names | None = None) -> Path:
    """Write rows to a file, or to a folder of PNG images; it appears whole or not at all.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.txt``, ``.npy``, ``.npz``, ``.parquet`` or ``.zarr``; without an
        ending a folder of images. The ending decides. Text that a spreadsheet would take for a
        formula gets an apostrophe in front.
    table : Table, array, data frame, or a source: Rows, path, dask collection
        Sources are read block by block.
    columns : names, optional
        Of an array.

    Returns
    -------
    the path

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from mercer.io import write_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> print(write_table(path, np.eye(2), columns=["a", "b"]).read_text(), end="")
    a,b
    1,0
    0,1
    """
    path, table = Path(path), _as_table(table, columns)
    check_sink(path, table.rows.columns, labelled=bool(table.beside))
    kind = _kind(path)
    if kind == "folder":
        shape = image_shape(table.rows.columns)
        assert shape is not None  # check_sink has seen to it
        with atomic_folder(path, _not_only_images) as folder:
            for i, row in enumerate(row for block in table.blocks() for row in block.X):
                name = f"{i:06d}.png" if table.files is None else table.files[i]
                image = to_bytes(np.asarray(row).reshape(shape))
                (folder / name).write_bytes(encode_png(image))
    elif kind == "zarr":
        _refuse_empty(table)
        with atomic_folder(path, _not_zarr) as folder:
            _write_zarr(folder, table)
    else:
        with atomic_file(path) as file:
            write_stream(file, table, kind)
    return path


def check_sink(path: PathLike, columns: Names | None = None, *, labelled: bool = False) -> None:
    """Prove, before any long work, that the ending suits a table with such columns.

    Parameters
    ----------
    path : where the table will go
    columns : names of its columns; those of pixels can be written as images
    labelled : whether there are columns of other kinds beside the numbers
    """
    kind = _kind(Path(path))
    if kind == "folder" and image_shape(columns) is None:
        what = f"'{path}' has no ending, and these rows are not images"
        raise OutputError(f"{what}; give a name that ends in .csv, .tsv, .npy, .npz or .parquet.")
    if labelled and kind in ("npy", "zarr"):
        raise OutputError(f".{kind} holds numbers only, no labels; write .csv, .npz or .parquet.")
    if kind in ("parquet", "zarr"):
        require("zarr" if kind == "zarr" else "pyarrow.parquet", "io")


def write_stream(file: BinaryIO, table: Table, kind: str) -> None:
    """Write a table to an open file, such as a pipe, in one of ``FORMATS``, or as ``"json"``."""
    _refuse_empty(table)
    _WRITERS[kind](file, table)


def _as_table(rows: Any, columns: Names | None) -> Table:
    if isinstance(rows, Table) or is_source(rows):
        if columns is not None:
            raise OutputError("columns= names those of an array; a table has its own names.")
        return rows if isinstance(rows, Table) else Table(as_rows(rows))
    X = np.asarray(rows)
    names = getattr(rows, "columns", None) if columns is None else columns
    if X.ndim != 2 or X.dtype.kind not in "fiub" or (names is not None and len(names) != len(X.T)):
        count = "" if names is None else f" with {len(names)} names"
        what = f"an array of shape {X.shape} and dtype {X.dtype}{count} is not a table of numbers"
        raise OutputError(f"{what}; give one of shape (n, d), and d names if any.")
    return Table(MemoryRows(X, names))


def _refuse_empty(table: Table) -> None:
    if not len(table.rows):
        raise OutputError("there are no rows to write; give at least one.")


def _kind(path: Path) -> str:
    if is_device(path):
        return ENDINGS.get(path.suffix.lower(), "csv")
    if not path.suffix or (path.is_dir() and path.suffix.lower() != ".zarr"):
        return "folder"
    if path.suffix.lower() not in ENDINGS:
        raise OutputError(unknown_ending(path, ENDINGS) + ", or a folder for images.")
    return ENDINGS[path.suffix.lower()]


def _not_only_images(folder: Path) -> str | None:
    others = [entry.name for entry in folder.iterdir() if entry.suffix.lower() != ".png"]
    return f"holds more than images ('{others[0]}')" if others else None


def _not_zarr(folder: Path) -> str | None:
    names = {entry.name for entry in folder.iterdir()}
    is_store = names & {"zarr.json", ".zarray", ".zgroup"}
    return "is not a Zarr store" if names and not is_store else None


def _write_zarr(folder: Path, table: Table) -> None:
    """An array in chunks of whole rows."""
    zarr, (n, d) = require("zarr", "io"), table.rows.shape
    how: Any = {"shape": (n, d), "chunks": (min(n, CHUNK), d), "overwrite": True}
    array: Any = None
    for rows, block in zip(blocks(n, CHUNK), table.blocks(), strict=True):
        array = array or zarr.create_array(str(folder), dtype=block.dtype, **how)
        array[rows] = block.X


def _write_csv(file: BinaryIO, table: Table, delimiter: str = ",") -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    # The writer quotes what ends its own lines, and for a spreadsheet a bare CR ends one, too.
    lines: Any = SimpleNamespace(write=lambda line: text.write(f"{line[:-2]}\n"))
    try:
        rows = csv.writer(lines, delimiter=delimiter, lineterminator="\r\n")
        named = table.rows.columns is not None or bool(table.beside)
        for block, beside in table.parts():
            if named:  # not before there are rows to go with the names
                rows.writerow([_tame(name) for name in table.names])
                named = False
            fields = [*map(_texts, block.T), *([_tame(v) for v in c.tolist()] for c in beside)]
            rows.writerows(zip(*fields, strict=True))
    finally:
        text.detach()  # the file is not ours to close


def _texts(column: Array) -> Any:
    """Numbers in the shortest form that gives the same number again; a whole column as such."""
    if (np.abs(column) < 2**53).all() and (column == np.rint(column)).all():
        return map(repr, column.astype(np.int64).tolist())
    return column.astype(str) if column.dtype == np.float32 else map(repr, column.tolist())


def _tame(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value[:1] in "=+-@\t\r" and value and not is_number(value):
        return f"'{value}"
    return value


def _write_npy(file: BinaryIO, table: Table) -> None:
    dtype = None
    for block in table.blocks():
        if dtype is None:
            dtype = block.dtype
            descr = np.lib.format.dtype_to_descr(dtype)
            header = {"descr": descr, "fortran_order": False, "shape": table.rows.shape}
            np.lib.format.write_array_header_1_0(file, header)
        file.write(np.ascontiguousarray(block.X, dtype=dtype).data)


def _write_npz(file: BinaryIO, table: Table) -> None:
    X = np.concatenate([block.X for block in table.blocks()])
    arrays: dict[str, Any] = {"X": X, **table.beside_of(("X", "columns"))}
    if table.rows.columns is not None:
        arrays["columns"] = np.array(table.rows.columns)
    # numpy wants to seek, which a pipe cannot
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    file.write(memory.getbuffer())


def _write_parquet(file: BinaryIO, table: Table) -> None:
    arrow, parquet = require("pyarrow", "io"), require("pyarrow.parquet", "io")
    writer = None
    try:
        for block, beside in table.parts():
            columns = [arrow.array(np.ascontiguousarray(column)) for column in (*block.T, *beside)]
            part = arrow.table(columns, names=table.names)
            writer = writer or parquet.ParquetWriter(file, part.schema)
            writer.write_table(part)
    finally:
        if writer is not None:
            writer.close()


def _write_json(file: BinaryIO, table: Table) -> None:
    """``{"columns": [...], "data": [[...], ...]}``, as pandas calls "split"."""
    data: list[list[Any]] = []
    for block, beside in table.parts():
        rows = zip(block.tolist(), *(column.tolist() for column in beside), strict=True)
        data += ([*row, *others] for row, *others in rows)
    document = {"columns": table.names, "data": data}
    file.write(json.dumps(document, ensure_ascii=False).encode() + b"\n")


_WRITERS: dict[str, Any] = {"csv": _write_csv, "tsv": partial(_write_csv, delimiter="\t")}
_WRITERS |= {"npy": _write_npy, "npz": _write_npz, "parquet": _write_parquet, "json": _write_json}
