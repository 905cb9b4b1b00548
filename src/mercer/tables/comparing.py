"""New rows beside those of the fit: columns that came in another unit, or from another time."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import MercerWarning, warn
from mercer.tables.columns import Column, Date, Number, as_kind

__all__ = ["warn_of_far_rows"]

#: The middle row lies so many spreads from the middle of the fit.
FAR = 5.0
#: Fewer rows may all be rare ones.
LEAST_ROWS = 5


def warn_of_far_rows(name: str, column: Column, values: Array, block: Array) -> None:
    """Say so if most rows are far from those of the fit in a column: all would be alike, and new.

    Columns that are left as they are have no spread to compare with.
    """
    number = column.number if isinstance(column, Date) else column
    if not isinstance(number, Number) or len(values) < LEAST_ROWS or np.isnan(block[:, 0]).all():
        return
    middle = float(np.nanmedian(block[:, 0])) / number.gain
    if (number.scale == 1 and not number.center) or abs(middle) <= FAR:
        return
    row = int(np.nanargmin(np.abs(block[:, 0] - middle * number.gain)))
    usual = column.decode(np.zeros((1, column.width)))[0]
    if isinstance(column, Date):
        told = f"({values[row]}, and {usual} there); if time itself should not count, leave it out"
        told += " of the fit: " + as_kind(name, "index") + "."
    else:
        told = f"({values[row]:.4g}, and {usual:.4g} there); are they in the same unit?"
    warn(
        f"column {name!r}: most of {len(values)} rows lie far from those of fit " + told,
        MercerWarning,
    )
