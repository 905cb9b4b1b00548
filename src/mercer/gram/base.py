"""The role of a Gram operator: a symmetric n × n matrix known by its products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array
from mercer.gram.low_rank import LowRank

__all__ = ["GramOperator", "MatrixOperator"]


class GramOperator(ABC):
    """A symmetric matrix that can multiply a block of vectors and tell its diagonal."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """The floating type of its entries."""

    @property
    def precision(self) -> np.dtype:
        """The floating type in which the entries are computed; its rounding limits the rank."""
        return self.dtype

    @abstractmethod
    def matmat(self, V: Array) -> Array:
        """The product with a block of vectors (n, b)."""

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal entries, (n,)."""

    @abstractmethod
    def to_dense(self) -> Array:
        """A fresh n × n array. The only place where one appears."""

    def low_rank(self, rank: int, rng: np.random.Generator) -> LowRank | None:  # noqa: ARG002
        """A cheap approximation ``A ≈ F Fᵀ`` of at most this rank, where the operator has one."""
        return None

    def refined(self) -> GramOperator | None:
        """The same with entries computed in full precision; None if they are already."""
        return None

    def trace(self) -> float:
        """The sum of the diagonal, in float64."""
        return float(self.diagonal().sum(dtype=np.float64))


@dataclass(frozen=True)
class MatrixOperator(GramOperator):
    """A symmetric matrix that is already there."""

    matrix: Array

    @property
    def n(self) -> int:
        return len(self.matrix)

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype

    def matmat(self, V: Array) -> Array:
        return np.asarray(self.matrix @ V)

    def diagonal(self) -> Array:
        return np.diagonal(self.matrix)

    def to_dense(self) -> Array:
        return self.matrix.copy()
