"""Errors and warnings: each message says what happened, with numbers, and ends in a remedy.

Errors subclass ``ValueError`` so that code written for scikit-learn catches them unchanged.
"""

import csv
import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning
from sklearn.exceptions import NotFittedError

__all__ = ["ColumnsError", "ConvergenceError", "ConvergenceWarning", "DataError"]
__all__ += ["DegenerateKernelWarning", "DenoisingWarning", "IndefiniteKernelWarning", "KernelError"]
__all__ += ["MercerError", "MercerWarning", "MissingModelError", "ModelFileError", "NotFittedError"]
__all__ += ["NumericalWarning", "OutputError", "RankWarning", "Remedy", "UnavailableError"]
__all__ += ["argument", "said", "strict", "warn"]


_strict: ContextVar[bool] = ContextVar("mercer_strict", default=False)


class Remedy(str):
    """What to do next, as Python writes it, and in other words where Python is not at hand.

    A text that remembers, added to others, what is typed at a shell and chosen on a page. Errors
    and warnings are made of it; put into an f-string it is forgotten, so write ``+``.

    Parameters
    ----------
    python : what ``str`` gives
    elsewhere : by place; ``shell``, ``page``, or ``table`` for a model of tables at a shell

    Examples
    --------
    >>> from mercer.exceptions import DataError, Remedy, said
    >>> error = DataError("it moved; " + Remedy("raise max_iter", shell="give more rows") + ".")
    >>> str(error), said(error, "shell")
    ('it moved; raise max_iter.', 'it moved; give more rows.')
    """

    elsewhere: dict[str, str]

    def __new__(cls, python: str, **elsewhere: str) -> "Remedy":
        remedy = super().__new__(cls, python)
        remedy.elsewhere = elsewhere
        return remedy

    def __add__(self, more: str) -> "Remedy":
        return _joined(self, more)

    def __radd__(self, before: str) -> "Remedy":
        return _joined(before, self)


def _joined(*parts: str) -> Remedy:
    places = {place for part in parts for place in getattr(part, "elsewhere", ())}
    words = {place: "".join(said(part, place) for part in parts) for place in sorted(places)}
    return Remedy("".join(map(str, parts)), **words)


def said(message: BaseException | str, place: str) -> str:
    """An error, a warning or a text in the words of a place, ``"shell"`` or ``"page"``."""
    text = message.args[0] if isinstance(message, BaseException) and message.args else message
    return str(getattr(text, "elsewhere", {}).get(place, message))


#: Arguments that are options of the command line.
_OPTIONS = {"array", "columns", "components", "drop", "gamma", "image_shape", "label", "missing"}
_OPTIONS |= {"n_components", "scale", "sigma", "width"}


def argument(name: str, value: object) -> Remedy:
    """``name=value``, at a shell ``--name value``, ready to be typed."""
    python = f"{name}={value!r}" if isinstance(value, str | list | tuple) else f"{name}={value}"
    if name not in _OPTIONS:
        return Remedy(python)
    import shlex  # which scikit-learn does not load

    typed = "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
    if isinstance(value, list):  # as the command line reads lists
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(value)
        typed = line.getvalue()
    option = name.removeprefix("n_").replace("_", "-")
    return Remedy(python, shell=f"--{option} {shlex.quote(typed)}")


class MercerError(ValueError):
    """Base of every error that mercer raises on purpose."""


class DataError(MercerError):
    """The rows cannot be used: too few, not finite, or without any variance."""


class ColumnsError(DataError):
    """The columns are not those that the model was fitted to."""


class KernelError(MercerError):
    """The kernel is wrong for these rows: bad parameter, overflow, or not positive definite."""


class UnavailableError(KernelError, AttributeError):
    """A method that this model cannot have; ``hasattr`` is False for it."""


class ModelFileError(MercerError):
    """A model file is damaged, foreign, or of a version that this library does not read."""

    #: The file, where the message names it.
    path: object = None


class MissingModelError(ModelFileError, FileNotFoundError):
    """There is no such model file; a ``FileNotFoundError``, too."""


class OutputError(MercerError):
    """A table cannot be written there, or not in that form."""


class ConvergenceError(MercerError):
    """An iteration ended without a usable result."""


class MercerWarning(UserWarning):
    """Base of every warning that mercer gives."""


class DegenerateKernelWarning(MercerWarning):
    """The kernel matrix is close to the identity or to a constant: the width does not fit."""


class RankWarning(MercerWarning):
    """Fewer components exist than were asked for."""


class DenoisingWarning(MercerWarning):
    """The model keeps everything, the noise of the rows included."""


class IndefiniteKernelWarning(MercerWarning):
    """Negative eigenvalues slightly beyond rounding were dropped."""


class ConvergenceWarning(MercerWarning, _SklearnConvergenceWarning):  # type: ignore[misc]
    """A solver stopped before it reached its tolerance; the result carries its residuals."""


class NumericalWarning(MercerWarning):
    """A result and the kernel's definition differ by more than the result claims."""


#: What lies between a caller and a cause: wrappers of ``fit``, pipelines, searches, decorators.
BETWEEN = ("mercer", "sklearn", "joblib", "contextlib")


def warn(message: str, category: type[Warning] = MercerWarning) -> None:
    """Warn at the line of the person who called, however deep the cause lies.

    Inside :func:`strict` a result that is not what it claims to be is an error instead.
    """
    if _strict.get() and issubclass(category, NumericalWarning | ConvergenceWarning):
        raise ConvergenceError(message)
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _package(frame) in BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


@contextmanager
def strict() -> Iterator[None]:
    """Raise where a result did not converge or fails its audit, instead of warning.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> with mercer.strict():
    ...     model = mercer.KernelPCA(5).fit(X)
    """
    token = _strict.set(True)
    try:
        yield
    finally:
        _strict.reset(token)
