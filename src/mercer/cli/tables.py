"""Tables of a command: what its options say about them, handed to :mod:`mercer.io`."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from mercer._base.files import is_device
from mercer._base.types import Array, Estimator
from mercer.cli.console import as_json, asked_for, progress, remark
from mercer.cli.faults import Failure
from mercer.cli.models import feature_names, on_tables
from mercer.cli.options import ColumnKinds, Output, Reading
from mercer.cli.summary import size_of
from mercer.io import Table, check_sink, open_table, spooled, write_stream, write_table
from mercer.io.files import COMPRESSED, names_text, open_plain, plain_name
from mercer.io.look import Look

if TYPE_CHECKING:
    from mercer.tables import TableEncoder


#: More columns than this are told by their kinds, not one by one.
SHOWN = 12


@contextlib.contextmanager
def open_input(
    data: str, reading: Reading, *, model: Estimator = None, allow_nan: bool = False
) -> Iterator[Table]:
    """The table that ``data`` names (``-`` for standard input), with the columns that are wanted.

    Those of ``model``, if there is one; a model of tables gets the vectors that it makes of them.
    """
    if isinstance(model, BaseEstimator):  # and not only names of columns that stand in for one
        allow_nan = allow_nan or bool(get_tags(model).input_tags.allow_nan)
    with located(data, reading) as path:
        if on_tables(model):
            from mercer.tables.opening import vectors_for

            choice, keep = reading.choice(), reading.keep
            yield vectors_for(model, path, choice, keep, allow_nan=allow_nan)
            return
        look = Look(path)
        like, kept = feature_names(model), read_kept(look, reading)
        if kept and like is None and not reading.columns:
            reading = replace(reading, drop=(*reading.drop, *kept))
        table = open_located(look, reading, like=like, allow_nan=allow_nan)
        yield replace(table, beside={**table.beside, **kept})


@contextlib.contextmanager
def open_for_fit(
    data: str, reading: Reading, kinds: ColumnKinds, *, allow_nan: bool = False
) -> Iterator[tuple[Table, TableEncoder | None]]:
    """The table that ``data`` names, and the encoder of its columns if they need one; it tells."""
    from mercer.tables import open_encoded

    with located(data, reading) as path:
        if kinds.raw:
            yield open_located(Look(path), reading, allow_nan=allow_nan), None
            return
        table, encoder = open_encoded(
            path, kinds.encoder(), reading.choice(), array=reading.array, allow_nan=allow_nan
        )
        for line in [] if encoder is None else encoder.describe(most=SHOWN):
            remark(" ".join(line.split()))  # names may have line breaks
        yield table, encoder


@contextlib.contextmanager
def located(data: str, reading: Reading) -> Iterator[Path]:
    """Where the data are: standard input and compressed files are unpacked first."""
    path = Path(data)
    if data == "-":
        if sys.stdin.isatty():
            raise click.UsageError("'-' reads standard input, and nothing is piped into it")
        with spooled(sys.stdin.buffer, reading.format) as path:
            yield path
    elif path.suffix.lower() in COMPRESSED and path.is_file():
        inside = plain_name(path)
        with open_plain(path) as stream:
            spool = spooled(stream, inside.suffix.strip(".") or "csv", inside.stem)
            with spool as unpacked:
                yield unpacked
    else:
        yield path


def open_located(
    look: Look, reading: Reading, *, like: Sequence[str] | None = None, allow_nan: bool = False
) -> Table:
    """The rows of numbers of a file, with the columns that are wanted, or that a model is like."""
    table = open_table(look, reading.choice(like), array=reading.array, allow_nan=allow_nan)
    if unused := [name for name in table.unused if name not in reading.keep]:
        shown = names_text(unused)
        remark(f"columns of '{look.path.name}' that the model does not know: {shown}")
    return table


def read_kept(look: Look, reading: Reading) -> dict[str, Array]:
    """The columns that go to the output as they are; nothing is read if none are asked for."""
    if not reading.keep:
        return {}
    from mercer.tables.frames import kept_columns
    from mercer.tables.reading import TABLES, read_table

    if look.kind not in TABLES:
        raise click.UsageError(f"--keep and --id name columns, and '{look.path.name}' has no names")
    return kept_columns(read_table(look, texts=reading.keep), reading.keep)


def check_output(output: Output, columns: Sequence[str] | None, *, labelled: bool = False) -> None:
    """Prove, before the work, that such a table can be written there."""
    if output.path is not None:
        check_target(output.path, force=output.force)
        check_sink(output.path, columns, labelled=labelled)
        return
    check_sink(f"standard output.{output.format}", columns, labelled=labelled)
    if output.format not in ("csv", "tsv") and sys.stdout.isatty():
        raise Failure(
            f"{output.format} is nothing to read on a terminal. Give a file with --output."
        )


def write_output(output: Output, table: Table) -> None:
    """Write to the file, folder or standard output that is asked for."""
    with progress():
        if output.path is not None:
            write_table(output.path, table)
            return
        sys.stdout.flush()
        file = getattr(sys.stdout, "buffer", None) or io.BytesIO()
        write_stream(file, table, "json" if asked_for("json") else output.format)
        file.flush()


def tell(output: Output, text: str, **facts: Any) -> None:
    """Say what was written to a file."""
    if output.path is not None and not as_json({"output": str(output.path), **facts}):
        remark(f"{text} → {output.path}")


def tell_size(output: Output, n: int, d: int) -> None:
    """Say how many rows and columns were written to a file."""
    tell(output, size_of(n, d), rows=n, columns=d)


def check_target(path: Path, *, force: bool) -> None:
    """Prove that ``path`` can be written, before any long work starts; replace only by force."""
    if is_device(path):
        return
    if path.exists() and not force:
        raise Failure(f"'{path}' exists. Add --force to replace it, or choose another name.")
    if not path.parent.is_dir():
        raise Failure(f"there is no folder '{path.parent}'. Create it, or write to another place.")
    _try_to_write(path.parent, "Choose another.")


def prepare_folder(folder: Path, option: str) -> None:
    """Create ``folder``, which ``option`` names, and prove that it can be written to."""
    _try_to_write(folder, f"Choose another folder with {option}.")


def _try_to_write(folder: Path, remedy: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        raise Failure(f"cannot write to '{folder}': {error.strerror}. {remedy}") from error
