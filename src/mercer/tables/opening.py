"""A file as vectors for a fit: raw where its numbers have one unit, encoded where they have not."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.base import clone

from mercer._base.types import Array
from mercer.exceptions import DataError, argument, warn
from mercer.io import Choice, Table, open_table
from mercer.io.look import LOOK, TEXT, Look, is_missing
from mercer.points.source import MemoryRows
from mercer.tables.columns import Category
from mercer.tables.deciding import ROW_NAMES, have_one_unit, is_id_name
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame, kept_columns
from mercer.tables.model import TableModel, vectors_of
from mercer.tables.numerals import is_code
from mercer.tables.reading import TABLES, is_pattern, read_table

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
        As for :func:`mercer.io.open_table`, or for :func:`read_table`.
    encoder : TableEncoder, optional
        What is said about the columns; the data decide on the others.
    choice : mercer.io.Choice, optional
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
    look, choice = Look.at(path), choice or Choice()
    encoder = TableEncoder() if encoder is None else clone(encoder)
    if _is_mixed(look, encoder, choice):
        return _encode(look, encoder, choice, allow_nan)
    choice = _without_useless(look, choice)
    table = open_table(look, choice, array=array, allow_nan=allow_nan)
    return _scale(table, encoder) if _wants_scale(look, table, encoder) else (table, None)


def read_for(
    model: TableModel, path: Path | Look, choice: Choice | None = None, keep: Sequence[str] = ()
) -> Frame:
    """A file as columns for a model of tables; those to ``keep`` are read as they are."""
    known, choice = model.encoder_.columns_, choice or Choice()
    texts = [
        name
        for name, column in known.items()
        if isinstance(column, Category) and isinstance(column.values[0], str)
    ]
    texts += [name for name in (*keep, *choice.labels) if name not in known]
    return _read(Look.at(path), choice, texts, keep)


def read_mixed(path: Path | Look, choice: Choice) -> Frame | None:
    """The columns of a file that are not all numbers; None for one that is read in blocks."""
    look = Look.at(path)
    return _read(look, choice, ()) if _is_mixed(look, TableEncoder(), choice) else None


def vectors_for(
    model: TableModel,
    path: Path | Look,
    choice: Choice,
    keep: Sequence[str] = (),
    *,
    allow_nan: bool = False,
) -> Table:
    """A file as the vectors that the model inside sees; label and row names are extra columns."""
    frame = read_for(model, path, choice, keep)
    vectors = model.vectors(frame, missing=allow_nan)
    beside = _beside(model.encoder_, frame, choice)
    return Table(MemoryRows(vectors), {**beside, **kept_columns(frame, keep)})


def _is_mixed(look: Look, encoder: TableEncoder, choice: Choice) -> bool:
    """Whether a file has columns that are to be encoded one by one."""
    if is_pattern(look.path):
        return True
    if look.kind not in TABLES or not look.path.is_file():
        return False
    if encoder.kinds or look.kind not in (*TEXT, ".parquet"):
        return True
    try:
        if look.kind in TEXT and not _is_plain(look):
            return True
        others = [*look.non_numeric, *_codes(look)]
    except DataError:
        return False  # the reader of numbers says what is wrong, and where
    left = [name for name in others if name not in (*choice.drop, choice.label)]
    return any(not choice.columns or name in choice.columns for name in left)


def _is_plain(look: Look) -> bool:
    """Whether its first line is UTF-8 without a name over several lines; our other reader cares."""
    line = next((line.content[:LOOK] for line in look.beginning.lines), b"")
    if line[:2] in (b"\xff\xfe", b"\xfe\xff") or line.count(b'"') % 2:
        return False
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that the limit cut in two, or bytes that are no text at all.
        return error.start >= len(line) - 3 or b"\0" in line
    return True


def _codes(look: Look) -> list[str]:
    """Columns of digits that are not numbers, such as post codes, and of words for no value."""
    fields = {name: [text.strip() for text in texts] for name, texts in look.first_fields.items()}
    present = {n: [text for text in texts if not is_missing(text)] for n, texts in fields.items()}
    return [
        n for n, texts in fields.items() if any(texts) and (not present[n] or is_code(present[n]))
    ]


def _without_useless(look: Look, choice: Choice) -> Choice:
    """The same without columns of a text file that say nothing, and with a word about each."""
    asked = (*choice.columns, *choice.drop, choice.label)
    useless = {
        name: why
        for name, numbers in look.first_numbers.items()
        if name not in asked and numbers is not None and (why := _useless(name, numbers))
    }
    if len(useless) == len(look.first_numbers):
        return choice
    for name, why in useless.items():
        warn(f"{name or 'the column without a name'}: left out: {why}.")
    return replace(choice, drop=(*choice.drop, *useless))


def _useless(name: str, numbers: Array) -> str:
    """Why a column says nothing about its row: no values, or the number of the row."""
    if np.isnan(numbers).all():
        return "no values in the first rows"
    steps = np.diff(numbers)
    counts = is_id_name(name) and len(steps) > 1 and bool((steps == 1).all())
    return "numbers of the rows" if counts else ""


def _read(look: Look, choice: Choice, texts: Sequence[str], keep: Sequence[str] = ()) -> Frame:
    """The columns that are asked for, and the label."""
    extra = [*choice.labels, *keep]
    frame = read_table(look, texts=(*texts, *choice.drop))
    frame.check_names([*choice.columns, *choice.drop, *extra])
    wanted = [
        name
        for name in frame.columns
        if name not in choice.drop and (not choice.columns or name in (*choice.columns, *extra))
    ]
    if all(name in extra for name in wanted):
        raise DataError(f"no column of '{look.path.name}' is left; choose others.")
    exact = {name: column for name, column in frame.exact.items() if name in wanted}
    return replace(frame, columns={name: frame.columns[name] for name in wanted}, exact=exact)


def _encode(
    look: Look, encoder: TableEncoder, choice: Choice, allow_nan: bool
) -> tuple[Table, TableEncoder]:
    kinds = encoder.kinds or {}
    texts = [name for name, kind in kinds.items() if kind == "category"]
    frame = _read(look, choice, [*texts, *choice.labels])
    used = {name: values for name, values in frame.columns.items() if name != choice.label}
    encoder = encoder.fit(Frame(used, frame.container, frame.dtypes))
    vectors = vectors_of(frame, encoder, missing=allow_nan)
    return Table(MemoryRows(vectors), _beside(encoder, frame, choice)), encoder


def _wants_scale(look: Look, table: Table, encoder: TableEncoder) -> bool:
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
    if look.kind in TEXT:
        first = look.first_numbers
        columns = [np.empty(0) if (x := first.get(name)) is None else x for name in names]
    else:
        columns = list(table.rows[:1000].T)
    named = {n: x for n, x in zip(names, columns, strict=True) if np.isfinite(x).any()}
    return not have_one_unit(named)


def _scale(table: Table, encoder: TableEncoder) -> tuple[Table, TableEncoder]:
    """Rows of numbers in many units, scaled block by block as they are read."""
    names, n = table.rows.columns, len(table.rows)
    look = np.unique(np.linspace(0, n - 1, min(n, LOOK_ROWS)).astype(np.intp))
    if encoder.scale == "auto":
        encoder.set_params(scale="robust")
    encoder.fit(_named(table.rows[look], names))
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


def _beside(encoder: TableEncoder, frame: Frame, choice: Choice) -> dict[str, Array]:
    """The label first, then the names of the rows."""
    left_out = encoder.left_out_.items()
    index = [name for name, why in left_out if why == ROW_NAMES and name in frame.columns]
    return kept_columns(frame, [*choice.labels, *index])
