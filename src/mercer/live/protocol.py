"""What passes between the page and Python: kernels as plain values, and the models asked for.

Kernels are traced from their formulas, and run by ``static/kernels.js``. What a page asks for is
read from JSON, each number within its limits.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mercer import kernels
from mercer._base import catalogue
from mercer._base.numbers import check_choice, check_one_of
from mercer._base.types import Array
from mercer.estimators import KernelPCA
from mercer.exceptions import DataError, KernelError
from mercer.io.model_file.onnx_kernels import Namespace, Traced
from mercer.kernels import Kernel, RadialKernel
from mercer.kernels.base import has_formula
from mercer.kernels.dot_product import _Affine
from mercer.kernels.histogram import _EntrywiseKernel
from mercer.kernels.width import median_length
from mercer.model.rank import usual_rule
from mercer.solvers import Auto


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
_CLASSES = {name: catalogue.load(place) for name, place in catalogue.KERNELS.items()}
KERNELS: dict[str, tuple[type[Kernel], dict[str, str]]] = {
    name: (kind, _numbers(kind)) for name, kind in _CLASSES.items() if kind().takes_vectors
}
_WORDS = {kind: (name, tuple(numbers)) for name, (kind, numbers) in KERNELS.items()}


def kernel_spec(kernel: Kernel) -> dict[str, Any]:
    """A resolved kernel as plain values.

    It is f(scale · u(x, y)), where ``of`` says what u is: the squared ``"distance"``, the ``"dot"``
    product, the ``"cosine"``; or the exponential of a sum over ``"entries"`` of a traced cost.
    ``nodes`` hold f and its slope, or the cost and its slope.
    """
    if isinstance(kernel, kernels.Sum | kernels.Product | kernels.Scaled | kernels.Normalized):
        spec: dict[str, Any] = {"name": type(kernel).__name__.lower()}
        for key, part in kernel.get_params(deep=False).items():
            spec[key] = kernel_spec(part) if isinstance(part, Kernel) else float(part)
        return spec
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
    if type(kernel) is kernels.Cosine:
        return _trace("cosine", 1.0, kernels.Linear().formula)
    if isinstance(kernel, RadialKernel) and has_formula(kernel):
        return _trace("distance", -1 / kernel.length**2, kernel.formula)
    if isinstance(kernel, kernels.DotProductKernel) and has_formula(kernel):
        if not isinstance(kernel, _Affine):
            return _trace("dot", 1.0, kernel.formula)
        unit = type(kernel)(**{**kernel.get_params(deep=False), "gamma": 1.0})
        return _trace("dot", float(kernel.gamma), unit.formula)  # a factor that the page can turn
    if isinstance(kernel, _EntrywiseKernel) and has_formula(kernel):
        return _trace("entries", -float(kernel.gamma), kernel.formula, 2)
    raise KernelError(
        f"{kernel!r} is not a formula of two vectors, which a page could compute; fit another of "
        "mercer.kernels, or give yours a method formula(t, xp)."
    )


def _trace(
    of: str, scale: float, formula: Callable[..., tuple[Traced, Traced]], arguments: int = 1
) -> dict[str, Any]:
    """The nodes of a formula, of which its arguments are the first."""
    tape = Tape()
    traced = [Traced(tape, tape.op("Argument")) for _ in range(arguments)]
    f, slope = (int(part.name) for part in formula(*traced, Namespace(tape)))
    return {"of": of, "scale": scale, "nodes": tape.nodes, "f": f, "slope": slope}


#: Most components of a fit.
MOST_COMPONENTS = 1000
#: Most numbers (rows times columns) of a fit.
MOST_NUMBERS = 50_000_000
#: Most seconds of a fit, for which somebody waits; beyond that, landmarks are used.
PATIENCE = 30.0


@dataclass(frozen=True)
class Wanted:
    """A model that the page wants: of which rows, and how."""

    data: str  #: the id of an upload, or of a model, whose support points are then the rows
    model: str = "kpca"  #: a name in :data:`~mercer._base.catalogue.MODELS`
    #: ``name``, and either the numbers of :data:`KERNELS` or ``medians``, the
    #: width in median distances; with neither the width is the median.
    kernel: Mapping[str, Any] = field(default_factory=lambda: {"name": "gaussian"})
    components: int | None = None  #: None: as many as ``mercer fit`` takes
    center: bool = True
    #: A column that colours the map and is not learnt from; if None one that is learnt from.
    label: str | None = None
    ask: bool = False  #: answer with only the plan if the fit would take long

    @staticmethod
    def read(message: Any) -> "Wanted":
        """Check what a page sent; :class:`~mercer.exceptions.DataError` says what is wrong."""
        if not isinstance(message, dict) or not {*message} <= {*Wanted.__dataclass_fields__}:
            raise DataError(f"a fit takes {', '.join(Wanted.__dataclass_fields__)}.")
        fit = Wanted(**{"data": None, **message})
        for name, kind in (("data", str), ("label", str | None), ("center", bool), ("ask", bool)):
            if not isinstance(getattr(fit, name), kind):
                raise DataError(f"{name} has a value of another kind; reload the page.")
        check_choice("model", fit.model, catalogue.MODELS)
        if (q := fit.components) is not None:
            check_one_of("components", q, 1, MOST_COMPONENTS, f"a page takes {MOST_COMPONENTS:,}")
        _check_kernel(fit.kernel)
        return fit

    def make(self, rows: Array) -> Any:
        """The estimator, unfitted."""
        kind = catalogue.load(catalogue.MODELS[self.model])
        kernel, count = self.make_kernel(rows), self.components
        if self.model == "novelty" and self.kernel == {"name": "gaussian"}:
            return kind(n_components=count, random_state=0)  # it has a width of its own
        if self.model in ("novelty", "sparse"):
            return kind(n_components=count, kernel=kernel, random_state=0)
        rule, solver = usual_rule() if count is None else count, Auto(seconds=PATIENCE)
        if self.model == "generative":
            return kind(n_components=rule, kernel=kernel, solver=solver, random_state=0)
        pca = KernelPCA(rule, kernel=kernel, solver=solver, center=self.center, random_state=0)
        return pca if self.model == "kpca" else kind(pca, random_state=0)

    def make_kernel(self, rows: Array) -> Kernel:
        """The kernel; a width in medians needs the rows."""
        kind, names = KERNELS[self.kernel["name"]]
        parameters = {names[key]: value for key, value in self.kernel.items() if key in names}
        if float(parameters.get("degree", 0.5)).is_integer():  # 3.0; the kernel itself refuses 2.7
            parameters["degree"] = int(parameters["degree"])
        if "medians" in self.kernel and not parameters:
            length = float(self.kernel["medians"]) * median_length(rows)
            if "length" in names:
                parameters[names["length"]] = length
            elif kind is kernels.Laplacian:  # as wide as a Gaussian along a diagonal
                parameters["gamma"] = 1 / (length * math.sqrt(rows.shape[1]))
            elif "gamma" in names:
                parameters["gamma"] = 1 / length**2
        return kind(**parameters)


def read_message(text: str) -> dict[str, Any]:
    """One message of the page: an object with a number ``id``."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError("the message is not JSON; reload the page.") from error
    if not isinstance(message, dict) or type(message.get("id")) is not int:
        raise DataError("a message is an object with a whole number as its id.")
    return message


def _check_kernel(spec: Any) -> None:
    name = spec.get("name") if isinstance(spec, dict) else None
    if not isinstance(name, str) or name not in KERNELS:
        raise KernelError(f"kernel must have a name: one of {', '.join(KERNELS)}.")
    for key, value in spec.items():
        if key not in ("name", "medians", *KERNELS[name][1]):
            raise KernelError(f"the {name} kernel has no {str(key)[:40]!r}.")
        if key != "name" and (type(value) not in (int, float) or not abs(value) < 1e30):
            raise KernelError(f"{key} must be a number, not {str(value)[:40]}.")
