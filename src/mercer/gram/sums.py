"""Sums over rows that add up: what a pass over the data leaves behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._base.types import Array


@dataclass(frozen=True)
class FeatureSums:
    """Weighted sums over rows: of 1, of the features a, of a aᵀ, and of k(x, x)."""

    weight: float
    linear: Array
    square: Array
    diagonal: float

    def __add__(self, other: FeatureSums) -> FeatureSums:
        return FeatureSums(
            self.weight + other.weight,
            self.linear + other.linear,
            self.square + other.square,
            self.diagonal + other.diagonal,
        )

    def __mul__(self, factor: float) -> FeatureSums:
        """All sums times a factor: forgetting, for streams."""
        return FeatureSums(
            factor * self.weight,
            factor * self.linear,
            factor * self.square,
            factor * self.diagonal,
        )

    @classmethod
    def zero(cls, r: int) -> FeatureSums:
        """Of no rows at all."""
        return cls(0.0, np.zeros(r), np.zeros((r, r)), 0.0)
