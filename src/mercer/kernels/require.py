"""Checks of kernel parameters, with the wording in one place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.exceptions import DegenerateKernelWarning, KernelError, argument, warn


def finite(name: str, value: Any) -> float:
    """A real, finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise KernelError(f"{name} must be a number, not {value!r}; give a real number.")
    if not np.isfinite(value):
        raise KernelError(argument(name, value) + " is not finite; give a real number.")
    return float(value)


def positive(name: str, value: Any) -> None:
    """A finite number above zero."""
    if finite(name, value) <= 0:
        raise KernelError(argument(name, value) + " must be above zero; give a positive number.")


def nonnegative(name: str, value: Any) -> None:
    """A finite number that is not negative; zero makes a constant kernel and warns."""
    if finite(name, value) < 0:
        raise KernelError(argument(name, value) + " is negative; give a positive number.")
    if value == 0:
        constant = argument(name, 0) + " makes the kernel constant (effective rank 1)"
        remedy = "; give " + argument(name, "median") + " or a positive number."
        warn(constant + remedy, DegenerateKernelWarning)


def positive_or(name: str, value: Any, words: Sequence[str]) -> None:
    """A finite number above zero, or a word for the rule that will give one."""
    if isinstance(value, str):
        choice(name, value, words)
    else:
        positive(name, value)


def number(name: str, value: Any) -> float:
    """The number that a rule was to be turned into; :class:`KernelError` if it was not."""
    if value is None or isinstance(value, str):
        raise KernelError(argument(name, value) + " has no value yet; call resolve(X) first.")
    return float(value)


def choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """One of a few values."""
    if value not in choices:
        options = ", ".join(map(repr, choices))
        wrong = argument(name, value)
        raise KernelError(wrong + f" is not known; give one of {options}, or a number.")
