"""Kernels drawn at random, each beside its textbook definition in extended precision.

The definitions share no code with :mod:`mercer.kernels`: direct differences and plain sums, no
shift, no product formula. ``np.longdouble`` has 11 bits more than float64 on most machines, so that
what is judged is coarser than what judges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._types import Targets
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
    RationalQuadratic,
    Scaled,
    Sigmoid,
)

__all__ = ["MAKERS", "Definition", "Draw", "DrawnKernel", "Setting", "random_kernel"]

#: ``definition(A, B)`` is the matrix k(a_i, b_j) in np.longdouble, for rows in np.longdouble.
Definition = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class DrawnKernel:
    """A kernel, what it means, and what it asks of the rows."""

    kernel: Kernel
    definition: Definition
    family: str
    #: Entries must not be negative.
    histogram: bool = False
    #: A Python call for each pair of rows.
    slow: bool = False


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
        return DrawnKernel(
            Scaled(factor, first.kernel),
            lambda A, B: np.longdouble(factor) * first.definition(A, B),
            f"{first.family} scaled" if "scaled" not in first.family else first.family,
            first.histogram,
            first.slow,
        )
    second = _composite(rng, int(rng.integers(depth)), rows)
    f, g = first.definition, second.definition
    nested = "nested " if depth > 1 else ""
    histogram, slow = first.histogram or second.histogram, first.slow or second.slow
    if how == "sum":
        kernel: Kernel = first.kernel + second.kernel
        return DrawnKernel(kernel, lambda A, B: f(A, B) + g(A, B), f"{nested}sum", histogram, slow)
    product: Any = first.kernel * second.kernel
    return DrawnKernel(product, lambda A, B: f(A, B) * g(A, B), f"{nested}product", histogram, slow)


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
    return MAKERS[name](Draw(rng, length, gamma, rows.d, rows.hard))


@dataclass(frozen=True)
class Draw:
    """What a kernel's parameters are made of."""

    rng: np.random.Generator
    length: float
    gamma: float
    d: int
    hard: bool = False


def _gaussian(draw: Draw) -> DrawnKernel:
    if draw.rng.random() < 0.5 and 1e-150 < draw.length < 1e150:
        g = 1 / draw.length**2
        return DrawnKernel(
            Gaussian(gamma=g), lambda A, B: np.exp(-np.longdouble(g) * _squares(A, B)), "gaussian"
        )
    two = 2 * np.longdouble(draw.length) ** 2
    return DrawnKernel(
        Gaussian(sigma=draw.length), lambda A, B: np.exp(-_squares(A, B) / two), "gaussian"
    )


def _laplacian(draw: Draw) -> DrawnKernel:
    g = float(1 / (draw.length * np.sqrt(draw.d)))
    return DrawnKernel(
        Laplacian(gamma=g),
        lambda A, B: np.exp(-np.longdouble(g) * _sum_over_columns(A, B, lambda a, b: abs(a - b))),
        "laplacian",
    )


def _matern(nu: float) -> Callable[[Draw], DrawnKernel]:
    def make(draw: Draw) -> DrawnKernel:
        def k(A: Array, B: Array) -> Array:
            a = np.sqrt(2 * np.longdouble(nu) * _squares(A, B)) / np.longdouble(draw.length)
            return np.asarray({0.5: 1, 1.5: 1 + a, 2.5: 1 + a + a * a / 3}[nu] * np.exp(-a))

        return DrawnKernel(Matern(draw.length, nu=nu), k, "matern")

    return make


def _rational(draw: Draw) -> DrawnKernel:
    alpha = float(10 ** draw.rng.uniform(-0.5, 6 if draw.hard else 1))
    unit = 2 * np.longdouble(alpha) * np.longdouble(draw.length) ** 2
    return DrawnKernel(
        RationalQuadratic(draw.length, alpha=alpha),
        lambda A, B: np.exp(-np.longdouble(alpha) * np.log1p(_squares(A, B) / unit)),
        "rational quadratic",
    )


def _cauchy(draw: Draw) -> DrawnKernel:
    unit = np.longdouble(draw.length) ** 2
    return DrawnKernel(Cauchy(draw.length), lambda A, B: 1 / (1 + _squares(A, B) / unit), "cauchy")


def _polynomial(draw: Draw) -> DrawnKernel:
    degree = int(draw.rng.integers(1, 21 if draw.hard else 5))
    coef0 = float(draw.rng.choice([0.0, 0.5, 1.0]))
    return DrawnKernel(
        Polynomial(degree, gamma=draw.gamma, coef0=coef0),
        lambda A, B: (np.longdouble(draw.gamma) * _dots(A, B) + np.longdouble(coef0)) ** degree,
        "polynomial",
    )


def _sigmoid(draw: Draw) -> DrawnKernel:
    coef0 = float(draw.rng.choice([0.0, 0.5]))
    return DrawnKernel(
        Sigmoid(draw.gamma, coef0=coef0),
        lambda A, B: np.tanh(np.longdouble(draw.gamma) * _dots(A, B) + np.longdouble(coef0)),
        "sigmoid",
    )


def _chi2(draw: Draw) -> DrawnKernel:
    g = 1 / draw.length

    def k(A: Array, B: Array) -> Array:
        def cost(a: Array, b: Array) -> Array:
            total = a + b
            return np.asarray((a - b) ** 2 / np.where(total > 0, total, 1))

        return np.asarray(np.exp(-np.longdouble(g) * _sum_over_columns(A, B, cost)))

    return DrawnKernel(Chi2(g), k, "chi2", histogram=True)


def _function(draw: Draw) -> DrawnKernel:
    def inverse_multiquadric(x: Any, y: Targets) -> float:
        r2 = sum(((float(a) - float(b)) / draw.length) ** 2 for a, b in zip(x, y, strict=True))
        return float(1 / (1 + r2) ** 0.5)

    return DrawnKernel(
        FunctionKernel(inverse_multiquadric),
        lambda A, B: 1 / np.sqrt(1 + _squares(A, B) / np.longdouble(draw.length) ** 2),
        "function",
        slow=True,
    )


#: Plain kernels by name.
MAKERS: dict[str, Callable[[Draw], DrawnKernel]] = {
    "gaussian": _gaussian,
    "laplacian": _laplacian,
    "matern12": _matern(0.5),
    "matern32": _matern(1.5),
    "matern52": _matern(2.5),
    "rational": _rational,
    "cauchy": _cauchy,
    "linear": lambda _: DrawnKernel(Linear(), _dots, "linear"),
    "polynomial": _polynomial,
    "cosine": lambda _: DrawnKernel(Cosine(), lambda A, B: _dots(_unit(A), _unit(B)), "cosine"),
    "sigmoid": _sigmoid,
    "chi2": _chi2,
    "function": _function,
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
