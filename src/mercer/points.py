"""What a kernel is evaluated on: vectors, objects, or columns of a given matrix.

A kernel says which of them its rows are (:meth:`mercer.kernels.Kernel.points`); everyone else asks
the points, and where something makes no sense for them they say so, once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import KernelError

__all__ = ["Columns", "Objects", "Points", "Vectors"]


class Points(ABC):
    """Rows in the form in which a kernel takes them; frozen, and never copied needlessly."""

    #: The rows themselves, as arrays or lists that users know.
    rows: Any

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 for rows in float32, else float64."""
        return np.dtype(np.float64)

    @property
    def width(self) -> int:
        """Numbers in a row; 1 for objects."""
        return 1

    @property
    def has_coordinates(self) -> bool:
        """Whether a point can be moved: pre-images, means and gradients need that."""
        return False

    @abstractmethod
    def take(self, index: Array) -> Points:
        """The points with these numbers."""

    def cast(self, dtype: Any) -> Points:  # noqa: ARG002
        """The same in another precision."""
        return self

    def vectors(self, purpose: str) -> Array:
        """The coordinates, (n, d); a :class:`KernelError` that names the purpose if none exist."""
        raise KernelError(f"{purpose} needs points with coordinates, and {self._lack}.")

    @property
    @abstractmethod
    def _lack(self) -> str:
        """Why there are no coordinates, and what to do."""


@dataclass(frozen=True)
class Vectors(Points):
    """Rows of numbers, (n, d)."""

    rows: Array

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.rows.dtype == np.float32 else np.float64)

    @property
    def width(self) -> int:
        return int(self.rows.shape[1])

    @property
    def has_coordinates(self) -> bool:
        return True

    def take(self, index: Array) -> Vectors:
        return Vectors(np.asarray(self.rows[index]))

    def cast(self, dtype: Any) -> Vectors:
        return Vectors(self.rows.astype(dtype, copy=False))

    def vectors(self, purpose: str) -> Array:  # noqa: ARG002
        return self.rows

    @property
    def _lack(self) -> str:
        raise NotImplementedError("vectors lack nothing")


@dataclass(frozen=True)
class Objects(Points):
    """Any Python objects: strings, graphs, sequences."""

    rows: Sequence[Any]

    def take(self, index: Array) -> Objects:
        return Objects([self.rows[i] for i in index])

    @property
    def _lack(self) -> str:
        return "a kernel of objects has none; use a kernel of vectors, or preimage='nearest'"


@dataclass(frozen=True)
class Columns(Points):
    """Rows of a kernel matrix that was given, (n, m); or the numbers of its columns, (m,)."""

    rows: Array

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.rows.dtype == np.float32 else np.float64)

    @property
    def width(self) -> int:
        return int(self.rows.shape[1]) if self.rows.ndim == 2 else 1

    def take(self, index: Array) -> Columns:
        return Columns(np.asarray(self.rows[index]))

    def among(self, index: Array) -> Columns:
        """The part of a square matrix between these points."""
        return Columns(self.rows[np.ix_(index, index)])

    @property
    def _lack(self) -> str:
        return "a precomputed matrix has none; give the rows and a kernel instead"
