"""Numbers that users give, checked; numbers in texts, shortened; and random ones, made."""

import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from mercer._base.types import Array, Estimator, Seed
from mercer.exceptions import DataError, argument


def check_count(name: str, value: object, least: int = 1, instead: str = "") -> int:
    """A whole number of at least ``least``; ``instead`` is what else may be given."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        wrong = argument(name, value)
        raise DataError(wrong + f": give a whole number of at least {least}{instead}.")
    return int(value)


def check_one_of(name: str, value: Any, least: int, most: int, there_are: str) -> int:
    """A whole number from ``least`` to ``most``; ``there_are`` says what has so many."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:
        remedy = f"give a whole number from {least} to {most}."
        raise DataError(argument(name, value) + f": {there_are}; {remedy}")
    return int(value)


def check_positive(name: str, value: object, instead: str = "") -> float:
    """A finite number above zero; ``instead`` is what else may be given."""
    number = value if isinstance(value, Real) and not isinstance(value, bool) else 0
    if not 0 < float(number) < float("inf"):
        raise DataError(argument(name, value) + f": give a positive number{instead}.")
    return float(number)


def check_rate(name: str, value: Any, usual: float) -> float:
    """A number between 0 and 1, such as the usual one."""
    if not 0 < value < 1:
        raise DataError(argument(name, value) + f": give one between 0 and 1, such as {usual}.")
    return float(value)


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """One of a few words."""
    if value not in (known := list(choices)):
        words = ", ".join(map(repr, known))
        raise DataError(argument(name, value) + f" is not known; give one of {words}.")


def counted(n: int, what: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def decimals(x: Array, most: int = 6) -> int | None:
    """How many decimals the numbers are written with, at least; None beyond ``most``."""
    x = x[np.isfinite(x)]
    if not len(x) or np.abs(x).max() >= 2.0**53 / 10**most:
        return None
    return next((k for k in range(most + 1) if (np.round(x, k) == x).all()), None)


def plain_value(value: Any) -> Any:
    """What JSON knows in the place of a number or array of NumPy's; others as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def shortened(text: str, digits: int = 5) -> str:
    """The text with five digits of each number that has many more."""
    many = rf"\d+\.\d{{{digits + 1},}}(e[-+]?\d+)?"
    return re.sub(many, lambda found: f"{float(found[0]):.{digits}g}", text)


# Random numbers: the one place where a Generator is made.


def make_rng(random_state: Seed) -> np.random.Generator:
    """The random numbers of one fit, from what the user gave as ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def fixed_rng(seed: int | Sequence[int] | np.random.Generator) -> np.random.Generator:
    """The same numbers at every call: for samples and starts that users do not choose.

    Also for a stream that is split off another one, whose draw is then the seed.
    """
    return np.random.default_rng(seed)


def counted_rng(key: int, counter: int) -> np.random.Generator:
    """Numbers by their place in one long stream, of which any part can be drawn alone."""
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def seeded_copy(model: Estimator, seed: int) -> Any:
    """An unfitted copy that draws the same random numbers in every fit."""
    copy = clone(model)
    if copy.get_params(deep=False).get("random_state", seed) is None:
        copy.set_params(random_state=seed)
    return copy
