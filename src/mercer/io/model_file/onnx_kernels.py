"""Kernels as ONNX nodes: k(x, s_i) for all support points, and k(x, x)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partialmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mercer._base.linalg import square_sums
from mercer._base.optional import require
from mercer._base.types import Array, Precision
from mercer.exceptions import ModelFileError
from mercer.kernels import Cosine, DotProductKernel, Kernel, Product, RadialKernel, Scaled, Sum
from mercer.kernels.base import has_formula
from mercer.points import Vectors

#: Reductions take their axes as an input from here on; onnxruntime reads it since 1.14.
OPSET, IR_VERSION = 18, 8


class Graph:
    """Nodes in the order in which they are asked for; every value is known by its name.

    Parameters
    ----------
    dtype : float32 or float64
        Of all numbers in the graph.
    """

    def __init__(self, dtype: Precision) -> None:
        self.dtype = np.dtype(dtype)
        self._onnx = require("onnx", "onnx")
        self._nodes: list[object] = []
        self._constants: dict[bytes, tuple[str, object]] = {}
        self._outputs: list[tuple[str, Sequence[int]]] = []

    def op(self, kind: str, *inputs: str, **attributes: int) -> str:
        """A node; the name of its result."""
        return self.pair(kind, *inputs, outputs=1, **attributes)[0]

    def pair(self, kind: str, *inputs: str, outputs: int = 2, **attributes: int) -> list[str]:
        """A node with two results; their names."""
        names = [f"{kind}_{len(self._nodes)}_{i}" for i in range(outputs)]
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def number(self, value: ArrayLike) -> str:
        """A constant in the graph's precision; scalars and arrays."""
        return self._constant(
            np.ascontiguousarray(value, dtype=self.dtype).reshape(np.shape(value))
        )

    def integers(self, *values: int) -> str:
        """A constant list of whole numbers, such as axes."""
        return self._constant(np.array(values, dtype=np.int64))

    def sum(self, name: str, kind: str = "ReduceSum") -> str:
        """Over the columns, which stay as one: (n, 1)."""
        return self.op(kind, name, self.integers(1), keepdims=1)

    def output(self, name: str, value: str, shape: Sequence[int]) -> None:
        """Make a value an output under this name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append((name, shape))

    def model(self, n_features: int, texts: dict[str, str]) -> Any:
        """The finished model, with one input ``X`` of any number of rows."""
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        shape_of = helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes,
            "mercer",
            [shape_of("X", kind, ["rows", n_features])],
            [shape_of(name, kind, ["rows", *shape]) for name, shape in self._outputs],
            initializer=[tensor for _, tensor in self._constants.values()],
        )
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(
            graph, producer_name="mercer", opset_imports=[opset], ir_version=IR_VERSION
        )
        helper.set_model_props(model, texts)
        self._onnx.checker.check_model(model)
        return model

    def _constant(self, value: Array) -> str:
        key = repr((value.shape, value.dtype)).encode() + value.tobytes()
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = name, self._onnx.numpy_helper.from_array(value, name)
        return self._constants[key][0]


class Nodes(Protocol):
    """Where nodes are written down, each known by its name: ONNX, or the live page."""

    def op(self, kind: str, /, *inputs: str) -> str:
        """A node of one of ONNX's kinds."""

    def number(self, value: Any, /) -> str:
        """A constant."""


@dataclass(frozen=True)
class Traced:
    """A value of the graph that arithmetic makes nodes of: a formula is written down by a call."""

    graph: Nodes
    name: str

    def _with(self, kind: str, other: Traced | float) -> Traced:
        return Traced(self.graph, self.graph.op(kind, self.name, _named(self.graph, other)))

    def _after(self, kind: str, other: float) -> Traced:
        return Traced(self.graph, self.graph.op(kind, _named(self.graph, other), self.name))

    __add__ = partialmethod(_with, "Add")
    __sub__ = partialmethod(_with, "Sub")
    __mul__ = partialmethod(_with, "Mul")
    __truediv__ = partialmethod(_with, "Div")
    __pow__ = partialmethod(_with, "Pow")
    __radd__ = partialmethod(_after, "Add")
    __rsub__ = partialmethod(_after, "Sub")
    __rmul__ = partialmethod(_after, "Mul")
    __rtruediv__ = partialmethod(_after, "Div")

    def __neg__(self) -> Traced:
        return Traced(self.graph, self.graph.op("Neg", self.name))


@dataclass(frozen=True)
class Namespace:
    """The functions that a formula may call, by NumPy's names."""

    graph: Nodes

    def _call(self, kind: str, *values: Traced | float) -> Traced:
        names = [_named(self.graph, value) for value in values]
        return Traced(self.graph, self.graph.op(kind, *names))

    exp = partialmethod(_call, "Exp")
    log = partialmethod(_call, "Log")
    sqrt = partialmethod(_call, "Sqrt")
    tanh = partialmethod(_call, "Tanh")
    abs = partialmethod(_call, "Abs")
    sign = partialmethod(_call, "Sign")

    def log1p(self, u: Traced) -> Traced:
        """By the logarithm of 1 + u, to which is added what that has rounded off."""
        base = 1 + u
        return self.log(base) + (u - (base - 1)) / base

    maximum = partialmethod(_call, "Max")
    minimum = partialmethod(_call, "Min")


def _named(graph: Nodes, value: Traced | float) -> str:
    return value.name if isinstance(value, Traced) else graph.number(value)


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
        return g.op("MatMul", self._unit(g, X), g.number(Vectors(self.S).unit().rows.T))

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
