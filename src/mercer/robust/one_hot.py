"""Columns that are slots of one category: they are missing together, or not at all."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array


def one_hot_groups(X: Array) -> Array:
    """A number for each column, (d,); neighbouring columns that make up a category share theirs.

    Such columns hold 0 or one height, and exactly one of them has it in each row, as
    ``OneHotEncoder`` and :class:`~mercer.tables.TableEncoder` write them.

    Parameters
    ----------
    X : (n, d) array, NaN where a value is missing

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.robust import one_hot_groups
    >>> one_hot_groups(np.array([[0.3, 0, 2, 0], [0.4, 2, 0, 0], [0.1, 0, 0, 2]]))
    array([0, 1, 1, 1])
    """
    heights = np.array([_height(column) for column in X.T])
    numbers, at = np.empty(X.shape[1], dtype=int), 0
    for number in range(X.shape[1]):
        width = _width(X, heights, at)
        numbers[at : at + width] = number
        at += width
        if at >= X.shape[1]:
            break
    return numbers


def _height(column: Array) -> float:
    """Of a column of nothing but 0 and one positive number; 0 for any other."""
    seen = column[~np.isnan(column)]
    height = float(seen.max(initial=0))
    return height if ((seen == 0) | (seen == height)).all() else 0.0


def _width(X: Array, heights: Array, first: int) -> int:
    """Columns of the category that begins here; 1 if none does."""
    height, total = heights[first], np.zeros(len(X))
    for stop in range(first, X.shape[1]):
        total = total + X[:, stop]
        if heights[stop] != height or not height or np.nanmax(total, initial=0) > height:
            return 1
        if (np.isnan(total) | (total == height)).all():
            return stop + 1 - first
    return 1
