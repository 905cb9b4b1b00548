"""What users have as a row source, and a file as a table: numbers, and the column of classes."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.machine import available_bytes, blocks
from mercer._base.progress import announce
from mercer._base.types import Array, Names, PathLike, RowsLike
from mercer.exceptions import ColumnsError, DataError, argument
from mercer.io import arrays, files
from mercer.io.delimited import CsvRows
from mercer.io.images import ImageRows
from mercer.io.look import TEXT, Look
from mercer.points import as_points, source
from mercer.points.source import CHUNK, MemoryRows, Source
from mercer.points.sparse import SparseRows


def open_rows(
    path: PathLike,
    *,
    columns: Names | None = None,
    array: str | None = None,
    allow_nan: bool = False,
) -> Source:
    """Rows of a file, to be read in blocks.

    Parameters
    ----------
    path : path
        ``.npy``; ``.npz`` (loaded); ``.parquet`` or a folder of such files; ``.csv``, ``.tsv``,
        ``.txt``, also in ``.gz``, ``.xz`` or ``.zst`` (needs pyarrow); ``.zarr``; a folder of
        PNG images; sparse rows (loaded) as ``.npz`` of ``scipy.sparse.save_npz`` or Matrix
        Market ``.mtx``. The ending decides.
    columns : names, optional
        For Parquet and CSV: the columns to use.
    array : str, optional
        For npz and Zarr: which array.
    allow_nan : bool, default=False
        Let missing values through as NaN (in CSV: empty fields, ``NA`` and the like), for
        ``impute`` and :class:`~mercer.MissingKernelPCA`. Otherwise they are refused with their
        place.

    Returns
    -------
    Rows
        Give it to ``fit`` and ``transform`` in place of an array.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from mercer import KernelPCA
    >>> from mercer.io import open_rows
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.random.default_rng(0).standard_normal((500, 3)))
    >>> rows = open_rows(path)
    >>> rows.shape
    (500, 3)
    >>> KernelPCA(4).fit(rows).transform(rows).shape
    (500, 4)
    """
    opened = _open(_look_at(path, array), columns, allow_nan)
    opened.allow_nan = allow_nan
    return opened


def _look_at(path: PathLike, array: str | None) -> Look:
    """A look at what is there; the name of an array means something in archives and stores only."""
    look = Look.at(path, array)
    files.check_there(look.path)
    if look.array is not None and look.kind not in (".npz", ".zarr"):
        single = f"'{look.path}' holds one table, so that "
        raise DataError(single + argument("array", look.array) + " means nothing.")
    return look


def _open(look: Look, columns: Names | None, allow_nan: bool) -> Source:
    path, kind = look.path, look.kind
    if kind == ".npy":
        return arrays.NpyRows(path)
    if kind == ".npz":
        by_scipy = look.array is None and {"format", "shape", "data"} <= {*arrays.members(path)}
        X = arrays.load_sparse_npz(path) if by_scipy else arrays.load_npz(path, look.array)
        return _loaded(X, f"'{path}'", allow_nan)
    if kind == ".mtx":
        return _loaded(arrays.load_mtx(path), f"'{path}'", allow_nan)
    if kind == ".zarr":
        return arrays.ZarrRows(path, look.array)
    if look.images:
        return ImageRows(look.images)
    if kind == ".parquet" or path.is_dir():
        return arrays.ParquetRows(path, columns)
    if files.plain_name(path).suffix.lower() in TEXT:
        return CsvRows(look, columns)
    if kind in files.COMPRESSED:
        packed = f"'{path.name}' is compressed, and of such files only text is read in blocks"
        raise DataError(f"{packed}; unpack it, or load it with mercer.tables.read_table.")
    others = (".xlsx", ".jsonl", ".parquet", ".npy", ".npz", ".mtx", ".zarr")
    raise DataError(files.unknown_ending(path, (*TEXT, *others)) + ".")


def _loaded(X: SparseRows | Array, what: str, allow_nan: bool) -> Source:
    if isinstance(X, SparseRows):
        return MemoryRows(X)
    dtype = source.floating_type(X.dtype, what)
    arrays.table_shape(X.shape, what)
    source.warn_of_long(X, None)
    rows = MemoryRows(np.ascontiguousarray(X, dtype=dtype))
    source.check_finite(rows.X, 0, None, rows.place, allow_nan)
    return rows


def as_rows(X: RowsLike) -> Source:
    """A row source for anything that is one, and for arrays and lists in memory."""
    if isinstance(X, str | os.PathLike):
        return open_rows(X)
    if _is_dask(X):
        from mercer.io.cluster import DaskRows  # only where dask is used

        return DaskRows(X)
    return X if isinstance(X, Source) else MemoryRows(X)


def is_source(X: RowsLike) -> bool:
    """Whether :func:`as_rows` makes a source of it that streams, unlike an array."""
    return isinstance(X, Source | str | os.PathLike) or _is_dask(X)


def _is_dask(X: RowsLike) -> bool:
    """Whether it is a collection of dask, which need not be installed."""
    return hasattr(type(X), "__dask_graph__")


@dataclass(frozen=True)
class Table:
    """Rows of numbers, and what belongs to them."""

    rows: Source  #: the numbers; the names of their columns are in ``rows.columns``
    #: Whole columns of other kinds (a label, a flag), by name
    beside: Mapping[str, Array] = field(default_factory=dict)
    files: Names | None = None  #: names of the image files that the rows come from
    unused: Sequence[str] = ()  #: columns that the file has and a model does not know

    @property
    def label(self) -> Array | None:
        """The class of each row, if a column of labels was asked for."""
        return next(iter(self.beside.values()), None)

    def loaded(self) -> "Table":
        """The same with all rows in memory."""
        return replace(self, rows=MemoryRows(self.rows[:], self.rows.columns))

    def map(
        self, function: Callable[[MemoryRows], Any], width: int, columns: Names | None
    ) -> "Table":
        """The table of ``function(block)``, computed block by block when it is written.

        Parameters
        ----------
        function : from a block of rows with names, in memory, to as many rows of numbers
        width : number of its columns
        columns : their names, if they have any
        """
        names = [f"x{j}" for j in range(width)] if columns is None else columns
        own = None if columns is None else tuple(columns)
        rows = _Mapped(self.rows, function, (len(self.rows), width), own)
        return replace(self, rows=rows, beside=self.beside_of(names))

    def beside_of(self, names: Sequence[str]) -> dict[str, Array]:
        """The columns beside the numbers; ``data_`` goes before a name that results have taken."""
        columns: dict[str, Array] = {}
        for name, column in self.beside.items():
            own = name
            while own in names or own in columns:
                own = f"data_{own}"
            columns[own] = column
        return columns

    def blocks(self) -> Iterator[MemoryRows]:
        """The rows in consecutive parts, in memory, with their names."""
        for rows, part in self.rows.stream(blocks(len(self.rows), CHUNK)):
            announce("rows", rows.start, len(self.rows))
            yield MemoryRows(part, self.rows.columns)

    def parts(self) -> Iterator[tuple[Array, list[Array]]]:
        """Each block with its part of the columns beside it."""
        for rows, block in zip(blocks(len(self.rows), CHUNK), self.blocks(), strict=True):
            yield block.X, [column[rows] for column in self.beside.values()]

    @property
    def names(self) -> list[str]:
        """All names; made up where there are none."""
        own = self.rows.columns or [f"x{j}" for j in range(self.rows.shape[1])]
        return [*own, *self.beside]


@dataclass(eq=False)
class _Mapped(Source):
    """What a function makes of the blocks of other rows."""

    base: Source
    function: Callable[[MemoryRows], Any]
    shape: tuple[int, int]
    columns: tuple[str, ...] | None

    def __post_init__(self) -> None:
        self.dtype = self.base.dtype

    def read(self, start: int, stop: int) -> Iterator[Array]:
        return (block for _, block in self.stream([slice(start, stop)]))

    def stream(self, chunks: Sequence[slice]) -> Iterator[tuple[slice, Array]]:
        """Blocks in the type that the function gives; it has seen to their values."""
        for rows, block in self.base.stream(chunks):
            if self.base.allow_nan:
                source.check_no_empty_row(block, self.place, rows.start)
            yield rows, _written_out(self.function(MemoryRows(block, self.base.columns)))

    def place(self, row: int) -> str:
        return self.base.place(row)

    def fingerprint(self) -> str:
        return f"{self.base.fingerprint()}{self.function!r}"


def _written_out(block: Any) -> Array:
    """Sparse rows as a table has them, zeros and all, unless that would take the memory."""
    if not hasattr(block, "toarray"):
        return np.asarray(block)
    n, d = block.shape
    if (size := n * d * 8) > available_bytes() // 4:
        large = f"{n} sparse rows of {d} columns take {size >> 20} MB as a table"
        raise DataError(f"{large}; give fewer at a time, or keep them sparse: model.denoise(X).")
    return np.asarray(block.toarray())


@dataclass(eq=False)
class _Picked(Source):
    """Some columns of a table without names."""

    base: Source
    index: list[int]
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        self.dtype, self.allow_nan = self.base.dtype, self.base.allow_nan
        self.watch = self.base.watch

    def read(self, start: int, stop: int) -> Iterator[Array]:
        return (piece[:, self.index] for piece in self.base.read(start, stop))

    def refuse_nan(self) -> None:
        super().refuse_nan()
        self.base.refuse_nan()

    def place(self, row: int) -> str:
        return self.base.place(row)

    def fingerprint(self) -> str:
        return f"{self.base.fingerprint()}{self.index}"


@dataclass(frozen=True)
class Choice:
    """Which columns of a file to read."""

    #: These only (texts such as ``"3"`` and ``"5-8"``, numbers from 0, where there are no names)
    columns: Sequence[str] = ()
    drop: Sequence[str] = ()  #: all but these
    #: The column, or the array of an .npz archive, that names each row's class
    label: str | None = None
    #: The columns that a model knows: they are taken by name, in this order
    like: Names | None = None
    keep: Sequence[str] = ()  #: columns of a table that go beside the results as they are

    def of(self, look: Look) -> list[str]:
        """The columns of the file that are wanted, all of which must hold numbers."""
        path, names = look.path, look.names
        files.check_columns([*self.columns, *self.drop, *self.labels], names, f"'{path.name}' has")
        known = self._left(names) if self.like is None else self.like
        columns = list(self.columns if len(self.columns) else known)
        if missing := [name for name in columns if name not in names]:
            what, others = f"'{path.name}'", self.unused(names)
            raise ColumnsError(files.lacks_text(what, missing, len(columns), others))
        if text := [name for name in columns if name in look.non_numeric]:
            what = f"'{path.name}' has columns that hold no numbers: {files.names_text(text)}; "
            raise ColumnsError(what + files.other_use("them", text) + ".")
        if not columns:
            raise DataError(f"no column of '{path.name}' is left; choose others.")
        return columns

    @property
    def labels(self) -> list[str]:
        """The column of labels, if there is one."""
        return [] if self.label is None else [self.label]

    def unused(self, names: Sequence[str]) -> list[str]:
        """Columns that are left out because the model does not know them."""
        if len(self.columns) or self.like is None:
            return []
        return [name for name in self._left(names) if name not in self.like]

    def _left(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in self.drop and name != self.label]


def open_table(
    path: PathLike,
    choice: Choice | None = None,
    *,
    array: str | None = None,
    allow_nan: bool = False,
) -> Table:
    r"""A file, or a folder of PNG images, as rows of numbers with their names and labels.

    Parameters
    ----------
    path : path
        As for :func:`mercer.io.open_rows`, or a folder of PNG images: an image is a row.
    choice : Choice, optional
        Which columns to use; all if not given.
    array : str, optional
        For npz and Zarr: which array; ``X`` if an archive has one of that name.
    allow_nan : bool, default=False
        Let missing values through as NaN.

    Returns
    -------
    Table
        Its ``rows`` go to ``fit`` and ``transform``, its ``label`` to ``fit`` as y.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer.io import Choice, open_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("a,b,kind\n1,2,red\n3,4,blue\n")
    >>> table = open_table(path, Choice(label="kind"))
    >>> table.rows.columns, table.rows.shape, table.label.tolist()
    (('a', 'b'), (2, 2), ['red', 'blue'])
    """
    look, choice = _look_at(path, array), choice or Choice()
    path = look.path
    if look.array is None and look.kind == ".npz" and "X" in arrays.members(path):
        look = Look(path, array="X")
    columns = choice.of(look) if look.has_names else None
    rows = open_rows(look, columns=columns, allow_nan=allow_nan)
    if isinstance(rows, ImageRows):
        if choice.columns or choice.drop or choice.label:
            raise DataError("a folder of images has no columns to choose from; give none.")
        return Table(rows, files=[image.name for image in rows.paths])
    if columns is None or not isinstance(rows, CsvRows | arrays.ParquetRows):
        return _choose_by_number(path, rows, choice)
    beside = {name: _as_classes(rows.labels(name)) for name in choice.labels}
    return Table(rows, beside, unused=choice.unused(look.names))


def _choose_by_number(path: Path, rows: Source, choice: Choice) -> Table:
    """A table without names: columns are numbered from 0; an archive may hold the labels."""
    (n, d), drop = rows.shape, set(_positions(choice.drop, rows.shape[1], path))
    beside = {}
    if choice.label is not None and path.suffix.lower() == ".npz":
        beside = {choice.label: arrays.load_npz(path, choice.label).ravel()}
        if (labels := beside[choice.label].size) != n:
            raise DataError(f"'{path.name}' has {n} rows but {labels} labels; fix it.")
    elif choice.label is not None:
        at = _positions([choice.label], d, path)
        beside = {choice.label: _pick(rows, at).loaded().to_dense()[:, 0]}
        drop |= set(at)
    if len(choice.columns) or drop:
        left = _positions(choice.columns, d, path) if len(choice.columns) else range(d)
        left = [i for i in left if i not in drop]
        if not left:
            raise DataError(f"no column of '{path.name}' is left; choose others.")
        rows = _pick(rows, left)
    return Table(rows, beside)


def _pick(rows: Source, index: list[int]) -> Source:
    """Some columns of a table, by their numbers; sparse rows stay sparse."""
    if not (isinstance(rows, MemoryRows) and isinstance(rows.X, SparseRows)):
        return _Picked(rows, index, (len(rows), len(index)))
    return MemoryRows(SparseRows.of(as_points(rows.X).for_user()[:, index]))


def _positions(names: Sequence[str], d: int, path: Path) -> list[int]:
    """Column numbers from texts such as ``3`` and ``5-8``."""
    positions: list[int] = []
    for name in names:
        first, _, last = name.partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < d):
            what = f"{name!r} means nothing in '{path.name}', whose columns have no names"
            raise DataError(f"{what}; give numbers from 0 to {d - 1}, such as 0,2-4.")
        positions += range(int(first), int(last) + 1)
    return positions


def _as_classes(values: Sequence[Any]) -> Array:
    """Whole numbers where all are, else text; 007 and 7 are two classes, and stay so."""
    text = [str(value).strip() for value in values]
    try:
        numbers = [int(value) for value in text]
    except ValueError:
        return np.array(text)
    return np.array(numbers if len({*numbers}) == len({*text}) else text)
