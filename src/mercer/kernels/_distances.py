"""Squared distances from one matrix product, and pair by pair where that has lost its digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.kernels.base import PackedRows

__all__ = ["LARGEST_NORM", "WIDE", "Scattered", "measure_close", "points_of"]


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


def points_of(packed: PackedRows | Scattered) -> Array:
    """The scaled rows themselves."""
    return packed.points if isinstance(packed, Scattered) else packed.left[:, :-2] / np.sqrt(2.0)


def measure_close(A: PackedRows, B: PackedRows, t: Array, is_kinked: bool) -> None:
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
    for part in np.array_split(close, -(-len(close) // _PAIRS)):
        i, j = np.divmod(part, t.shape[1])
        t[i, j] = -0.5 * square_sums(A.left[i, :-2] - B.right[j, :-2])


#: Norms N from which on close pairs are measured directly: k is right to 3e-5 in float32, 2e-11 in
#: float64. And how many pairs at a time.
WIDE = {"d": 1e5, "f": 256.0}
_PAIRS = 1 << 13

# Beyond these norms the product formula would leave no digits of t at all.
LARGEST_NORM = {"d": 4e6, "f": 8e3}
