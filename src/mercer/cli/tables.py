"""Tables of a command: what its options say about them, handed to :mod:`mercer.io`."""

import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

import mercer
from mercer._base.files import is_device
from mercer._base.types import Array, Estimator, Names
from mercer.cli.console import as_json, asked_for, progress, remark, size_of
from mercer.cli.faults import Failure
from mercer.cli.options import Output, Reading, frames, missing, opening
from mercer.exceptions import DataError, said
from mercer.io import Table, check_sink, open_table, spooled, write_stream, write_table
from mercer.io.files import COMPRESSED, names_text, open_plain, plain_name
from mercer.io.look import SHEETS, TEXT, Look
from mercer.model.model import names_of, of_vectors
from mercer.points.source import MemoryRows

#: More columns than this are described by their kinds, not one by one.
SHOWN = 12


@contextlib.contextmanager
def open_input(
    data: str,
    reading: Reading,
    *,
    model: Estimator = None,
    like: Names | None = None,
    allow_nan: bool = False,
) -> Iterator[Table]:
    """The table that ``data`` names (``-`` for standard input), with the columns that are wanted.

    Those of ``model``, if there is one; a model of tables gets the vectors that it makes of them.
    """
    if model is not None:
        like = names_of(model)
    fill = _Fill(model, data) if model is not None and not allow_nan else None
    with located(data, reading) as look:
        if of_vectors(model) is not model:
            table, kept = opening.vectors_for(model, look, choice_of(look, reading)), {}
        else:
            kept = _read_kept(look, reading)
            if kept and like is None and not reading.columns:
                reading = replace(reading, drop=(*reading.drop, *kept))
            fill = fill if look.kind in TEXT else None
            table = _open(look, reading, like=like, allow_nan=allow_nan or fill is not None)
        if fill is not None:
            table = table.map(fill, table.rows.shape[1], table.rows.columns)
        yield replace(table, beside={**table.beside, **kept})


class _Fill:
    """Lets the model fill in missing values in blocks of rows, and says so once."""

    def __init__(self, model: Estimator, data: str) -> None:
        self._model, self._data, self._told = model, data, False

    def __call__(self, block: MemoryRows) -> Array:
        if not self._told and np.isnan(block.X).any():
            remark(f"missing values of '{self._data}' are filled in by the model")
            self._told = True
        return missing.completed(self._model, block.X)

    def __repr__(self) -> str:
        return ""  # complete rows are as they were


def open_if_named(data: str | None, reading: Reading, model: Estimator) -> Any:
    """The same for optional data: None if they are not given."""
    return contextlib.nullcontext() if data is None else open_input(data, reading, model=model)


@contextlib.contextmanager
def open_for_fit(
    data: str, reading: Reading, encoder: Any, model: Estimator, way: str = "auto", **more: Any
) -> Iterator[Any]:
    """What ``data`` names, opened for a fit of the model, with remarks on what is done with it.

    Without an ``encoder`` the numbers are taken as they are; ``way`` is that of missing values,
    and ``more`` what else an ``Opening`` is told.
    """
    with located(data, reading) as look:
        if encoder is None:
            takes_nan = missing.takes_missing(model)
            yield opening.Opened(_open(look, reading, allow_nan=takes_nan), None)
            return
        opened = opening.Opening(encoder, reading.choice(), way, model, **more).of_file(look)
        for line in opened.describe(most=SHOWN):
            remark(" ".join(said(line, "shell").split()))  # names may have line breaks
        yield opened


def noise_of_vectors(noise: Any, encoder: Any) -> Any:
    """Noise of each column in its own unit, as that of the vectors which an encoder makes."""
    if not isinstance(noise, list) or encoder is None:
        return noise
    columns = encoder.columns_
    used = {name: column for name, column in columns.items() if column.width}
    if len(noise) == len(used):  # those that are left out, such as names of rows, need no number
        columns = used
    if len(noise) != len(columns):
        raise DataError(f"--noise has {len(noise)} numbers for {len(used)} columns; give one each.")
    deviations = []
    for (name, column), level in zip(columns.items(), noise, strict=True):
        if not column.width:
            continue
        if not isinstance(column, mercer.tables.Number) or column.tails:
            raise DataError(
                f"column '{name}' is not a number on a linear scale ({column.describe()}) and has "
                "no noise in its own unit; leave it out by --drop, or give one --noise for all."
            )
        deviations.append(level * column.gain / column.scale)
    return deviations


@contextlib.contextmanager
def located(data: str, reading: Reading) -> Iterator[Look]:
    """Where the data are, and how they are to be read; what is piped or packed is unpacked."""
    path = Path(data)
    with contextlib.ExitStack() as opened:
        if data == "-":
            if sys.stdin.isatty():
                raise click.UsageError("'-' reads standard input, but nothing is piped into it")
            path = opened.enter_context(spooled(sys.stdin.buffer, reading.format))
        elif path.suffix.lower() in COMPRESSED and path.is_file():
            inside, stream = plain_name(path), opened.enter_context(open_plain(path))
            spool = spooled(stream, inside.suffix.strip(".") or "csv", inside.stem)
            path = opened.enter_context(spool)
        _check_layout(path, reading)
        yield Look(path, reading.header_row, reading.sheet, reading.array)


