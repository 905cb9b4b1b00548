"""What a mistyped word may have meant: did-you-mean for arguments, names and files."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

#: Files of a folder that are looked at for a name that is similar.
MANY = 2000


def closest(word: str, words: Iterable[str]) -> str | None:
    """The most similar of the words, or the only one that begins like it; case does not matter."""
    known = {name.lower(): name for name in words}
    begun = [name for name in known if len(word) >= 3 and name.startswith(word.lower())]
    matches = begun if len(begun) == 1 else get_close_matches(word.lower(), known, 1, 0.7)
    return known[matches[0]] if matches else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """As the beginning of a remedy: ``did you mean 'gaussian'? Otherwise``; empty if none."""
    guess = closest(word, words)
    return "" if guess is None else f"did you mean {guess!r}? Otherwise "


def no_such_name(
    module: str, name: str, names: Iterable[str], elsewhere: Mapping[str, str]
) -> AttributeError:
    """For a module's ``__getattr__``: what it is called here, or what is similar."""
    guess = elsewhere.get(name) or closest(name, names)
    remedy = f"did you mean {guess}?" if guess else f"dir({module}) lists what it has."
    return AttributeError(f"module {module!r} has no attribute {name!r}; {remedy}")


def similar_file(path: Path) -> str:
    """The file of the folder that may have been meant: ``; did you mean 'a.csv'?``, or empty."""
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), MANY)]
    except OSError:
        return ""
    guess = closest(path.name, names)
    return "" if guess is None else f"; did you mean '{path.parent / guess}'?"


def answer_spelling(cls: Any) -> None:
    """Let a class's constructor answer a mistyped argument, or a neighbour's, with what to write.

    ``cls._foreign`` has arguments that neighbours have → what to write here.
    """
    if "__init__" not in vars(cls):
        return
    init = cls.__init__

    @functools.wraps(init)  # so that signatures are those of before
    def answering(self: Any, *given: Any, **named: Any) -> None:
        try:
            init(self, *given, **named)
        except TypeError:
            if (remedy := _remedy(type(self), init, given, named)) is not None:
                raise TypeError(remedy) from None
            raise

    cls.__init__ = answering


def _remedy(
    cls: Any, init: Callable[..., None], values: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    """What to write instead of arguments that the constructor has not; None if it has them all."""
    takes = [*inspect.signature(init).parameters.values()][1:]
    names = [parameter.name for parameter in takes]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in takes):
        return None
    for name in named:
        if name not in names:
            return f"{cls.__name__} has no {name}=; {other_spelling(name, names, cls._foreign)}"
    placed = [p.name for p in takes if p.kind is p.POSITIONAL_OR_KEYWORD]
    free = [name for name in names if name not in (*placed, *named)]
    if any(p.kind is p.VAR_POSITIONAL for p in takes) or len(values) <= len(placed):
        return None
    first = [repr(value) for value in values[: len(placed)]]
    rest = [f"{name}={value!r}" for name, value in zip(free, values[len(placed) :], strict=False)]
    by_place = f"only {', '.join(placed)} without its name" if placed else "no value without a name"
    return f"{cls.__name__} takes {by_place}; write {cls.__name__}({', '.join([*first, *rest])})."


def other_spelling(name: str, names: Iterable[str], foreign: Mapping[str, str]) -> str:
    """What to write instead of a parameter that is not there."""
    if name in foreign:
        return foreign[name]
    guess = closest(name, names)
    return f"did you mean {guess}=?" if guess else f"it has {', '.join(names)}."
