"""Kernels as ONNX nodes: k(x, s_i) for all support points, and k(x, x)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.exceptions import ModelFileError
from mercer.kernels import (
    Cauchy,
    Cosine,
    Gaussian,
    Kernel,
    Linear,
    Matern,
    Polynomial,
    Product,
    RadialKernel,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Sum,
)
from mercer.kernels.dot_product import _unit_rows
from mercer.model_file.onnx_graph import Graph

__all__ = ["Exported", "RadialNodes", "export_kernel"]


class Exported(ABC):
    """A kernel against fixed support points."""

    @abstractmethod
    def rows(self, g: Graph, X: str) -> str:
        """k(x, s_i), (n, m)."""

    @abstractmethod
    def diag(self, g: Graph, X: str) -> str:
        """k(x, x), (n, 1)."""


def export_kernel(kernel: Kernel, S: Array, dtype: np.dtype) -> Exported:
    """The kernel as nodes; :class:`ModelFileError` with a remedy if there are none for it."""
    # By the class itself: a subclass, which only others may have made, is another kernel.
    kind = type(kernel)
    if isinstance(kernel, RadialKernel) and kind in _PROFILES:
        # Rounded first: what is taken off the rows must be taken off the support, too.
        return RadialNodes(kernel, S, kernel.origin(S).astype(dtype).astype(np.float64))
    if isinstance(kernel, Linear | Polynomial | Sigmoid) and kind in (Linear, Polynomial, Sigmoid):
        return _DotProduct(kernel, S)
    if isinstance(kernel, Cosine) and kind is Cosine:
        return _Cosine(kernel, S)
    if isinstance(kernel, Sum | Product):
        parts = (export_kernel(kernel.k1, S, dtype), export_kernel(kernel.k2, S, dtype))
        return _Pair("Add" if isinstance(kernel, Sum) else "Mul", *parts)
    if isinstance(kernel, Scaled):
        return _Scaled(np.full((1, len(S)), kernel.factor), export_kernel(kernel.kernel, S, dtype))
    raise ModelFileError(
        f"{kernel!r} has no ONNX form here; export a model with a Gaussian, Cauchy, "
        "RationalQuadratic, Matern, Linear, Polynomial, Sigmoid or Cosine kernel, or made of them."
    )


@dataclass(frozen=True)
class RadialNodes(Exported):
    """f(t) with t = −|x − s|²/ℓ², in coordinates shifted by the mean of the support."""

    kernel: RadialKernel
    S: Array
    origin: Array

    def shifted(self, g: Graph, X: str) -> str:
        """Rows around the origin: a large offset of the data costs no digits."""
        return g.op("Sub", X, g.number(self.origin))

    @property
    def support(self) -> Array:
        """The support points around the origin."""
        return np.asarray(self.S - self.origin)

    def arguments(self, g: Graph, Y: str) -> str:
        """t for shifted rows; what rounding lifts above 0 is put back."""
        scaled = self.support / self.kernel.length
        # A row of equal factors: one factor alone onnxruntime would take into the product as a
        # float32, whatever the precision of the graph.
        A = g.op("Div", Y, g.number(np.full((1, self.S.shape[1]), self.kernel.length)))
        products = g.op("MatMul", A, g.number(2 * scaled.T))
        t = g.op("Sub", products, g.sum(A, "ReduceSumSquare"))
        t = g.op("Sub", t, g.number(square_sums(scaled)[None]))
        t = g.op("Min", t, g.number(0.0))
        floor = self.kernel.floor(g.dtype)
        return t if floor == -np.inf else g.op("Max", t, g.number(floor))

    def rows(self, g: Graph, X: str) -> str:
        return self.profile_and_slope(g, self.shifted(g, X))[0]

    def profile_and_slope(self, g: Graph, Y: str) -> tuple[str, str]:
        """f(t) and f′(t) for shifted rows."""
        return _PROFILES[type(self.kernel)](g, self.arguments(g, Y), self.kernel)

    def diag(self, g: Graph, X: str) -> str:  # noqa: ARG002
        return g.number([[1.0]])


def _gaussian(g: Graph, t: str, kernel: Gaussian) -> tuple[str, str]:  # noqa: ARG001
    k = g.op("Exp", t)
    return k, k


def _cauchy(g: Graph, t: str, kernel: Cauchy) -> tuple[str, str]:  # noqa: ARG001
    k = g.op("Reciprocal", g.op("Sub", g.number(1.0), t))
    return k, g.op("Mul", k, k)


def _rational(g: Graph, t: str, kernel: RationalQuadratic) -> tuple[str, str]:
    base = g.op("Sub", g.number(1.0), g.op("Mul", t, g.number(0.5 / kernel.alpha)))
    slope = g.op("Pow", base, g.number(-kernel.alpha - 1))
    return g.op("Pow", base, g.number(-kernel.alpha)), g.op("Mul", slope, g.number(0.5))


def _matern(g: Graph, t: str, kernel: Matern) -> tuple[str, str]:
    a = g.op("Sqrt", g.op("Mul", t, g.number(-2 * kernel.nu)))
    decay = g.op("Exp", g.op("Neg", a))
    one_plus = g.op("Add", a, g.number(1.0))
    if kernel.nu == 0.5:
        nearest = g.op("Max", a, g.number(Matern._NEAREST))
        return decay, g.op("Mul", decay, g.op("Div", g.number(0.5), nearest))
    if kernel.nu == 1.5:
        return g.op("Mul", decay, one_plus), g.op("Mul", decay, g.number(1.5))
    third = g.op("Mul", g.op("Mul", a, a), g.number(1 / 3))
    slope = g.op("Mul", g.op("Mul", decay, one_plus), g.number(5 / 6))
    return g.op("Mul", decay, g.op("Add", one_plus, third)), slope


_PROFILES: dict[type[RadialKernel], Callable[..., tuple[str, str]]] = {
    Gaussian: _gaussian,
    Cauchy: _cauchy,
    RationalQuadratic: _rational,
    Matern: _matern,
}


@dataclass(frozen=True)
class _DotProduct(Exported):
    kernel: Linear | Polynomial | Sigmoid
    S: Array

    def rows(self, g: Graph, X: str) -> str:
        return self._profile(g, g.op("MatMul", X, g.number(self._gamma * self.S.T)))

    def diag(self, g: Graph, X: str) -> str:
        square = g.sum(X, "ReduceSumSquare")
        return self._profile(g, g.op("Mul", square, g.number(self._gamma)))

    @property
    def _gamma(self) -> float:
        return 1.0 if isinstance(self.kernel, Linear) else float(self.kernel.gamma)

    def _profile(self, g: Graph, p: str) -> str:
        kernel = self.kernel
        if isinstance(kernel, Linear):
            return p
        a = g.op("Add", p, g.number(kernel.coef0))
        if isinstance(kernel, Sigmoid):
            return g.op("Tanh", a)
        power = a
        for _ in range(kernel.degree - 1 if kernel.degree <= 4 else 0):
            power = g.op("Mul", power, a)
        return power if kernel.degree <= 4 else g.op("Pow", a, g.number(kernel.degree))


@dataclass(frozen=True)
class _Cosine(Exported):
    kernel: Cosine
    S: Array

    def rows(self, g: Graph, X: str) -> str:
        unit = _unit_rows(self.S)
        return g.op("MatMul", self._unit(g, X), g.number(unit.T))

    def diag(self, g: Graph, X: str) -> str:
        return g.sum(self._unit(g, X), "ReduceSumSquare")

    def _unit(self, g: Graph, X: str) -> str:
        # Divided by the largest entry first, so that squares of huge rows do not overflow.
        scaled = self._divided(g, X, g.sum(g.op("Abs", X), "ReduceMax"))
        return self._divided(g, scaled, g.op("Sqrt", g.sum(scaled, "ReduceSumSquare")))

    def _divided(self, g: Graph, X: str, size: str) -> str:
        zero = g.op("Equal", size, g.number(0.0))
        return g.op("Div", X, g.op("Where", zero, g.number(1.0), size))


@dataclass(frozen=True)
class _Pair(Exported):
    kind: str
    first: Exported
    second: Exported

    def rows(self, g: Graph, X: str) -> str:
        return g.op(self.kind, self.first.rows(g, X), self.second.rows(g, X))

    def diag(self, g: Graph, X: str) -> str:
        return g.op(self.kind, self.first.diag(g, X), self.second.diag(g, X))


@dataclass(frozen=True)
class _Scaled(Exported):
    factors: Array  # (1, m), all equal; see RadialNodes.arguments
    inner: Exported

    def rows(self, g: Graph, X: str) -> str:
        return g.op("Mul", self.inner.rows(g, X), g.number(self.factors))

    def diag(self, g: Graph, X: str) -> str:
        return g.op("Mul", self.inner.diag(g, X), g.number(self.factors[:, :1]))
