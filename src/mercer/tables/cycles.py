"""Parts of a date that come again: hour of the day, day of the week, month of the year.

Each is an angle, and enters as its cosine and sine, so that December lies beside January. On the
way back the number of days says about when, and the angles say which hour, weekday and month.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mercer._linalg import Array

#: Name → length in seconds, the longest first.
CYCLES = {"month": 31_556_952.0, "weekday": 7 * 86_400.0, "hour": 86_400.0}
#: Cosine and sine of less than this length leave the angle open.
UNDECIDED = 0.5
_MONDAY = np.datetime64("1970-01-05")


def parse_cycles(kind: str) -> tuple[str, ...] | None:
    """The parts of ``"date:month+hour"``, the longest first; None if it is another kind."""
    head, _, tail = kind.partition(":")
    names = tail.split("+")
    if head != "date" or (":" in kind and not set(names) <= set(CYCLES)):
        return None
    return tuple(name for name in CYCLES if name in names)


def angles(dates: Array, cycles: Iterable[str]) -> Array:
    """(n, 2 · parts) cosines and sines of where each date lies in the cycles; NaN for NaT."""
    parts = []
    for name in cycles:
        turn = 2 * np.pi * _phase(dates, name)
        parts += [np.cos(turn), np.sin(turn)]
    return np.column_stack(parts) if parts else np.empty((len(dates), 0))


def moved(dates: Array, block: Array, cycles: tuple[str, ...]) -> Array:
    """Dates moved by at most half a cycle to where the angles are, the longest cycle first.

    Angles that a model leaves open, because cosine and sine are short, move nothing.
    """
    found = dates.astype("M8[us]")
    for k, name in enumerate(cycles):
        cosine, sine = block[:, 2 * k], block[:, 2 * k + 1]
        wanted = np.arctan2(sine, cosine) / (2 * np.pi)
        step = (wanted - _phase(found, name) + 0.5) % 1 - 0.5
        sure = np.hypot(cosine, sine) >= UNDECIDED
        seconds = np.where(sure & ~np.isnat(found), step, 0.0) * CYCLES[name]
        found = found + np.rint(1e6 * seconds).astype("m8[us]")
    return np.asarray(dates + (found - dates.astype("M8[us]")))  # nanoseconds stay


def _phase(dates: Array, name: str) -> Array:
    """Where a date lies in its day, week or year, from 0 to 1."""
    if name == "month":
        year = dates.astype("M8[Y]")
        first, last = year.astype("M8[us]"), (year + 1).astype("M8[us]")
        return np.asarray((dates.astype("M8[us]") - first) / (last - first))
    start = _MONDAY if name == "weekday" else np.datetime64("1970-01-01")
    seconds = (dates - start) / np.timedelta64(1, "s")
    return np.asarray((seconds / CYCLES[name]) % 1)
