"""ONNX nodes, written down by arithmetic: a graph, values of it, and kernels k(x, s_i)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mercer import kernels
from mercer._base.linalg import square_sums
from mercer._base.optional import require
from mercer._base.types import Array, Precision
from mercer.exceptions import ModelFileError, warn
from mercer.kernels.base import has_formula
from mercer.points import Vectors

#: Reductions take their axes as an input from here on; onnxruntime reads it since 1.14.
OPSET, IR_VERSION = 18, 8

#: Support points on which the rounding of float32 is measured before the export.
SAMPLE = 256
#: A larger error, relative to the largest score, is worth a word.
ROUNDING = 1e-5


class Nodes(Protocol):
    """Where nodes are written down, each known by its name: ONNX, or the live page."""

    def op(self, kind: str, /, *inputs: str) -> str:
        """A node of one of ONNX's kinds."""

    def number(self, value: Any, /) -> str:
        """A constant."""


def _traced(graph: Nodes, kind: str, *values: Traced | Any) -> Traced:
    """A node of values of the graph, and of numbers, which become constants."""
    names = [value.name if isinstance(value, Traced) else graph.number(value) for value in values]
    return Traced(graph, graph.op(kind, *names))


def _operator(kind: str, *, turned: bool = False) -> Callable[[Traced, Any], Traced]:
    def method(self: Traced, other: Traced | Any) -> Traced:
        return _traced(self.graph, kind, *((other, self) if turned else (self, other)))

    return method


def _function(kind: str) -> Callable[..., Traced]:
    def method(self: Namespace, *values: Traced | Any) -> Traced:
        """A node of the kind that ONNX calls so."""
        return _traced(self.graph, kind, *values)

    return method


@dataclass(frozen=True)
class Traced:
    """A value of the graph that arithmetic makes nodes of: a formula is written down by a call."""

    graph: Nodes
    name: str

    __array_ufunc__ = None  # so that an array on the left leaves the arithmetic to this

    __add__ = _operator("Add")
    __sub__ = _operator("Sub")
    __mul__ = _operator("Mul")
    __truediv__ = _operator("Div")
    __pow__ = _operator("Pow")
    __matmul__ = _operator("MatMul")
    __radd__ = _operator("Add", turned=True)
    __rsub__ = _operator("Sub", turned=True)
    __rmul__ = _operator("Mul", turned=True)
    __rtruediv__ = _operator("Div", turned=True)
    __gt__ = _operator("Greater")
    __ge__ = _operator("GreaterOrEqual")
    __le__ = _operator("LessOrEqual")
    __and__ = _operator("And")

    def __neg__(self) -> Traced:
        return _traced(self.graph, "Neg", self)


@dataclass(frozen=True)
class Namespace:
    """The functions that a formula may call, by NumPy's names."""

    graph: Nodes

    exp = _function("Exp")
    log = _function("Log")
    sqrt = _function("Sqrt")
    tanh = _function("Tanh")
    abs = _function("Abs")
    sign = _function("Sign")
    round = _function("Round")
    equal = _function("Equal")
    where = _function("Where")
    take = _function("Gather")
    maximum = _function("Max")
    minimum = _function("Min")

    def log1p(self, u: Traced) -> Traced:
        """By the logarithm of 1 + u, to which is added what that has rounded off."""
        base = 1 + u
        return self.log(base) + (u - (base - 1)) / base


