"""The arithmetic of an encoder for a graph, which takes numbers only and knows no table.

A row of the graph's input has a number for each column that is used: a number as it is, a category
by its place in the list of its values, a date by its units since the first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._base.types import Array
from mercer.exceptions import ModelFileError
from mercer.io.files import names_text
from mercer.tables.columns import Category, Column, Date, Number

if TYPE_CHECKING:
    from mercer.tables.encoder import TableEncoder


def codes_of(encoder: TableEncoder, X: Any) -> Array:
    """The rows of a table as the graph takes them, (n, used columns)."""
    frame, columns = encoder.take(X), _used(encoder)
    return np.column_stack([_codes(column, frame.columns[n]) for n, column in columns.items()])


def inputs_of(encoder: TableEncoder) -> list[dict[str, Any]]:
    """What the columns of the input are, for those who have nothing but the graph."""
    return [{"name": name, **_input(column)} for name, column in _used(encoder).items()]


def vectors_in(encoder: TableEncoder, X: Any, xp: Any) -> Any:
    """The vectors of an input, by functions of ``xp``: NumPy, or one that writes a graph down."""
    columns = [*_used(encoder).values()]
    if odd := [name for name, c in _used(encoder).items() if isinstance(c, Date) and c.cycles]:
        raise ModelFileError(
            f"the angles of {names_text(odd)} have no ONNX form; fit with 'date' in place of "
            "'date:month', or export the model of vectors, model.model_, and give it what "
            "model.vectors(table) makes."
        )
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


def _used(encoder: TableEncoder) -> dict[str, Column]:
    return {name: column for name, column in encoder.columns_.items() if column.width}


def _number(column: Column) -> Number:
    """The straight part; a category has its gain alone."""
    if isinstance(column, Date):
        return column.number
    return column if isinstance(column, Number) else Number(gain=getattr(column, "gain", 1.0))


def _codes(column: Column, values: Array) -> Array:
    block = column.encode(values)
    if isinstance(column, Number):
        return values
    if isinstance(column, Date):
        return column.counts(values)
    missing, known = np.isnan(block).any(axis=1), block.any(axis=1)
    return np.where(missing, np.nan, np.where(known, block.argmax(axis=1), -1))


def _input(column: Column) -> dict[str, Any]:
    if isinstance(column, Category):
        return {"kind": "category", "values": list(column.values)}
    if isinstance(column, Date):
        return {"kind": "date", "unit": column.unit, "since": column.origin}
    return {"kind": "number"}
