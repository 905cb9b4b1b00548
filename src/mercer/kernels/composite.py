"""Sums, products and positive multiples of kernels, and kernels of directions: again kernels."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from operator import mul
from typing import Any, Self

import numpy as np

from mercer._base.linalg import SQUARABLE
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import KernelError
from mercer.kernels import require
from mercer.kernels.base import Kernel, Origin, PackedParts
from mercer.kernels.basis import Basis
from mercer.kernels.dot_product import Linear
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

    #: What becomes of the values of the parts, maybe written into ``out``.
    _combine: Callable[..., Array]

    @abstractmethod
    def _factors(self, values: Callable[[Kernel], Array]) -> tuple[Array | float, ...]:
        """What the derivative of each part is multiplied by, from the values of the parts."""

    def seen(self, X: Rows, dtype: Precision = None) -> Rows:  # noqa: ARG002
        """The rows as the parts see them."""
        return X

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

    def diag(self, X: Rows) -> Array:
        X = self.seen(X)
        return np.asarray(self._combine(*(part.diag(X) for part in self.parts)))

    def exact(self, X: Rows, Y: Rows) -> Array:
        X, Y = (self.seen(rows, np.float64) for rows in (X, Y))
        return np.asarray(self._combine(*(part.exact(X, Y) for part in self.parts)))

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        Z, S = self.seen(Z), self.seen(S)
        factors = self._factors(lambda part: Basis(part, Vectors(S)).at(Z))
        both = zip(self.parts, factors, strict=True)
        return np.asarray(sum(part.gradient(Z, S, G * factor) for part, factor in both))

    def diag_gradient(self, Z: Array) -> Array:
        Z = self.seen(Z)
        factors = self._factors(lambda part: part.diag(Z)[:, None])
        both = zip(self.parts, factors, strict=True)
        return np.asarray(sum(part.diag_gradient(Z) * factor for part, factor in both))

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array] | None:
        X, S = self.seen(X), self.seen(S)
        PQ: Any = [part.slopes(X, S) for part in self.parts]
        if None in PQ:
            return None
        factors = self._factors(lambda part: part.tile(X, S))
        P, Q = (sum(map(mul, part, factors)) for part in zip(*PQ, strict=True))
        return P, Q


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

    def fill(self, A: PackedParts, B: PackedParts, out: Array) -> None:
        self.k1.fill(A.parts[0], B.parts[0], out)
        second = np.empty(out.shape, dtype=out.dtype)
        self.k2.fill(A.parts[1], B.parts[1], second)
        self._combine(out, second, out=out)


class Sum(_Pair):
    """``k1 + k2``: the two feature spaces side by side.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> kernel = 0.7 * Gaussian(sigma=2) + Polynomial(3)
    >>> kernel.get_params()["k1__kernel__sigma"]
    2
    """

    _combine = staticmethod(np.add)

    def _factors(self, values: Callable[[Kernel], Array]) -> tuple[float, float]:  # noqa: ARG002
        return 1.0, 1.0


class Product(_Pair):
    """``k1 * k2``: products of the features of both."""

    _combine = staticmethod(np.multiply)

    def _factors(self, values: Callable[[Kernel], Array]) -> tuple[Array, Array]:
        return values(self.k2), values(self.k1)


class _Around(_Composite):
    """One kernel whose values are multiplied, or which sees something else of the rows."""

    kernel: Kernel
    factor = 1.0

    @property
    def parts(self) -> tuple[Kernel]:  # type: ignore[override]
        """The one."""
        return (self.kernel,)

    def _combine(self, value: Array, out: Array | None = None) -> Array:
        return np.asarray(np.multiply(value, self.factor, out=out, casting="same_kind"))

    def _factors(self, values: Callable[[Kernel], Array]) -> tuple[float]:  # noqa: ARG002
        return (self.factor,)

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        # Not of weights that are multiplied: a copy of them all, which may leave float32.
        inner = self.kernel.gradient(self.seen(Z), self.seen(S), G)
        return np.asarray(inner * self.factor)

    def origin(self, X: Rows) -> Origin:
        return self.kernel.origin(self.seen(X))

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:
        return self.kernel.rounding(self.seen(X), origin, dtype)


class Scaled(_Around):
    """``factor * kernel`` with a positive factor."""

    is_pairwise = _of_parts(all, "is_pairwise", "True if rows are values of the kernel.")

    def __init__(self, factor: float, kernel: Kernel) -> None:
        self.factor = factor
        self.kernel = kernel

    @property
    def radial(self) -> RadialKernel | None:  # type: ignore[override]
        """That of the kernel which is multiplied."""
        return self.kernel.radial

    def check(self) -> None:
        require.positive("factor", self.factor)
        super().check()

    def points(self, X: Rows) -> Points:
        return self.kernel.points(X)

    @property
    def _leaves_float32(self) -> bool:
        """Whether values that the factor brings into the range of float32 may be outside of it."""
        return not 1 / SQUARABLE < self.factor < SQUARABLE

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> Packed:
        return self.kernel.pack(X, origin, np.float64 if self._leaves_float32 else dtype)

    def fill(self, A: Packed, B: Packed, out: Array) -> None:
        values = np.empty(out.shape) if self._leaves_float32 else out
        self.kernel.fill(A, B, values)
        self._combine(values, out=out)


class _OfDirections(_Around):
    """A kernel that sees rows divided by their lengths."""

    def seen(self, X: Rows, dtype: Precision = None) -> Rows:
        return as_points(X).unit(dtype).rows  # zeros stay zeros

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> Packed:
        return self.kernel.pack(self.seen(X, dtype), origin, dtype or X.dtype)

    def diag(self, X: Rows) -> Array:
        return np.asarray(super().diag(X), dtype=X.dtype)  # directions of sparse rows are float64

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:
        return super().rounding(X, origin, dtype) + 1

    def fill(self, A: Packed, B: Packed, out: Array) -> None:
        self.kernel.fill(A, B, out)

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        return along_sphere(Z, self.seen(Z), super().gradient(Z, S, G))

    def diag_gradient(self, Z: Array) -> Array:
        return along_sphere(Z, self.seen(Z), super().diag_gradient(Z))

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array] | None:
        inner = super().slopes(X, S)
        if inner is None:
            return None
        # (I - x̂x̂ᵀ)(P x̂ + Q ŝ) / |x| = Q (ŝ - x̂ cos) / |x|: what points along x is lost
        norms = (np.sqrt(Linear().diag(rows)) for rows in (X, S))
        x, s = (np.where(norm == 0, np.inf, norm) for norm in norms)
        Q, cos = inner[1] / x[:, None], Linear().tile(self.seen(X), self.seen(S))
        return -Q * cos / x[:, None], Q / s


class Normalized(_OfDirections):
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


class Cosine(_OfDirections):
    r""":math:`k(x, y) = x \cdot y / (\|x\| \|y\|)`: the angle only; zero for a zero row."""

    kernel = Linear()

    def origin(self, X: Rows) -> Origin:
        """None; for sparse rows, which of their columns are full."""
        return as_points(X).origin(shift=False)

    def rounding(self, X: Rows, origin: Origin, dtype: np.dtype) -> float:  # noqa: ARG002
        return 1.0

    def diag(self, X: Rows) -> Array:
        return np.asarray(as_points(X).is_filled(), dtype=X.dtype)

    def diag_gradient(self, Z: Array) -> Array:
        return np.zeros_like(Z)


def along_sphere(Z: Array, unit: Array, pull: Array) -> Array:
    """``(I - ẑẑᵀ) pull / |z|``; nothing for a zero row."""
    along = np.einsum("ij,ij->i", pull, unit)[:, None]
    norm = np.einsum("ij,ij->i", Z, unit)[:, None]  # no squares, which might overflow
    return np.asarray((pull - along * unit) / np.where(norm == 0, np.inf, norm))
