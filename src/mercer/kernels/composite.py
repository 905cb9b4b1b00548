"""Sums, products and positive multiples of kernels: again kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._base.linalg import SQUARABLE
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import KernelError
from mercer.kernels.base import Kernel, Origin, require_positive
from mercer.kernels.basis import Basis
from mercer.kernels.radial import RadialKernel
from mercer.points import Points, Vectors
from mercer.points.tiles import Packed


@dataclass(frozen=True)
class _PackedTwice:
    """The same rows, packed for each of two kernels."""

    parts: tuple[Packed, Packed]

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(self.parts[0].dtype, self.parts[1].dtype)

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, rows: slice) -> _PackedTwice:
        return _PackedTwice((self.parts[0][rows], self.parts[1][rows]))


class _Composite(Kernel):
    """A kernel that can what all of its parts can."""

    @property
    def is_mercer(self) -> bool:  # type: ignore[override]
        """True if all parts are."""
        return all(part.is_mercer for part in self.parts)

    @property
    def takes_objects(self) -> bool:  # type: ignore[override]
        """True if all parts do."""
        return all(part.takes_objects for part in self.parts)

    @property
    def takes_sparse(self) -> bool:
        return all(part.takes_sparse for part in self.parts)

    @property
    def has_gradient(self) -> bool:
        return all(part.has_gradient for part in self.parts)

    @property
    def is_nonnegative(self) -> bool:
        return any(part.is_nonnegative for part in self.parts)

    def check(self) -> None:
        for part in self.parts:
            if not isinstance(part, Kernel):
                raise KernelError(f"{part!r} is not a kernel; combine kernels of mercer.kernels.")
            part.check()


class _Pair(_Composite):
    """Two kernels on the same rows."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.k1, self.k2

    def resolve(self, X: Rows, weight: Array | None = None) -> Self:
        self.check()
        return type(self)(self.k1.resolve(X, weight), self.k2.resolve(X, weight))

    def origin(self, X: Rows) -> tuple[Origin, Origin]:
        """One for each part: what one kernel does not notice may be all that the other sees."""
        return self.k1.origin(X), self.k2.origin(X)

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> _PackedTwice:
        first, second = origin or (None, None)
        return _PackedTwice((self.k1.pack(X, first, dtype), self.k2.pack(X, second, dtype)))

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:
        pairs = zip(self.parts, origin or (None, None), strict=True)
        return sum(part.rounding(X, own, dtype) for part, own in pairs)

    def _tiles(self, A: _PackedTwice, B: _PackedTwice, out: Array) -> Array:
        """The first kernel into ``out``, the second into a tile of its own."""
        self.k1.fill(A.parts[0], B.parts[0], out)
        second = np.empty(out.shape, dtype=out.dtype)
        self.k2.fill(A.parts[1], B.parts[1], second)
        return second


class Sum(_Pair):
    """``k1 + k2``: the two feature spaces side by side.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> kernel = 0.7 * Gaussian(sigma=2) + Polynomial(3)
    >>> kernel.get_params()["k1__kernel__sigma"]
    2
    """

    def fill(self, A: _PackedTwice, B: _PackedTwice, out: Array) -> None:
        out += self._tiles(A, B, out)

    def diag(self, X: Rows) -> Array:
        return self.k1.diag(X) + self.k2.diag(X)

    def exact(self, X: Rows, Y: Rows) -> Array:
        return self.k1.exact(X, Y) + self.k2.exact(X, Y)

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        return self.k1.gradient(Z, S, G) + self.k2.gradient(Z, S, G)

    def diag_gradient(self, Z: Array) -> Array:
        return self.k1.diag_gradient(Z) + self.k2.diag_gradient(Z)


class Product(_Pair):
    """``k1 * k2``: products of the features of both."""

    def fill(self, A: _PackedTwice, B: _PackedTwice, out: Array) -> None:
        out *= self._tiles(A, B, out)

    def diag(self, X: Rows) -> Array:
        return self.k1.diag(X) * self.k2.diag(X)

    def exact(self, X: Rows, Y: Rows) -> Array:
        return self.k1.exact(X, Y) * self.k2.exact(X, Y)

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        first, second = (Basis(part, Vectors(S)).at(Z) for part in (self.k1, self.k2))
        return self.k1.gradient(Z, S, G * second) + self.k2.gradient(Z, S, G * first)

    def diag_gradient(self, Z: Array) -> Array:
        first, second = self.k1.diag(Z)[:, None], self.k2.diag(Z)[:, None]
        return np.asarray(self.k1.diag_gradient(Z) * second + self.k2.diag_gradient(Z) * first)


class Scaled(_Composite):
    """``factor * kernel`` with a positive factor."""

    def __init__(self, factor: float, kernel: Kernel) -> None:
        self.factor = factor
        self.kernel = kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    @property
    def radial(self) -> RadialKernel | None:
        return self.kernel.radial

    def check(self) -> None:
        require_positive("factor", self.factor)
        super().check()

    def resolve(self, X: Rows, weight: Array | None = None) -> Self:
        self.check()
        return type(self)(self.factor, self.kernel.resolve(X, weight))

    @property
    def is_pairwise(self) -> bool:  # type: ignore[override]
        """True if rows are values of the kernel that is multiplied."""
        return self.kernel.is_pairwise

    def points(self, X: Rows) -> Points:
        return self.kernel.points(X)

    @property
    def _leaves_float32(self) -> bool:
        """Whether values that the factor brings into the range of float32 may be outside of it."""
        return not 1 / SQUARABLE < self.factor < SQUARABLE

    def origin(self, X: Rows) -> Origin:
        return self.kernel.origin(X)

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> Packed:
        return self.kernel.pack(X, origin, np.float64 if self._leaves_float32 else dtype)

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:
        return self.kernel.rounding(X, origin, dtype)

    def fill(self, A: Packed, B: Packed, out: Array) -> None:
        values = np.empty(out.shape) if self._leaves_float32 else out
        self.kernel.fill(A, B, values)
        np.multiply(values, self.factor, out=out, casting="same_kind")

    def diag(self, X: Rows) -> Array:
        return self.factor * self.kernel.diag(X)

    def exact(self, X: Rows, Y: Rows) -> Array:
        return self.factor * self.kernel.exact(X, Y)

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        return self.factor * self.kernel.gradient(Z, S, G)

    def diag_gradient(self, Z: Array) -> Array:
        return self.factor * self.kernel.diag_gradient(Z)
