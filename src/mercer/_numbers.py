"""Numbers that users give as parameters, checked; and numbers in texts, shortened."""

from __future__ import annotations

import re
from numbers import Integral, Real

from mercer.exceptions import DataError, argument


def check_count(name: str, value: object, least: int = 1, instead: str = "") -> int:
    """A whole number of at least ``least``; ``instead`` is what else may be given."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        wrong = argument(name, value)
        raise DataError(wrong + f": give a whole number from {least} on{instead}.")
    return int(value)


def check_positive(name: str, value: object, instead: str = "") -> float:
    """A finite number above zero; ``instead`` is what else may be given."""
    number = value if isinstance(value, Real) and not isinstance(value, bool) else 0
    if not 0 < float(number) < float("inf"):
        raise DataError(argument(name, value) + f": give a positive number{instead}.")
    return float(number)


def counted(n: int, what: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def shortened(text: str, digits: int = 5) -> str:
    """The text with five digits of each number that has many more."""
    many = rf"\d+\.\d{{{digits + 1},}}(e[-+]?\d+)?"
    return re.sub(many, lambda found: f"{float(found[0]):.{digits}g}", text)
