"""What is done with a column: decided once, from its values, unless the user says it."""

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._base.numbers import decimals
from mercer._base.types import Array
from mercer.exceptions import DataError, Remedy, warn
from mercer.io.files import names_text
from mercer.tables import columns as column_kinds
from mercer.tables.columns import UNITS, Category, Column, Date, LeftOut, Number, as_kind, warn_of
from mercer.tables.frames import Frame, absent, objects, unit_of
from mercer.tables.numerals import read_numerals

#: What users may ask for.
KINDS = ("number", "category", "date", "raw", "drop", "index")
#: Why a column of names of the rows is left out.
ROW_NAMES = "names of the rows"
#: Columns whose largest entries differ by less than this factor are taken to have one unit.
ONE_UNIT = 10.0
#: A share of the variance that leaves nothing for other columns.
ALMOST_ALL = 0.9
#: If there are more categories than this, rare ones are pooled, or the column is not a category.
MOST_CATEGORIES = 100
#: The pool may hold this share of the rows; if it would hold more, the column is free text.
MOST_POOLED = 0.2
#: A number with so few values, each seen five times on average, comes back as one of them.
FEW_VALUES = 12
#: Tails are long if the standard deviation is so many robust ones, or a value lies so far out.
LONG_TAILS, FAR_OUT = 1.5, 10.0
#: A category counts for as much as a number (variance 1), but a rare one not for more than this.
LEAST_SPREAD = 0.25
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")
_FORMS = (
    *_DAYS,
    *(f"{day}{sep}%H:%M{second}" for second in ("", ":%S") for day in _DAYS for sep in " T"),
    *(f"{day} %I:%M{second} %p" for day in _DAYS for second in ("", ":%S")),
    *(f"%Y-%m-%d{end}" for end in ("T%H:%M:%SZ", " %H:%M:%S.%f", "T%H:%M:%S.%f", "T%H:%M:%S.%fZ")),
    *("%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y"),
    *("%H:%M", "%H:%M:%S", "%I:%M %p"),
    *("%Y-%m", "%Y/%m", "%m/%Y", "%m.%Y", "%b %Y", "%B %Y", "%b-%Y"),
)
#: Each of these forms has one of them.
_SEPARATORS = frozenset("-/.:, ")
_ID = re.compile(r"(^|[_\W])(id|uuid|key|index|rownames?|unnamed: 0)$", re.IGNORECASE)
#: Numbers by which files say that a value is missing.
_CODES = frozenset({-1.0, 999.0, 9999.0, 99999.0, *(-(10.0**k) + 1 for k in range(1, 6))})
_TOO_LONG = "holds numbers of more than 15 digits, which a float64 cannot tell apart"
_PERCENT = re.compile(r"%|percent|pct", re.IGNORECASE)


def one_unit(columns: Iterable[Array]) -> bool:
    """Whether all columns seem to be measured in one unit, as pixels and spectra are.

    Then their differences in spread mean something, and scaling would blow up what is nearly
    constant. The rule: the largest absolute values of nine tenths of the columns lie within a
    factor of ten (``python -m benchmarks tables`` measures it); or half begin at one value, a
    quarter reach another, and none goes beyond, as pixels do of which some are always dark.
    """
    ends = [(float(np.nanmin(x)), float(np.nanmax(x))) for x in columns]
    ends = [(low, high) for low, high in ends if high > low]
    if not ends:
        return True
    lows, highs = zip(*ends, strict=True)
    begin, reach = max(Counter(lows).values()), highs.count(max(highs))
    if len(ends) > 20 and 2 * begin >= len(ends) and 4 * reach >= len(ends) and min(lows) >= 0:
        return True
    largest = [max(-low, high) for low, high in ends]
    low, high = np.quantile(largest, [0.05, 0.95] if len(largest) > 20 else [0.0, 1.0])
    # A few small ones do no harm; one that is large would be all that a kernel sees.
    return bool(high <= ONE_UNIT * low and max(largest) <= ONE_UNIT * high)


def have_one_unit(columns: Mapping[str, Array]) -> bool:
    """The same, with a warning if only one to three columns of another unit are in the way."""
    if one_unit(columns.values()):
        _warn_of_one(columns)
        return True
    largest = {name: float(np.nanmax(np.abs(x))) for name, x in columns.items()}
    middle = float(np.median([*largest.values()])) if largest else 0.0
    odd = [name for name, value in largest.items() if value > ONE_UNIT * middle]
    rest = [x for name, x in columns.items() if name not in odd]
    if 0 < len(odd) <= 3 and len(rest) > 20 and one_unit(rest):
        one = f"{len(rest)} of {len(columns)} columns seem to have one unit, not {names_text(odd)}"
        warn(f"{one}; all are scaled. Leave out a label: " + as_kind(odd[0], "drop") + ".")
    return False


