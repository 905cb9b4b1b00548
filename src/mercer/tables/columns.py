"""How one column becomes numbers for a kernel, and how it comes back: one class for each kind."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from mercer._base.numbers import counted
from mercer._base.types import Array
from mercer.exceptions import DataError, Remedy, warn
from mercer.tables.frames import is_absent, kind_of, objects


class WrongCellError(DataError):
    """A value that a column cannot take; the table adds how its rows are counted."""

    def __init__(self, row: int, before: str, after: str = "") -> None:
        super().__init__(f"{before} in row {row}{after}")
        self.row, self.before, self.after = row, before, after

    def at(self, place: Callable[[int], str]) -> str:
        """The message, with the place of the row."""
        return f"{self.before} in {place(self.row)}{self.after}"


# Parts of a date that come again: hour of the day, day of the week, month of the year.
#
# Each is an angle, and enters as its cosine and sine, so that December lies beside January. On the
# way back the number of days says about when, and the angles say which hour, weekday and month.


#: Name → length in seconds, the longest first.
CYCLES = {"month": 31_556_952.0, "weekday": 7 * 86_400.0, "hour": 86_400.0}
#: If cosine and sine are shorter than this, the angle is undetermined.
UNDECIDED = 0.5
_MONDAY = np.datetime64("1970-01-05")


def parse_cycles(kind: str) -> tuple[str, ...] | None:
    """The parts of ``"date:month+hour"``, the longest first; None for another kind."""
    head, _, tail = kind.partition(":")
    names = tail.split("+")
    if head != "date" or (":" in kind and not set(names) <= set(CYCLES)):
        return None
    return tuple(name for name in CYCLES if name in names)


def angles(dates: Array, cycles: Iterable[str]) -> Array:
    """(n, 2 · parts) cosines and sines of where each date lies in the cycles; NaN for NaT."""
    turns = [2 * np.pi * _phase(dates, name) for name in cycles]
    parts = [wave(turn) for turn in turns for wave in (np.cos, np.sin)]
    return np.column_stack(parts) if parts else np.empty((len(dates), 0))


def moved(dates: Array, block: Array, cycles: tuple[str, ...]) -> Array:
    """Dates moved by at most half a cycle to where the angles are, the longest cycle first.

    Angles that a model leaves open, because cosine and sine are short, move nothing.
    """
    moments = dates.astype("M8[us]")
    for k, name in enumerate(cycles):
        cosine, sine = block[:, 2 * k], block[:, 2 * k + 1]
        phase = np.arctan2(sine, cosine) / (2 * np.pi)
        step = (phase - _phase(moments, name) + 0.5) % 1 - 0.5
        sure = np.hypot(cosine, sine) >= UNDECIDED
        seconds = np.where(sure & ~np.isnat(moments), step, 0.0) * CYCLES[name]
        moments = moments + np.rint(1e6 * seconds).astype("m8[us]")
    return np.asarray(dates + (moments - dates.astype("M8[us]")))  # keeps nanoseconds


def _phase(dates: Array, name: str) -> Array:
    """Where a date lies in its day, week or year, from 0 to 1."""
    if name == "month":
        year = dates.astype("M8[Y]")
        first, last = year.astype("M8[us]"), (year + np.timedelta64(1, "Y")).astype("M8[us]")
        return np.asarray((dates.astype("M8[us]") - first) / (last - first))
    start = _MONDAY if name == "weekday" else np.datetime64("1970-01-01")
    seconds = (dates - start) / np.timedelta64(1, "s")
    return np.asarray((seconds / CYCLES[name]) % 1)


#: What dates are counted in, the coarsest first.
UNITS = ("D", "h", "m", "s", "ms", "us", "ns")
#: New rows are far from the fit if their median lies so many spreads from the fit's.
FAR = 5.0
#: Fewer rows than this may all be unusual.
LEAST_ROWS = 5


@dataclass(frozen=True)
class Number:
    """A number: ``u = gain · g((x - center)/scale)``, g the identity or ``asinh`` for long tails.

    Coming back it is rounded and kept inside what the data show.
    """

    center: float = 0.0
    scale: float = 1.0
    gain: float = 1.0
    #: Whether g is asinh, a logarithm with a sign: linear within one scale of the centre
    tails: bool = False
    whole: bool = False  #: all values were whole numbers, and they come back so
    low: float = -np.inf  #: a bound that the data show; infinite where they show none
    high: float = np.inf  #: the other bound
    #: All values, where the column has few of them: the nearest comes back; empty otherwise
    levels: tuple[float, ...] = ()
    #: Decimals that the values had, and are given back with; None for all digits
    digits: int | None = None
    ends: ClassVar[tuple[str, ...]] = ("",)
    width: ClassVar[int] = 1

    @property
    def is_raw(self) -> bool:
        """Whether the number is used as it is."""
        return self.scale == self.gain == 1 and not self.center and not self.tails

    def codes(self, values: Array) -> Array:
        """(n,) numbers as they are, if they are numbers."""
        if values.dtype.kind != "f":
            raise DataError(f"held numbers in fit, and holds {kind_of(values)} now")
        if np.isinf(values).any():
            raise WrongCellError(int(np.isinf(values).argmax()), "contains infinity")
        return values

    def encode(self, values: Array) -> Array:
        """(n,) numbers as an (n, 1) block."""
        u = (self.codes(values) - self.center) / self.scale
        u = np.arcsinh(u) if self.tails else u
        return np.asarray(self.gain * u)[:, None]

    def decode(self, block: Array) -> Array:
        """Numbers from a block; NaN stays NaN."""
        u = block[:, 0] / self.gain
        if self.tails:
            u = np.sinh(np.clip(u, -500, 500))
        values = self.center + self.scale * u
        if self.levels:
            return _nearest(np.array(self.levels), values)
        if self.whole or self.digits is not None:
            values = np.round(values, self.digits or 0)
        return np.asarray(np.clip(values, self.low, self.high))

    def describe(self) -> str:
        """What is done, in a few words."""
        words = ["number as it is" if self.is_raw else "number"]
        if not self.is_raw:
            formula = f"(x {'-+'[self.center < 0]} {abs(self.center):.4g}) / {self.scale:.4g}"
            words.append(f"asinh({formula})" if self.tails else formula)
        if self.levels:
            words.append(f"one of {len(self.levels)} values")
        elif self.whole:
            words.append("whole")
        elif self.digits is not None:
            words.append(counted(self.digits, "decimal"))
        if not self.levels and np.isfinite((self.low, self.high)).any():
            words.append(f"from {self.low:g}" + f" to {self.high:g}" * bool(np.isfinite(self.high)))
        return ", ".join(words)


@dataclass(frozen=True)
class Category:
    """A category: a one-hot block of height ``gain``, so that a Gaussian is exp(-γ [x ≠ y]).

    Coming back the strongest wins: only values that were there in ``fit`` come out.
    """

    values: tuple[Any, ...]  #: texts, truth values or numbers
    gain: float = 1.0
    #: Rare values of a column with very many; they share the slot of the last of ``values``, the
    #: most frequent among them
    pooled: tuple[Any, ...] = ()

    @property
    def ends(self) -> list[str]:
        """What is appended to the column's name for each entry of a vector."""
        return [f"={value}" for value in self.values]

    @property
    def width(self) -> int:
        """Number of slots."""
        return len(self.values)

    @cached_property
    def _slots(self) -> Mapping[Any, int]:
        last = len(self.values) - 1
        known = {**dict.fromkeys(self.pooled, last), **{v: i for i, v in enumerate(self.values)}}
        return {other: slot for value, slot in known.items() for other in _alike(value)} | known

    def unseen(self, values: Array) -> list[Any]:
        """The distinct values that fit has not seen."""
        present = {value for value in values.tolist() if not is_absent(value)}
        return sorted(present - set(self._slots), key=str)

    def codes(self, values: Array) -> Array:
        """The slot of each value, (n,): NaN for a missing value, -1 for an unseen one."""
        slots = {None: np.nan, **self._slots}
        return np.array([np.nan if v != v else slots.get(v, -1) for v in values.tolist()], float)

    def encode(self, values: Array) -> Array:
        """(n,) values as an (n, c) block: NaN for a missing value, zeros for an unseen one."""
        codes, block = self.codes(values), np.zeros((len(values), self.width))
        known = np.flatnonzero(codes >= 0)
        block[known, codes[known].astype(int)] = self.gain
        block[np.isnan(codes)] = np.nan
        return block

    def decode(self, block: Array) -> Array:
        """The category of the largest entry; a missing value stays missing."""
        missing = np.asarray(np.isnan(block).any(axis=1))
        number = isinstance(self.values[0], float)
        table = np.empty(self.width, dtype=np.float64 if number else object)
        table[:] = self.values
        values = np.take(table, np.where(missing[:, None], 0.0, block).argmax(axis=1))
        values[missing] = np.nan if number else None
        return np.asarray(values)

    def describe(self) -> str:
        """What is done, in a few words."""
        shown = ", ".join(str(value)[:20] for value in self.values[:4])
        more = f", {self.width - 4} more" if self.width > 4 else ""
        pool = f"; {len(self.pooled)} rare ones count as one" if self.pooled else ""
        return f"category of {self.width} ({shown}{more}{pool})"


