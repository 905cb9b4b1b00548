"""Tables of any library as columns of three plain kinds, and back.

Below this file a column is an array of one of three kinds: float64 with NaN, ``datetime64`` with
NaT, or objects (texts, booleans) with None where a value is missing.
"""

import datetime
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from scipy.sparse import issparse

from mercer._base.types import Array
from mercer.estimators._validation import refuse_masked
from mercer.exceptions import DataError
from mercer.io import Table
from mercer.io.files import check_columns
from mercer.points.source import MemoryRows

_POLARS_TIME = re.compile(r"Datetime\(time_unit='(..)', time_zone=(?:None|'(.+)')\)")


@dataclass(frozen=True)
class Frame:
    """Columns by name, and what is needed to give a table of the same kind back."""

    columns: Mapping[str, Array]  #: name → array of a plain kind
    container: str = "columns"  #: or "pandas", "polars", "pyarrow", "array"
    #: Name → type in the table it came from; "" where that says nothing. Of a file "int" for whole
    #: numbers, "short" where some are written without decimals, and ``"{} kg"`` with a unit
    dtypes: Mapping[str, Any] = field(default_factory=dict)
    index: Any = None  #: of a pandas frame
    #: Name → whole numbers that float64 cannot hold (long ids), as they were given; a column that
    #: nobody has touched goes back as this
    exact: Mapping[str, Any] = field(default_factory=dict)
    #: The line of the file in which each row stands; empty for tables from elsewhere
    lines: Sequence[int] = ()

    def place(self, row: int) -> str:
        """How a row is called in a message: by its line of the file, else by its index."""
        return f"line {self.lines[row]}" if len(self.lines) else f"row {row}"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def make(self, columns: Mapping[str, Array]) -> Any:
        """The same kind of table with other columns; the index stays if the rows do."""
        unchanged = {n for n, c in columns.items() if c is self.columns.get(n)}
        kept = {n: c for n, c in self.exact.items() if n in unchanged}
        if self.container == "columns":
            forms = {name: str(self.dtypes.get(name, "")) for name in columns}
            return {n: _as_written(c, forms[n]) for n, c in columns.items()} | kept
        if self.container == "array":
            arrays = list(columns.values())
            same = all(array.dtype.kind == "f" for array in arrays)
            return np.column_stack([a if same else a.astype(object) for a in arrays])
        module = import_module(self.container)
        made = {
            name: _REBUILD[self.container](module, values, self.dtypes.get(name, ""))
            for name, values in columns.items()
        } | kept
        frame = module.table(made) if self.container == "pyarrow" else module.DataFrame(made)
        if self.index is not None and len(self.index) == len(frame):
            frame.index = self.index
        return frame


