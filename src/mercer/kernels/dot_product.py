r"""Kernels of the dot product alone: :math:`k(x, y) = f(x \cdot y)`."""

from typing import Any, ClassVar, Self

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import KernelError
from mercer.kernels import require
from mercer.kernels.base import Origin, ProfileKernel, has_formula
from mercer.kernels.width import variance_length
from mercer.points import alike, as_points
from mercer.points.packed import dot_products
from mercer.points.tiles import Packed


class DotProductKernel(ProfileKernel):
    """A kernel that depends on the dot product of its points only; the argument of f is p here."""

    def origin(self, X: Rows) -> Origin:
        """None: a shift changes dot products. For sparse rows, which of their columns are full."""
        return as_points(X).origin(shift=False)

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> Packed:
        return as_points(X).for_products(origin, dtype)  # type: ignore[no-any-return]

    def fill(self, A: Any, B: Any, out: Array) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            dot_products(A, B, out)
            self.profile(out)
        self._finite(out, A, B)

    def exact(self, X: Rows, Y: Rows) -> Array:
        if not has_formula(self):
            return super().exact(X, Y)
        X, Y = alike(X, Y)
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.asarray(self.formula(X.exact_products(Y), np)[0], dtype=np.float64)
        return self._finite(K, X, Y)

    def diag(self, X: Rows) -> Array:
        points = as_points(X)
        with np.errstate(over="ignore", invalid="ignore"):
            diag = self.profile(points.square_sums())
        return self._finite(diag, points)

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        return np.asarray((G * self.slope(Z @ S.T)) @ S)

    def diag_gradient(self, Z: Array) -> Array:
        return np.asarray(2 * Z * self.slope(square_sums(Z))[:, None])

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array]:
        Q = self.slope(Linear().tile(X, S))
        return np.zeros_like(Q), Q

    def _finite(self, K: Array, *rows: Any) -> Array:
        """The values themselves; an error that says how large the rows are if they overflow."""
        if not np.isfinite(K).all():
            most = max(x.largest if hasattr(x, "largest") else np.abs(x).max() for x in rows)
            large = f"{self!r} overflows {K.dtype}: the rows reach a magnitude of {most:.3g}"
            raise KernelError(f"{large}; scale them first.")
        return K


class Linear(DotProductKernel):
    r""":math:`k(x, y) = x \cdot y`: kernel PCA with it is PCA.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def profile(self, p: Array) -> Array:
        return p

    def formula(self, p: Any, xp: Any) -> tuple[Any, Any]:  # noqa: ARG002
        return p, p * 0 + 1

    def invert(self, k: Array) -> Array:
        return k


class _Affine(DotProductKernel):
    r"""f of an affine argument :math:`a = \gamma\, x \cdot y + c_0`."""

    gamma: float | str
    coef0: float

    def check(self) -> None:
        require.positive_or("gamma", self.gamma, ("scale",))
        require.finite("coef0", self.coef0)

    def resolve(self, X: Array, weight: Array | None = None) -> Self:
        self.check()
        if not isinstance(self.gamma, str):
            return self
        length = variance_length(X, weight)
        return type(self)(**{**self.get_params(deep=False), "gamma": 1 / length / length})

    def affine(self, p: Array) -> Array:
        """``p = gamma * p + coef0`` in place."""
        gamma = require.number("gamma", self.gamma)
        if gamma != 1:
            p *= gamma
        if self.coef0:
            p += self.coef0
        return p

    def unaffine(self, a: Array) -> Array:
        """The dot product that has the affine argument ``a``."""
        return np.asarray((a - self.coef0) / float(self.gamma))


class Polynomial(_Affine):
    r""":math:`k(x, y) = (\gamma\, x \cdot y + c_0)^p`.

    Parameters
    ----------
    degree : int, default=3
    gamma : float or "scale", default=1.0
        ``"scale"``: one over (number of columns × variance of all entries).
    coef0 : float, default=1.0
        Zero gives Mika's homogeneous kernel; negative values are not positive definite.
    """

    def __init__(self, degree: int = 3, *, gamma: float | str = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def check(self) -> None:
        super().check()
        if not isinstance(self.degree, int | np.integer) or self.degree < 1:
            raise KernelError(f"degree={self.degree!r} must be a whole number of at least 1.")
        if self.coef0 < 0:
            raise KernelError(f"coef0={self.coef0} makes the kernel indefinite; give 0 or more.")

    @property
    def is_invertible(self) -> bool:  # type: ignore[override]
        """True for odd degrees."""
        return self.degree % 2 == 1  # an even power hides the sign of x·y

    def profile(self, p: Array) -> Array:
        a = self.affine(p)
        if self.degree > 1:
            a *= _by_squaring(a, self.degree - 1)
        return a

    def formula(self, p: Any, xp: Any) -> tuple[Any, Any]:  # noqa: ARG002
        d, gamma = self.degree, require.number("gamma", self.gamma)
        a = p * gamma + self.coef0
        # Products are exact where a power may be the exponential of a logarithm.
        return _by_squaring(a, d), _by_squaring(a, d - 1) * (d * gamma)

    def slope(self, p: Array) -> Array:
        power = _by_squaring(self.affine(p), self.degree - 1)
        return np.asarray(np.multiply(power, self.degree * float(self.gamma), out=p))

    def invert(self, k: Array) -> Array:
        if self.degree % 2 == 0:
            raise KernelError(f"degree={self.degree} hides the sign of x·y; give an odd degree.")
        return self.unaffine(np.sign(k) * np.abs(k) ** (1 / self.degree))


class Sigmoid(_Affine):
    r""":math:`k(x, y) = \tanh(\gamma\, x \cdot y + c_0)`: not positive definite in general.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
    coef0 : float, default=0.0
    """

    is_mercer: ClassVar[bool] = False

    def __init__(self, gamma: float | str = "scale", *, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def profile(self, p: Array) -> Array:
        return np.asarray(np.tanh(self.affine(p), out=p))

    def formula(self, p: Any, xp: Any) -> tuple[Any, Any]:
        gamma = require.number("gamma", self.gamma)
        k = xp.tanh(p * gamma + self.coef0)
        return k, (1 - k * k) * gamma

    def invert(self, k: Array) -> Array:
        return self.unaffine(np.arctanh(k))


def _by_squaring(a: Any, degree: int) -> Any:
    """``a ** degree``, pure, by products."""
    if degree <= 1:
        return a if degree else a * 0 + 1
    half = _by_squaring(a, degree // 2)
    return half * half * a if degree % 2 else half * half
