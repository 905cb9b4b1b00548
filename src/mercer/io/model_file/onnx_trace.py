"""Formulas of an array namespace written down as nodes, by calling them.

For ONNX, and for the live page, which computes by the same nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partialmethod
from typing import Any, Protocol


class Graph(Protocol):
    """Where nodes are written down, each known by its name."""

    def op(self, kind: str, /, *inputs: str) -> str:
        """A node of one of ONNX's kinds."""

    def number(self, value: Any, /) -> str:
        """A constant."""


@dataclass(frozen=True)
class Traced:
    """A value of the graph that arithmetic makes nodes of."""

    graph: Graph
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

    graph: Graph

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


def _named(graph: Graph, value: Traced | float) -> str:
    return value.name if isinstance(value, Traced) else graph.number(value)
