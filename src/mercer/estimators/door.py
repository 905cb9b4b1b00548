"""The one door: a verb declares what it takes, gives and needs, and the rest follows.

Rows are checked, files are read by blocks, frames are made, BLAS is limited to one thread, and a
method that cannot work is absent: ``hasattr`` is False, and the error says why.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.utils._set_output import ADAPTERS_MANAGER, _get_output_config
from sklearn.utils.validation import check_is_fitted

from mercer._base.machine import blas_limited
from mercer._base.types import Array, Estimator
from mercer.estimators._validation import check_codes, check_missing
from mercer.estimators.learning import by_blocks
from mercer.exceptions import KernelError, MercerError, UnavailableError
from mercer.kernels import Kernel, as_kernel
from mercer.model import model_of, names_of
from mercer.points import Points
from mercer.points.source import Source

Method = TypeVar("Method", bound=Callable[..., Any])
#: Why the model cannot do it; None if it can.
Lack = Callable[[Any, str], str | None]


@dataclass(frozen=True)
class Verb:
    """What a method was declared to be."""

    #: What it gets as X: ``"rows"`` checked and in memory; ``"blocks"``, and it answers each row by
    #: itself; ``"source"``, rows where they are; ``"missing"``, rows with NaN; or, as Z,
    #: ``"scores"``, or ``"places"`` in a map. ``"row"``: x, x0 and x1 are single rows.
    #: ``"model"``: nothing but a fitted model. ``"data"``: rows as they were given, for a fit to
    #: come. None: all as given.
    takes: str | None
    #: ``"rows"`` of the model's columns; ``"tables"``, several of these; ``"points"`` with a
    #: report; ``"scores"`` and ``"numbers"`` of each row; ``"self"``; else something of its own
    gives: str | None
    name: str


def verb(
    takes: str | None = None,
    gives: str | None = None,
    needs: str | Lack | tuple[str | Lack, ...] = (),
    instead: str = "",
) -> Callable[[Method], Method]:
    """Declare a public method; ``instead`` says what to do where a need is not met."""
    needed = needs if isinstance(needs, tuple) else (needs,)
    lacks = [_LACKS[need] if isinstance(need, str) else need for need in needed]

    def declare(method: Method) -> Method:
        opened: Any = _opened(method, takes, gives)
        return Conditional(opened, lacks, instead) if lacks else opened  # type: ignore[return-value]

    return declare


class Conditional:
    """A method of models that lack nothing."""

    def __init__(self, method: Callable[..., Any], lacks: Iterable[Lack], instead: str) -> None:
        self.__doc__ = method.__doc__
        self.method, self.lacks, self.instead = method, tuple(lacks), instead

    def __get__(self, model: object | None, owner: type) -> Any:
        if model is None:
            return self.method
        for lack in self.lacks:
            if (reason := lack(model, self.instead)) is not None:
                name = self.method.__name__
                raise UnavailableError(f"this {owner.__name__} has no {name}: {reason}")
        return self.method.__get__(model, owner)


def _opened(method: Callable[..., Any], takes: str | None, gives: str | None) -> Any:
    parameters = list(inspect.signature(method).parameters.values())[1:]
    names = [parameter.name for parameter in parameters]
    name = next((name for name in names if name in ("X", "Z", "x", "x0")), "")
    place = names.index(name) if name else len(names)
    optional = bool(name) and parameters[place].default is None
    check = _CHECKS.get(takes or "")

    @functools.wraps(method)
    def door(self: Any, *args: Any, **options: Any) -> Any:
        by_place = place < len(args)
        argument = args[place] if by_place else options.get(name)
        if takes == "model":
            check_is_fitted(self, self._saved[0])
        elif check is not None and (by_place or name in options):
            checked = None if argument is None and optional else check(self, argument)
            if takes == "blocks" and isinstance(checked, Source):
                others = {key: value for key, value in options.items() if key != name}
                plain = functools.partial(_plain, self, method.__name__, args[place + 1 :], others)
                subspace = model_of(self).subspace
                width = subspace.n_components if gives == "scores" else 0
                return by_blocks(plain, checked, subspace, width)
            if by_place:
                args = (*args[:place], checked, *args[place + 1 :])
            else:
                options[name] = checked
        answer = method(self, *args, **options)
        return as_frame(self, answer, argument if check else None) if gives == "rows" else answer

    opened: Any = blas_limited(door)
    opened.verb, opened.plain = Verb(takes, gives, name), method
    return opened


def _plain(model: Any, name: str, args: tuple[Any, ...], options: dict[str, Any], rows: Any) -> Any:
    """What a verb does with rows that have been checked; found by its name it reaches workers."""
    return getattr(type(model), name).plain(model, rows, *args, **options)


def _check_scores(model: Estimator, Z: Any) -> Array:
    check_is_fitted(model, model._saved[0])
    subspace = model_of(model).subspace
    codes = check_codes("Z", Z, subspace.n_components, "scores", "transform")
    with np.errstate(over="ignore"):  # the solver refuses what overflows, and names it
        return np.asarray(codes, dtype=subspace.coef.dtype)


_CHECKS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda model, X: model._rows(X),
    "blocks": lambda model, X: model._rows(X, stream=True),
    "source": lambda model, X: model._rows(X, stream=True),
    "missing": check_missing,
    "scores": _check_scores,
    "places": lambda model, Z: model._places(Z),
}


def as_frame(model: Estimator, rows: Any, like: Any) -> Any:
    """Rows of the model's columns as ``set_output`` says; sparse ones as SciPy's sparse array."""
    if isinstance(rows, Points):
        return rows.for_user()
    if np.ndim(rows) != 2:
        return rows
    return as_asked(model, rows, like, names_of(model) or [f"x{j}" for j in range(rows.shape[1])])


def as_asked(estimator: Any, rows: Any, like: Any, columns: Iterable[str]) -> Any:
    """Rows of these columns as ``set_output`` says; the index is that of what was given."""
    kind = _get_output_config("transform", estimator)["dense"]
    if kind == "default":
        return rows
    return ADAPTERS_MANAGER.adapters[kind].create_container(rows, like, columns=list(columns))


def _no_coordinates(model: Estimator, instead: str) -> str | None:
    kernel = kernel_of(model)
    if kernel is None or kernel.takes_vectors:
        return None
    return f"{kernel!r} has no coordinates, no input space; {instead}."


def _not_dense(model: Estimator, instead: str) -> str | None:
    """For methods that move the rows of the fit: a model of sparse rows lacks them."""
    points = model_of(model).subspace.points if "_model_" in vars(model) else None
    if points is not None and points.is_sparse:
        return f"it was fitted to sparse rows, and {points._lack}."
    return _no_coordinates(model, instead)


def _closed(kernel: Kernel | None) -> str | None:
    if kernel is None or not kernel.is_pairwise:
        return None
    return "a precomputed matrix lacks k(x, x) of new points; use a kernel or FunctionKernel."


def _nothing_to_tune(model: Estimator, instead: str) -> str | None:  # noqa: ARG001
    """A wrapper has no kernel and no number of components of its own."""
    if {"kernel", "n_components"} <= set(model.get_params(deep=False)):
        return None
    tuned = f"{type(model).__name__}(KernelPCA().tune(X, noise=...))."
    return f"kernel and components are those of the wrapped estimator; tune that one first: {tuned}"


_LACKS: dict[str, Lack] = {
    "coordinates": _no_coordinates,
    "dense rows": _not_dense,
    "new points": lambda model, _: _closed(kernel_of(model)),
    "a plan": lambda model, _: (
        None if hasattr(model, "_plan") else "it has no solver to choose; just fit it."
    ),
    "its own kernel": _nothing_to_tune,
}


def require_open(kernel: Kernel, purpose: str) -> None:
    """Raise :class:`KernelError`, naming the purpose, for a precomputed matrix."""
    if lack := _closed(kernel):
        raise KernelError(f"{purpose}: {lack}")


def require_vectors(kernel: Kernel, purpose: str, instead: str) -> None:
    """Raise :class:`KernelError`, naming the purpose, for a kernel of anything but vectors."""
    if not kernel.takes_vectors:
        raise KernelError(f"{kernel!r} has no vectors for {purpose}; {instead}.")


def kernel_of(model: Estimator) -> Kernel | None:
    """The kernel of the fit, or that of the next; None for nonsense, of which ``fit`` will tell."""
    return model_of(model).subspace.kernel if "_model_" in vars(model) else next_kernel(model)


def next_kernel(model: Estimator) -> Kernel | None:
    """The kernel of the next fit; None for nonsense."""
    try:
        return as_kernel(model.kernel)
    except (MercerError, AttributeError):
        return None
