"""Kernels drawn at random, each beside its textbook definition in extended precision.

The definitions share no code with :mod:`mercer.kernels`: direct differences and plain sums, no
shift, no product formula. ``np.longdouble`` has 11 bits more than float64 on most machines, so that
what is judged is coarser than what judges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mercer._base.types import Array
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Sum,
)

#: ``definition(A, B)`` is the matrix k(a_i, b_j) in np.longdouble, for rows in np.longdouble.
Definition = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class DrawnKernel:
    """A kernel, what it means, and what it asks of the rows."""

    kernel: Kernel
    family: str
    #: A Python call for each pair of rows.
    slow: bool = False

    @property
    def definition(self) -> Definition:
        """The kernel by its definition."""
        return partial(definition, self.kernel)

    @property
    def histogram(self) -> bool:
        """Whether entries must not be negative."""
        return self.kernel.is_nonnegative


@dataclass(frozen=True)
class Setting:
    """What is known of the rows when a kernel is drawn for them.

    Attributes
    ----------
    spread : typical distance of two rows, which widths are drawn around
    size : typical length of a row, which the factors of dot products are drawn around
    d : number of columns
    hard : are parameters drawn from their extremes, too?
    """

    spread: float
    size: float
    d: int
    hard: bool = False


def random_kernel(rng: np.random.Generator, rows: Setting) -> DrawnKernel:
    """One kernel in two is a plain one; the others are sums, products and multiples."""
    return _composite(rng, int(rng.choice(3, p=[0.55, 0.3, 0.15])), rows)


def _composite(rng: np.random.Generator, depth: int, rows: Setting) -> DrawnKernel:
    if depth == 0:
        return _plain(rng, rows)
    how = rng.choice(["sum", "product", "scaled"], p=[0.45, 0.4, 0.15])
    first = _composite(rng, depth - 1, rows)
    if how == "scaled":
        factor = float(10 ** (rng.uniform(-2, 2) * (50 if rows.hard else 1)))
        family = f"{first.family} scaled" if "scaled" not in first.family else first.family
        return DrawnKernel(Scaled(factor, first.kernel), family, first.slow)
    second = _composite(rng, int(rng.integers(depth)), rows)
    kernel = {"sum": Sum, "product": Product}[how](first.kernel, second.kernel)
    family = f"nested {how}" if depth > 1 else str(how)
    return DrawnKernel(kernel, family, first.slow or second.slow)


def _plain(rng: np.random.Generator, rows: Setting) -> DrawnKernel:
    p = np.ones(len(MAKERS))
    p[0], p[-3], p[-1] = 4, 0.4, 0.4  # most are refused or slow, and say little more
    name = str(rng.choice(list(MAKERS), p=p / p.sum()))
    # Most widths suit the data; some are far too wide or too narrow.
    low, high = (-0.5, 0.7) if rng.random() < (0.35 if rows.hard else 0.75) else (-2, 2)
    if rows.hard and low == -2:  # narrow beside the distance of groups, or anything
        low, high = (-3, -1) if rng.random() < 0.7 else (-5, 5)
    length = float(rows.spread * 10 ** rng.uniform(low, high))
    gamma = float(10 ** rng.uniform(-1, 0.5) / rows.size**2) if rng.random() < 0.7 else 1.0
    kernel = MAKERS[name](Draw(rng, length, gamma, rows.d, rows.hard))
    return DrawnKernel(
        kernel, "matern" if name.startswith("matern") else name, slow=name == "function"
    )


@dataclass(frozen=True)
class Draw:
    """What a kernel's parameters are made of."""

    rng: np.random.Generator
    length: float
    gamma: float
    d: int
    hard: bool = False


def _polynomial(draw: Draw) -> Kernel:
    degree = int(draw.rng.integers(1, 21 if draw.hard else 5))
    coef0 = float(draw.rng.choice([0.0, 0.5, 1.0]))
    return Polynomial(degree, gamma=draw.gamma, coef0=coef0)


@dataclass(frozen=True)
class _InverseMultiquadric:
    """1 / √(1 + r²/ℓ²), of two points and of all pairs."""

    length: float

    def __call__(self, x: Any, y: Any) -> float:
        r2 = sum(((float(a) - float(b)) / self.length) ** 2 for a, b in zip(x, y, strict=True))
        return float(1 / (1 + r2) ** 0.5)

    def definition(self, A: Array, B: Array) -> Array:
        return np.asarray(1 / np.sqrt(1 + _squares(A, B) / np.longdouble(self.length) ** 2))