class Graph:
    """Nodes in the order in which they are asked for; every value is known by its name.

    ``X`` is the input, called ``name``, of any number of rows, ``xp`` the functions of values by
    NumPy's names; all numbers are of ``dtype``, float32 or float64.
    """

    def __init__(self, dtype: Precision, name: str = "X") -> None:
        self.dtype, self.name = np.dtype(dtype), name
        self.X, self.xp = Traced(self, name), Namespace(self)
        self._onnx = require("onnx", "onnx")
        self._nodes: list[object] = []
        self._constants: dict[bytes, tuple[str, object]] = {}
        self._outputs: list[tuple[str, Sequence[int]]] = []

    def op(self, kind: str, /, *inputs: str, **attributes: int) -> str:
        """A node; the name of its result."""
        return self._add(kind, [f"{kind}_{len(self._nodes)}_0"], *inputs, **attributes)[0]

    def number(self, value: Any, /) -> str:
        """A constant in the graph's precision; scalars and arrays."""
        return self._constant(np.asarray(value, dtype=self.dtype, order="C"))

    def with_axis(self, kind: str, value: Traced, axis: int, **attributes: int) -> Traced:
        """A node that takes its axis as an input, as reductions do."""
        return Traced(self, self.op(kind, value.name, self._integers(axis), **attributes))

    def sum(self, value: Traced, kind: str = "ReduceSum") -> Traced:
        """Over the columns, which stay as one: (n, 1)."""
        return self.with_axis(kind, value, 1, keepdims=1)

    def column(self, value: Traced, k: int) -> Traced:
        """One column of a value, (n, 1)."""
        return Traced(self, self.op("Gather", value.name, self._integers(k), axis=1))

    def turned(self, value: Traced) -> Traced:
        """The transpose."""
        return Traced(self, self.op("Transpose", value.name))

    def place_of(self, kind: str, value: Traced) -> Traced:
        """Of each row the column with its largest or smallest entry: ``"ArgMax"``, ``"ArgMin"``."""
        return Traced(self, self.op(kind, value.name, axis=1, keepdims=0))

    def all_columns(self, condition: Traced) -> Traced:
        """Whether it holds in every column of a row, (n, 1)."""
        kind = {"float32": 1, "float64": 11}[self.dtype.name]  # TensorProto.FLOAT and DOUBLE
        return self.sum(Traced(self, self.op("Cast", condition.name, to=kind)), "ReduceMin") > 0.5

    def largest(self, value: Traced, count: int) -> list[Traced]:
        """So many of the largest entries of each row, and their columns."""
        names = [f"TopK_{len(self._nodes)}_{i}" for i in range(2)]
        self._add("TopK", names, value.name, self._integers(count), axis=1)
        return [Traced(self, name) for name in names]

    def at(self, value: Traced, index: Traced) -> Traced:
        """The entries of each row in the columns that its row of ``index`` names."""
        return Traced(self, self.op("GatherElements", value.name, index.name, axis=1))

    def output(self, name: str, value: Traced, shape: Sequence[int]) -> None:
        """Make a value an output under this name."""
        self._add("Identity", [name], value.name)
        self._outputs.append((name, shape))

    def model(self, n_features: int, texts: dict[str, str]) -> Any:
        """The finished model, with one input of any number of rows."""
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        shape_of = helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes,
            "mercer",
            [shape_of(self.name, kind, ["rows", n_features])],
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

    def _add(self, kind: str, names: list[str], *inputs: str, **attributes: int) -> list[str]:
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def _integers(self, *values: int) -> str:
        return self._constant(np.array(values, dtype=np.int64))

    def _constant(self, value: Array) -> str:
        key = repr((value.shape, value.dtype)).encode() + value.tobytes()
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = name, self._onnx.numpy_helper.from_array(value, name)
        return self._constants[key][0]


