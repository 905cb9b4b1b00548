"""Strategies by name: ``"gaussian"`` for ``Gaussian()``, in every layer by one function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

from mercer._spelling import did_you_mean
from mercer.exceptions import MercerError

__all__ = ["by_name"]

Role = TypeVar("Role")

#: Words of neighbours → ours that come nearest.
_NEIGHBOURS = {"arpack": "lanczos", "randomized": "landmarks", "full": "dense", "kridge": "ridge"}
_NEIGHBOURS |= {"rbf": "gaussian", "poly": "polynomial", "nystroem": "landmarks"}


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
    guess = ""
    if isinstance(value, str):
        guess = did_you_mean(_NEIGHBOURS.get(value.lower(), value), names)
    raise error(
        f"{parameter}={value!r} is not known; {guess}give one of {', '.join(map(repr, names))}, "
        f"or {others}."
    )
