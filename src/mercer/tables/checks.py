"""What a model file says about columns of a table is checked before it is believed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from mercer.exceptions import ModelFileError
from mercer.io.model_file.checks import check_loaded
from mercer.tables.columns import CYCLES, Category, Column, Date, LeftOut, Number
from mercer.tables.encoder import TableEncoder
from mercer.tables.model import TableModel

KINDS: tuple[Any, ...] = (str, bool | np.bool_, float)
UNITS = ("D", "h", "m", "s", "ms", "us", "ns")


@check_loaded.register
def _number(number: Number) -> None:
    finite = (number.center, number.scale, number.gain)
    if not all(_is_real(part) and np.isfinite(part) for part in finite):
        raise ModelFileError(f"a number is scaled by {finite}")
    if number.scale <= 0 or number.gain <= 0:
        raise ModelFileError(f"a number has the scale {number.scale} and the gain {number.gain}")
    if not all(map(_is_real, (number.low, number.high))) or not number.low <= number.high:
        raise ModelFileError(f"a number lies between {number.low!r} and {number.high!r}")
    levels = number.levels
    fine = isinstance(levels, tuple) and all(_is_real(v) and np.isfinite(v) for v in levels)
    if not fine or any(b <= a for a, b in pairwise(levels)):
        raise ModelFileError("the values of a number are not in order")
    if not all(isinstance(flag, bool | np.bool_) for flag in (number.tails, number.whole)):
        raise ModelFileError("a number is neither whole nor not")


@check_loaded.register
def _category(category: Category) -> None:
    values, pooled = category.values, category.pooled
    if not isinstance(values, tuple) or not isinstance(pooled, tuple) or not values:
        raise ModelFileError("a category has no values")
    if not any(all(isinstance(v, kind) for v in (*values, *pooled)) for kind in KINDS):
        raise ModelFileError("values of a category are of several kinds")
    if len(set(values) | set(pooled)) != len(values) + len(pooled):
        raise ModelFileError("a category has a value twice")
    if not _is_real(category.gain) or not 0 < category.gain < np.inf:
        raise ModelFileError(f"a category has the gain {category.gain!r}")


@check_loaded.register
def _date(date: Date) -> None:
    if not isinstance(date.number, Number) or date.unit not in UNITS:
        raise ModelFileError(f"a date counts {date.unit!r}")
    cycles, gain = date.cycles, date.gain
    known = isinstance(cycles, tuple) and all(c in CYCLES for c in cycles)
    if not known or not _is_real(gain) or not 0 < gain < np.inf:
        raise ModelFileError(f"a date comes again by {cycles!r}")
    if not isinstance(date.form, str) or not isinstance(date.origin, str):
        raise ModelFileError("a date has no origin")
    if np.isnat(np.datetime64(date.origin)):
        raise ModelFileError("a date begins at no date")


@check_loaded.register
def _left_out(column: LeftOut) -> None:
    if not isinstance(column.reason, str):
        raise ModelFileError("a column is left out for no reason")
    if not isinstance(column.constant, str | bool | np.bool_ | float | None):
        raise ModelFileError(f"a constant column is a {type(column.constant).__name__}")


@check_loaded.register
def _encoder(encoder: TableEncoder) -> None:
    if "columns_" not in vars(encoder):  # a pattern
        return
    columns: Any = encoder.columns_
    if not isinstance(columns, dict) or not all(isinstance(c, Column) for c in columns.values()):
        raise ModelFileError("columns of a table are not columns")
    if encoder.n_features_in_ != len(columns):
        raise ModelFileError(f"{encoder.n_features_in_!r} columns, and {len(columns)} are known")
    if encoder.container_ not in ("pandas", "polars", "pyarrow", "array", "columns"):
        raise ModelFileError(f"tables of {encoder.container_!r}")


@check_loaded.register
def _model(model: TableModel) -> None:
    if not {"encoder_", "model_"} <= set(vars(model)):
        return
    width = sum(column.width for column in model.encoder_.columns_.values())
    inside = vars(model.model_).get("n_features_in_", width)
    if inside != width:
        raise ModelFileError(f"vectors of {width} entries, and a model of {inside}")


def _is_real(value: object) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and value == value