def _warn_of_one(columns: Mapping[str, Array]) -> None:
    """Say so if the distances between rows are those of one column."""
    spread = {name: float(np.nanvar(values)) for name, values in columns.items()}
    spread = {name: variance for name, variance in spread.items() if variance > 0}
    if len(spread) < 2:
        return
    name = max(spread, key=lambda name: spread[name])
    if (share := spread[name] / sum(spread.values())) > ALMOST_ALL:
        remedy = Remedy("TableEncoder(scale='std').", shell="--scale std.")
        most = f"the numbers are not scaled, and {name!r} holds {share:.1%} of their variance"
        warn(f"{most}; if they have several units, scale them: " + remedy)


def is_id_name(name: str) -> bool:
    """Whether a column is called as names of rows are: ``id``, ``Unnamed: 0``, or nothing."""
    return not name or bool(_ID.search(name))


def decide(frame: Frame, name: str, kind: str | None, scale: str, weight: float) -> Column:
    """The column's kind, with its numbers.

    ``kind`` is one of ``KINDS``, ``"date:month+weekday+hour"`` with some of these, or None to
    decide; a ``weight`` of 1 counts as a standardised number does.
    """
    values, rounded = frame.columns[name], name in frame.exact
    present, cycles = values[~absent(values)], column_kinds.parse_cycles(kind or "") or ()
    kind = "date" if cycles else kind
    empty = "" if len(present) else "no values"
    if reason := {"drop": "asked for", "index": ROW_NAMES}.get(kind or "", empty):
        return LeftOut(reason)
    if values.dtype.kind == "f" and np.isinf(present).any():
        where = frame.place(int(np.isinf(values).argmax()))
        raise DataError(f"column {name!r} contains infinity in {where}; remove such rows.")
    plain = kind in ("number", "category", "raw")
    # In an array of whole numbers some may have become one already.
    rounded |= kind == "category" and values.dtype.kind == "f" and np.abs(present).max() > 2**53
    if rounded and plain:
        raise DataError(f"column {name!r} {_TOO_LONG}; give them as texts, or leave it out.")
    if not plain and (date := _date(name, present, weight, cycles)):
        return date
    if kind == "date":
        odd = f"column {name!r} has {present.tolist()[0]!r}, which is not a date of a known form"
        raise DataError(f"{odd}; write dates as 2024-12-31, or leave the column out.")
    # Among columns of one unit a constant, as a pixel that is always black, keeps its unit: it
    # does not change a distance between rows of the fit, and shows rows of another kind.
    kept = present.dtype.kind == "f" and scale == "none"
    if len({*present.tolist()}) == 1 and kind is None and not kept:
        return LeftOut("constant", present.tolist()[0])
    if present.dtype.kind == "f" and kind != "category":
        if kind is None and is_id(name, present):
            return LeftOut(f"id-like, {len(present):,} different whole numbers")
        if rounded:
            return LeftOut(f"{_TOO_LONG}; subtract the same whole number from all to use them")
        if kind is None:
            _warn_of_codes(name, present)
        unit = unit_of(frame.dtypes.get(name, ""))  # a percent sign shows the bounds
        return _number(name + unit, present, "none" if kind == "raw" else scale, weight)
    if kind in ("number", "raw"):
        raise DataError(f"column {name!r} has {present[0]!r}, which is not a number; fix it.")
    if kind is None and (reason := _why_not_category(present.tolist())):
        return LeftOut(reason)
    return _category(name, present.tolist(), kind is not None, weight)


def _why_not_category(values: list[Any]) -> str:
    """Why texts are not categories: numbers with a unit, or dates in several forms."""
    different = sorted({str(value) for value in values}) if isinstance(values[0], str) else []
    if len(different) < 2:
        return ""
    numerals = read_numerals(different)
    if numerals is not None and numerals.form != "int":
        return f"texts such as {different[0]!r}; give numbers, or call it a category"
    forms = [_form_of(objects([text])) for text in different[:1000]]
    if all(forms):  # ... but one format does not fit all
        other = different[max(i for i, form in enumerate(forms) if form != forms[0])]
        return f"dates in several forms, {different[0]!r} and {other!r}; write all as 2024-12-31"
    return ""


