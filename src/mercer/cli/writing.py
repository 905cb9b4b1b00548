"""Writing a table: by the ending of its name, whole or not at all, block by block."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from mercer._linalg import Array
from mercer.cli.faults import Failure
from mercer.cli.files import whole_file, whole_folder
from mercer.cli.images import image_shape, write_images
from mercer.cli.options import FORMATS, Output
from mercer.rows.delimited import is_number
from mercer.rows.files import require

__all__ = ["Frame", "check_frame", "write_frame"]

ENDINGS = {**{f".{name}": name for name in FORMATS}, ".txt": "csv"}


@dataclass(frozen=True)
class Frame:
    """Numbers to write, block by block, with whole columns beside them.

    Attributes
    ----------
    blocks : (rows, width) arrays, one after the other
    rows : number of rows in all of them
    columns : names, or None
    beside : whole columns of other kinds (labels, flags), by name
    files : names of image files, for a folder
    """

    blocks: Iterator[Array]
    rows: int
    columns: Sequence[str] | None = None
    beside: Mapping[str, Array] = field(default_factory=dict)
    files: Sequence[str] | None = None

    def parts(self) -> Iterator[tuple[Array, list[Array]]]:
        """Each block with its part of the columns beside it."""
        start = 0
        for block in self.blocks:
            stop = start + len(block)
            yield block, [column[start:stop] for column in self.beside.values()]
            start = stop

    def names(self, width: int) -> list[str]:
        """All names; made up where there are none."""
        own = [f"x{j}" for j in range(width)] if self.columns is None else self.columns
        return [*map(str, own), *self.beside]


def check_frame(output: Output, columns: Sequence[str] | None, *, labelled: bool) -> None:
    """Prove, before the work, that such a table can be written there."""
    output.check()
    kind = _kind(output)
    if kind == "folder" and image_shape(columns) is None:
        raise Failure(
            f"'{output.path}' has no ending, and these rows are no images. Give a name that ends "
            "in .csv, .tsv, .npy, .npz or .parquet."
        )
    if labelled and kind == "npy":
        raise Failure(".npy holds numbers only, no labels. Write .csv, .npz or .parquet.")
    if kind == "parquet":
        require("pyarrow.parquet", "io")
    if output.path is None and kind not in ("csv", "tsv") and sys.stdout.isatty():
        raise Failure(f"{kind} is nothing to read on a terminal. Give a file with --output.")


def write_frame(output: Output, frame: Frame, *, as_json: bool = False) -> tuple[int, int]:
    """Write to the file, folder or standard output that is asked for; the shape of the numbers."""
    kind = _kind(output)
    first = next(frame.blocks)
    frame = replace(frame, blocks=chain([first], frame.blocks))
    if kind == "folder":
        assert output.path is not None
        shape = image_shape(frame.columns)
        assert shape is not None  # check_frame has seen to it
        with whole_folder(output.path) as folder:
            write_images(folder, frame.blocks, shape, frame.files)
    elif output.path is not None:
        with whole_file(output.path) as file:
            _WRITERS[kind](file, frame)
    else:
        sys.stdout.flush()
        file = getattr(sys.stdout, "buffer", None) or io.BytesIO()
        _WRITERS["json" if as_json else kind](file, frame)
        file.flush()
    return frame.rows, first.shape[1]


def _kind(output: Output) -> str:
    if output.path is None:
        return output.format
    if output.path.is_dir() or not output.path.suffix:
        return "csv" if str(output.path).startswith("/dev/") else "folder"
    kind = ENDINGS.get(output.path.suffix.lower())
    if kind is None:
        raise Failure(
            f"'{output.path.name}': the ending '{output.path.suffix}' is not known. "
            f"Give one of {', '.join(ENDINGS)}, or a folder for images."
        )
    return kind


def _write_text(delimiter: str) -> Any:
    def write(file: BinaryIO, frame: Frame) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        try:
            rows = csv.writer(text, delimiter=delimiter, lineterminator="\n")
            named = frame.columns is None and not frame.beside  # then without a line of names
            for block, beside in frame.parts():
                if not named:
                    rows.writerow([_tame(name) for name in frame.names(block.shape[1])])
                    named = True
                fields = [*map(_texts, block.T), *([_tame(v) for v in c.tolist()] for c in beside)]
                rows.writerows(zip(*fields, strict=True))
        finally:
            text.detach()  # the file is not ours to close

    return write


def _texts(column: Array) -> Any:
    """Numbers in the shortest form that gives the same number again."""
    return column.astype(str) if column.dtype == np.float32 else map(repr, column.tolist())


def _tame(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value[:1] in "=+-@\t\r" and value and not is_number(value):
        return f"'{value}"
    return value


def _write_npy(file: BinaryIO, frame: Frame) -> None:
    parts = iter(frame.blocks)
    first = next(parts)
    header = {
        "descr": np.lib.format.dtype_to_descr(first.dtype),
        "fortran_order": False,
        "shape": (frame.rows, first.shape[1]),
    }
    np.lib.format.write_array_header_1_0(file, header)
    file.write(np.ascontiguousarray(first).data)
    for part in parts:
        file.write(np.ascontiguousarray(part, dtype=first.dtype).data)


def _write_npz(file: BinaryIO, frame: Frame) -> None:
    arrays: dict[str, Any] = {"X": np.concatenate(list(frame.blocks)), **frame.beside}
    if frame.columns is not None:
        arrays["columns"] = np.array(list(map(str, frame.columns)))
    # numpy wants to seek, which a pipe cannot
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    file.write(memory.getbuffer())


def _write_parquet(file: BinaryIO, frame: Frame) -> None:
    arrow, parquet = require("pyarrow", "io"), require("pyarrow.parquet", "io")
    writer = None
    try:
        for block, beside in frame.parts():
            columns = [arrow.array(np.ascontiguousarray(column)) for column in block.T]
            columns += [arrow.array(column) for column in beside]
            table = arrow.table(columns, names=frame.names(block.shape[1]))
            writer = writer or parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _write_json(file: BinaryIO, frame: Frame) -> None:
    data = [
        [*row, *(column[i] for column in others)]
        for block, beside in frame.parts()
        for others in [[column.tolist() for column in beside]]
        for i, row in enumerate(block.tolist())
    ]
    width = len(data[0]) - len(frame.beside)
    document = {"columns": frame.names(width), "data": data}
    file.write(json.dumps(document, ensure_ascii=False).encode() + b"\n")


_WRITERS: dict[str, Any] = {
    "csv": _write_text(","),
    "tsv": _write_text("\t"),
    "npy": _write_npy,
    "npz": _write_npz,
    "parquet": _write_parquet,
    "json": _write_json,
}
