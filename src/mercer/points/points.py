"""What a kernel is evaluated on: vectors, sparse or not, objects, or columns of a given matrix.

A kernel says which of them its rows are (:meth:`mercer.kernels.Kernel.points`); everyone else asks
the points, and where something makes no sense for them they say so, once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.linalg import SQUARABLE
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Precision, RowsLike
from mercer.exceptions import KernelError
from mercer.points.sparse import SparseRows

__all__ = ["Columns", "Objects", "Points", "SparseVectors", "Vectors"]

#: Columns by which most rows can be told apart.
FEW = 8


class Points(ABC):
    """Rows in the form in which a kernel takes them; frozen, and never copied needlessly."""

    #: The rows themselves, as arrays or lists that users know.
    rows: RowsLike

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dtype(self) -> np.dtype:
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

    @property
    def can_wait(self) -> bool:
        """Whether a block of the rows can be packed when it is needed, at no further cost."""
        return self.has_coordinates

    @property
    def is_open(self) -> bool:
        """Whether k(x, y) can be had for new points, and not only between those given."""
        return True

    @property
    def has_finer_entries(self) -> bool:
        """Whether float64 entries hold more than float32 ones: those of a given matrix may not."""
        return self.is_open or self.dtype != np.float32

    @property
    def largest(self) -> float:
        """The largest magnitude of an entry, for messages and limits; NaN for objects."""
        return float("nan")

    def fit_float32(self, diag: Array) -> bool:
        """True if rows, kernel values (by k(x, x)) and their squares are in float32's range."""
        if not 1 / SQUARABLE < float(np.abs(diag).max(initial=0.0)) < SQUARABLE:
            return not self.has_finer_entries
        if not self.can_wait or self.dtype == np.float32:
            return True
        return 1 / SQUARABLE < self.largest < SQUARABLE

    @property
    def support(self) -> Any:
        """What a model keeps of the points."""
        return self.rows

    @abstractmethod
    def take(self, index: Array) -> Points:
        """The points with these numbers."""

    def subset(self, index: Array) -> Points:
        """The points with these numbers, as if no others had been given."""
        return self.take(index)

    def chosen(self, index: Array) -> Any:
        """The points with these numbers as support of a model on all of them."""
        return self.take(index).rows

    def copies(self, most: int | None = None) -> tuple[Array, Array]:  # noqa: ARG002
        """Numbers of points that are all different, and for each point which of them it copies.

        Where more than ``most`` are different, all of them may be called so.
        """
        every = np.arange(len(self))
        return every, every

    def halves(self, count: int, rng: np.random.Generator) -> Array:
        """Random signs, (n, count), that are the same for points which are next to each other."""
        return rng.choice([-1.0, 1.0], (len(self), count))

    def skew(self, index: Array) -> float:  # noqa: ARG002
        """Largest ``|k(x, y) - k(y, x)|`` at these points: by rounding, in a matrix given."""
        return 0.0

    def require_open(self, purpose: str, instead: str = "") -> None:
        """Raise :class:`KernelError`, naming the purpose, if only given points can be compared.

        ``instead`` is what else could be done.
        """
        if not self.is_open:
            other = f", or {instead}" if instead else ""
            raise KernelError(f"{purpose} needs k(x, y) of new points, and {self._lack}{other}.")

    def cast(self, dtype: Precision) -> Points:  # noqa: ARG002
        """The same in another precision."""
        return self

    def vectors(self, purpose: str) -> Array:
        """The coordinates, (n, d); a :class:`KernelError` that names the purpose if none exist."""
        raise KernelError(f"{purpose} needs points with coordinates, and {self._lack}.")

    @property
    def _lack(self) -> str:
        """Why there are no coordinates, and what to do; empty where nothing is lacking."""
        return ""


