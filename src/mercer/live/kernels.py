"""Kernels as the page computes them: traced from their formulas, run by ``static/kernels.js``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer import catalogue
from mercer.exceptions import KernelError
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
from mercer.model_file.onnx_trace import Namespace, Traced


class Tape:
    """Nodes in the order in which they are computed: a kind, and the numbers of earlier nodes."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []

    def op(self, kind: str, /, *inputs: str) -> str:
        """A node; its number."""
        self.nodes.append([kind, *map(int, inputs)])
        return str(len(self.nodes) - 1)

    def number(self, value: float, /) -> str:
        """A constant."""
        self.nodes.append(["Number", float(value)])
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
    return {
        "name": name,
        **{key: float(getattr(kernel, key)) for key in numbers},
        **_traced(kernel),
    }


def page_kernels() -> dict[str, dict[str, Any]]:
    """The kernels that a page offers, with lengths and factors of one: there they are turned."""
    ones = {"gamma": 1.0, "width": 1.0, "length_scale": 1.0}
    made = {}
    for name, (kind, numbers) in KERNELS.items():
        chosen = {key: 1.0 for key in ones if key in numbers.values()}
        made[name] = kernel_spec(kind(**chosen))
    return made


def _traced(kernel: Kernel) -> dict[str, Any]:
    if type(kernel) is Cosine:
        return {"of": "cosine", "scale": 1.0, **_trace(Linear().formula)}
    if has_formula(kernel):
        if isinstance(kernel, RadialKernel):
            scale = -1 / kernel.length**2
            return {"of": "distance", "scale": scale, **_trace(kernel.formula)}
        if isinstance(kernel, _Affine):  # its factor can be turned on the page
            unit = type(kernel)(**{**kernel.get_params(deep=False), "gamma": 1.0})
            return {"of": "dot", "scale": float(kernel.gamma), **_trace(unit.formula)}
        if isinstance(kernel, DotProductKernel):
            return {"of": "dot", "scale": 1.0, **_trace(kernel.formula)}
        if isinstance(kernel, _EntrywiseKernel):
            return {"of": "entries", "scale": -float(kernel.gamma), **_trace(kernel.formula, 2)}
    raise KernelError(
        f"{kernel!r} cannot be computed in a page: it is no formula of two vectors; fit a kernel "
        "of mercer.kernels other than Precomputed and FunctionKernel, or give yours a method "
        "formula(t, xp)."
    )


def _trace(formula: Callable[..., tuple[Traced, Traced]], arguments: int = 1) -> dict[str, Any]:
    """What a formula does to its arguments, which are the first nodes."""
    tape = Tape()
    given = [Traced(tape, tape.op("Argument")) for _ in range(arguments)]
    f, slope = formula(*given, Namespace(tape))
    return {"nodes": tape.nodes, "f": int(f.name), "slope": int(slope.name)}