def _alike(value: Any) -> tuple[Any, ...]:
    """The same for a file, where a truth value is a word, and for a frame, where it is not."""
    if isinstance(value, bool | np.bool_):
        return str(value), str(value).lower(), str(value).upper()
    truth = {"true": True, "false": False}.get(str(value).casefold())
    return () if truth is None else (truth,)


def count_units(spans: Array, unit: str) -> Array:
    """Spans of time as numbers of a unit; NaN for NaT."""
    return np.asarray(spans / np.timedelta64(1, unit), dtype=np.float64)  # type: ignore[call-overload]


@dataclass(frozen=True)
class Date:
    """A date or time, as a number of units since the first one; comes back in whole units.

    With ``cycles`` also as cosine and sine of the hour of the day, day of the week, or month (the
    place in the year), which together count as much as the number does.
    """

    number: Number
    origin: str  #: the first date, as ISO 8601
    unit: str  #: the coarsest in which all are whole: "D", "h", "m", "s", "ms", "us" or "ns"
    form: str = ""  #: of dates that are texts, as for ``strftime``; "" for dates that are dates
    cycles: tuple[str, ...] = ()  #: some of "month", "weekday" and "hour"
    gain: float = 1.0  #: of the cosines and sines

    @property
    def ends(self) -> list[str]:
        """What is appended to the column's name for each entry of a vector."""
        return ["", *(f":{part}:{way}" for part in self.cycles for way in ("cos", "sin"))]

    @property
    def width(self) -> int:
        """One entry for the number, and two for each cycle."""
        return 1 + 2 * len(self.cycles)

    def encode(self, values: Array) -> Array:
        """(n,) dates as an (n, width) block."""
        dates = self._dates(values)
        number = self.number.encode(self.codes(dates))
        return np.hstack([number, self.gain * angles(dates, self.cycles)])

    def codes(self, values: Array) -> Array:
        """Units since the first date, (n,)."""
        return count_units(self._dates(values) - np.datetime64(self.origin), self.unit)

    def _dates(self, values: Array) -> Array:
        if self.form and values.dtype.kind == "O":
            values = parse_dates(values, self.form)
        if values.dtype.kind != "M":
            raise DataError(f"held dates in fit, and holds {kind_of(values)} now")
        return values

    def decode(self, block: Array) -> Array:
        """The nearest whole unit; NaT stays."""
        counts = np.rint(self.number.decode(block[:, :1]))
        origin = np.datetime64(self.origin).astype(f"M8[{self.unit}]")
        steps = np.where(np.isnan(counts), 0, counts).astype(np.int64).astype(f"m8[{self.unit}]")
        dates = origin + steps
        if self.cycles:
            # The nearest whole unit; a cast alone would truncate.
            late = moved(dates, np.nan_to_num(block[:, 1:]) / self.gain, self.cycles) - origin
            whole = np.rint(count_units(late, self.unit)).astype(np.int64)
            dates = origin + whole.astype(f"m8[{self.unit}]")
        dates[np.isnan(counts)] = np.datetime64("NaT", self.unit)  # type: ignore[call-overload]
        if not self.form:
            return np.asarray(dates)
        plain = dates.astype("M8[us]").tolist()
        return objects(None if date is None else date.strftime(self.form) for date in plain)

    def describe(self) -> str:
        """What is done, in a few words."""
        unit = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds"}.get(self.unit, self.unit)
        cycles = f", with {' and '.join(self.cycles)} as angles" if self.cycles else ""
        # 03/04/2024 may be either of two days: users have to see which one was taken.
        form = f" as {self.form}" if self.form and not self.form.startswith("%Y-%m-%d") else ""
        if self.form and "%d" not in self.form and self.origin.startswith("1900-01-01T"):
            return f"time of day{form}, in {unit}{cycles}"
        return f"date{form}, {unit} since {self.origin}{cycles}"


