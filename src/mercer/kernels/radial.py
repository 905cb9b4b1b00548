r"""Kernels of the distance alone: :math:`k = f(t)` with :math:`t = -\|x - y\|^2 / \ell^2 \le 0`.

The argument is negative because that is what one matrix product gives and what ``exp`` wants:
rows shifted by the mean and divided by ℓ give ``t = [√2 x, −|x|², 1] @ [√2 y, 1, −|y|²]ᵀ``.
"""

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from mercer._base.config import with_parameters
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import KernelError
from mercer.kernels import require
from mercer.kernels.base import Origin, ProfileKernel, has_formula
from mercer.kernels.width import resolve_length
from mercer.points import alike, as_points
from mercer.points.packed import WIDE
from mercer.points.tiles import Packed

#: Profiles that get steeper than this at t = 0 have a kink there (Matérn 1/2).
KINK = 1e5
#: The slope of Matérn 1/2 at a = 0 is infinite; its value there is cut off here.
NEAREST = 1e-12
#: exp(-a) is zero from here on, and the polynomials beside it must not be infinite.
FADED = 1e3


class RadialKernel(ProfileKernel):
    """A kernel that depends on the distance of its points only.

    Its profile is asked for t ≤ 0, and inverted for 0 < k ≤ 1.
    """

    is_positive = True  # a profile that changes its sign has to say so

    @property
    def radial(self) -> "RadialKernel":  # type: ignore[override]
        """The kernel itself."""
        return self

    @property
    @abstractmethod
    def length(self) -> float:
        """The length ℓ that distances are measured in."""

    def with_length(self, length: float) -> Self:
        """The same kernel with another ℓ; for kernels whose only width is ``length_scale``."""
        parameters = self.get_params(deep=False)
        if "length_scale" not in parameters:
            raise KernelError(f"{type(self).__name__} has no length_scale; define with_length().")
        return type(self)(**{**parameters, "length_scale": length})

    def profile_and_slope(self, t: Array) -> tuple[Array, Array]:
        """f(t) and f'(t); ``t`` is overwritten."""
        if not has_formula(self):
            return self.profile(t.copy()), self.slope(t)
        k, slope = (np.asarray(part, dtype=t.dtype) for part in self.formula(t, np))
        return k, slope

    def origin(self, X: Rows) -> Any:
        """The mean: distances do not change, and far fewer digits cancel.

        Of sparse rows only in columns that are full: a shift would fill the zeros of the others.
        """
        return as_points(X).origin(shift=True)

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> Packed:
        return as_points(X).for_distances(origin, dtype, self.length)  # type: ignore[no-any-return]

    def arguments(self, A: Any, B: Any, out: Array) -> Array:
        """``out = t``, between the kernel's floor and 0."""
        A.negative_squares(B, out, self.is_kinked)
        return np.clip(out, self.floor(out.dtype), 0, out=out)

    @property
    def is_kinked(self) -> bool:
        """Whether f has an infinite slope at 0, which makes small errors of t large ones of k."""
        return False

    def floor(self, dtype: np.dtype[Any]) -> float:  # noqa: ARG002
        """Arguments below this give the same k to rounding and may be raised to it."""
        return -np.inf

    def fill(self, A: Any, B: Any, out: Array) -> None:
        self.profile(self.arguments(A, B, out))

    def diag(self, X: Rows) -> Array:
        return np.ones(len(X), dtype=X.dtype)

    def exact(self, X: Rows, Y: Rows) -> Array:
        X, Y = alike(X, Y)
        t = -X.exact_squares(Y, self.length)
        np.maximum(t, self.floor(t.dtype), out=t)
        # Not by the in-place formula of the tiles, whose rounding is to be seen.
        return np.asarray(self.formula(t, np)[0] if has_formula(self) else self.profile(t))

    def rounding(self, X: Rows, origin: Any, dtype: np.dtype) -> float:
        # The product formula of the distances errs by eps·|x|²/ℓ², up to where pairs are measured.
        return float(1 + min(2 * as_points(X).reach(origin, self.length), WIDE[dtype.char]))

    def gradient(self, Z: Array, S: Array, G: Array) -> Array:
        # t = -|z-s|²/ℓ²  =>  dk/dz = f'(t) · (-2/ℓ²) (z - s)
        origin = self.origin(S)
        t = np.empty((len(Z), len(S)), dtype=G.dtype)
        W = G * self.slope(self.arguments(self.pack(Z, origin), self.pack(S, origin), t))
        Zs, Ss = (Z - origin) / self.length, (S - origin) / self.length
        return np.asarray(-2 / self.length * (W.sum(axis=1, keepdims=True) * Zs - W @ Ss))

    def diag_gradient(self, Z: Array) -> Array:
        return np.zeros_like(Z)

    def slopes(self, X: Rows, S: Rows) -> tuple[Array, Array]:
        origin = self.origin(S)
        t = np.empty((len(X), len(S)), dtype=np.result_type(X.dtype, S.dtype))
        Q = self.slope(self.arguments(self.pack(X, origin), self.pack(S, origin), t))
        if self.slope(np.zeros(1))[0] > KINK:
            Q[Q > KINK] = 0  # at a kink the direction of x - s is rounding; 0 is a subgradient
        Q *= 2 / self.length / self.length
        return -Q, Q