def _check_layout(path: Path, reading: Reading) -> None:
    """Refuse options about sheets and the line of names if the file has neither."""
    kind = plain_name(path).suffix.lower()
    if reading.sheet is not None and kind not in SHEETS:
        raise click.UsageError(f"--sheet is for workbooks ({', '.join(SHEETS)}), not for {path}")
    if reading.header_row is not None and kind not in (*TEXT, *SHEETS):
        raise click.UsageError(f"--header-row is for text files and workbooks, not for {path}")


def _open(look: Look, reading: Reading, *, like: Names | None = None, allow_nan: bool) -> Table:
    """The rows of numbers in a file, with the columns that are wanted, or that a model has."""
    table = open_table(look, reading.choice(like), allow_nan=allow_nan)
    if unused := [name for name in table.unused if name not in reading.kept]:
        what = f"columns of '{look.path.name}' that the model does not use"
        remark(f"{what}: {names_text(unused)}")
    return table


def _read_kept(look: Look, reading: Reading) -> dict[str, Array]:
    """The columns that are copied to the output; nothing is read if there are none."""
    if not reading.kept:
        return {}
    choice_of(look, reading)
    return frames.kept_columns(mercer.tables.read_table(look, texts=reading.kept), reading.kept)


def choice_of(look: Look, reading: Reading) -> Any:
    """The columns to read and to keep; an array has no names to keep columns by."""
    if reading.kept and (look.kind in opening.ARRAYS or look.images):
        raise click.UsageError(f"--keep and --id name columns, and '{look.path.name}' has no names")
    return reading.choice(keep=reading.kept)


def ending_of(output: Output) -> str:
    """The ending of the output file, or the format of standard output."""
    return f".{output.format}" if output.path is None else output.path.suffix.lower()


def check_output(output: Output, columns: Names | None, *, labelled: bool = False) -> None:
    """Prove, before the work, that such a table can be written there."""
    if output.path is not None:
        check_target(output.path, force=output.force)
    place = output.path or f"standard output.{output.format}"
    check_sink(place, columns, labelled=labelled)
    if output.path is None and output.format not in ("csv", "tsv") and sys.stdout.isatty():
        raise Failure(f"{output.format} cannot be read on a terminal. Give a file with --output.")


def write_output(output: Output, table: Table) -> None:
    """Write to the file, folder or standard output that is asked for."""
    if output.path is None and sys.stdout.isatty() and not asked_for("json"):
        _show(table)  # without a bar, which would run into the rows
        return
    with progress():
        if output.path is not None:
            write_table(output.path, table)
            return
        sys.stdout.flush()
        file = getattr(sys.stdout, "buffer", None) or io.BytesIO()
        write_stream(file, table, "json" if asked_for("json") else output.format)
        file.flush()


def _show(table: Table) -> None:
    """Show a table: names first, numbers of four digits, columns that fit; files get everything."""
    names = [*table.beside, *table.names[: table.rows.shape[1]]]
    fit = [*range(len(names))]
    for number, (block, beside) in enumerate(table.parts()):
        texts = [[str(value) for value in column.tolist()] for column in beside]
        texts += [list(map(_short, column.tolist())) for column in block.T]
        if number == 0:
            widths = [max(map(len, column), default=0) for column in texts]
            widths = [max(pair) for pair in zip(widths, map(len, names), strict=True)]
            fit = _fitting(widths, shutil.get_terminal_size().columns)
            click.echo("  ".join(names[k].ljust(widths[k]) for k in fit).rstrip())
        for row in zip(*texts, strict=True):
            click.echo("  ".join(row[k].ljust(widths[k]) for k in fit).rstrip())
    if len(names) > len(fit):
        remark(f"{len(names) - len(fit)} more columns do not fit here; -o FILE writes all of them")


def _fitting(widths: Sequence[int], room: int) -> list[int]:
    """The columns that fit side by side: the last two, and as many of the first as possible."""
    d, ends = len(widths), np.cumsum([width + 2 for width in widths])
    if ends[-1] - 2 <= room or d < 4:
        return [*range(d)]
    first = int((ends[:-2] + ends[-1] - ends[-3] - 2 <= room).sum())
    return [*range(max(1, first)), d - 2, d - 1]


def _short(value: float) -> str:
    """Four digits, but never fewer than there are before the point."""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def report(output: Output, text: str, **facts: Any) -> None:
    """Say what was written to a file."""
    if output.path is not None and not as_json({"output": str(output.path), **facts}):
        remark(f"{text} → {output.path}")


def report_size(output: Output, n: int, d: int) -> None:
    """Say how many rows and columns were written to a file."""
    report(output, size_of(n, d), rows=n, columns=d)


def check_target(path: Path, *, force: bool) -> None:
    """Prove that ``path`` can be written, before any long work starts; replace only by force."""
    if is_device(path):
        return
    if path.exists() and not force:
        raise Failure(f"'{path}' exists. Add --force to replace it, or choose another name.")
    if not path.parent.is_dir():
        raise Failure(f"there is no folder '{path.parent}'. Create it, or write to another place.")
    prepare_folder(path.parent)


def prepare_folder(folder: Path) -> None:
    """Create the folder that ``--output`` names, and prove that it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        text = f"cannot write to '{folder}': {error.strerror}. Choose another with --output."
        raise Failure(text) from error
