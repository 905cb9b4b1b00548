"""The nearest of a few nodes."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array, square_sums
from mercer._parallel import blocks

__all__ = ["nearest"]

#: Rows at a time: bounds the memory to this many times the number of nodes.
ROWS = 4096


def nearest(X: Array, nodes: Array) -> Array:
    """Number of the node nearest to each row, (n,); O(n m d) time."""
    size = square_sums(nodes) / 2
    # |x - y|²/2 without |x|²/2, which is the same for all nodes
    parts = [np.argmin(size - X[block] @ nodes.T, axis=1) for block in blocks(len(X), ROWS)]
    return np.concatenate(parts)
