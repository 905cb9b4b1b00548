"""What a model file says about columns of a table is checked before it is believed."""

from itertools import pairwise
from typing import Any

import numpy as np

from mercer.io.model_file.checks import check_loaded, demand
from mercer.tables.columns import CYCLES, UNITS, Category, Column, Date, LeftOut, Number
from mercer.tables.encoder import TableEncoder
from mercer.tables.model import TableModel

KINDS: tuple[Any, ...] = (str, bool | np.bool_, float)


def _is_real(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and value == value


def _is_finite(value: Any) -> bool:
    return _is_real(value) and bool(np.isfinite(value))


@check_loaded.register
def _number(number: Number) -> None:
    center, scale, gain, levels = number.center, number.scale, number.gain, number.levels
    finite = all(map(_is_finite, (center, scale, gain)))
    demand(finite, f"a number is scaled by {(center, scale, gain)}")
    demand(scale > 0 and gain > 0, f"a number has the scale {scale} and the gain {gain}")
    bounds = (number.low, number.high)
    inside = all(map(_is_real, bounds)) and number.low <= number.high
    demand(inside, f"a number lies between {number.low!r} and {number.high!r}")
    fine = isinstance(levels, tuple) and all(map(_is_finite, levels))
    ordered = fine and all(a < b for a, b in pairwise(levels))
    demand(ordered, "the values of a number are not in order")
    flags = all(isinstance(flag, bool | np.bool_) for flag in (number.tails, number.whole))
    demand(flags, "a number is neither whole nor not")
    known = number.digits is None or (type(number.digits) is int and 0 <= number.digits <= 6)
    demand(known, f"a number has {number.digits!r} decimals")


@check_loaded.register
def _category(category: Category) -> None:
    values, pooled, gain = category.values, category.pooled, category.gain
    tuples = isinstance(values, tuple) and isinstance(pooled, tuple)
    demand(tuples and values, "a category has no values")
    every = (*values, *pooled)
    alike = any(all(isinstance(value, kind) for value in every) for kind in KINDS)
    demand(alike, "values of a category are of several kinds")
    demand(len(set(every)) == len(every), "a category has a value twice")
    demand(_is_finite(gain) and gain > 0, f"a category has the gain {gain!r}")


@check_loaded.register
def _date(date: Date) -> None:
    counts = isinstance(date.number, Number) and date.unit in UNITS
    demand(counts, f"a date counts {date.unit!r}")
    known = isinstance(date.cycles, tuple) and all(cycle in CYCLES for cycle in date.cycles)
    fine = known and _is_finite(date.gain) and date.gain > 0
    demand(fine, f"a date comes again by {date.cycles!r}")
    texts = isinstance(date.form, str) and isinstance(date.origin, str)
    demand(texts, "a date has no origin")
    # NumPy 2.5 deprecates dates without a unit, and that of "NaT" is none.
    begins = date.origin.strip().lower() != "nat" and not np.isnat(np.datetime64(date.origin))
    demand(begins, "a date begins at no date")


@check_loaded.register
def _left_out(column: LeftOut) -> None:
    constant = column.constant
    demand(isinstance(column.reason, str), "a column is left out for no reason")
    plain = isinstance(constant, str | bool | np.bool_ | float | None)
    demand(plain, f"a constant column is a {type(constant).__name__}")


@check_loaded.register
def _encoder(encoder: TableEncoder) -> None:
    if "columns_" not in vars(encoder):  # a pattern
        return
    columns: Any = encoder.columns_
    plain = isinstance(columns, dict) and all(isinstance(c, Column) for c in columns.values())
    demand(plain, "columns of a table are not columns")
    count, container = encoder.n_features_in_, encoder.container_
    demand(count == len(columns), f"{count!r} columns, and {len(columns)} are known")
    known = container in ("pandas", "polars", "pyarrow", "array", "columns")
    demand(known, f"tables of {container!r}")


@check_loaded.register
def _model(model: TableModel) -> None:
    if not {"encoder_", "model_"} <= set(vars(model)):
        return
    width = sum(column.width for column in model.encoder_.columns_.values())
    inside = vars(model.model_).get("n_features_in_", width)
    demand(inside == width, f"vectors of {width} entries, and a model of {inside}")
