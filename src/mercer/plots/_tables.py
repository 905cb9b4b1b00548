"""Displays of models of tables: they draw the model inside, by the names of the table."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from mercer._base.types import Array, Estimator
from mercer.model.model import OnTables
from mercer.relevance import Relevance
from mercer.tables.columns import Date, Number

#: Values beside an axis.
MOST_TICKS = 8


def of_tables(draw: Callable[..., Any]) -> Callable[..., Any]:
    """``from_estimator`` that also takes a model of tables, and draws the model inside it."""

    @functools.wraps(draw)
    def from_estimator(cls: type, estimator: Estimator, *args: Any, **options: Any) -> Any:
        # A picture of one row asks for its contributions, which are those of columns.
        if not isinstance(estimator, OnTables) or "row" in inspect.signature(draw).parameters:
            return draw(cls, estimator, *args, **options)
        call = inspect.signature(draw).bind(cls, model_inside(estimator), *args, **options)
        for name in {"X", "X_new", "X_noisy"} & set(call.arguments):
            if (rows := call.arguments[name]) is not None:
                call.arguments[name] = estimator.vectors(rows)
        with nameless_rows():
            return draw(*call.args, **call.kwargs)

    return from_estimator


def model_inside(table: OnTables) -> Any:
    """The model of vectors, with the names of their entries: ``city=Oslo``."""
    model = copy(table.model_)
    model.feature_names_in_ = table.encoder_.get_feature_names_out()
    model.table_columns_ = [
        (name, column)
        for name, column in table.encoder_.columns_.items()
        for _ in range(column.width)
    ]
    return model


def by_column(estimator: Estimator, relevance: Relevance) -> Relevance:
    """Relevance of the columns of a table: that of all entries of a category added up."""
    columns = vars(estimator).get("table_columns_")
    return relevance if columns is None else relevance.grouped([name for name, _ in columns])


def units_of(estimator: Estimator, entries: Iterable[int]) -> tuple[Number | Date | None, ...]:
    """The columns of a table behind entries of its vectors, where one number stands for a value."""
    columns = vars(estimator).get("table_columns_")
    kinds = [None if columns is None else columns[j][1] for j in entries]
    return tuple(c if isinstance(c, Number | Date) and c.width == 1 else None for c in kinds)


def in_units(ax: Any, units: Sequence[Number | Date | None]) -> None:
    """Write the values of the table beside axes that are entries of its vectors."""
    for axis, column in zip((ax.xaxis, ax.yaxis), units, strict=False):
        if column is not None:
            axis.set_ticks(*_ticks(column, *axis.get_view_interval()))


def _ticks(column: Number | Date, low: float, high: float) -> tuple[Array, list[str]]:
    """Places of round values of a column, and the values in words."""
    number = column.number if isinstance(column, Date) else column
    bounds = number.low, number.high
    # Ticks may lie between the values that the data have.
    number = replace(number, whole=False, digits=None, levels=(), low=-np.inf, high=np.inf)
    ends = number.decode(np.array([[low], [high]]))
    values = _dates(column, *ends) if isinstance(column, Date) else _round_values(number, *ends)
    values = values[(bounds[0] <= values) & (values <= bounds[1])]
    places = number.encode(values)[:, 0]
    kept: list[int] = []
    for i in np.flatnonzero((low <= places) & (places <= high)).tolist():
        if not kept or places[i] - places[kept[-1]] >= (high - low) / MOST_TICKS:
            kept.append(i)
    return places[kept], [_written(column, value) for value in values[kept]]


def _round_values(number: Number, low: float, high: float) -> Array:
    """As matplotlib has them; on a scale that is bent also small ones between large ones."""
    from matplotlib.ticker import MaxNLocator

    if not number.tails:
        return np.asarray(MaxNLocator(5).tick_values(low, high))
    powers = 10.0 ** np.arange(-3, np.ceil(np.log10(max(abs(low), abs(high), 1.0))) + 1)
    sizes = np.sort(np.concatenate([powers, 2 * powers, 5 * powers]))
    return np.concatenate([-sizes[::-1], [0.0], sizes])


def _dates(column: Date, low: float, high: float) -> Array:
    """Beginnings of days, months or years, counted as the column does."""
    dates: Any = import_module("matplotlib.dates")
    first, last = (np.datetime64(_written(column, end), "us").item() for end in (low, high))
    ticks = dates.num2date(dates.AutoDateLocator().tick_values(first, last))
    return column.codes(np.array([date.replace(tzinfo=None) for date in ticks], dtype="M8[us]"))


def _written(column: Number | Date, value: float) -> str:
    if not isinstance(column, Date):
        return f"{value:,.10g}"
    steps = np.array(round(value), dtype=f"m8[{column.unit}]")
    return str(np.datetime64(column.origin) + steps)


@contextmanager
def nameless_rows() -> Iterator[None]:
    """Rows that were checked already are arrays, whose columns have no names any more."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