@dataclass(frozen=True)
class LeftOut:
    """A column that the kernel does not see."""

    reason: str
    constant: Any = None  #: the one value of a constant column, which new rows get, too
    ends: ClassVar[tuple[str, ...]] = ()
    width: ClassVar[int] = 0

    def encode(self, values: Array) -> Array:
        """Nothing."""
        return np.empty((len(values), 0))

    def decode(self, block: Array) -> Array:
        """The constant, or missing values."""
        value = np.nan if self.constant is None else self.constant
        return np.full(len(block), value, dtype=np.float64 if isinstance(value, float) else object)

    def describe(self) -> str:
        """What is done, in a few words."""
        return f"left out: {self.reason}"


Used: TypeAlias = Number | Category | Date
Column: TypeAlias = Used | LeftOut


def parse_dates(values: Array, form: str) -> Array:
    """Texts of one form as dates; DataError names the first that is not."""
    dates = np.full(len(values), np.datetime64("NaT", "us"))
    for i, value in enumerate(values.tolist()):
        if value is None:
            continue
        try:
            dates[i] = datetime.strptime(str(value).strip(), form)
        except ValueError as error:
            raise WrongCellError(i, f"has {value!r}", f", not a date like {form}") from error
    return dates


def _nearest(levels: Array, values: Array) -> Array:
    edges = (levels[1:] + levels[:-1]) / 2
    return np.where(np.isnan(values), np.nan, levels[np.searchsorted(edges, values)])


