"""Squared distances by one matrix product, and directly where that would lose their digits.

With rows in units of the kernel's length, ``[√2 x, −|x|², 1] @ [√2 y, 1, −|y|²]ᵀ = −|x − y|²``. The
product errs by eps·|x|², which is nothing for most data and everything for rows that are spread
wide beside the length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from mercer._base.linalg import square_sums, write_shifted
from mercer._base.types import Array

#: Norms N from which on close pairs are measured directly: k is right to 3e-5 in float32, 2e-11 in
#: float64. And how many pairs at a time.
WIDE = {"d": 1e5, "f": 256.0}
PAIRS = 1 << 13
#: Beyond these norms the product formula would leave no digits of t at all.
LARGEST = {"d": 4e6, "f": 8e3}


def pack_shifted(X: Array, shift: Array, length: float, dtype: np.dtype) -> Factored | Scattered:
    """``(x - shift) / length``, as factors of the product.

    Subtracts in the rows' own precision, or a finer one: x - shift is exact where it matters.
    """
    left = np.empty((len(X), X.shape[1] + 2), dtype=dtype)
    write_shifted(X, shift, np.sqrt(2.0) / length, left[:, :-2])
    norms = square_sums(left[:, :-2]) / 2
    largest = float(norms.max(initial=0.0))
    if not largest <= LARGEST[left.dtype.char]:
        return Scattered(left[:, :-2] / np.sqrt(2.0))
    left[:, -2], left[:, -1] = -norms, 1
    return Factored(_Factors(left, largest), slice(0, len(left)))


@dataclass(frozen=True)
class _Factors:
    """``[√2 x, −|x|², 1]``, and ``[√2 x, 1, −|x|²]`` once it is asked for: most rows need one.

    ``largest`` is that of the |x|².
    """

    left: Array
    largest: float

    @cached_property
    def right(self) -> Array:
        turned = self.left.copy()
        turned[:, -2], turned[:, -1] = self.left[:, -1], self.left[:, -2]
        return turned


@dataclass(frozen=True)
class Factored:
    """Some of the rows that were packed together."""

    whole: _Factors
    rows: slice

    @property
    def left(self) -> Array:
        """The factor on the left of the product."""
        return self.whole.left[self.rows]

    @property
    def right(self) -> Array:
        """The factor on its right, not yet transposed."""
        return self.whole.right[self.rows]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of both."""
        return self.whole.left.dtype

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)

    def __getitem__(self, rows: slice) -> Factored:
        start, stop, _ = rows.indices(len(self))
        return Factored(self.whole, slice(self.rows.start + start, self.rows.start + stop))

    @property
    def points(self) -> Array:
        """The scaled rows themselves."""
        return np.asarray(self.left[:, :-2] / np.sqrt(2.0))

    def negative_squares(self, B: Factored | Scattered, out: Array, is_kinked: bool) -> None:
        """``out[i, j] = -|a_i - b_j|²``, up to rounding that may leave it a little above zero."""
        if isinstance(B, Scattered):
            # Spread so wide that the product formula would lose its digits.
            Scattered(self.points).negative_squares(B, out, is_kinked)
            return
        # The factors of a few rows are turned, and not those of all that they are compared with.
        if len(self.whole.left) < len(B.whole.left):
            np.matmul(self.right, B.left.T, out=out)
        else:
            np.matmul(self.left, B.right.T, out=out)
        _measure_close(self, B, out, is_kinked)


@dataclass(frozen=True)
class Scattered:
    """Factored rows for which the product formula would cancel; distances are taken directly."""

    points: Array

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of the rows."""
        return self.points.dtype

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, rows: slice) -> Scattered:
        return Scattered(self.points[rows])

    def negative_squares(self, B: Factored | Scattered, out: Array, is_kinked: bool) -> None:  # noqa: ARG002
        """``out[i, j] = -|a_i - b_j|²``."""
        with np.errstate(over="ignore"):
            np.negative(cdist(self.points, B.points, "sqeuclidean"), out=out)


def _measure_close(A: Factored, B: Factored, t: Array, is_kinked: bool) -> None:
    """Take the distances of close pairs directly: there the product formula has lost its digits.

    It errs by eps·N in t, with N the squared norms |x|²/ℓ²; k feels that by its slope, which is
    small from √N on for every profile. A kink feels it where t is nothing but that error, too.
    """
    # Most rows lie so close together that no tile need be looked at.
    if not is_kinked and A.whole.largest + B.whole.largest <= WIDE[t.dtype.char]:
        return
    norms = -float(A.left[:, -2].min(initial=0.0) + B.left[:, -2].min(initial=0.0))
    reach = np.sqrt(norms) if norms > WIDE[t.dtype.char] else 0.0
    if is_kinked:
        reach = max(reach, 1e-4 * norms)
    if not reach or t.max(initial=-np.inf) <= -reach:
        return
    close = np.flatnonzero(t > -reach)
    for part in np.array_split(close, -(-len(close) // PAIRS)):
        i, j = np.divmod(part, t.shape[1])
        t[i, j] = -0.5 * square_sums(A.left[i, :-2] - B.left[j, :-2])
