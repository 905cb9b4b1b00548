"""Kernels as the page computes them: traced from their formulas, run by ``static/kernels.js``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer._base import catalogue
from mercer.exceptions import KernelError
from mercer.io.model_file.onnx_kernels import Namespace, Traced
from mercer.kernels import (
    Cosine,
    DotProductKernel,
    Kernel,
    Linear,
    Product,
    RadialKernel,
    Scaled,
    Sum,
)
from mercer.kernels.base import has_formula
from mercer.kernels.dot_product import _Affine
from mercer.kernels.histogram import _EntrywiseKernel


class Tape:
    """Nodes in the order in which they are computed: a kind, and the numbers of earlier nodes."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []

    def op(self, kind: str, /, *inputs: str) -> str:
        """A node; its number."""
        return self._add(kind, *map(int, inputs))

    def number(self, value: float, /) -> str:
        """A constant."""
        return self._add("Number", float(value))

    def _add(self, *node: Any) -> str:
        self.nodes.append([*node])
        return str(len(self.nodes) - 1)


def _numbers(kind: type[Kernel]) -> dict[str, str]:
    """Numbers of a kernel on the page → its parameters; a width is a length there."""
    names = [*kind().get_params(deep=False)]
    if not issubclass(kind, RadialKernel):
        return {name: name for name in names}
    widths = [name for name in ("width", "length_scale") if name in names]
    others = [name for name in names if name not in ("gamma", "sigma", *widths)]
    return {"length": widths[0], **{name: name for name in others}}


#: Kernels that a page may ask for → (class, its parameter for each number of the page).
KERNELS: dict[str, tuple[type[Kernel], dict[str, str]]] = {
    name: (kind, _numbers(kind))
    for name, kind in ((name, catalogue.load(place)) for name, place in catalogue.KERNELS.items())
    if kind().takes_vectors
}
_WORDS = {kind: (name, tuple(numbers)) for name, (kind, numbers) in KERNELS.items()}


def kernel_spec(kernel: Kernel) -> dict[str, Any]:
    """A resolved kernel as plain values.

    It is f(scale · u(x, y)), where ``of`` says what u is: the squared ``"distance"``, the ``"dot"``
    product, the ``"cosine"``; or the exponential of a sum over ``"entries"`` of a traced cost.
    ``nodes`` hold f and its slope, or the cost and its slope.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> spec = kernel_spec(0.5 * Gaussian(width=2.0))
    >>> spec["name"], spec["factor"], spec["kernel"]["nodes"]
    ('scaled', 0.5, [['Argument'], ['Exp', 0]])
    """
    if isinstance(kernel, Sum | Product):
        name = "sum" if isinstance(kernel, Sum) else "product"
        return {"name": name, "k1": kernel_spec(kernel.k1), "k2": kernel_spec(kernel.k2)}
    if isinstance(kernel, Scaled):
        inner = kernel_spec(kernel.kernel)
        return {"name": "scaled", "factor": float(kernel.factor), "kernel": inner}
    name, numbers = _WORDS.get(type(kernel), (type(kernel).__name__, ()))
    own = {key: float(getattr(kernel, key)) for key in numbers}
    return {"name": name, "class": type(kernel).__name__, **own, **_traced(kernel)}


def page_kernels() -> dict[str, dict[str, Any]]:
    """The kernels that a page offers, with lengths and factors of one: there they are turned."""
    turned = {"gamma", "width", "length_scale"}
    return {
        name: kernel_spec(kind(**dict.fromkeys(turned.intersection(numbers.values()), 1.0)))
        for name, (kind, numbers) in KERNELS.items()
    }


def _traced(kernel: Kernel) -> dict[str, Any]:
    if type(kernel) is Cosine:
        return _trace("cosine", 1.0, Linear().formula)
    if isinstance(kernel, RadialKernel) and has_formula(kernel):
        return _trace("distance", -1 / kernel.length**2, kernel.formula)
    if isinstance(kernel, DotProductKernel) and has_formula(kernel):
        if not isinstance(kernel, _Affine):
            return _trace("dot", 1.0, kernel.formula)
        unit = type(kernel)(**{**kernel.get_params(deep=False), "gamma": 1.0})
        return _trace("dot", float(kernel.gamma), unit.formula)  # a factor that the page can turn
    if isinstance(kernel, _EntrywiseKernel) and has_formula(kernel):
        return _trace("entries", -float(kernel.gamma), kernel.formula, 2)
    raise KernelError(
        f"{kernel!r} cannot be computed in a page: it is no formula of two vectors; fit a kernel "
        "of mercer.kernels other than Precomputed and FunctionKernel, or give yours a method "
        "formula(t, xp)."
    )


def _trace(
    of: str, scale: float, formula: Callable[..., tuple[Traced, Traced]], arguments: int = 1
) -> dict[str, Any]:
    """What a formula does to its arguments, which are the first nodes."""
    tape = Tape()
    given = [Traced(tape, tape.op("Argument")) for _ in range(arguments)]
    f, slope = (int(part.name) for part in formula(*given, Namespace(tape)))
    return {"of": of, "scale": scale, "nodes": tape.nodes, "f": f, "slope": slope}
