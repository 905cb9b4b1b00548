"""The arithmetic of an encoder for a graph, which takes numbers only and knows no table.

A row of the graph's input has the code of each column that is used: a number as it is, a category
by its place in the list of its values, a date by its units since the first one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer._base.types import Array
from mercer.exceptions import ModelFileError
from mercer.io.files import names_text
from mercer.tables.columns import Category, Date, Number, Used


def inputs_of(columns: Mapping[str, Used]) -> list[dict[str, Any]]:
    """What the columns of the input are, for readers who have only the graph."""
    return [{"name": name, **_input(column)} for name, column in columns.items()]


def vectors_in(named: Mapping[str, Used], X: Any, xp: Any) -> Any:
    """The vectors of an input, by functions of ``xp``: NumPy, or one that writes a graph down."""
    columns = [*named.values()]
    if odd := [name for name, c in named.items() if isinstance(c, Date) and c.cycles]:
        what = f"the angles of {names_text(odd)} have no ONNX form; fit with 'date', or export"
        raise ModelFileError(f"{what} model.model_, which takes model.vectors(table).")
    of = np.repeat(np.arange(len(columns)), [column.width for column in columns])
    W = X @ np.eye(len(columns))[:, of]
    slot = np.concatenate([np.arange(column.width) for column in columns])[None]
    scaled = [_number(column) for column in columns]

    def row(name: str) -> Array:
        return np.array([float(getattr(number, name)) for number in scaled])[of][None]

    hot, bent = np.array([isinstance(c, Category) for c in columns], float)[of][None], row("tails")
    u = (W - row("center")) / row("scale")
    t = xp.abs(u)
    asinh = xp.sign(u) * xp.log1p(t + t * t / (1 + xp.sqrt(1 + t * t)))
    u = u * (1 - bent) + asinh * bent
    return row("gain") * (u * (1 - hot) + xp.where(xp.equal(W, slot), 1.0, 0.0) * hot)


def _number(column: Used) -> Number:
    """The linear part; a category has only its gain."""
    if isinstance(column, Date):
        return column.number
    return column if isinstance(column, Number) else Number(gain=column.gain)


def _input(column: Used) -> dict[str, Any]:
    if isinstance(column, Category):
        return {"kind": "category", "values": list(column.values)}
    if isinstance(column, Date):
        return {"kind": "date", "unit": column.unit, "since": column.origin}
    return {"kind": "number"}
