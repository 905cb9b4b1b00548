"""The role of a kernel: :math:`k(x, y)` and nothing about how many rows there are.

A kernel fills *tiles*: ``fill(A, B, out)`` writes ``k(a_i, b_j)`` into a small array in place. Rows
are made ready for that once, by ``pack``; :mod:`mercer.points.tiles` decides which are needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import isabstract
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from scipy.sparse import issparse

from mercer._base.config import Config
from mercer._base.types import Array, Precision, Rows
from mercer.points import Objects, Points, alike, as_points
from mercer.points.sparse import SparseRows
from mercer.points.tiles import Packed

if TYPE_CHECKING:
    from mercer.kernels.composite import Product, Scaled, Sum
    from mercer.kernels.radial import RadialKernel

#: What a kernel measures rows from: a point, nothing, or one of these for each part of a composite.
#: Only the kernel that made it may look inside.
Origin: TypeAlias = Any


class Kernel(Config, ABC):
    """A symmetric function of two points; a Mercer kernel if ``is_mercer``.

    Subclasses are final: to change behaviour, wrap or combine. ``k1 + k2``, ``k1 * k2`` and
    ``0.5 * k`` make new kernels.
    """

    #: Positive definite whatever the parameters? If not, solvers look for negative eigenvalues.
    is_mercer: ClassVar[bool] = True
    #: Rows may be any Python objects, not only vectors of numbers.
    takes_objects: ClassVar[bool] = False
    #: Rows are kernel values themselves, not points.
    is_pairwise: ClassVar[bool] = False

    #: Whether ``pack`` takes :class:`~mercer.points.sparse.SparseRows`, too.
    takes_sparse: bool = False
    #: Whether ``gradient`` and ``diag_gradient`` can be called.
    has_gradient: bool = True
    #: Whether entries of rows must not be negative: histograms, counts.
    is_nonnegative: bool = False
    #: Whether k has no negative values.
    is_positive: bool = False
    #: Whether a value of k tells the distance, or the dot product: ``invert`` works.
    is_invertible: bool = False
    #: The kernel of the distance that this one is, or is a multiple of; None if neither.
    radial: RadialKernel | None = None
    #: The kernels that this one is made of; most are made of none.
    parts: tuple[Kernel, ...] = ()

    @property
    def takes_vectors(self) -> bool:
        """Rows are vectors of numbers, neither objects nor kernel values."""
        return not (self.takes_objects or self.is_pairwise)

    def resolve(self, X: Rows, weight: Array | None = None) -> Self:  # noqa: ARG002
        """The same kernel with every data-dependent parameter turned into a number."""
        self.check()
        return self

    def points(self, X: Rows) -> Points:
        """The rows as what they are to this kernel: vectors, objects, or columns of a matrix.

        Points are what they are.
        """
        if self.takes_objects and not isinstance(X, Points):
            return Objects(X)
        return as_points(X)  # type: ignore[no-any-return]

    def check(self) -> None:
        """Raise :class:`~mercer.exceptions.KernelError` for parameters that make no kernel."""

    def origin(self, X: Rows) -> Origin:  # noqa: ARG002
        """What to shift rows by before packing, where the kernel does not notice a shift."""
        return None

    @abstractmethod
    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> Packed:
        """Make rows ready for tiles of type ``dtype`` (the rows' own if not given).

        The kernel alone shifts and casts, in this order: a shift that it does not notice is made in
        the rows' own precision, so that a cast to float32 loses no more than the rows' rounding.
        O(n d) time and memory.
        """

    @abstractmethod
    def fill(self, A: Any, B: Any, out: Array) -> None:
        """``out[i, j] = k(a_i, b_j)`` for packed rows, in place."""

    @abstractmethod
    def diag(self, X: Rows) -> Array:
        """``k(x_i, x_i)`` for each row."""

    def exact(self, X: Rows, Y: Rows) -> Array:
        """``k(x_i, y_j)`` by its definition, in float64: what everything faster is audited with.

        No shift, no product formula for distances, no tile, and no rounding in common with these:
        functions that magnify it are taken in extended precision. O(n m d) time, several times
        slower than tiles; for a few rows. Kernels that write only ``pack`` and ``fill`` are audited
        through these, in float64.
        """
        if self.takes_vectors:
            X, Y = (points.rows for points in alike(X, Y))
        A, B = (self.pack(rows, None, np.float64) for rows in (X, Y))
        out = np.empty((len(A), len(B)))
        self.fill(A, B, out)
        return out

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:  # noqa: ARG002
        """By how many roundings of its type an entry of a tile may be off."""
        return 1.0

    @abstractmethod
    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        r"""Gradients of weighted sums: :math:`\nabla_{z_j} \sum_i G_{ji}\, k(z_j, s_i)`.

        Parameters
        ----------
        Z : (m, d) points at which to differentiate
        S : (n, d) points of the expansion
        G : (m, n) a row of weights for each point

        Returns
        -------
        (m, d) array
        """

    @abstractmethod
    def diag_gradient(self, Z: Array) -> Array:
        r"""Gradients :math:`\nabla_{z_j} k(z_j, z_j)`, shape (m, d)."""

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array] | None:  # noqa: ARG002
        r"""Tiles P and Q, (n, m), of :math:`\nabla_x k(x, s) = P(x, s)\, x + Q(x, s)\, s`.

        None for a kernel that is not of this form.
        """
        return None

    def tile(self, X: Rows, S: Rows) -> Array:
        """``k(x_i, s_j)`` as one tile, for a block of rows."""
        origin = self.origin(S)
        out = np.empty((len(X), len(S)), dtype=np.result_type(X.dtype, S.dtype))
        self.fill(self.pack(X, origin), self.pack(S, origin), out)
        return out

    def __call__(self, X: Rows, Y: Rows = None) -> Array:
        """The dense matrix ``k(x_i, y_j)``; O(n m d) time and O(n m) memory.

        Meant for a look at a kernel; fitting never calls it.
        """
        from mercer.kernels.basis import Basis

        X = X if self.takes_objects else full_precision(X)
        resolved = self.resolve(X)
        if Y is None:
            return Basis(resolved, X).gram()
        return Basis(resolved, Y if self.takes_objects else full_precision(Y)).at(X)

    def __add__(self, other: Kernel) -> Sum:
        from mercer.kernels.composite import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Product | Scaled:
        from mercer.kernels.composite import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        if not isinstance(other, Real):
            return NotImplemented
        return Scaled(other, self)

    def __rmul__(self, factor: float) -> Product | Scaled:
        return self * factor


class ProfileKernel(Kernel):
    """A function f of one number t for each pair of points: of their distance, or dot product."""

    takes_sparse = True
    is_invertible = True

    @abstractmethod
    def profile(self, t: Array) -> Array:
        """f(t), written into ``t`` itself."""

    def slope(self, t: Array) -> Array:
        """f'(t), written into ``t`` itself; by the formula if it is not overridden."""
        t[...] = self.formula(t, np)[1]
        return t

    def formula(self, t: Any, xp: Any) -> tuple[Any, Any]:
        """f(t) and f'(t), pure, by the names of an array namespace: ``exp``, ``log1p``.

        What :meth:`profile` says in place, for those who cannot write into t: other devices, and
        the export to ONNX.
        """
        raise NotImplementedError

    @abstractmethod
    def invert(self, k: Array) -> Array:
        """The argument t with f(t) = k; :class:`KernelError` if f cannot be inverted."""


@dataclass(frozen=True)
class PackedParts:
    """Rows made ready in several parts of one length, for tiles of a type; cut all at once."""

    parts: tuple[Any, ...]
    dtype: np.dtype

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, rows: slice) -> PackedParts:
        return PackedParts(tuple(part[rows] for part in self.parts), self.dtype)


def has_formula(kernel: Kernel) -> bool:
    """Whether the class that says what the kernel is in place says so in a formula, too."""
    words = {"profile", "slope", "_cost", "formula"}
    says = next((k for k in type(kernel).__mro__ if words & set(vars(k))), Kernel)
    return "formula" in vars(says) and not isabstract(says)


def full_precision(X: Rows) -> Any:
    """Rows as a floating array: float32 stays float32, everything else becomes float64."""
    if isinstance(X, Points):
        return X.rows
    if issparse(X):
        rows = SparseRows.of(X)
        return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    X = np.asarray(X)
    kept = X.dtype in (np.float32, np.float64)
    return np.asarray(X if kept else X.astype(np.float64))