def kernel_nodes(g: Graph, kernel: kernels.Kernel, X: Traced, S: Array | None) -> Traced:
    """k(x, s_i) with fixed points S, (n, m); without them k(x, x), (n, 1).

    :class:`ModelFileError` with a remedy if there are no nodes for the kernel.
    """
    if isinstance(kernel, kernels.RadialKernel) and has_formula(kernel):
        if S is None:
            return Traced(g, g.number([[1.0]]))
        radial = RadialNodes(g, kernel, S)
        return radial.profile_and_slope(X - radial.origin)[0]
    if isinstance(kernel, kernels.DotProductKernel) and has_formula(kernel):
        p = g.sum(X, "ReduceSumSquare") if S is None else X @ S.T
        # Does nothing but part the product from a factor, which onnxruntime would take into it as
        # a float32, whatever the precision of the graph.
        p = g.xp.maximum(p, np.finfo(g.dtype).min)
        k: Traced = kernel.formula(p, g.xp)[0]
        return k
    # By the class itself: a subclass, which only others may have made, is another kernel.
    if type(kernel) is kernels.Cosine:
        unit = _unit(g, X)
        return g.sum(unit, "ReduceSumSquare") if S is None else unit @ Vectors(S).unit().rows.T
    if isinstance(kernel, kernels.Sum | kernels.Product):
        k1, k2 = (kernel_nodes(g, part, X, S) for part in (kernel.k1, kernel.k2))
        return k1 + k2 if isinstance(kernel, kernels.Sum) else k1 * k2
    if isinstance(kernel, kernels.Scaled):
        # Equal factors, and not one: see RadialNodes.
        factors = np.full((1, 1 if S is None else len(S)), kernel.factor)
        return kernel_nodes(g, kernel.kernel, X, S) * factors
    if isinstance(kernel, kernels.Normalized):
        directions = None if S is None else Vectors(S).unit().rows
        return kernel_nodes(g, kernel.kernel, _unit(g, X), directions)
    raise without_form(kernel)


def warn_of_rounding(share: float, remedy: str) -> None:
    """Warn if float32 costs too much accuracy of the largest output."""
    if share > ROUNDING:
        coarse = f"in float32 the outputs differ by up to {share:.1g} of the largest one"
        warn(f"{coarse}; use dtype='float64', {remedy}.")


def without_form(kernel: kernels.Kernel) -> ModelFileError:
    """The message for a kernel that has no form in ONNX."""
    return ModelFileError(
        f"{kernel!r} has no ONNX form here; export a model with a Gaussian, Cauchy, "
        "RationalQuadratic, Matern, Linear, Polynomial, Sigmoid or Cosine kernel, or made of them; "
        "a radial kernel of your own needs a method formula(t, xp)."
    )


def _unit(g: Graph, X: Traced) -> Traced:
    """Rows divided by their lengths; by the largest entry first, so that no square overflows."""
    scaled = _divided(g, X, g.sum(g.xp.abs(X), "ReduceMax"))
    return _divided(g, scaled, g.xp.sqrt(g.sum(scaled, "ReduceSumSquare")))


def _divided(g: Graph, X: Traced, size: Traced) -> Traced:
    return X / g.xp.where(g.xp.equal(size, 0.0), 1.0, size)


class RadialNodes:
    """f(t) with t = −|x − s|²/ℓ², around an origin: a large offset of the data costs no digits."""

    def __init__(self, g: Graph, kernel: kernels.RadialKernel, S: Array) -> None:
        self.g, self.kernel = g, kernel
        # Rounded first: what is taken off the rows must be taken off the support, too.
        self.origin: Array = kernel.origin(S).astype(g.dtype).astype(np.float64)
        self.support = np.asarray(S - self.origin)

    def profile_and_slope(self, Y: Traced) -> tuple[Traced, Traced]:
        """f(t) and f′(t) for shifted rows; what rounding lifts above 0 is put back."""
        g, length, floor = self.g, self.kernel.length, self.kernel.floor(self.g.dtype)
        scaled = self.support / length
        # A row of equal factors: one factor alone onnxruntime would take into the product as a
        # float32, whatever the precision of the graph.
        A = Y / np.full((1, scaled.shape[1]), length)
        t = A @ (2 * scaled.T) - g.sum(A, "ReduceSumSquare") - square_sums(scaled)[None]
        t = g.xp.minimum(t, 0.0)
        if floor != -np.inf:
            t = g.xp.maximum(t, floor)
        f, slope = self.kernel.formula(t, g.xp)
        return f, slope
