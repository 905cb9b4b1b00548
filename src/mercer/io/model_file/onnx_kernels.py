"""ONNX nodes, written down by arithmetic: a graph, values of it, and kernels k(x, s_i)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mercer import kernels
from mercer._base.linalg import square_sums
from mercer._base.optional import require
from mercer._base.types import Array, Names, Precision
from mercer.exceptions import DataError, ModelFileError, warn
from mercer.kernels.base import has_formula
from mercer.points import Vectors

#: Reductions take their axes as an input from here on; onnxruntime reads it since 1.14.
OPSET, IR_VERSION = 18, 8

#: Support points on which the rounding of float32 is measured before the export.
SAMPLE = 256
#: A larger error, relative to the largest score, is worth a word.
ROUNDING = 1e-5


def node(graph: Any, kind: str, *values: Traced | Any, **attributes: int) -> Traced:
    """A node of values of the graph, and of numbers, which become constants."""
    names = [value.name if isinstance(value, Traced) else graph.number(value) for value in values]
    return Traced(graph, graph.op(kind, *names, **attributes))


def _operator(kind: str, *, turned: bool = False) -> Callable[[Traced, Any], Traced]:
    def method(self: Traced, other: Traced | Any) -> Traced:
        return node(self.graph, kind, *((other, self) if turned else (self, other)))

    return method


@dataclass(frozen=True)
class Traced:
    """A value of the graph that arithmetic makes nodes of: a formula is written down by a call.

    What writes nodes down, ONNX's :class:`Graph` or the live page, has ``op(kind, *names)`` and
    ``number(value)``, a constant; both return the name of a value.
    """

    graph: Any
    name: str

    __array_ufunc__ = None  # so that an array on the left leaves the arithmetic to this

    __add__ = _operator("Add")
    __radd__ = _operator("Add", turned=True)
    __sub__ = _operator("Sub")
    __rsub__ = _operator("Sub", turned=True)
    __mul__ = _operator("Mul")
    __rmul__ = _operator("Mul", turned=True)
    __truediv__ = _operator("Div")
    __rtruediv__ = _operator("Div", turned=True)
    __pow__ = _operator("Pow")
    __matmul__ = _operator("MatMul")
    __gt__ = _operator("Greater")
    __ge__ = _operator("GreaterOrEqual")
    __le__ = _operator("LessOrEqual")
    __and__ = _operator("And")

    def __neg__(self) -> Traced:
        return node(self.graph, "Neg", self)


_FUNCTIONS = {name: name.capitalize() for name in ("abs", "equal", "exp", "log", "round", "sign")}
_FUNCTIONS |= {"sqrt": "Sqrt", "tanh": "Tanh", "where": "Where", "take": "Gather"}
_FUNCTIONS |= {"maximum": "Max", "minimum": "Min"}


@dataclass(frozen=True)
class Namespace:
    """The functions that a formula may call, by NumPy's names."""

    graph: Any

    def __getattr__(self, name: str) -> Callable[..., Traced]:
        if name not in _FUNCTIONS:
            raise AttributeError(f"a formula calls xp.{name}; there are {', '.join(_FUNCTIONS)}")
        return partial(node, self.graph, _FUNCTIONS[name])

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
        return self._add(kind, [f"{kind}_{len(self._nodes)}_0"], *inputs, **attributes)

    def number(self, value: Any, /) -> str:
        """A constant in the graph's precision; scalars and arrays."""
        return self._constant(np.asarray(value, dtype=self.dtype, order="C"))

    def with_axis(self, kind: str, value: Traced, axis: int, **attributes: int) -> Traced:
        """A node that takes its axis as an input, as reductions do."""
        return node(self, kind, value, self._integer(axis), **attributes)

    def sum(self, value: Traced, kind: str = "ReduceSum") -> Traced:
        """Over axis 1, which stays with one entry."""
        return self.with_axis(kind, value, 1, keepdims=1)

    def column(self, value: Traced, k: int) -> Traced:
        """One column of a value, (n, 1)."""
        return node(self, "Gather", value, self._integer(k), axis=1)

    def largest(self, value: Traced, count: int) -> Traced:
        """The columns of so many of the largest entries of each row."""
        names = [f"TopK_{len(self._nodes)}_{i}" for i in range(2)]
        inputs = value.name, self._integer(count).name
        return Traced(self, self._add("TopK", names, *inputs, axis=1))

    def output(self, name: str, value: Traced, shape: Sequence[int]) -> None:
        """Make a value an output under this name."""
        self._add("Identity", [name], value.name)
        self._outputs.append((name, shape))

    def model(self, n_features: int, texts: dict[str, str]) -> Any:
        """The finished model, with one input of any number of rows."""
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        shape_of = helper.make_tensor_value_info
        inputs = [shape_of(self.name, kind, ["rows", n_features])]
        outputs = [shape_of(name, kind, ["rows", *shape]) for name, shape in self._outputs]
        constants = [tensor for _, tensor in self._constants.values()]
        graph = helper.make_graph(self._nodes, "mercer", inputs, outputs, constants)
        versions = {"opset_imports": [helper.make_opsetid("", OPSET)], "ir_version": IR_VERSION}
        model = helper.make_model(graph, producer_name="mercer", **versions)
        helper.set_model_props(model, texts)
        self._onnx.checker.check_model(model)
        return model

    def _add(self, kind: str, names: list[str], *inputs: str, **attributes: int) -> str:
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, **attributes))
        return names[-1]

    def _integer(self, value: int) -> Traced:
        return Traced(self, self._constant(np.array([value], dtype=np.int64)))

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
        kernel = kernels.Normalized(kernels.Linear())
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


def check_outputs(names: Names, known: Names) -> None:
    """Raise unless these are names of outputs that the graph may have, one at least."""
    if not names or not set(names) <= set(known):
        raise DataError(f"outputs={list(names)!r}: give some of {', '.join(map(repr, known))}.")


def without_form(kernel: kernels.Kernel) -> ModelFileError:
    """The message for a kernel that has no form in ONNX."""
    own = "a radial kernel of your own needs a method formula(t, xp)"
    return ModelFileError(f"{kernel!r} has no ONNX form; use another, such as Gaussian: {own}.")


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
        return self.kernel.formula(t, g.xp)