def _form_of(values: Array) -> str:
    """The format in which all texts are dates; empty if there is none."""
    some = values[: 1 + len(values) // 50].tolist()
    if not all(isinstance(text, str) and _SEPARATORS & {*text} for text in some):
        return ""
    for form in _FORMS:
        with contextlib.suppress(DataError):
            column_kinds.parse_dates(values, form)
            return form
    return ""


def _warn_of_codes(name: str, x: Array) -> None:
    """-999 far below all others may stand for a missing value, and would dominate the scale."""
    levels, counts = np.unique(x, return_counts=True)
    if len(levels) < 4:
        return
    for end, low, high in ((0, levels[1], levels[-1]), (-1, levels[0], levels[-2])):
        gap = min(abs(levels[end] - low), abs(levels[end] - high))
        if levels[end] in _CODES and counts[end] > 1 and gap > high - low:
            far = f"{levels[end]:g} in {counts[end]} rows, far from all ({low:g} to {high:g})"
            warn_of(name, f" has {far}; leave the field empty if it means a missing value.")


def is_id(name: str, x: Array) -> bool:
    """Whether values are distinct whole numbers, and called an id or 1 to n in some order."""
    if len(x) < 20 or (x != np.rint(x)).any():
        return False
    if np.abs(x).max() > 2**53:  # too long for float64, which cannot tell whether they differ
        return is_id_name(name)
    if len(np.unique(x)) < len(x):
        return False
    return is_id_name(name) or x.max() - x.min() + 1 == len(x)


def _number(name: str, x: Array, scale: str, weight: float) -> Number:
    whole = bool((x == np.rint(x)).all()) and float(np.abs(x).max()) < 2**53
    levels = np.unique(x)
    few = len(levels) <= FEW_VALUES and len(x) >= 5 * len(levels)
    low, high = _bounds(name, x)
    values = tuple(levels.tolist()) if few else ()
    digits = None if whole else decimals(x)
    plain = Number(gain=weight, whole=whole, low=low, high=high, levels=values, digits=digits)
    if scale == "none":
        return plain
    deviation = _positive(x.std())
    if scale == "std":
        return replace(plain, center=float(x.mean()), scale=deviation)
    center, spread = float(np.median(x)), float(np.subtract(*np.quantile(x, [0.75, 0.25]))) / 1.349
    if few or spread == 0:
        spread = deviation
    far = float(np.abs(x - center).max()) / spread
    if not few and (deviation > LONG_TAILS * spread or far > FAR_OUT):
        gain = weight / _positive(np.arcsinh((x - center) / spread).std())
        return replace(plain, center=center, scale=spread, gain=gain, tails=True)
    # Without long tails the plain deviation is safe, and measured better than quartiles.
    return replace(plain, center=center, scale=deviation)


def _bounds(name: str, x: Array) -> tuple[float, float]:
    """Bounds that people would see: from 0, to 1, to 100 %."""
    low, high = float(x.min()), float(x.max())
    if low < 0:
        return -np.inf, np.inf
    if high <= 1:
        return 0.0, 1.0
    percent = high <= 100 and (high == 100 or _PERCENT.search(name))
    return 0.0, 100.0 if percent else np.inf


def _positive(spread: float) -> float:
    return float(spread) if spread > 0 and np.isfinite(spread) else 1.0


def _category(name: str, values: list[Any], kind: bool, weight: float) -> Column:
    counts, n = Counter(values), len(values)
    # Most frequent first; ties by their names, so that the order of the rows does not matter.
    ordered = sorted(counts, key=lambda value: (-counts[value], str(value)))
    kept, pooled = ordered[:MOST_CATEGORIES], ordered[MOST_CATEGORIES:]
    # Texts that are all different add the same to every distance.
    many = len(ordered) > n / 2 if n >= 20 else len(ordered) == n >= 5
    if not kind and (many or sum(counts[value] for value in pooled) > MOST_POOLED * n):
        id_like = many and (len(ordered) == n or _ID.search(name))
        what = "id-like" if id_like else "free text"
        return LeftOut(f"{what}, {len(ordered):,} different texts in {n:,} rows")
    _warn_of_spelling(name, ordered)
    shares = np.array([counts[value] for value in kept]) / n
    gain = weight / np.sqrt(max(1 - (shares**2).sum(), LEAST_SPREAD))
    return Category(tuple(kept), float(gain), tuple(pooled))


def _warn_of_spelling(name: str, values: list[Any]) -> None:
    """Categories that differ in capitals or blanks only."""
    alike: dict[str, list[str]] = {}
    for value in values:
        if isinstance(value, str):
            alike.setdefault(" ".join(value.casefold().split()), []).append(value)
    if groups := [group for group in alike.values() if len(group) > 1]:
        shown = ", ".join(map(repr, groups[0][:3]))
        warn_of(name, f" has categories that differ in spelling only ({shown}); write them alike.")


def _date(name: str, present: Array, weight: float, cycles: tuple[str, ...]) -> Date | None:
    form = _form_of(present) if present.dtype.kind == "O" else ""
    if form:
        present = column_kinds.parse_dates(present, form)
    if present.dtype.kind != "M":
        return None
    first = present.min()
    steps = present - first

    def is_whole(unit: str) -> bool:
        whole = (steps == steps.astype(f"m8[{unit}]")).all()
        return bool(whole and first == first.astype(f"M8[{unit}]"))

    unit = next(filter(is_whole, UNITS))
    scaled = _number("", column_kinds.count_units(steps, unit), "robust", weight)
    number = Number(scaled.center, scaled.scale, scaled.gain, scaled.tails, whole=True)
    if "hour" in cycles and unit == "D":
        raise DataError(f"column {name!r} holds whole days, which have no hour; leave 'hour' out.")
    return Date(number, str(first.astype(f"M8[{unit}]")), unit, form, cycles, weight)
