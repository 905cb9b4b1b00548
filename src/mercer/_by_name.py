"""Strategies by name: ``"gaussian"`` for ``Gaussian()``, in every layer by one function."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar, cast

from mercer.exceptions import MercerError

__all__ = ["by_name"]

Role = TypeVar("Role")


def by_name(
    parameter: str,
    value: str | Role,
    role: type,
    names: Mapping[str, type[Role]],
    error: type[MercerError],
    others: str,
) -> Role:
    """The object itself, or one with default parameters from its name.

    Parameters
    ----------
    parameter : what the user calls it, for the message
    value : as the user gave it
    role : the abstract class that objects are of
    names : name → class
    error : raised for anything else
    others : what can be given instead of a name, ``"an object of mercer.kernels"``
    """
    if isinstance(value, role):
        return cast("Role", value)
    if isinstance(value, str) and value in names:
        return names[value]()
    if isinstance(value, type) and issubclass(value, role):
        raise error(f"{parameter}={value.__name__} is a class; give {value.__name__}(), an object.")
    close = get_close_matches(value.lower(), names, 1, 0.7) if isinstance(value, str) else ()
    guess = f"did you mean {close[0]!r}? Else " if close else ""
    raise error(
        f"{parameter}={value!r} is not known; {guess}give one of {', '.join(map(repr, names))}, "
        f"or {others}."
    )
