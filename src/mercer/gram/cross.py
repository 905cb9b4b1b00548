"""Products with the kernel matrix between two sets of rows, which is never kept."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks, thread_map
from mercer.kernels import Kernel, Packed

__all__ = ["cross_matmat"]

TILE = 512


def cross_matmat(kernel: Kernel, A: Packed, B: Packed, W: Array) -> Array:
    """``k(A, B) @ W`` tile by tile in threads; O(tile²) memory beside the result."""
    product = np.zeros((len(A), W.shape[1]), dtype=W.dtype)

    def fill(rows: slice) -> None:
        buffer = np.empty((rows.stop - rows.start) * TILE, dtype=W.dtype)
        left = A[rows]
        for columns in blocks(len(B), TILE):
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            tile = buffer[: shape[0] * shape[1]].reshape(shape)
            kernel.fill(left, B[columns], tile)
            product[rows] += tile @ W[columns]

    thread_map(fill, blocks(len(A), TILE))
    return product
