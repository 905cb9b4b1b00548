"""Squared distances by one matrix product, and directly where that would lose their digits.

With rows in units of the kernel's length, ``[√2 x, −|x|², 1] @ [√2 y, 1, −|y|²]ᵀ = −|x − y|²``. The
product errs by eps·|x|², which is nothing for most data and everything for rows that are spread
wide beside the length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from mercer._linalg import Array, square_sums
from mercer.kernels.base import PackedRows
from mercer.kernels.sparse_tiles import SparsePacked, negative_squares_of

__all__ = ["Scattered", "negative_squares", "pack_scaled"]

#: Norms N from which on close pairs are measured directly: k is right to 3e-5 in float32, 2e-11 in
#: float64. And how many pairs at a time.
WIDE = {"d": 1e5, "f": 256.0}
PAIRS = 1 << 13
#: Beyond these norms the product formula would leave no digits of t at all.
LARGEST = {"d": 4e6, "f": 8e3}


def pack_scaled(scaled: Array) -> PackedRows | Scattered:
    """Rows that are shifted and scaled already, as factors of the product."""
    norms = square_sums(scaled)
    if norms.size and not norms.max() <= LARGEST[scaled.dtype.char]:
        return Scattered(scaled)
    left = np.empty((len(scaled), scaled.shape[1] + 2), dtype=scaled.dtype)
    np.multiply(scaled, np.sqrt(2.0), out=left[:, :-2])
    right = left.copy()
    left[:, -2], left[:, -1] = -norms, 1
    right[:, -2], right[:, -1] = 1, -norms
    return PackedRows(left, right)


def negative_squares(A: Any, B: Any, out: Array, is_kinked: bool) -> None:
    """``out[i, j] = -|a_i - b_j|²``, up to rounding that may leave it a little above zero."""
    if isinstance(A, SparsePacked):
        negative_squares_of(A, B, out, is_kinked)
        return
    if isinstance(A, Scattered) or isinstance(B, Scattered):
        # One side is spread so wide that the product formula would lose its digits.
        with np.errstate(over="ignore"):
            np.negative(cdist(_points(A), _points(B), "sqeuclidean"), out=out)
        return
    np.matmul(A.left, B.right.T, out=out)
    _measure_close(A, B, out, is_kinked)


@dataclass(frozen=True)
class Scattered:
    """Scaled rows for which the product formula would cancel; distances are taken directly."""

    points: Array

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of the rows."""
        return self.points.dtype

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, rows: slice) -> Scattered:
        return Scattered(self.points[rows])


def _points(packed: PackedRows | Scattered) -> Array:
    return packed.points if isinstance(packed, Scattered) else packed.left[:, :-2] / np.sqrt(2.0)


def _measure_close(A: PackedRows, B: PackedRows, t: Array, is_kinked: bool) -> None:
    """Take the distances of close pairs directly: there the product formula has lost its digits.

    It errs by eps·N in t, with N the squared norms |x|²/ℓ²; k feels that by its slope, which is
    small from √N on for every profile. A kink feels it where t is nothing but that error, too.
    """
    norms = -float(A.left[:, -2].min(initial=0.0) + B.right[:, -1].min(initial=0.0))
    reach = np.sqrt(norms) if norms > WIDE[t.dtype.char] else 0.0
    if is_kinked:
        reach = max(reach, 1e-4 * norms)
    if not reach or t.max(initial=-np.inf) <= -reach:
        return
    close = np.flatnonzero(t > -reach)
    for part in np.array_split(close, -(-len(close) // PAIRS)):
        i, j = np.divmod(part, t.shape[1])
        t[i, j] = -0.5 * square_sums(A.left[i, :-2] - B.right[j, :-2])
