"""A table as vectors for a fit: the one door of commands, page and Python.

Numbers stay as they are where they have one unit, and are encoded where they have not. What is
missing is filled in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from mercer._base.numbers import check_choice, counted
from mercer._base.types import Array, Estimator, Names, PathLike
from mercer.estimators import MissingKernelPCA
from mercer.exceptions import DataError, argument
from mercer.io import Choice, Table, open_table
from mercer.io.delimited import CACHED
from mercer.io.files import check_columns, plain_name
from mercer.io.look import LOOK, TEXT, Look, is_missing
from mercer.model.model import remember
from mercer.points.source import MemoryRows, Source, check_no_empty_row
from mercer.points.sparse import SparseRows
from mercer.tables import missing as missing_values
from mercer.tables.columns import Category, Date
from mercer.tables.deciding import ROW_NAMES
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame, kept_columns
from mercer.tables.numerals import is_code
from mercer.tables.reading import TABLES, is_pattern, read_table

if TYPE_CHECKING:
    from mercer.tables.model import TableModel

#: Endings of files that hold numbers without names.
ARRAYS = (".npy", ".npz", ".mtx", ".zarr")
#: Numbers of a file up to which all of them decide on the columns: as many as are cached. Of more
#: the first rows say whether they are scaled, and so many rows how. A file is thus parsed once.
WHOLE, FIRST_ROWS, LOOK_ROWS = CACHED // 8, 1000, 200_000


@dataclass(frozen=True)
class Opened:
    """A table that was opened for the fit of a model."""

    table: Table  #: its ``rows`` go to ``fit``, its ``label`` as y
    encoder: TableEncoder | None  #: fitted; None where rows of numbers are taken as they are
    #: What has filled in missing values, and will fill in those of new rows
    filler: MissingKernelPCA | None = None
    note: str = ""  #: what was done about missing values; empty where there are none
    #: (n,), which rows of the table these are, where some were left out
    kept: Array | None = None
    #: What was done with the columns where there is no encoder that would say it
    on_columns: Sequence[str] = ()
    #: Fingerprint of the vectors before values were filled in; empty where none were missing
    incomplete: str = ""
    left_out: Sequence[str] = ()  #: columns that neither rows nor encoder have

    @property
    def rows(self) -> Any:
        """For the fit of any estimator: an array, or a source of rows that are elsewhere."""
        rows = self.table.rows
        return rows.X if isinstance(rows, MemoryRows) else rows

    def part(self, values: Any) -> Any:
        """Values that were given for each row, for the rows that are left."""
        return values if self.kept is None or values is None else np.asarray(values)[self.kept]

    def whole(self, model: Any) -> Any:
        """The model that was fitted to the rows; as a model of tables if they came from one."""
        from mercer.tables.model import TableModel

        model = self.signed(model)
        if self.encoder is None:
            return model
        return TableModel.from_fitted(model, self.encoder, self.filler)

    def signed(self, model: Any) -> Any:
        """The model, which knows the table, whose missing values will be filled in differently."""
        known = getattr(model, "_data_fingerprint", None) if self.incomplete else None
        if known is not None:
            remember(model, {**known, "sha256": self.incomplete})
        return model

    def describe(self, most: int) -> list[str]:
        """What is done with the columns and with missing values, one line each."""
        columns = self.on_columns if self.encoder is None else self.encoder.describe(most=most)
        return [*columns, *filter(None, [self.note])]


@dataclass(frozen=True)
class Opening:
    """How a table is opened for a fit: as by :func:`open_encoded`, what is missing filled in."""

    #: encoder, choice: as for :func:`open_encoded`
    encoder: TableEncoder | None = None
    choice: Choice | None = None
    missing: str = "auto"  #: one of four ways, see :class:`TableModel`
    model: Estimator = None  #: estimator that is going to be fitted
    #: Whether there has to be an encoder, which may leave all numbers as they are
    as_table: bool = False
    are_noisy: bool = False  #: Whether rows carry noise: dates, which do not, are left out

    def of_file(self, path: PathLike) -> Opened:
        """A file that :func:`open_encoded` reads."""
        look, choice = Look.at(path), self.choice or Choice()
        encoder = clone(self.encoder or TableEncoder())
        if _is_mixed(look, encoder, choice):
            kinds = (encoder.kinds or {}).items()
            frame = _read(look, choice, [name for name, kind in kinds if kind == "category"])
            return replace(self, choice=choice).of_frame(frame)
        takes_nan = missing_values.takes_missing(self.model)
        plain = not look.images and look.kind != ".mtx"
        table = open_table(look, choice, allow_nan=plain or takes_nan)
        if (names := _names(table)) is None:
            return Opened(table, None, on_columns=_not_scaled(encoder, table, self.as_table))
        by_model = self.missing in ("fill", "drop") or takes_nan
        unseen = table.rows.shape[0] * table.rows.shape[1] > WHOLE  # not all of them decide
        incomplete = _decide(encoder, table.rows, names)
        left_out = encoder.left_out_
        some = bool(incomplete - left_out.keys() or (unseen and by_model))
        passes = self.missing != "refuse" and some
        raw = not (self.as_table or passes) and encoder.is_identity_
        if not passes:  # others are refused, by their place in the file, as they are read
            table.rows.refuse_nan()
        if not passes and (left_out if raw else incomplete & left_out.keys()):
            columns = [name for name in choice.columns if name not in left_out]
            choice = replace(choice, columns=columns, drop=(*choice.drop, *left_out))
            table = open_table(look, choice)
            names = _names(table) or ()
        if raw:
            return Opened(table, None, on_columns=_on_columns(encoder, table), left_out=[*left_out])
        table = table.map(_Encode(encoder, names), len(encoder.groups_), None)
        return (
            self._completed(table, encoder, table.rows.place) if passes else Opened(table, encoder)
        )

    def of_frame(self, frame: Frame) -> Opened:
        """Columns in memory; of a file, where there is a choice, with some beside the vectors."""
        encoder, labels = clone(self.encoder or TableEncoder()), self.choice and self.choice.labels
        used = {name: x for name, x in frame.columns.items() if name not in (labels or ())}
        encoder.fit(replace(frame, columns=used))
        dates = {name: "index" for name, kind in encoder.columns_.items() if isinstance(kind, Date)}
        if self.are_noisy and dates:
            encoder.set_params(kinds={**(encoder.kinds or {}), **dates})
            encoder.fit(replace(frame, columns=used))
        beside = {} if self.choice is None else _beside(encoder, frame, self.choice)
        table = Table(MemoryRows(encoder.transform(frame)), beside)
        return self._completed(table, encoder, frame.place)

    def _completed(
        self, table: Table, encoder: TableEncoder, place: missing_values.Place
    ) -> Opened:
        """The rows as the model can learn from them."""
        way, rows = self.missing, table.rows[:]
        check_choice("missing", way, missing_values.WAYS)
        if not (missing := np.isnan(rows)).any():
            return Opened(replace(table, rows=MemoryRows(rows)), encoder)
        if way == "refuse":
            missing_values.refuse_missing(rows, encoder, place)
        wanting = np.asarray(missing.any(axis=1) if way == "drop" else missing.all(axis=1))
        kept = np.flatnonzero(~wanting)
        if len(kept) < 2:
            few = f"{len(kept)} of {len(rows)} rows are left without those with missing values"
            raise DataError(f"{few}; fill them in: " + argument("missing", "auto") + ".")
        if way == "fill" and wanting.any():
            count, first = counted(int(wanting.sum()), "row"), place(int(wanting.argmax()))
            empty = f"{count} without any value, the first in {first}; leave such rows out: "
            raise DataError(empty + argument("missing", "auto"))
        note, filler = missing_values.note_of(rows, encoder, way, wanting), None
        incomplete, rows = MemoryRows(rows).fingerprint(), rows[kept]
        if np.isnan(rows).any() and not missing_values.takes_missing(self.model):
            filler = missing_values.filler_of(rows)
            rows = missing_values.filled(rows, missing_values.draw_by(filler), encoder)
        beside = {name: column[kept] for name, column in table.beside.items()}
        table = replace(table, rows=MemoryRows(rows), beside=beside)
        which = kept if wanting.any() else None
        return Opened(table, encoder, filler, note, which, incomplete=incomplete)


def _decide(encoder: TableEncoder, rows: Source, names: Sequence[str]) -> set[str]:
    """Fit the encoder to rows of numbers; returns the columns in which values are missing."""
    n, d = rows.shape
    first = rows[:] if n * d <= WHOLE else rows[:FIRST_ROWS]
    encoder.fit(_named(first, names))
    if len(first) < n and encoder.scale_ != "none":
        index = np.unique(np.linspace(0, n - 1, min(n, LOOK_ROWS)).astype(np.intp))
        first, scale = rows[index], encoder.scale
        encoder.set_params(scale=encoder.scale_).fit(_named(first, names)).set_params(scale=scale)
    return {name for name, some in zip(names, np.isnan(first).any(axis=0), strict=True) if some}


def _names(table: Table) -> Sequence[str] | None:
    """Names of the columns that can be scaled, or their numbers if a file has no names."""
    rows = table.rows
    base = getattr(rows, "base", rows)
    is_sparse = isinstance(base, MemoryRows) and isinstance(base.X, SparseRows)
    if rows.columns is not None or table.files is not None or is_sparse:
        return None if table.files is not None else rows.columns
    index: Sequence[int] = getattr(rows, "index", range(rows.shape[1]))
    return [str(j) for j in index]


def _on_columns(encoder: TableEncoder, table: Table) -> list[str]:
    """Remarks on numbers that stay as they are."""
    left_out = [f"{name or 'column 1'}: left out: {why}" for name, why in encoder.left_out_.items()]
    raw = f"{counted(table.rows.shape[1], 'column')} of numbers, not scaled"
    why = ": they seem to have one unit" if encoder.scale == "auto" else ""
    return [*left_out, raw + why]


def _not_scaled(encoder: TableEncoder, table: Table, as_table: bool) -> list[str]:
    """Remarks on pixels and sparse rows, which stay as they are."""
    pixels = table.files is not None
    what = "pixels have one unit" if pixels else "sparse rows would have few zeros left"
    if encoder.scale in ("std", "robust"):
        raise DataError(argument("scale", encoder.scale) + f": {what}; scale them before.")
    if as_table:
        kind = "images" if pixels else "sparse rows"
        raise DataError(f"{kind} are not a table of columns; give them to the model itself.")
    return [f"{counted(table.rows.shape[1], 'column')} of numbers, not scaled: {what}"]


def open_encoded(
    path: PathLike,
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
    how = ("auto", MissingKernelPCA()) if allow_nan else ("refuse", None)
    opened = Opening(encoder, choice, *how).of_file(Look.at(path, array))
    return opened.table, opened.encoder


def read_for(model: "TableModel", look: Look, choice: Choice) -> Frame:
    """A file as columns for a model of tables; those to keep are read as they are."""
    known = model.encoder_.columns_
    if look.kind not in ARRAYS:
        texts = [
            name
            for name, column in known.items()
            if isinstance(column, Category) and isinstance(column.values[0], str)
        ]
        return _read(look, choice, texts, list(known))
    # The columns of an array, named by their numbers, and the label.
    table = open_table(look, choice, allow_nan=True)
    if (names := _names(table)) is None:
        raise DataError(f"'{look.path.name}' contains sparse rows, which are not a table.")
    frame = _named(table.rows[:], names)
    return replace(frame, columns={**frame.columns, **table.beside})


def read_mixed(look: Look, choice: Choice) -> Frame | None:
    """The columns of a file that are not all numbers; None for one that is read in blocks."""
    mixed = _is_mixed(look, TableEncoder(), choice)
    return _read(look, choice, known=choice.labels) if mixed else None


def vectors_for(model: "TableModel", look: Look, choice: Choice) -> Table:
    """A file as vectors, NaN where a value is missing; label and row names are extra columns."""
    frame = read_for(model, look, choice)
    vectors = model.vectors(frame, missing=True)
    check_no_empty_row(vectors, frame.place)
    beside = _beside(model.encoder_, frame, choice)
    return Table(MemoryRows(vectors), {**beside, **kept_columns(frame, choice.keep)})


def _is_mixed(look: Look, encoder: TableEncoder, choice: Choice) -> bool:
    """Whether a file has columns that are to be encoded one by one."""
    if is_pattern(look.path):
        return True
    if plain_name(look.path).suffix.lower() not in TABLES or not look.path.is_file():
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
    """Whether the first line is UTF-8, and no name runs over lines; else another reader is used."""
    line = look.beginning.bytes[:LOOK].partition(b"\n")[0]
    if line[:2] in (b"\xff\xfe", b"\xfe\xff") or line.count(b'"') % 2:
        return False
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that the limit cut in two, or bytes that are no text at all.
        return error.start >= len(line) - 3 or b"\0" in line
    return True


def _codes(look: Look) -> list[str]:
    """Columns of digits that are not numbers (post codes), or of words for missing values."""
    fields = {name: [text.strip() for text in texts] for name, texts in look.first_fields.items()}
    present = {n: [text for text in texts if not is_missing(text)] for n, texts in fields.items()}
    return [
        n for n, texts in fields.items() if any(texts) and (not present[n] or is_code(present[n]))
    ]


def _read(look: Look, choice: Choice, texts: Names = (), known: Names = ()) -> Frame:
    """The columns that are asked for, the label and what is kept: texts, unless they are known."""
    extra = [*choice.labels, *choice.keep]
    unknown = [name for name in extra if name not in known]
    frame = read_table(look, texts=(*texts, *unknown, *choice.drop))
    check_columns([*choice.columns, *choice.drop, *extra], [*frame.columns])
    names = [
        name
        for name in frame.columns
        if name not in choice.drop and (not choice.columns or name in (*choice.columns, *extra))
    ]
    if all(name in extra for name in names):
        raise DataError(f"no column of '{look.path.name}' is left; choose others.")
    return replace(frame, columns={name: frame.columns[name] for name in names})


@dataclass(frozen=True)
class _Encode:
    """An encoder on blocks of rows, with a repr that is the same in every process."""

    encoder: TableEncoder
    names: Sequence[str]

    def __call__(self, block: MemoryRows) -> Array:
        return self.encoder.transform(_named(block.X, self.names))

    def __repr__(self) -> str:
        return "; ".join(self.encoder.describe())


def _named(X: Array, names: Sequence[str]) -> Frame:
    return Frame({name: X[:, j].astype(np.float64) for j, name in enumerate(names)})


def _beside(encoder: TableEncoder, frame: Frame, choice: Choice) -> dict[str, Array]:
    """The label first, then the names of the rows."""
    left_out = encoder.left_out_.items()
    index = [name for name, why in left_out if why == ROW_NAMES and name in frame.columns]
    return kept_columns(frame, [*choice.labels, *index])
