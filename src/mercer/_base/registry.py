"""Classes by their words: of arguments (``"gaussian"``), and of model files.

A file says ``"kernels.Gaussian"`` or ``"lab.kernels:Wave"``; the word is looked up, and means
nothing otherwise. Our words are those of :mod:`mercer._base.catalogue`, those of others come by
:func:`register`; these have a colon, ours never do. No word of a file is ever imported.
"""

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TypeVar, cast

from mercer._base import catalogue
from mercer._base.config import Config
from mercer._base.spelling import did_you_mean
from mercer.exceptions import DataError, MercerError, ModelFileError

_CLASSES: dict[str, type] = {}
_WORDS: dict[type, str] = {}
_OURS = {place: word for word, place in catalogue.WORDS.items()}
_FOREIGN = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.<>]*")

#: Words of neighbours → ours that come nearest.
_NEIGHBOURS = {"arpack": "lanczos", "randomized": "davidson", "full": "dense", "kridge": "ridge"}
_NEIGHBOURS |= {"nystroem": "landmarks"}

Class = TypeVar("Class", bound=type)
Role = TypeVar("Role")


def by_name(
    parameter: str,
    value: str | Role,
    role: type,
    names: Mapping[str, str],
    error: type[MercerError] = DataError,
    others: str = "",
) -> Role:
    """The object itself, or one with default parameters from its name.

    Parameters
    ----------
    parameter : what the user calls it, for the message
    value : as the user gave it
    role : the abstract class that objects are of
    names : name → place, a table of :mod:`mercer._base.catalogue`
    error : raised for anything else
    others : what can be given instead of a name; an object of the role's package if left out
    """
    if isinstance(value, role):
        return cast("Role", value)
    if isinstance(value, str) and value in names:
        return cast("Role", catalogue.load(names[value])())
    if isinstance(value, type) and issubclass(value, role):
        raise error(f"{parameter}={value.__name__} is a class; give {value.__name__}(), an object.")
    word = value if isinstance(value, str) else ""
    guess = did_you_mean(_NEIGHBOURS.get(word.lower(), word), names)
    others = others or f"an object of {role.__module__.rpartition('.')[0]}"
    choices = ", ".join(map(repr, names))
    raise error(f"{parameter}={value!r} is not known; {guess}give one of {choices}, or {others}.")


def register(cls: Class, name: str | None = None) -> Class:
    """Let model files hold objects of your own class.

    Call it where the model is saved and again, in the process that loads, before
    :func:`mercer.load`: a file never says what is to be imported. It works as a decorator, too.

    Parameters
    ----------
    cls : class
        A kernel, solver, pre-image, landmark rule, component rule, density or calibration, that is,
        a subclass of one of mercer's roles; or a dataclass that one of them makes in ``fit``. What
        is saved are its parameters or fields: numbers, texts, arrays, and lists, tuples, dicts and
        objects made of them.
    name : str, optional
        ``"package.module:Class"``, by default where the class is defined. Under the first name of
        a class it is saved; it is read under all of them, so that a class may move.

    Returns
    -------
    class
        The same class.

    Raises
    ------
    TypeError
        It is no class, or none whose parameters are known.
    ModelFileError
        Another class has the name already.

    Notes
    -----
    The constructor is called with whatever a file says, and so should only store its parameters.
    ``check`` of a kernel is called after it.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> from mercer.kernels import Linear
    >>> @mercer.register
    ... class Doubled(Linear):
    ...     pass
    >>> mercer.register(Doubled, name="kernels.Linear")
    Traceback (most recent call last):
        ...
    mercer.exceptions.ModelFileError: name='kernels.Linear': give it as 'package.module:Class'.
    """
    _refuse_unsuitable(cls)
    if name is None and ":" not in (word_of(cls) or ":"):
        return cls  # one of ours
    word = f"{cls.__module__}:{cls.__qualname__}" if name is None else name
    if not isinstance(word, str) or not _FOREIGN.fullmatch(word):
        raise ModelFileError(f"name={word!r}: give it as 'package.module:Class'.")
    known = _CLASSES.get(word, cls)
    again = known.__module__ == cls.__module__ == "__main__"  # a notebook's cell that is run again
    if known is not cls and not again:
        raise ModelFileError(f"{word!r} is the name of {known!r} already; give another name=.")
    _CLASSES[word] = cls
    _WORDS.setdefault(cls, word)
    return cls


def find(word: str) -> type | None:
    """The class that a word stands for, or None."""
    place = catalogue.WORDS.get(word)
    return _CLASSES.get(word) if place is None else cast("type", catalogue.load(place))


def word_of(cls: type) -> str | None:
    """The word for a class, or None if there is none."""
    return _WORDS.get(cls) or _OURS.get(f"{cls.__module__}:{cls.__qualname__}")


def _refuse_unsuitable(cls: type) -> None:
    if not isinstance(cls, type):
        raise TypeError(f"{cls!r} is not a class; call mercer.register({type(cls).__name__}).")
    if not (issubclass(cls, Config) or is_dataclass(cls) or getattr(cls, "_saved", False)):
        raise TypeError(
            f"{cls.__name__} has no parameters that mercer knows of; register a subclass of one of "
            "its roles (Kernel, Solver, PreImageSolver, ...), or a dataclass."
        )