def as_kind(name: str, kind: str) -> Remedy:
    """How to say what a column is."""
    python = f"TableEncoder(kinds={{{name!r}: {kind!r}}})"
    return Remedy(python, shell=f"--{kind} {shlex.quote(name)}")


def warn_of_far_rows(name: str, column: Column, values: Array, block: Array) -> None:
    """Say so if most rows are far from those of the fit in a column: all would be alike, and new.

    Columns that are left as they are have no spread to compare with.
    """
    number = column.number if isinstance(column, Date) else column
    if not isinstance(number, Number) or len(values) < LEAST_ROWS or np.isnan(block[:, 0]).all():
        return
    middle = float(np.nanmedian(block[:, 0])) / number.gain
    if (number.scale == 1 and not number.center) or abs(middle) <= FAR:
        return
    row = int(np.nanargmin(np.abs(block[:, 0] - middle * number.gain)))
    usual = column.decode(np.zeros((1, column.width)))[0]
    what: str = f"({values[row]}, and {usual} there); if time itself should not count, leave it "
    what += "out of the fit: " + as_kind(name, "index") + "."
    if not isinstance(column, Date):
        what = f"({values[row]:.4g}, and {usual:.4g} there); are they in the same unit?"
    warn_of(name, f": most of {len(values)} rows lie far from those of the fit " + what)


def warn_of(name: str, text: str) -> None:
    """A warning about a column."""
    warn(f"column {name!r}" + text)
