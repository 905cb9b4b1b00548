"""Kernels as ONNX nodes: k(x, s_i) for all support points, and k(x, x)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.exceptions import ModelFileError
from mercer.kernels import Cosine, DotProductKernel, Kernel, Product, RadialKernel, Scaled, Sum
from mercer.kernels.base import has_formula
from mercer.kernels.dot_product import _unit_rows
from mercer.model_file.onnx_graph import Graph
from mercer.model_file.onnx_trace import Namespace, Traced


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
    if isinstance(kernel, RadialKernel) and has_formula(kernel):
        # Rounded first: what is taken off the rows must be taken off the support, too.
        return RadialNodes(kernel, S, kernel.origin(S).astype(dtype).astype(np.float64))
    if isinstance(kernel, DotProductKernel) and has_formula(kernel):
        return _DotProduct(kernel, S)
    # By the class itself: a subclass, which only others may have made, is another kernel.
    if type(kernel) is Cosine:
        return _Cosine(S)
    if isinstance(kernel, Sum | Product):
        parts = (export_kernel(kernel.k1, S, dtype), export_kernel(kernel.k2, S, dtype))
        return _Pair("Add" if isinstance(kernel, Sum) else "Mul", *parts)
    if isinstance(kernel, Scaled):
        return _Scaled(np.full((1, len(S)), kernel.factor), export_kernel(kernel.kernel, S, dtype))
    raise ModelFileError(
        f"{kernel!r} has no ONNX form here; export a model with a Gaussian, Cauchy, "
        "RationalQuadratic, Matern, Linear, Polynomial, Sigmoid or Cosine kernel, or made of them; "
        "a radial kernel of your own needs a method formula(t, xp)."
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
        k, slope = self.kernel.formula(Traced(g, self.arguments(g, Y)), Namespace(g))
        return k.name, slope.name

    def diag(self, g: Graph, X: str) -> str:  # noqa: ARG002
        return g.number([[1.0]])


@dataclass(frozen=True)
class _DotProduct(Exported):
    kernel: DotProductKernel
    S: Array

    def rows(self, g: Graph, X: str) -> str:
        return self._profile(g, g.op("MatMul", X, g.number(self.S.T)))

    def diag(self, g: Graph, X: str) -> str:
        return self._profile(g, g.sum(X, "ReduceSumSquare"))

    def _profile(self, g: Graph, p: str) -> str:
        # Does nothing but part the product from a factor, which onnxruntime would take into it as
        # a float32, whatever the precision of the graph.
        p = g.op("Max", p, g.number(np.finfo(g.dtype).min))
        return str(self.kernel.formula(Traced(g, p), Namespace(g))[0].name)


@dataclass(frozen=True)
class _Cosine(Exported):
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