def take_apart(X: Any) -> Frame:
    """The columns of a data frame (pandas, polars, pyarrow), of a mapping, or of an array."""
    if isinstance(X, Frame):
        return X
    refuse_masked([*X.values()] if isinstance(X, Mapping) else X)
    if issparse(X):
        raise DataError("Sparse data was passed, and a table is dense; give X.toarray().")
    if isinstance(X, list) and X and all(isinstance(row, Mapping) for row in X):
        names = dict.fromkeys(name for row in X for name in row)
        X = {name: [row.get(name) for row in X] for name in names}
    if isinstance(X, Mapping):
        if all(isinstance(value, str) or not isinstance(value, Sized) for value in X.values()):
            X = as_one_row(X)
        columns = {str(name): plain_column(values, str(name)) for name, values in X.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns differ in length: {lengths}; give one value for each row.")
        exact = {str(n): objects(X[n]) for n in X if _is_rounded(X[n], columns[str(n)])}
        return Frame(columns, exact=exact)
    try:
        table: Any = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError as error:
        counts = " ".join(str(error).partition("got:")[2].split())
        raise DataError(f"columns of the same name: {counts}; rename them.") from error
    container = table.implementation.value if isinstance(table, nw.DataFrame) else ""
    if container not in _REBUILD:
        return _from_array(X)
    columns, dtypes, exact = {}, {}, {}
    for name, series in zip(map(str, table.columns), table.iter_columns(), strict=True):
        native = series.to_native()
        columns[name] = plain_column(native, name)
        dtypes[name] = native.type if container == "pyarrow" else native.dtype
        if _is_rounded(native, columns[name]):
            exact[name] = native.array if container == "pandas" else native
    return Frame(columns, container, dtypes, nw.maybe_get_index(table), exact)


def as_one_row(x: Any) -> Any:
    """A table of one row, also of a row of a frame, of values by name, or of an array."""
    if isinstance(x, Mapping) or (np.ndim(x) == 1 and hasattr(x, "to_dict")):
        return {name: [value] if np.ndim(value) == 0 else value for name, value in dict(x).items()}
    return [x] if np.ndim(x) == 1 and not hasattr(x, "columns") else x


def _is_rounded(column: Any, values: Array) -> bool:
    """Whether whole numbers may have lost digits on their way into float64."""
    if values.dtype.kind != "f" or not (np.abs(values) > 2**53).any():
        return False
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return not series.dtype.is_float()
    return getattr(getattr(column, "dtype", None), "kind", "O") != "f"


def plain_column(column: Any, name: str) -> Array:
    """One column as an array of a plain kind; times in UTC."""
    series: Any = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        # Python's datetimes have no nanoseconds.
        plain = series.dtype.is_numeric() or isinstance(series.dtype, nw.Datetime)
        column = series.to_numpy() if plain else series.to_list()
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind in "iuf":
        return np.asarray(column, dtype=np.float64)
    if kind == "M":
        return np.asarray(column)
    return _of_values([None if is_absent(value) else value for value in column], name)


def as_list(column: Any) -> list[Any]:
    """The values of a column of any library as Python's own."""
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def is_absent(value: Any) -> bool:
    """Whether a value says that there is none: None, NaN, NaT, pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def absent(values: Array) -> Array:
    """Where a column of a plain kind has no value, (n,) bool."""
    if values.dtype.kind == "O":
        return np.array([value is None for value in values.tolist()], dtype=bool)
    return np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)


def kind_of(values: Array) -> str:
    """What a column of a plain kind holds, in one word."""
    return {"f": "numbers", "M": "dates"}.get(values.dtype.kind, "texts")


def objects(values: Iterable[Any]) -> Array:
    """Values of any kind as a one-dimensional array of objects."""
    listed = list(values)
    column = np.empty(len(listed), dtype=object)
    column[:] = listed
    return column


def _of_values(values: list[Any], name: str) -> Array:
    """Python values of one kind, None where one is missing."""
    seen = [value for value in values if value is not None]
    if all(isinstance(value, bool | np.bool_) for value in seen):
        return objects(None if value is None else bool(value) for value in values)
    if all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in seen):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if all(isinstance(value, datetime.date | np.datetime64) for value in seen):
        return _dates(values)
    if all(isinstance(value, str) for value in seen):
        return objects(None if value is None else str(value) for value in values)
    kinds = sorted({type(value).__name__ for value in seen})
    held = f"values of several kinds ({', '.join(kinds[:5])})" if len(kinds) > 1 else kinds[0]
    ways = {"Timedelta": ".dt.total_seconds()", "Period": ".dt.to_timestamp()"}
    how = f", by table[{name!r}]{ways[kinds[0]]}" if kinds[0] in ways else ""
    what = f"column {name!r} holds {held}; make them all numbers, all texts or all dates{how}"
    raise DataError(f"{what}, or leave the column out.")


def _dates(values: list[Any]) -> Array:
    """Dates in microseconds; aware ones in UTC."""
    dates = []
    for value in values:
        if getattr(value, "tzinfo", None) is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        dates.append("NaT" if value is None else np.datetime64(value, "us"))
    return np.array(dates, "M8[us]")


def _from_array(X: Any) -> Frame:
    if isinstance(X, str | os.PathLike):
        raise DataError(f"'{X}' is a file name; give read_table({str(X)!r}) of mercer.tables.")
    values = np.asarray(X)
    if values.ndim == 2 and values.shape[1] == 0:
        none = f"0 feature(s) (shape={values.shape})"
        raise DataError(f"{none} while a minimum of 1 is required; give columns.")
    if values.ndim != 2:
        remedy = "Give a data frame. Reshape your data: X.reshape(-1, 1) if it has one feature."
        if hasattr(X, "to_frame"):
            remedy = "Of a data frame, one row is table.iloc[[0]], and one column table[['name']]."
        raise DataError(f"Expected 2D array, got shape {values.shape} instead. {remedy}")
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported; give real and imaginary parts as columns.")
    names = [f"x{j}" for j in range(values.shape[1])]
    return Frame({name: plain_column(values[:, j], name) for j, name in enumerate(names)}, "array")


def unit_of(form: Any) -> str:
    """``kg`` of ``{} kg``; nothing for types that are not a form of a number with a unit."""
    return form.replace("{}", "").strip() if isinstance(form, str) and "{}" in form else ""


def _as_written(values: Array, form: str) -> Array:
    """Numbers as a file had them: whole, or with a unit."""

    def written(value: Any) -> Any:
        if form == "short":
            return int(value) if value.is_integer() else value
        if value is None or value != value:
            return None
        if form == "int":  # texts are long numbers as they were written
            return value if isinstance(value, str) else int(value)
        return form.replace("{}", repr(value).removesuffix(".0"))

    numbers = values.dtype.kind == "f" and (form == "short" or "{}" in form)
    return objects(map(written, values.tolist())) if numbers or form == "int" else values


def _pandas(pd: Any, values: Array, dtype: Any) -> Any:
    """A series of the original type, or of the nearest type that can hold the values."""
    series = pd.Series(values)
    if getattr(dtype, "tz", None) is not None:
        series = series.dt.tz_localize("UTC")
    kind = getattr(dtype, "kind", "")
    if kind == "b" and values.dtype.kind == "O":  # texts of a file are all true
        series = series.map(lambda value: str(value).casefold() == "true")
    if kind in "iu" and series.isna().any() and str(dtype)[:1].islower():
        return series
    return _try(series.astype, dtype, series)


def _arrow(module: Any, values: Array, dtype: Any) -> Any:
    """A column of polars or pyarrow, which have missing values of any type."""
    if isinstance(dtype, str) and (saved := _POLARS_TIME.fullmatch(dtype)):
        dtype = module.Datetime(saved[1], saved[2])
    cells: Any = values
    if values.dtype.kind != "M":
        cells = [None if is_absent(value) else value for value in values.tolist()]
    elif np.datetime_data(values.dtype)[0] in ("h", "m", "s"):
        cells = values.astype("M8[ms]")  # their coarsest unit
    polars = module.__name__ == "polars"
    column = module.Series(cells, strict=False) if polars else module.array(cells)
    return _try(column.cast, dtype, column)


def _try(cast: Any, dtype: Any, otherwise: Any) -> Any:
    """The column as that type; types (of a model file) that a library no longer has are ignored."""
    try:
        return otherwise if isinstance(dtype, str) and not dtype else cast(dtype)
    except (TypeError, ValueError, AttributeError):
        return otherwise


_REBUILD: Mapping[str, Any] = {"pandas": _pandas, "polars": _arrow, "pyarrow": _arrow}


def columns_table(columns: Mapping[str, Array], kind: str = "") -> Table:
    """Columns of any kind as a table to be written; what is missing is empty.

    ``kind`` is the ending of the file: arrays hold numbers only.
    """
    n = len(next(iter(columns.values())))
    if kind in (".npy", ".zarr") and all(values.dtype.kind in "fiu" for values in columns.values()):
        numbers = np.column_stack([values.astype(np.float64) for values in columns.values()])
        return Table(MemoryRows(numbers, tuple(columns)))
    return Table(MemoryRows(np.empty((n, 0)), ()), {k: _written(v) for k, v in columns.items()})


def kept_columns(frame: Frame, names: Sequence[str]) -> dict[str, Array]:
    """Columns of a table, unchanged, to stand beside results: whole numbers, or else text."""
    check_columns(names, [*frame.columns])
    columns = frame.make(frame.columns) if names else {}
    return {name: _classes(columns[name].tolist()) for name in names}


def _classes(values: list[Any]) -> Array:
    if all(isinstance(value, int) for value in values):
        return np.array(values)
    return np.array(["" if value is None else str(value) for value in values])


def _written(values: Array) -> Array:
    if values.dtype.kind == "M":
        return objects(None if text == "NaT" else text for text in values.astype(str))
    if values.dtype.kind == "f" and not np.isnan(values).any():
        return values
    return objects(None if value != value else value for value in values.tolist())


def missing_in(rows: Any) -> Counter[str]:
    """How many values are missing: in each column of a table, or in all rows of numbers."""
    rows = getattr(rows, "X", rows)
    if isinstance(rows, np.ndarray):
        return Counter({"": int(np.isnan(rows).sum())})
    return Counter({k: int(absent(v).sum()) for k, v in take_apart(rows).columns.items()})
