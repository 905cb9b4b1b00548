"""The role of a Gram operator: a symmetric n × n matrix known by its products."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._base.linalg import SQUARABLE
from mercer._base.types import Array
from mercer.exceptions import KernelError
from mercer.gram.low_rank import LowRank, nystrom
from mercer.gram.passes import Passes
from mercer.kernels import Basis, Kernel
from mercer.points import Points

#: Rows that tell the size of the kernel, where a pass over all of them costs too much.
HEAD = 256


def in_range(kernel: Kernel, points: Points) -> Points:
    """Float32 rows in float64 where float32 holds neither their products nor kernel values."""
    if points.dtype != np.float32 or not points.is_here or not points.can_wait:
        return points
    finer = points.take(slice(HEAD)).cast(np.float64)
    sizes = points.largest, largest_value(kernel, finer)
    ordinary = all(size == 0 or 1 / SQUARABLE < size < SQUARABLE for size in sizes)
    return points if ordinary and float32_holds(kernel, points) else points.cast(np.float64)


def largest_value(kernel: Kernel, points: Points) -> float:
    """The largest ``|k(x, x)|``; infinite where it overflows, which is refused later."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.abs(kernel.diag(points.rows)).max(initial=0.0))


def float32_holds(kernel: Kernel, points: Points) -> bool:
    """Whether values are numbers in float32: zeros may meet γ = 1e46, and factors each other."""
    if not points.can_wait:
        return True
    try:
        return largest_value(kernel, points.take(slice(1)).cast(np.float32)) < np.inf
    except KernelError:
        return False


class GramOperator(ABC):
    """A symmetric matrix that can multiply a block of vectors and tell its diagonal."""

    #: The rows in the precision of the entries, where the matrix is of a kernel. Precision, signs,
    #: approximation and refinement below are then those of the rows.
    basis: Basis | None = None
    #: (n,) the diagonal of D, where the matrix is D K D.
    root_weight: Array | None = None
    #: How products are made, where that can be chosen.
    passes: Passes | None = None

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        return len(self.diagonal())

    @cached_property
    def dtype(self) -> np.dtype:
        """The floating type of its entries."""
        return self.diagonal().dtype

    @property
    def precision(self) -> np.dtype:
        """The floating type in which the entries are computed; its rounding limits the rank."""
        return self.dtype if self.basis is None else np.dtype(self.basis.dtype)

    @abstractmethod
    def matmat(self, V: Array) -> Array:
        """The product with a block of vectors (n, b)."""

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal entries, (n,)."""

    @abstractmethod
    def to_dense(self) -> Array:
        """A fresh n × n array. The only place where one appears."""

    @abstractmethod
    def block(self, rows: Array | slice, columns: Array) -> Array:
        """Entries ``A[rows][:, columns]``, in float64."""

    def halves(self, count: int, rng: np.random.Generator) -> Array:
        """Random signs, (n, count), that are the same for rows which are next to each other."""
        if self.basis is None:
            return rng.choice([-1.0, 1.0], (self.n, count))
        return self.basis.points.halves(count, rng)

    def low_rank(self, rank: int, rng: np.random.Generator) -> LowRank | None:
        """A cheap approximation ``A ≈ F Fᵀ`` of at most this rank, where the operator has one."""
        if self.basis is None:
            return None
        return nystrom(self.basis, rank, rng, self.root_weight, self.passes)

    def scale(self) -> float:
        """The largest entry before anything was projected out: what rounding is relative to."""
        return float(np.abs(self.diagonal()).max(initial=0.0))

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:  # noqa: ARG002
        """Upper estimates of ``|vᵀ E v|``, E the error of the entries by rounding.

        By a few rows of the kernel's definition; zero where there is nothing to compare with.
        ``row_scale`` multiplies the rows of E.
        """
        return np.zeros(V.shape[1])

    @property
    def can_refine(self) -> bool:
        """Whether the entries can be computed in a finer precision than they are."""
        if self.basis is None or self.precision != np.float32:
            return False
        return self.basis.points.has_finer_entries

    def refined(self) -> "GramOperator":
        """The same with entries in full precision, where :attr:`can_refine`."""
        raise NotImplementedError

    def trace(self) -> float:
        """The sum of the diagonal, in float64."""
        return float(self.diagonal().sum(dtype=np.float64))

    def removed(self) -> float:
        """What a projection has taken from the trace."""
        return 0.0

    def trace_error(self) -> float:
        """How far off the trace may be because of the entries' rounding."""
        return 0.0


@dataclass(frozen=True)
class MatrixOperator(GramOperator):
    """A symmetric matrix that is already there."""

    matrix: Array

    def matmat(self, V: Array) -> Array:
        return np.asarray(self.matrix @ V)

    def diagonal(self) -> Array:
        return np.diagonal(self.matrix)

    def block(self, rows: Array | slice, columns: Array) -> Array:
        return self.matrix[:, columns][rows].astype(np.float64)

    def to_dense(self) -> Array:
        return self.matrix.copy()