@with_parameters
class Gaussian(RadialKernel):
    r""":math:`k(x, y) = \exp(-\gamma \|x - y\|^2)`.

    Give the width in one of the three ways that people write it:

    ==========  ==========================  ================================================
    parameter   kernel                      who writes it so
    ==========  ==========================  ================================================
    ``gamma``   exp(−γ r²)                  scikit-learn, LIBSVM, kernlab (its ``sigma``)
    ``sigma``   exp(−r² / 2σ²)              Schreurs & Suykens 2018, statistics
    ``width``   exp(−r² / width²)           Tipping 2001 (r); Mika et al. 1999: width² = n·c
    ==========  ==========================  ================================================

    Parameters
    ----------
    gamma : float, "median" or "scale", optional
        ``"median"``: one over the median squared distance between different points (the default
        when nothing is given). ``"scale"``: one over (number of columns × variance of all entries).
    sigma, width : float, optional
        Instead of ``gamma``.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian(sigma=1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    gamma: float | str | None = None
    _: KW_ONLY
    sigma: float | None = None
    width: float | None = None

    def check(self) -> None:
        widths = {k: v for k, v in self.get_params(deep=False).items() if v is not None}
        if len(widths) > 1:
            raise KernelError(f"give Gaussian one width, not {len(widths)}: {', '.join(widths)}.")
        for name, value in widths.items():
            if name == "gamma" and isinstance(value, str):
                require.choice(name, value, ("median", "scale"))
            elif name == "gamma":
                require.nonnegative(name, value)
            else:
                require.positive(name, value)

    def resolve(self, X: Array, weight: Array | None = None) -> Self:
        self.check()
        widths = (self.gamma, self.sigma, self.width)
        if any(width is not None and not isinstance(width, str) for width in widths):
            return self
        length = resolve_length(self.gamma or "median", X, weight)
        gamma = 1 / length / length if length < 1e150 else 0.0
        # A gamma beyond the range of floats (data of size 1e±300) is kept as a length instead.
        usable = np.finfo(float).tiny < gamma < np.inf
        return type(self)(gamma=gamma) if usable else type(self)(width=length)

    @property
    def length(self) -> float:
        if self.sigma is not None:
            return float(np.sqrt(2.0) * self.sigma)
        if self.width is not None:
            return float(self.width)
        gamma = require.number("gamma", self.gamma)
        return float(1 / np.sqrt(gamma)) if gamma > 0 else np.inf

    def with_length(self, length: float) -> Self:
        return type(self)(width=length)

    def floor(self, dtype: np.dtype) -> float:
        # np.exp is 300 times slower where its result is denormal.
        return -700.0 if dtype == np.float64 else -87.0

    def profile(self, t: Array) -> Array:
        return np.asarray(np.exp(t, out=t))

    def slope(self, t: Array) -> Array:
        return self.profile(t)

    def profile_and_slope(self, t: Array) -> tuple[Array, Array]:
        k = self.profile(t)
        return k, k

    def formula(self, t: Any, xp: Any) -> tuple[Any, Any]:
        k = xp.exp(t)
        return k, k

    def invert(self, k: Array) -> Array:
        return np.asarray(np.log(k))


class OneLength(RadialKernel):
    """A radial kernel whose only data-dependent parameter is ``length_scale``."""

    length_scale: float | str

    def check(self) -> None:
        require.positive_or("length_scale", self.length_scale, ("median", "scale"))

    def resolve(self, X: Array, weight: Array | None = None) -> Self:
        self.check()
        if not isinstance(self.length_scale, str):
            return self
        return self.with_length(resolve_length(self.length_scale, X, weight))

    @property
    def length(self) -> float:
        return require.number("length_scale", self.length_scale)


class Cauchy(OneLength):
    r""":math:`k(x, y) = 1 / (1 + r^2 / \ell^2)`: heavy tails, never quite zero.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default="median"
        ℓ; the words mean ``1/ℓ²`` = γ as for :class:`Gaussian`.
    """

    def __init__(self, length_scale: float | str = "median") -> None:
        self.length_scale = length_scale

    def profile(self, t: Array) -> Array:
        np.subtract(1, t, out=t)
        return np.asarray(np.reciprocal(t, out=t))

    def formula(self, t: Any, xp: Any) -> tuple[Any, Any]:  # noqa: ARG002
        k = 1 / (1 - t)
        return k, k * k

    def invert(self, k: Array) -> Array:
        return 1 - 1 / k


class RationalQuadratic(OneLength):
    r""":math:`k(x, y) = (1 + r^2 / (2 \alpha \ell^2))^{-\alpha}`: a mixture of Gaussian widths.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default="median"
    alpha : float, default=1.0
        Small: many widths; large: close to ``Gaussian(sigma=length_scale)``.
    """

    def __init__(self, length_scale: float | str = "median", *, alpha: float = 1.0) -> None:
        self.length_scale = length_scale
        self.alpha = alpha

    def check(self) -> None:
        super().check()
        require.positive("alpha", self.alpha)

    def profile(self, t: Array) -> Array:
        if self.alpha == 1:
            t *= -0.5
            return np.asarray(np.reciprocal(np.add(t, 1, out=t), out=t))
        # (1 - t / 2α) ** -α; a power would lose α·eps in 1 + u alone
        t *= -0.5 / self.alpha
        np.log1p(t, out=t)
        t *= -self.alpha
        return np.asarray(np.exp(t, out=t))

    def formula(self, t: Any, xp: Any) -> tuple[Any, Any]:
        log = xp.log1p(t * (-0.5 / self.alpha))
        return xp.exp(log * -self.alpha), 0.5 * xp.exp(log * (-self.alpha - 1))

    def invert(self, k: Array) -> Array:
        return np.asarray(-2 * self.alpha * np.expm1(np.log(k) / -self.alpha))


class Matern(OneLength):
    r"""Matérn kernels of half-integer order, :math:`a = \sqrt{2\nu}\, r / \ell`.

    ====  =============================
    ν     k
    ====  =============================
    1/2   exp(−a)
    3/2   (1 + a) exp(−a)
    5/2   (1 + a + a²/3) exp(−a)
    ====  =============================

    Parameters
    ----------
    length_scale : float, "median" or "scale", default="median"
    nu : 0.5, 1.5 or 2.5, default=1.5
        Smoothness. ν = 1/2 has a kink at r = 0, so that pre-images by fixed point stick to
        training points; prefer 3/2 or 5/2 there.
    """

    def __init__(self, length_scale: float | str = "median", *, nu: float = 1.5) -> None:
        self.length_scale = length_scale
        self.nu = nu

    def check(self) -> None:
        super().check()
        require.choice("nu", self.nu, (0.5, 1.5, 2.5))

    @property
    def is_kinked(self) -> bool:
        return self.nu == 0.5

    def profile(self, t: Array) -> Array:
        a = t * (-2 * self.nu)
        np.sqrt(a, out=a)
        np.minimum(a, FADED, out=a)
        np.exp(np.negative(a, out=t), out=t)
        if self.nu == 1.5:
            t *= np.add(a, 1, out=a)
        elif self.nu == 2.5:
            t *= 1 + a * (1 + a / 3)
        return t

    def formula(self, t: Any, xp: Any) -> tuple[Any, Any]:
        # da/dt = -nu / a, so that the a in the denominator of f' cancels for 3/2 and 5/2.
        a = -xp.maximum(-xp.sqrt(t * (-2 * self.nu)), -FADED)
        decay = xp.exp(-a)
        if self.nu == 0.5:
            return decay, decay * (0.5 / xp.maximum(a, NEAREST))
        if self.nu == 1.5:
            return decay * (1 + a), decay * 1.5
        return decay * (1 + a * (1 + a / 3)), decay * ((5 / 6) * (1 + a))

    def invert(self, k: Array) -> Array:
        # Newton on log k(a), concave and decreasing: after one step it comes down from the right.
        target = np.log(k)
        a = -target
        for _ in range(60 if self.nu != 0.5 else 0):
            value, slope = self.formula(-a * a / (2 * self.nu), np)
            rate = -a * slope / (self.nu * value)
            step = (target - np.log(value)) / np.where(rate == 0, -1, rate)
            a = np.maximum(a + np.where(target == 0, 0, step), 0)
        return np.asarray(-a * a / (2 * self.nu))
