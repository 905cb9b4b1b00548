"""Sums, products and positive multiples of kernels, and kernels of directions: again kernels."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import numpy as np

from mercer._base.linalg import SQUARABLE
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import KernelError
from mercer.kernels import require
from mercer.kernels.base import Kernel, Origin, PackedParts
from mercer.kernels.basis import Basis
from mercer.kernels.dot_product import Cosine, Linear, along_sphere
from mercer.kernels.radial import RadialKernel
from mercer.kernels.width import sampled
from mercer.points import Points, Vectors, as_points
from mercer.points.tiles import Packed


def _of_parts(combine: Callable[[Iterable[bool]], bool], name: str, doc: str) -> Any:
    """A property of a composite that is all, or any, of that of its parts."""
    return property(lambda self: combine(getattr(part, name) for part in self.parts), doc=doc)


class _Composite(Kernel):
    """A kernel that can what all of its parts can."""

    is_mercer = _of_parts(all, "is_mercer", "True if all parts are.")
    takes_objects = _of_parts(all, "takes_objects", "True if all parts do.")
    takes_sparse = _of_parts(all, "takes_sparse", "True if all parts do.")
    has_gradient = _of_parts(all, "has_gradient", "True if all parts have one.")
    is_positive = _of_parts(all, "is_positive", "True if all parts are.")
    is_nonnegative = _of_parts(any, "is_nonnegative", "True if one part must have it so.")

    def check(self) -> None:
        for part in self.parts:
            if not isinstance(part, Kernel):
                raise KernelError(f"{part!r} is not a kernel; combine kernels of mercer.kernels.")
            part.check()

    def resolve(self, X: Rows, weight: Array | None = None) -> Self:
        self.check()
        own = self.get_params(deep=False)
        parts = {k: v.resolve(X, weight) for k, v in own.items() if isinstance(v, Kernel)}
        return type(self)(**{**own, **parts})


class _Pair(_Composite):
    """Two kernels on the same rows."""

    def __init__(self, k1: Kernel, k2: Kernel) -> None:
        self.k1 = k1
        self.k2 = k2

    @property
    def parts(self) -> tuple[Kernel, Kernel]:  # type: ignore[override]
        """Both."""
        return self.k1, self.k2

    def origin(self, X: Rows) -> tuple[Origin, Origin]:
        """One for each part: what one kernel does not notice may be all that the other sees."""
        return self.k1.origin(X), self.k2.origin(X)

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> PackedParts:
        pairs = zip(self.parts, origin or (None, None), strict=True)
        packed = tuple(part.pack(X, own, dtype) for part, own in pairs)
        return PackedParts(packed, np.result_type(*(part.dtype for part in packed)))

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:
        pairs = zip(self.parts, origin or (None, None), strict=True)
        return sum(part.rounding(X, own, dtype) for part, own in pairs)

    #: What becomes of the values of both.
    _combine: ClassVar[np.ufunc]

    @abstractmethod
    def _factors(self, values: Callable[[Kernel], Array]) -> tuple[Array | float, Array | float]:
        """What the derivative of each part is multiplied by, from the values of the parts."""

    def fill(self, A: PackedParts, B: PackedParts, out: Array) -> None:
        self.k1.fill(A.parts[0], B.parts[0], out)
        second = np.empty(out.shape, dtype=out.dtype)
        self.k2.fill(A.parts[1], B.parts[1], second)
        self._combine(out, second, out=out)

    def diag(self, X: Rows) -> Array:
        return np.asarray(self._combine(self.k1.diag(X), self.k2.diag(X)))

    def exact(self, X: Rows, Y: Rows) -> Array:
        return np.asarray(self._combine(self.k1.exact(X, Y), self.k2.exact(X, Y)))

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        first, second = self._factors(lambda part: Basis(part, Vectors(S)).at(Z))
        return self.k1.gradient(Z, S, G * first) + self.k2.gradient(Z, S, G * second)

    def diag_gradient(self, Z: Array) -> Array:
        first, second = self._factors(lambda part: part.diag(Z)[:, None])
        return np.asarray(self.k1.diag_gradient(Z) * first + self.k2.diag_gradient(Z) * second)

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array] | None:
        one, two = (part.slopes(X, S) for part in self.parts)
        if one is None or two is None:
            return None
        first, second = self._factors(lambda part: part.tile(X, S))
        return one[0] * first + two[0] * second, one[1] * first + two[1] * second


class Sum(_Pair):
    """``k1 + k2``: the two feature spaces side by side.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> kernel = 0.7 * Gaussian(sigma=2) + Polynomial(3)
    >>> kernel.get_params()["k1__kernel__sigma"]
    2
    """

    _combine = np.add

    def _factors(self, values: Callable[[Kernel], Array]) -> tuple[float, float]:  # noqa: ARG002
        return 1.0, 1.0


class Product(_Pair):
    """``k1 * k2``: products of the features of both."""

    _combine = np.multiply

    def _factors(self, values: Callable[[Kernel], Array]) -> tuple[Array, Array]:
        return values(self.k2), values(self.k1)


class Scaled(_Composite):
    """``factor * kernel`` with a positive factor."""

    def __init__(self, factor: float, kernel: Kernel) -> None:
        self.factor = factor
        self.kernel = kernel

    @property
    def parts(self) -> tuple[Kernel]:  # type: ignore[override]
        """The one that is multiplied."""
        return (self.kernel,)

    @property
    def radial(self) -> RadialKernel | None:  # type: ignore[override]
        """That of the kernel which is multiplied."""
        return self.kernel.radial

    def check(self) -> None:
        require.positive("factor", self.factor)
        super().check()

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

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array] | None:
        inner = self.kernel.slopes(X, S)
        return None if inner is None else (self.factor * inner[0], self.factor * inner[1])


class Normalized(_Composite):
    r""":math:`k(x / \|x\|,\, y / \|y\|)`: the directions of the rows only, as of embeddings.

    With a Gaussian it is a function of the angle that knows neighbours, which :class:`Cosine` does
    not. A row of zeros has no direction, and stays the zero. Lengths are lost: pre-images, by
    gradient, are right up to theirs.

    Parameters
    ----------
    kernel : Kernel
        Of vectors; rules such as ``gamma="median"`` see the rows divided by their lengths.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Normalized
    >>> Normalized(Gaussian(gamma=1.0))([[1.0, 0.0]], [[5.0, 0.0], [0.0, 2.0]]).round(4)
    array([[1.    , 0.1353]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def parts(self) -> tuple[Kernel]:  # type: ignore[override]
        """The one that sees the directions."""
        return (self.kernel,)

    def check(self) -> None:
        super().check()
        if not self.kernel.takes_vectors:
            raise KernelError(f"{self.kernel!r} is not of vectors, which alone have directions.")

    def resolve(self, X: Rows, weight: Array | None = None) -> Self:
        self.check()
        points = as_points(X)
        if not points.is_here:  # a sample stands for it, as for the variance
            points, weight = sampled(X, weight)
        return type(self)(self.kernel.resolve(points.unit().rows, weight))

    def origin(self, X: Rows) -> Origin:
        return self.kernel.origin(_unit(X))

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> Packed:
        return self.kernel.pack(_unit(X, dtype), origin, dtype or X.dtype)

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:
        return self.kernel.rounding(_unit(X), origin, dtype) + 1

    def fill(self, A: Packed, B: Packed, out: Array) -> None:
        self.kernel.fill(A, B, out)

    def diag(self, X: Rows) -> Array:
        return np.asarray(self.kernel.diag(_unit(X)), dtype=X.dtype)

    def exact(self, X: Rows, Y: Rows) -> Array:
        return self.kernel.exact(*(_unit(rows, np.float64) for rows in (X, Y)))

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        unit = _unit(Z)
        return along_sphere(Z, unit, self.kernel.gradient(unit, _unit(S), G))

    def diag_gradient(self, Z: Array) -> Array:
        unit = _unit(Z)
        return along_sphere(Z, unit, self.kernel.diag_gradient(unit))

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array] | None:
        inner = self.kernel.slopes(_unit(X), _unit(S))
        if inner is None:
            return None
        # (I - x̂x̂ᵀ)(P x̂ + Q ŝ) / |x| = Q (ŝ - x̂ cos) / |x|: what points along x is lost
        x, s = (np.sqrt(Linear().diag(rows)) for rows in (X, S))
        x, s = (np.where(norm == 0, np.inf, norm) for norm in (x, s))
        Q = inner[1] / x[:, None]
        return -Q * Cosine().tile(X, S) / x[:, None], Q / s


def _unit(X: Rows, dtype: Precision = None) -> Rows:
    """Rows divided by their lengths; zeros stay zeros."""
    return as_points(X).unit(dtype).rows