MAKERS: dict[str, Callable[[Draw], Kernel]] = {
    "gaussian": lambda draw: (
        Gaussian(gamma=1 / draw.length**2)
        if draw.rng.random() < 0.5 and 1e-150 < draw.length < 1e150
        else Gaussian(sigma=draw.length)
    ),
    "laplacian": lambda draw: Laplacian(float(1 / (draw.length * np.sqrt(draw.d)))),
    "matern12": lambda draw: Matern(draw.length, nu=0.5),
    "matern32": lambda draw: Matern(draw.length, nu=1.5),
    "matern52": lambda draw: Matern(draw.length, nu=2.5),
    "rational quadratic": lambda draw: RationalQuadratic(
        draw.length, alpha=float(10 ** draw.rng.uniform(-0.5, 6 if draw.hard else 1))
    ),
    "cauchy": lambda draw: Cauchy(draw.length),
    "linear": lambda _: Linear(),
    "polynomial": _polynomial,
    "cosine": lambda _: Cosine(),
    "sigmoid": lambda draw: Sigmoid(draw.gamma, coef0=float(draw.rng.choice([0.0, 0.5]))),
    "chi2": lambda draw: Chi2(1 / draw.length),
    "function": lambda draw: FunctionKernel(_InverseMultiquadric(draw.length)),
}


def definition(kernel: Kernel, A: Array, B: Array) -> Array:
    """The matrix k(a_i, b_j) in np.longdouble, as a textbook writes it; O(n m d) time."""
    A, B = (np.asarray(rows, dtype=np.longdouble) for rows in (A, B))
    if isinstance(kernel, Sum):
        return definition(kernel.k1, A, B) + definition(kernel.k2, A, B)
    if isinstance(kernel, Product):
        return definition(kernel.k1, A, B) * definition(kernel.k2, A, B)
    if isinstance(kernel, Scaled):
        return np.longdouble(kernel.factor) * definition(kernel.kernel, A, B)
    if isinstance(kernel, FunctionKernel):
        return np.asarray(kernel.function.definition(A, B))  # type: ignore[attr-defined]
    numbers = {name: _extended(value) for name, value in kernel.get_params().items()}
    with np.errstate(under="ignore"):
        return np.asarray(_TEXTBOOK[type(kernel)](A, B, **numbers))


def _extended(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else np.longdouble(value)


def _gaussian(A: Array, B: Array, gamma: Any, sigma: Any, width: Any) -> Array:
    if gamma is None:
        gamma = 1 / (2 * sigma**2) if width is None else 1 / width**2
    return np.asarray(np.exp(-gamma * _squares(A, B)))


def _matern(A: Array, B: Array, length_scale: Any, nu: Any) -> Array:
    a = np.sqrt(2 * nu * _squares(A, B)) / length_scale
    return np.asarray({0.5: 1, 1.5: 1 + a, 2.5: 1 + a + a * a / 3}[float(nu)] * np.exp(-a))


def _rational(A: Array, B: Array, length_scale: Any, alpha: Any) -> Array:
    # A power of 1 + u would lose alpha times the rounding of that sum.
    return np.asarray(np.exp(-alpha * np.log1p(_squares(A, B) / (2 * alpha * length_scale**2))))


def _chi2(A: Array, B: Array, gamma: Any) -> Array:
    def cost(a: Array, b: Array) -> Array:
        total = a + b
        return np.asarray((a - b) ** 2 / np.where(total > 0, total, 1))

    return np.asarray(np.exp(-gamma * _sum_over_columns(A, B, cost)))


_TEXTBOOK: dict[type[Kernel], Callable[..., Array]] = {
    Gaussian: _gaussian,
    Laplacian: lambda A, B, gamma: np.exp(
        -gamma * _sum_over_columns(A, B, lambda a, b: abs(a - b))
    ),
    Matern: _matern,
    RationalQuadratic: _rational,
    Cauchy: lambda A, B, length_scale: 1 / (1 + _squares(A, B) / length_scale**2),
    Linear: lambda A, B: _dots(A, B),
    Polynomial: lambda A, B, degree, gamma, coef0: (gamma * _dots(A, B) + coef0) ** degree,
    Sigmoid: lambda A, B, gamma, coef0: np.tanh(gamma * _dots(A, B) + coef0),
    Cosine: lambda A, B: _dots(_unit(A), _unit(B)),
    Chi2: _chi2,
}


def _sum_over_columns(A: Array, B: Array, term: Callable[[Array, Array], Array]) -> Array:
    total = np.zeros((len(A), len(B)), dtype=np.longdouble)
    for c in range(A.shape[1]):
        total += term(A[:, c, None], B[None, :, c])
    return total


def _squares(A: Array, B: Array) -> Array:
    return _sum_over_columns(A, B, lambda a, b: (a - b) ** 2)


def _dots(A: Array, B: Array) -> Array:
    return _sum_over_columns(A, B, lambda a, b: a * b)


def _unit(A: Array) -> Array:
    norm = np.sqrt((A * A).sum(axis=1, keepdims=True))
    return np.asarray(A / np.where(norm == 0, 1, norm))
