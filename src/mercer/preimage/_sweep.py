"""One application of Mika's map to a batch of points: product → profile → product, tile by tile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.machine import blocks
from mercer._base.types import Array
from mercer.kernels import RadialKernel
from mercer.model import Subspace
from mercer.points.tiles import EDGE, Tiles


class Images(NamedTuple):
    """What one sweep tells about a batch of b points."""

    pull: Array  #: (b, d) ``sum_i delta_i s_i`` in shifted coordinates
    weight: Array  #: (b,) ``sum_i delta_i``: the denominator of eq. (10)
    size: Array  #: (b,) ``sum_i |delta_i|``: how much cancelled in the denominator
    value: Array  #: (b,) ``sum_i gamma_i k(z, s_i)``, which eq. (10) raises


@dataclass(frozen=True)
class Sweep:
    """Mika's map for one subspace, in coordinates shifted by the subspace's origin.

    There the data are near zero, so that a large offset of the data costs no digits.
    """

    subspace: Subspace
    kernel: RadialKernel

    @cached_property
    def origin(self) -> Array:
        """The mean of the support points."""
        return np.asarray(self.subspace.basis.origin)

    @cached_property
    def support(self) -> Array:
        """Shifted support points with a column of ones: one product gives pull and weight."""
        S = self.to_shifted(self.subspace.support)
        return np.column_stack([S, np.ones(len(S), dtype=S.dtype)])

    @property
    def dtype(self) -> np.dtype:
        """The precision of the model."""
        return self.subspace.coef.dtype

    @cached_property
    def scale(self) -> float:
        """The length that steps are measured by: the kernel's, or the data's radius if smaller."""
        S = self.support[:, :-1].astype(np.float64, copy=False)
        unit = float(np.abs(S).max(initial=0.0)) or 1.0  # squares of 1e±300 are no numbers
        radius = unit * float(np.sqrt(square_sums(S / unit).mean()))
        return min(self.kernel.length, radius) or 1.0

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Corners of the data's box, widened by its diagonal."""
        S = self.support[:, :-1]
        low, high = S.min(axis=0), S.max(axis=0)
        diagonal = np.hypot.reduce(high - low)  # without squares, which might overflow
        return low - diagonal, high + diagonal

    def to_shifted(self, X: Array) -> Array:
        """Input coordinates → shifted ones, subtracted in the rows' own precision."""
        return np.asarray(X - self.origin.astype(X.dtype), dtype=self.dtype)

    def to_input(self, Y: Array) -> Array:
        """Shifted coordinates → input coordinates."""
        return np.asarray(Y + self.origin, dtype=self.dtype)

    def coefficients(self, Z: Array) -> list[Array]:
        """The expansions γ = c + B z of scores Z, (b, q), tile by tile as a sweep needs them.

        Pieces of long rows would come from memory bit by bit, at a tenth of the time of a sweep.
        """
        S = self.subspace
        parts = blocks(S.n_support, EDGE[self.dtype.char])
        return [Z @ S.coef[columns].T + S.mean[columns] for columns in parts]

    def __call__(self, Y: Array, G: list[Array]) -> Images:
        """Evaluate at the shifted points Y, which have the expansions G.

        O(b m d) time; O(b · tile) memory.
        """
        (b, d), kernel = Y.shape, self.kernel
        packed = self.subspace.basis.packed
        arguments = Tiles(kernel.arguments, kernel.pack(Y), packed, self.dtype)
        total = np.zeros((b, d + 1), dtype=self.dtype)
        size, value = np.zeros((2, b), dtype=self.dtype)
        ones, same = np.ones(arguments.width, dtype=self.dtype), False
        for gamma, (columns, t) in zip(G, arguments.of_rows(slice(0, b)), strict=True):
            k, slope = kernel.profile_and_slope(t)
            same = k is slope
            if not same:
                value += np.einsum("ij,ij->i", gamma, k)
            slope *= gamma  # delta_i = gamma_i k'(|z - s_i|²), Mika eq. (9)
            total += slope @ self.support[columns]
            # A product with ones sums three times as fast as ``sum``.
            size += np.abs(slope, out=slope) @ ones[: slope.shape[1]]
        weight = total[:, -1]
        return Images(total[:, :-1], weight, size, weight if same else value)
