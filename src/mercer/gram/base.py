"""The role of a Gram operator: a symmetric n × n matrix known by its products."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

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
    with np.errstate(over="ignore", invalid="ignore"):  # refused later
        sizes = points.largest, float(np.abs(kernel.diag(finer.rows)).max(initial=0.0))
    ordinary = all(size == 0 or 1 / SQUARABLE < size < SQUARABLE for size in sizes)
    return points if ordinary and float32_holds(kernel, points) else points.cast(np.float64)


def float32_holds(kernel: Kernel, points: Points) -> bool:
    """Whether values are numbers in float32: zeros may meet γ = 1e46, and factors each other."""
    if not points.can_wait:
        return True
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            first = points.take(slice(1)).cast(np.float32)
            return bool(np.isfinite(kernel.diag(first.rows)).all())
    except KernelError:
        return False


class GramOperator(ABC):
    """A symmetric matrix that can multiply a block of vectors and tell its diagonal."""

    #: How products are made, where that can be chosen.
    passes: Passes | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.diagonal())

    @property
    def dtype(self) -> np.dtype:
        """The floating type of its entries."""
        return self.diagonal().dtype

    @property
    def precision(self) -> np.dtype:
        """The floating type in which the entries are computed; its rounding limits the rank."""
        rows = self.packed_rows()
        return self.dtype if rows is None else np.dtype(rows.dtype)

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
        rows = self.packed_rows()
        if rows is None:
            return rng.choice([-1.0, 1.0], (self.n, count))
        return rows.points.halves(count, rng)

    def packed_rows(self) -> Basis | None:
        """The rows in the precision of the entries, where the matrix is of a kernel.

        Precision, signs, approximation and refinement below are then those of the rows.
        """
        return None

    def low_rank(
        self, rank: int, rng: np.random.Generator, root_weight: Array | None = None
    ) -> LowRank | None:
        """A cheap approximation ``A ≈ F Fᵀ`` of at most this rank, where the operator has one.

        Of D A D with D = diag(root_weight), where that is given.
        """
        rows = self.packed_rows()
        return None if rows is None else nystrom(rows, rank, rng, root_weight, self.passes)

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
        rows = self.packed_rows()
        return rows is not None and self.precision == np.float32 and rows.points.has_finer_entries

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


@dataclass(frozen=True, eq=False)
class ChangedGram(GramOperator):
    """Another operator, weighted or centred."""

    base: GramOperator

    @property
    def n(self) -> int:
        return self.base.n

    @property
    def dtype(self) -> np.dtype:
        return self.base.dtype

    def packed_rows(self) -> Basis | None:
        return self.base.packed_rows()

    @property
    def can_refine(self) -> bool:
        return self.base.can_refine
