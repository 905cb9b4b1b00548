"""Columns of a table as a page shows them: numbers in their units, categories by their names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from mercer.tables import Category, Date, Number, TableEncoder
from mercer.tables.columns import count_units


def column_facts(encoder: TableEncoder) -> list[dict[str, Any]]:
    """How each column comes back from the entries of a vector, ``width`` of them from ``at`` on."""
    facts, at = [], 0
    for name, column in encoder.columns_.items():
        if isinstance(column, Number):
            facts.append({"name": name, "at": at, "kind": "number", **_number(column)})
        elif isinstance(column, Category):
            values = [_text(value) for value in column.values]
            facts.append({"name": name, "at": at, "kind": "category", "values": values})
        elif isinstance(column, Date):
            # Milliseconds, as JavaScript counts them.
            origin = float(np.datetime64(column.origin, "ms").astype(np.int64))
            unit = float(count_units(np.array(1, f"m8[{column.unit}]"), "ms"))
            when = {"origin": origin, "unit": unit, "day": column.unit == "D"}
            facts.append({"name": name, "at": at, "kind": "date", **_number(column.number), **when})
        at += column.width
    return [{**fact, "width": encoder.columns_[fact["name"]].width} for fact in facts]


def _number(column: Number) -> dict[str, Any]:
    low, high = (None if np.isinf(edge) else edge for edge in (column.low, column.high))
    return {**asdict(column), "low": low, "high": high, "levels": list(column.levels)}


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
