"""Numbers as people write them: thousands marks, decimal commas, units, percent and currency signs.

All values of a column are read in the same way: what one shows about the marks holds for all.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from mercer._base.types import Array, Names
from mercer.io.look import is_missing, numbers_of

_CURRENCY = r"(?:US\$|[$€£¥₹₽₩]|CHF|EUR|GBP|USD|JPY|SEK|NOK|DKK|PLN)"
#: Units that are written without a blank; any word may follow one.
_JOINED = (
    r"(?:%|‰|°\s?[CF]?|[kmµunM]?(?:g|m|s|l|L|W|V|A|Hz|J|Pa|mol)|[kMG]?Wh|[kMGT]i?B|[cd][ml]|hPa|GHz|"
    r"mm[²³]|[ck]?m[²³]|km/h|m/s|mph|lbs?|oz|ft|mi|in|min|h|hrs?|d|K|kcal|kJ|mmHg|bpm|px|pt)"
)
_AMOUNT = re.compile(
    rf"(?P<sign>[-+]?)(?P<before>(?:{_CURRENCY}\s?)?)"
    r"(?P<number>[-+]?\d(?:[\d.,'’\u00a0\u202f\u2009 ]*\d)?(?:[eE][-+]?\d+)?)"
    rf"(?P<after>\s?{_CURRENCY}|\s?{_JOINED}|\s[^\W\d_][^\d\s{{}}]*)?"
)
_MARKS = "'’\u00a0\u202f\u2009 "
_DECIMAL_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?([eE][-+]?\d+)?")
_THOUSANDS_COMMA = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_THOUSANDS_POINT = re.compile(r"[-+]?\d{1,3}(\.\d{3})*")
#: Ways to write numbers, with the mark of the thousands and that of the decimals.
_BY_COMMA, _BY_POINT = (_DECIMAL_COMMA, ".", ","), (_THOUSANDS_COMMA, ",", ".")
_BY_MARKS = tuple(
    (re.compile(rf"[-+]?(\d{{1,3}}({mark}\d{{3}})+|\d+)([.,]\d+)?"), mark, ",") for mark in _MARKS
)
#: A comma or a point with other than three digits after it can only part the decimals.
_COMMA_PARTS = re.compile(r"[^,]*\d,(\d{1,2}|\d{4,})\D*")
_POINT_PARTS = re.compile(r"[^.]*\d\.(\d{1,2}|\d{4,})\D*|.*\d,\d{3},\d{3}.*")
_WHOLE = re.compile(r"[-+]?\d+")
_CODE = re.compile(r"\d{3,}")


@dataclass(frozen=True)
class Numerals:
    """A column of numbers as it was written."""

    values: Array  #: (n,) array, NaN where one is missing
    #: "int" if all are written as whole numbers, "short" if some are, ``"{} kg"`` or ``"€ {}"``
    #: with a unit, else ""
    form: str
    #: Whether it is unclear if 1,234 is more than a thousand or a little more than one
    doubtful: bool = False


def read_numerals(texts: Sequence[str], delimiter: str = ",", mark: str = "") -> Numerals | None:
    """A column as numbers, from fields without surrounding blanks; None if it has other values.

    Where a comma is the file's delimiter, one inside a field parts thousands; ``mark`` is the
    decimal mark of other columns, see :func:`decimal_mark`.
    """
    return numerals_of(texts, numbers_of(texts), delimiter, mark)


def numerals_of(texts: Names, values: Array | None, delimiter: str, mark: str) -> Numerals | None:
    """The same, given what :func:`~mercer.io.look.numbers_of` has read in the texts."""
    present_mask = None if values is None else ~np.isnan(values)
    if present_mask is None or not present_mask.all():
        present_mask = np.array([not is_missing(text) for text in texts], dtype=bool)
    present = [*compress(texts, present_mask)]
    if not present or is_code(present):
        return None
    form, numbers = "{}", present
    if values is None:
        parts = _amounts(text.replace("−", "-") for text in present)
        if len(parts) < len(present) or len({*map(_unit, parts)}) > 1:
            return None
        form = f"{parts[0]['before']}{{}}{parts[0]['after'] or ''}"
        numbers = [match["sign"] + match["number"] for match in parts]
    plain = _plain(numbers, delimiter, mark, values is not None)
    if plain is None:
        return None
    read = numbers_of(plain) if values is None or plain is not numbers else values[present_mask]
    if read is None:
        return None
    if form == "{}":
        whole = [bool(_WHOLE.fullmatch(text)) for text in plain]
        form = "int" if all(whole) else "short" if any(whole) else ""
    doubtful = not mark and delimiter != "," and _is_grouped(numbers, _THOUSANDS_COMMA, ",")
    doubtful = doubtful and all(map(_DECIMAL_COMMA.fullmatch, numbers))
    filled = np.full(len(texts), np.nan)
    filled[present_mask] = read
    return Numerals(filled, form, doubtful)


def decimal_mark(columns: Iterable[Sequence[str]]) -> str:
    """The decimal mark, comma or point, if the columns show which; otherwise empty."""
    marks = set()
    for texts in columns:
        amounts = [match[0] for match in _amounts(texts)]
        if len(amounts) < sum(not is_missing(text) for text in texts):
            continue
        marks |= {"," for text in amounts if _COMMA_PARTS.fullmatch(text)}
        marks |= {"." for text in amounts if _POINT_PARTS.fullmatch(text)}
    return marks.pop() if len(marks) == 1 else ""


def units_of(texts: Sequence[str]) -> list[str]:
    """The units of texts that are all numbers with a unit; empty if some are not."""
    amounts = _amounts(texts)
    return [*dict.fromkeys(map(_unit, amounts))] if len(amounts) == len(texts) else []


def _amounts(texts: Iterable[str]) -> list[re.Match[str]]:
    """The texts that are a number, perhaps with a unit."""
    return [match for text in texts if (match := _AMOUNT.fullmatch(text))]


def _unit(amount: re.Match[str]) -> str:
    return amount["before"].strip() + (amount["after"] or "").strip()


def is_code(present: Sequence[str]) -> bool:
    """Whether texts are digits of one length with leading zeros: 01067 is a post code, not 1067."""
    if not all(map(_CODE.fullmatch, present)) or len({*map(len, present)}) > 1:
        return False
    return any(text[0] == "0" for text in present) and len({*present}) > 1


def _plain(texts: list[str], delimiter: str, mark: str, numbers: bool) -> list[str] | None:
    """Numbers as Python reads them, as they may be already; None if they are not all of one way."""
    if numbers or numbers_of(texts) is not None:
        grouped = mark == "," and _is_grouped(texts, _THOUSANDS_POINT, ".")
        return [text.replace(".", "") for text in texts] if grouped else texts
    # 1,234 is read as other columns show, or as the delimiter does.
    comma = mark or ("." if delimiter == "," else ",")
    plain = (_BY_COMMA, _BY_POINT) if comma == "," else (_BY_POINT, _BY_COMMA)
    for pattern, thousands, decimal in (*plain, *_BY_MARKS):
        if all(map(pattern.fullmatch, texts)):
            return [text.replace(thousands, "").replace(decimal, ".") for text in texts]
    return None


def _is_grouped(texts: Sequence[str], pattern: re.Pattern[str], sign: str) -> bool:
    return any(sign in text for text in texts) and all(map(pattern.fullmatch, texts))