@dataclass(frozen=True)
class _Numbers(Points):
    """Rows with a floating type that are taken by their numbers."""

    rows: Any

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.rows.dtype == np.float32 else np.float64)

    @property
    def width(self) -> int:
        return int(self.rows.shape[1]) if self.rows.ndim == 2 else 1

    @property
    def largest(self) -> float:
        # Two passes, and no temporary of the size of the rows.
        return max(float(self.rows.max(initial=0.0)), -float(self.rows.min(initial=0.0)))

    def take(self, index: Array) -> Self:
        return type(self)(self.rows[index])

    @property
    def _matrix(self) -> Any:
        """The rows as something that multiplies."""
        return self.rows

    def halves(self, count: int, rng: np.random.Generator) -> Array:
        # On either side of random hyperplanes through the middle.
        normals = rng.standard_normal((self.width, count)).astype(self.rows.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            along = self._matrix @ normals
        if not 1 / SQUARABLE < np.abs(along).max(initial=0.0) < np.inf:
            along = self._matrix @ (normals / (self.largest or 1.0)).astype(self.rows.dtype)
        return np.where(along < np.median(along, axis=0), -1.0, 1.0)


@dataclass(frozen=True)
class Vectors(_Numbers):
    """Rows of numbers, (n, d)."""

    rows: Array

    has_coordinates = True

    def copies(self, most: int | None = None) -> tuple[Array, Array]:
        if most is not None and self.width > FEW:
            # Rows that differ in some columns are different: most data are done with here.
            few = Vectors(self.rows[:, :: -(-self.width // FEW)])
            if len(few.copies()[0]) > most:
                return super().copies()
        words = np.ascontiguousarray(self.rows).view(f"u{self.rows.itemsize}")
        odd = fixed_rng(3).integers(1 << 31, size=self.width, dtype=np.uint64) * 2 + 1
        # One number a row, equal for equal rows; a multiplication modulo 2⁶⁴ mixes upwards only.
        keys = (words ^ (words >> (4 * self.rows.itemsize))).astype(np.uint64, copy=False) @ odd
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        if len(first) < len(keys) and not (self.rows == self.rows[first[group]]).all():
            return super().copies()  # two rows with one number: as good as never
        return first, group

    def cast(self, dtype: Precision) -> Vectors:
        return Vectors(self.rows.astype(dtype, copy=False))

    def vectors(self, purpose: str) -> Array:  # noqa: ARG002
        return self.rows


@dataclass(frozen=True)
class SparseVectors(_Numbers):
    """Rows of numbers of which most are zero, (n, d); zeros are not kept, and stay zeros."""

    rows: SparseRows

    can_wait = True

    @property
    def largest(self) -> float:
        return float(np.abs(self.rows.data).max(initial=0.0))

    @property
    def _matrix(self) -> Any:
        return self.rows.to_scipy()

    def cast(self, dtype: Precision) -> SparseVectors:
        return SparseVectors(self.rows.astype(dtype))

    @property
    def _lack(self) -> str:
        megabytes = -(-len(self.rows) * self.width * self.dtype.itemsize >> 20)
        return (
            "sparse rows are not moved, which would fill their zeros; fit to X.toarray() "
            f"({megabytes} MB for these rows), or for pre-images use preimage='nearest', or "
            "'combination' with a kernel of the distance"
        )


@dataclass(frozen=True)
class Objects(Points):
    """Any Python objects: strings, graphs, sequences."""

    rows: Sequence[Any]

    def take(self, index: Array) -> Objects:
        return Objects([self.rows[i] for i in index])

    _lack = "a kernel of objects has none; use a kernel of vectors, or preimage='nearest'"


@dataclass(frozen=True)
class Columns(_Numbers):
    """Rows of a kernel matrix that was given, (n, m); or the numbers of its columns, (m,)."""

    rows: Array

    is_open = False

    @property
    def support(self) -> Array:
        return np.arange(len(self.rows))

    def subset(self, index: Array) -> Columns:
        return Columns(self.rows[np.ix_(index, index)])

    def chosen(self, index: Array) -> Array:
        return np.asarray(index)

    def skew(self, index: Array) -> float:
        return float(np.abs(self.rows[index] - self.rows[:, index].T).max())

    _lack = "a precomputed matrix does not hold that; give the rows and a kernel instead"
