"""What a kernel is evaluated on: vectors, sparse or not, objects, or columns of a given matrix.

A kernel says which of them its rows are (:meth:`mercer.kernels.Kernel.points`); everyone else asks
the points, and where something makes no sense for them they say so, once, here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist, pdist

from mercer._base.linalg import SQUARABLE, power_of_two, square_sums
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Precision
from mercer.exceptions import KernelError
from mercer.points.crew import Crew
from mercer.points.packed import pack_shifted
from mercer.points.tiles import Packed

#: Columns by which most rows can be told apart.
FEW = 8


class Points(ABC):
    """Rows in the form in which a kernel takes them; frozen, and never copied needlessly."""

    rows: Any  #: the rows themselves, as arrays or lists that kernels and users know
    dtype: np.dtype  #: float32 for rows in float32, else float64
    width: int  #: numbers in a row; 1 for objects
    largest: float = float("nan")  #: the largest magnitude of an entry; NaN for objects
    #: Why there are no coordinates, and what to do; empty where nothing is lacking.
    _lack: str = ""
    is_sparse: ClassVar[bool] = False  #: whether zeros are not kept
    is_here: ClassVar[bool] = True  #: whether the rows are in memory
    #: Whether a point can be moved: pre-images, means and gradients need that.
    has_coordinates: ClassVar[bool] = False
    #: Whether a block of the rows can be packed when it is needed: those of vectors can.
    can_wait: ClassVar[bool] = False
    #: Whether k(x, y) can be had for new points, and not only between those given.
    is_open: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def has_finer_entries(self) -> bool:
        """Whether float64 entries hold more than float32 ones: those of a given matrix may not."""
        return self.is_open or self.dtype != np.float32

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
    def take(self, index: Array | slice) -> Points:
        """The points with these numbers, or of a slice, which copies nothing."""

    def sample(self, size: int, rng: np.random.Generator) -> Points:
        """At most ``size`` different points, in their order (so that a memmap is read forwards).

        All of them are these points themselves, not a copy.
        """
        if len(self) <= size:
            return self
        return self.take(np.sort(rng.choice(len(self), size, replace=False)))

    def loaded(self) -> Points:
        """The same in memory."""
        return self

    def crew(self) -> Crew | None:
        """The workers beside which the rows are, if there are any."""
        return None

    @property
    def cores(self) -> int:
        """How many of them work at a time; 0 if there are none."""
        return 0

    def left(self, index: Array) -> Points:
        """The points with these increasing numbers, elsewhere if they are there."""
        return self.take(index)

    def subset(self, index: Array) -> Points:
        """The points with these numbers, as if no others had been given."""
        return self.take(index)

    def chosen(self, index: Array) -> Points:
        """The points with these numbers as support of a model on all of them."""
        return self.take(index)

    def copies(self, most: int | None = None) -> tuple[Array, Array] | None:  # noqa: ARG002
        """Numbers of points that are all different, and for each point which of them it copies.

        None where all are different, and maybe where more than ``most`` are.
        """
        return None

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

    def adopt(self, others: Points) -> Points:
        """Other points in the form of these: sparse if these are; for a few rows."""
        return others

    @abstractmethod
    def joined(self, *others: Points) -> Points:
        """These points and others, one below the other, in the form of these."""

    def permuted(self, rng: np.random.Generator) -> Points:  # noqa: ARG002
        """Each column in an order of its own; the entries of a sparse one go to other rows."""
        raise KernelError(
            "only vectors have columns that could be permuted, to compare with chance; give a "
            "number of components, or a kernel of vectors."
        )

    def arrays(self) -> tuple[Array, ...]:
        """All that the rows are made of, for checksums and files."""
        return (self.rows,)

    def for_user(self) -> Any:
        """The rows as a method returns them."""
        return self.rows

    def vectors(self, purpose: str) -> Array:
        """The coordinates, (n, d); a :class:`KernelError` that names the purpose if none exist."""
        raise KernelError(f"{purpose} needs points with coordinates, and {self._lack}.")

    def to_dense(self) -> Array:
        """All entries, (n, d), also those of sparse rows; for a few rows."""
        return self.vectors("an array of rows")


class Numbers(Points):
    """Rows with a floating type that are taken by their numbers."""

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        """float32 for rows in float32, else float64."""
        return np.dtype(np.float32 if self.rows.dtype == np.float32 else np.float64)

    @property
    def largest(self) -> float:  # type: ignore[override]
        # Two passes, and no temporary of the size of the rows.
        return max(float(self.rows.max(initial=0.0)), -float(self.rows.min(initial=0.0)))

    def take(self, index: Array | slice) -> Self:
        return type(self)(self.rows[index])  # type: ignore[call-arg]

    def equals(self, others: Points) -> bool:
        """Whether all entries are the same; those of sparse rows at the same places."""
        same_form = self.is_sparse == others.is_sparse
        return same_form and all(map(np.array_equal, self.arrays(), others.arrays()))

    def joined(self, *others: Points) -> Self:
        parts = (self.adopt(part).rows for part in others)
        return type(self)(np.concatenate([self.rows, *parts]))  # type: ignore[call-arg]

    def halves(self, count: int, rng: np.random.Generator) -> Array:
        # On either side of random hyperplanes through the middle.
        normals = rng.standard_normal((self.width, count)).astype(self.rows.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            along = self.rows @ normals
        if not 1 / SQUARABLE < np.abs(along).max(initial=0.0) < np.inf:
            along = self.rows @ (normals / (self.largest or 1.0)).astype(self.rows.dtype)
        return np.where(along < np.median(along, axis=0), -1.0, 1.0)


@dataclass(frozen=True)
class Vectors(Numbers):
    """Rows of numbers, (n, d).

    What kernels of distances and dot products ask here, they ask of sparse rows, too.
    """

    rows: Array

    has_coordinates = can_wait = True

    @property
    def width(self) -> int:  # type: ignore[override]
        """Numbers in a row."""
        return int(self.rows.shape[1])

    def copies(self, most: int | None = None) -> tuple[Array, Array] | None:
        if most is not None and self.width > FEW:
            # Rows that differ in some columns are different: most data are done with here.
            few = Vectors(self.rows[:, :: -(-self.width // FEW)]).copies()
            if few is None or len(few[0]) > most:
                return None
        words = np.ascontiguousarray(self.rows).view(f"u{self.rows.itemsize}")
        odd = fixed_rng(3).integers(1 << 31, size=self.width, dtype=np.uint64) * 2 + 1
        # One number a row, equal for equal rows; a multiplication modulo 2⁶⁴ mixes upwards only.
        keys = (words ^ (words >> (4 * self.rows.itemsize))).astype(np.uint64, copy=False) @ odd
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as they appear: signs are settled by the first of some that tie
        first, group = first[order], np.argsort(order)[group]
        if len(first) < len(keys) and not (self.rows == self.rows[first[group]]).all():
            return None  # two rows with one number: as good as never
        return first, group

    def cast(self, dtype: Precision) -> Vectors:
        return Vectors(self.rows.astype(dtype, copy=False))

    def vectors(self, purpose: str) -> Array:  # noqa: ARG002
        return self.rows

    def adopt(self, others: Points) -> Points:
        return Vectors(others.to_dense()) if others.is_sparse else others

    def permuted(self, rng: np.random.Generator) -> Vectors:
        return Vectors(rng.permuted(self.rows, axis=0))

    def squared_differences(self, others: Points) -> Array:
        """``|x_i - y_i|²`` of row after row, (n,)."""
        return square_sums(self.rows - self.adopt(others).rows)

    def square_sums(self) -> Array:
        """Squared lengths of the rows, in their precision."""
        return square_sums(self.rows)

    def middle(self) -> Array:
        """A point that may be subtracted from all rows: the mean, (d,)."""
        return np.asarray(np.mean(self.rows, axis=0, dtype=np.float64))

    def origin(self, *, shift: bool) -> Any:
        """What tiles of these points begin with; the middle if a shift is not noticed."""
        return self.middle() if shift else None

    def for_products(self, origin: Any, dtype: Precision) -> Packed:  # noqa: ARG002
        """Rows ready for tiles of dot products, which :func:`dot_products` fills."""
        with np.errstate(over="ignore"):  # the tile tells of it
            return self.rows.astype(dtype or self.rows.dtype, copy=False)

    def for_distances(self, origin: Any, dtype: Precision, length: float) -> Any:
        """Rows in units of a length, ready for tiles that their ``negative_squares`` fills."""
        shift = np.zeros(self.width) if origin is None else origin
        with np.errstate(over="ignore", invalid="ignore"):
            # What leaves the range of float32 is scattered, too.
            return pack_shifted(self.rows, shift, length, np.dtype(dtype or self.rows.dtype))

    def reach(self, origin: Any, length: float) -> float:
        """The largest squared distance from the origin, in units of the length."""
        with np.errstate(over="ignore"):
            norms = square_sums((np.asarray(self.rows, np.float64) - origin) / length)
        return float(norms.max(initial=0.0))

    def is_filled(self) -> Array:
        """Which rows are not zero, (n,)."""
        return np.asarray(np.abs(self.rows).max(axis=1) > 0)

    def unit(self, dtype: Precision = None) -> Vectors:
        """Rows divided by their lengths, in their precision or a finer one; zeros stay zeros."""
        rows = near_one(self.rows.astype(np.result_type(self.rows, dtype or self.rows), copy=False))
        norm = np.sqrt(square_sums(rows))[:, None]
        return Vectors(np.asarray(rows / np.where(norm == 0, 1, norm), dtype=rows.dtype))

    def exact_products(self, others: Vectors) -> Array:
        """``x_i · y_j`` in np.longdouble, by float64 products of which only the small ones round.

        Each row is cut into a head of so few bits that products of heads sum up exactly, and a
        tail.
        """
        A, B = (np.asarray(rows, dtype=np.float64) for rows in (self.rows, others.rows))
        bits = (51 - self.width.bit_length()) // 2
        cut = [
            2.0 ** (52 - bits) * 1.5 * power_of_two(np.abs(P).max(axis=1, keepdims=True))
            for P in (A, B)
        ]
        H, J = ((P + c) - c for P, c in zip((A, B), cut, strict=True))
        return np.asarray((H @ J.T).astype(np.longdouble) + (H @ (B - J).T + (A - H) @ B.T))

    def exact_squares(self, others: Vectors, length: float) -> Array:
        """``|x_i - y_j|² / length²`` by the differences themselves, at any scale of the rows."""
        A, B = (np.asarray(rows, dtype=np.float64) for rows in (self.rows, others.rows))
        # In powers of two no digit is lost. Beside the length, squares that vanish mean r = 0 and
        # those that overflow k = 0; rows that cannot be written in it are infinitely far or equal.
        unit = power_of_two(min(length, np.finfo(float).max))
        unit = max(unit, power_of_two(max(self.largest, others.largest)) * 2.0**-1000)
        with np.errstate(over="ignore", under="ignore"):
            squares = cdist(A / unit, B / unit, "sqeuclidean")
            return np.asarray(squares / (length / unit) / (length / unit))

    def to_unit(self, unit: float | None = None) -> tuple[Vectors, float]:
        """In float64, shifted, in a unit: the one in which they reach 1 if none is given."""
        rows = np.asarray(self.rows, dtype=np.float64)
        rows = rows - rows.mean(axis=0)
        unit = unit or Vectors(rows).largest or 1.0
        rows /= unit
        return Vectors(rows), unit

    def pair_squares(self) -> Array:
        """Squared distances of all pairs of rows, in the order of ``pdist``; 0 for equal ones."""
        return np.asarray(pdist(self.rows, "sqeuclidean"))


def near_one(X: Array) -> Array:
    """Rows divided by a power of two each, so that squares of huge rows do not overflow."""
    return np.asarray(X / power_of_two(np.abs(X).max(axis=1, keepdims=True)))


def as_points(X: Any) -> Any:
    """Vectors, as they come from a caller, as points; points as they are."""
    # Arrays and vectors first: of an abstract class it takes a call in Python to tell.
    is_array = isinstance(X, np.ndarray)
    return Vectors(X) if is_array or not isinstance(X, (Vectors, Points)) else X


def alike(X: Any, Y: Any) -> tuple[Any, Any]:
    """Two sets of vectors as points of one form: both sparse if one of them is; for a few rows."""
    X, Y = as_points(X), as_points(Y)
    return (X, X.adopt(Y)) if X.is_sparse else (Y.adopt(X), Y)


@dataclass(frozen=True)
class Objects(Points):
    """Any Python objects: strings, graphs, sequences."""

    rows: Sequence[Any]

    dtype = np.dtype(np.float64)
    width = 1

    def take(self, index: Array | slice) -> Objects:
        if isinstance(index, slice):
            return Objects(self.rows[index])
        return Objects([self.rows[i] for i in index])

    def joined(self, *others: Points) -> Objects:
        return Objects([row for part in (self, *others) for row in part.rows])

    _lack = "a kernel of objects has none; use a kernel of vectors, or preimage='nearest'"


@dataclass(frozen=True)
class Columns(Numbers):
    """Rows of a kernel matrix that was given, (n, m); or the numbers of its columns, (m,)."""

    rows: Array

    is_open = False

    @property
    def width(self) -> int:  # type: ignore[override]
        """Numbers in a row."""
        return int(self.rows.shape[1]) if self.rows.ndim == 2 else 1

    @property
    def support(self) -> Array:
        return np.arange(len(self.rows))

    def subset(self, index: Array) -> Columns:
        return Columns(self.rows[np.ix_(index, index)])

    def chosen(self, index: Array) -> Columns:
        return Columns(np.asarray(index))

    def skew(self, index: Array) -> float:
        return float(np.abs(self.rows[index] - self.rows[:, index].T).max())

    _lack = "a precomputed matrix does not hold that; give the rows and a kernel instead"
