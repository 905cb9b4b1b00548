"""Which classes a model file may speak of: those that were registered, under fixed names.

A file says ``"kernels.Gaussian"`` or ``"lab.kernels:Wave"``; the word is looked up here, and means
nothing otherwise. Our classes are registered by their layers, those of others by :func:`register`;
names of others have a colon, ours never do. No word is ever imported.
"""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from importlib import import_module
from typing import TypeVar

__all__ = ["LAYERS", "find", "ours", "register", "word_of"]

_CLASSES: dict[str, type] = {}
_WORDS: dict[type, str] = {}
_FOREIGN = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.<>]*")

#: First part of a word → module of mercer, for layers that are imported when a file needs them.
LAYERS: dict[str, str] = {}

Class = TypeVar("Class", bound=type)


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
    from mercer.exceptions import ModelFileError

    _refuse_unsuitable(cls)
    if name is None and ":" not in _WORDS.get(cls, ":"):
        return cls  # one of ours
    word = f"{cls.__module__}:{cls.__qualname__}" if name is None else name
    if not isinstance(word, str) or not _FOREIGN.fullmatch(word):
        raise ModelFileError(f"name={word!r}: give it as 'package.module:Class'.")
    known = _CLASSES.get(word, cls)
    again = known.__module__ == cls.__module__ == "__main__"  # a notebook's cell that is run again
    if known is not cls and not again:
        raise ModelFileError(
            f"{word!r} is the name of another class already, {known!r}; give name=, or register "
            "one of them only."
        )
    _CLASSES[word] = cls
    _WORDS.setdefault(cls, word)
    return cls


def ours(layer: str, *classes: type) -> None:
    """Register classes of mercer under ``"layer.Class"``, or ``"Class"`` if the layer is ``""``.

    The words are those of all files ever written: a class may move, its word may not.
    """
    for cls in classes:
        word = ".".join(filter(None, (layer, cls.__name__.lstrip("_"))))
        if _CLASSES.setdefault(word, cls) is not cls:
            raise AssertionError(f"two classes are called {word}")
        _WORDS[cls] = word


def find(word: str) -> type | None:
    """The class that a word stands for, or None."""
    layer = LAYERS.get(word.partition(".")[0])
    if layer is not None:
        import_module(layer)
    return _CLASSES.get(word)


def word_of(cls: type) -> str | None:
    """The word for a class, or None if it was never registered."""
    return _WORDS.get(cls)


def _refuse_unsuitable(cls: type) -> None:
    from mercer._config import Config

    if not isinstance(cls, type):
        raise TypeError(
            f"register takes a class, not {cls!r}; call mercer.register({type(cls).__name__})."
        )
    if not (issubclass(cls, Config) or is_dataclass(cls) or getattr(cls, "_saved", False)):
        raise TypeError(
            f"{cls.__name__} has no parameters that mercer knows of; register a subclass of one of "
            "its roles (Kernel, Solver, PreImageSolver, ...), or a dataclass."
        )
