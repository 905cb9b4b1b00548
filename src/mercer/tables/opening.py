"""A file as vectors for a fit: raw where its numbers have one unit, encoded where they have not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.base import clone

from mercer._linalg import Array
from mercer.exceptions import DataError, MercerWarning, argument, warn
from mercer.rows import Choice, MemoryRows, Table, open_table
from mercer.rows.dialect import LOOK, TEXT, is_missing, is_number, sniff
from mercer.rows.parquet import parquet_names
from mercer.tables.columns import Category
from mercer.tables.deciding import ROW_NAMES, is_id_name, one_unit, warn_of_odd_units
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame, no_column
from mercer.tables.joining import is_pattern
from mercer.tables.model import TableModel
from mercer.tables.numerals import read_numerals
from mercer.tables.reading import TABLES, read_table
from mercer.tables.spreadsheet import SHEETS
from mercer.tables.writing import classes_of, kept_columns

__all__ = ["open_encoded", "read_for", "read_mixed", "vectors_for"]

#: Rows that the encoder looks at where the numbers are read in place.
LOOK_ROWS = 200_000


def open_encoded(
    path: str | os.PathLike[str],
    encoder: TableEncoder | None = None,
    choice: Choice | None = None,
    *,
    array: str | None = None,
    allow_nan: bool = False,
) -> tuple[Table, TableEncoder | None]:
    r"""Open a file as rows of numbers for a fit, and the encoder that makes them, if one is needed.

    Rows of numbers in one unit stay as they are, and where they are; in many units they are scaled
    block by block as they are read, so that a file may be larger than the memory. A table with
    categories or dates is read into memory.

    Parameters
    ----------
    path : path
        As for :func:`mercer.rows.open_table`, or for :func:`read_table`.
    encoder : TableEncoder, optional
        What is said about the columns; the data decide on the others.
    choice : mercer.rows.Choice, optional
        Which columns to use, and which one is the label.
    array : str, optional
        For npz and Zarr: which array.
    allow_nan : bool, default=False
        Let missing values through as NaN.

    Returns
    -------
    Table
        Its ``rows`` go to ``fit``, its ``label`` as y.
    TableEncoder or None
        Fitted; ``TableModel.from_fitted(model, encoder)`` makes a model of tables.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer import KernelPCA
    >>> from mercer.tables import TableModel, open_encoded
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("glucose,pedigree\n148,.63\n85,.35\n183,.67\n89,.17\n137,.29\n")
    >>> table, encoder = open_encoded(path)
    >>> model = TableModel.from_fitted(KernelPCA(2).fit(table.rows), encoder)
    >>> list(model.denoise({"glucose": [120], "pedigree": [0.5]}))
    ['glucose', 'pedigree']
    """
    path, choice = Path(path), choice or Choice()
    encoder = TableEncoder() if encoder is None else clone(encoder)
    if _is_mixed(path, encoder, choice):
        return _encode(path, encoder, choice, allow_nan)
    choice = _without_useless(path, choice)
    table = open_table(path, choice, array=array, allow_nan=allow_nan)
    return _scale(table, encoder) if _wants_scale(path, table, encoder) else (table, None)


def read_for(
    model: TableModel, path: Path, choice: Choice | None = None, keep: Sequence[str] = ()
) -> Frame:
    """A file as columns for a model of tables; those to ``keep`` are read as they are."""
    known = model.encoder_.columns_
    texts = [
        name
        for name, column in known.items()
        if isinstance(column, Category) and isinstance(column.values[0], str)
    ]
    texts += [name for name in keep if name not in known]
    choice = choice or Choice()
    if choice.label is not None and choice.label not in known:
        texts.append(choice.label)
    return _read(path, choice, texts, keep)


def read_mixed(path: Path, choice: Choice | None = None) -> Frame | None:
    """The columns of a file that are not all numbers; None for one that is read in blocks."""
    choice = choice or Choice()
    return _read(path, choice, ()) if _is_mixed(path, TableEncoder(), choice) else None


def vectors_for(
    model: TableModel,
    path: Path,
    choice: Choice | None = None,
    keep: Sequence[str] = (),
    *,
    allow_nan: bool = False,
) -> Table:
    """A file as the vectors that the model inside sees; label and row names go beside."""
    choice = choice or Choice()
    frame = read_for(model, path, choice, keep)
    vectors = model.vectors(frame, missing=allow_nan)
    beside = _beside(model.encoder_, frame, choice.label)
    return Table(MemoryRows(vectors), {**beside, **kept_columns(frame, keep)})


def _is_mixed(path: Path, encoder: TableEncoder, choice: Choice) -> bool:
    """Whether a file has columns that are to be encoded one by one."""
    kind = path.suffix.lower()
    if is_pattern(path):
        return True
    if kind not in TABLES or not path.is_file():
        return False
    if encoder.kinds or kind in (".jsonl", ".ndjson", ".feather", ".arrow", *SHEETS):
        return True
    try:
        strange = _strange(path, kind)
    except DataError:
        return False  # the reader of numbers says what is wrong, and where
    if strange is None:
        return True
    left = [name for name in strange if name not in (*choice.drop, choice.label)]
    return any(not choice.columns or name in choice.columns for name in left)


def _strange(path: Path, kind: str) -> list[str] | None:
    """Columns that hold no numbers; None for a text that only our reader of tables understands."""
    if kind not in TEXT:
        return list(parquet_names(path)[1])
    with path.open("rb") as file:
        line = file.readline(LOOK)
    if not _is_utf8(line) or line.count(b'"') % 2:  # a name with a line break in it
        return None
    dialect = sniff(path)
    if not dialect.named:
        return []
    codes = [  # digits that are no numbers, such as post codes
        name
        for name, texts in _first_fields(path).items()
        if read_numerals([text.strip() for text in texts]) is None and any(map(str.strip, texts))
    ]
    return [*dialect.strange(path), *codes]


def _first_fields(path: Path) -> dict[str, tuple[str, ...]]:
    """For each column of a text file with names its first fields; nothing of other files."""
    if path.suffix.lower() not in TEXT or not path.is_file() or not (dialect := sniff(path)).named:
        return {}
    return dict(zip(dialect.names, zip(*dialect.first_rows(path), strict=True), strict=False))


def _without_useless(path: Path, choice: Choice) -> Choice:
    """The same without columns of a text file that say nothing, and with a word about each."""
    first, asked = _first_fields(path), (*choice.columns, *choice.drop, choice.label)
    useless = {
        name: why
        for name, texts in first.items()
        if name not in asked and (why := _useless(name, texts))
    }
    if len(useless) == len(first):
        return choice
    for name, why in useless.items():
        warn(f"{name or 'the column without a name'}: left out: {why}.", MercerWarning)
    return replace(choice, drop=(*choice.drop, *useless))


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


def _read(path: Path, choice: Choice, texts: Sequence[str], keep: Sequence[str] = ()) -> Frame:
    """The columns that are asked for, and the label."""
    label = [*([] if choice.label is None else [choice.label]), *keep]
    frame = read_table(path, texts=(*texts, *choice.drop))
    asked = [*choice.columns, *choice.drop, *label]
    for name in asked:
        if name not in frame.columns:
            raise no_column(name, list(frame.columns))
    wanted = [
        name
        for name in frame.columns
        if name not in choice.drop and (not choice.columns or name in (*choice.columns, *label))
    ]
    if all(name in label for name in wanted):
        raise DataError(f"no column of '{path.name}' is left; choose others.")
    exact = {name: column for name, column in frame.exact.items() if name in wanted}
    return replace(frame, columns={name: frame.columns[name] for name in wanted}, exact=exact)


def _encode(
    path: Path, encoder: TableEncoder, choice: Choice, allow_nan: bool
) -> tuple[Table, TableEncoder]:
    kinds = encoder.kinds or {}
    texts = [name for name, kind in kinds.items() if kind == "category"]
    frame = _read(path, choice, [*texts, *([] if choice.label is None else [choice.label])])
    used = {name: values for name, values in frame.columns.items() if name != choice.label}
    encoder = encoder.fit(Frame(used, frame.container, frame.dtypes))
    vectors = TableModel._vectors(frame, encoder, missing=allow_nan)
    return Table(MemoryRows(vectors), _beside(encoder, frame, choice.label)), encoder


def _wants_scale(path: Path, table: Table, encoder: TableEncoder) -> bool:
    """By the rule for units, on the first rows, so that a file is parsed once if it stays raw."""
    names = table.rows.columns
    if names is None or table.files is not None:
        if encoder.scale in ("std", "robust"):
            raise DataError(
                argument("scale", encoder.scale)
                + ": these columns have no names; scale them before."
            )
        return False
    if encoder.scale != "auto":
        return encoder.scale != "none"
    if path.suffix.lower() in TEXT:
        first = _first_fields(path)
        fields = [first.get(name, ()) for name in names]
        columns = [np.array([float(f) if is_number(f) else np.nan for f in fs]) for fs in fields]
    else:
        columns = list(table.rows[:1000].T)
    named = {n: x for n, x in zip(names, columns, strict=True) if np.isfinite(x).any()}
    if one_unit(named.values()):
        return False
    warn_of_odd_units(named)
    return True


def _scale(table: Table, encoder: TableEncoder) -> tuple[Table, TableEncoder]:
    """Rows of numbers in many units, scaled block by block as they are read."""
    names, n = table.rows.columns, len(table.rows)
    look = np.unique(np.linspace(0, n - 1, min(n, LOOK_ROWS)).astype(np.intp))
    if encoder.scale == "auto":
        encoder.set_params(scale="robust")
    encoder.fit(_named(table.rows.take(look), names))
    return table.map(_Encode(encoder), len(encoder.groups_), None), encoder


@dataclass(frozen=True)
class _Encode:
    """An encoder on blocks of rows; its text does not change from one process to the next."""

    encoder: TableEncoder

    def __call__(self, block: MemoryRows) -> Array:
        return self.encoder.transform(_named(block.X, block.columns))

    def __repr__(self) -> str:
        return "; ".join(self.encoder.describe())


def _named(X: Array, names: Sequence[str] | None) -> Frame:
    assert names is not None
    return Frame({name: X[:, j].astype(np.float64) for j, name in enumerate(names)})


def _beside(encoder: TableEncoder, frame: Frame, label: str | None) -> dict[str, Array]:
    """The label first, then the names of the rows."""
    index = [name for name, reason in encoder.left_out_.items() if reason == ROW_NAMES]
    wanted = [*([label] if label is not None else []), *index]
    return {name: classes_of(frame.make(frame.columns)[name]) for name in wanted}
