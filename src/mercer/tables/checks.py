"""What a model file says about columns of a table is checked before it is believed."""

from itertools import pairwise
from typing import Any

import numpy as np

from mercer.exceptions import ModelFileError
from mercer.io.model_file.checks import check_loaded, demand
from mercer.tables.columns import CYCLES, UNITS, Category, Column, Date, LeftOut, Number
from mercer.tables.encoder import TableEncoder
from mercer.tables.model import TableModel

KINDS: tuple[Any, ...] = (str, bool | np.bool_, float)


def _is_real(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and value == value


def _is_finite(value: Any) -> bool:
    return _is_real(value) and bool(np.isfinite(value))


def _demand(fine: object, column: Column) -> None:
    if not fine:  # only then is a column, which may have many values, written out
        raise ModelFileError(f"a column cannot be {str(column)[:200]}")


@check_loaded.register
def _number(number: Number) -> None:
    levels, digits = number.levels, number.digits
    _demand(all(map(_is_finite, (number.center, number.scale, number.gain))), number)
    _demand(number.scale > 0 and number.gain > 0, number)
    _demand(all(map(_is_real, (number.low, number.high))) and number.low <= number.high, number)
    _demand(isinstance(levels, tuple) and all(map(_is_finite, levels)), number)
    _demand(all(a < b for a, b in pairwise(levels)), number)
    _demand(all(isinstance(flag, bool | np.bool_) for flag in (number.tails, number.whole)), number)
    _demand(digits is None or (type(digits) is int and 0 <= digits <= 6), number)


@check_loaded.register
def _category(category: Category) -> None:
    values, pooled = category.values, category.pooled
    _demand(isinstance(values, tuple) and isinstance(pooled, tuple) and values, category)
    every = (*values, *pooled)
    _demand(any(all(isinstance(value, kind) for value in every) for kind in KINDS), category)
    _demand(len(set(every)) == len(every), category)
    _demand(_is_finite(category.gain) and category.gain > 0, category)


@check_loaded.register
def _date(date: Date) -> None:
    _demand(isinstance(date.number, Number) and date.unit in UNITS, date)
    _demand(isinstance(date.cycles, tuple) and all(part in CYCLES for part in date.cycles), date)
    _demand(_is_finite(date.gain) and date.gain > 0, date)
    _demand(isinstance(date.form, str) and isinstance(date.origin, str), date)
    # NumPy 2.5 deprecates dates without a unit, and that of "NaT" is none.
    _demand(date.origin.strip().lower() != "nat", date)
    _demand(not np.isnat(np.datetime64(date.origin)), date)


@check_loaded.register
def _left_out(column: LeftOut) -> None:
    _demand(isinstance(column.reason, str), column)
    _demand(isinstance(column.constant, str | bool | np.bool_ | float | None), column)


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
