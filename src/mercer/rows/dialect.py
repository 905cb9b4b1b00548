"""What a text file says about itself: delimiter, names of columns, where the rows begin."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mercer.exceptions import DataError
from mercer.rows.packed import open_packed

__all__ = [
    "TEXT",
    "Dialect",
    "after_comments",
    "decode",
    "delimiter_of",
    "is_missing",
    "is_number",
    "lines_of",
    "sniff",
    "wrong_width",
]

#: Endings of text files.
TEXT = (".csv", ".tsv", ".txt")
#: What parts the fields of a line.
DELIMITERS = ",;\t|"
#: A longer line is no table of numbers, and would have to be held in memory.
MAX_LINE = 1 << 24
#: Columns that a text may have: each is a name, and a parser of its own.
MOST_COLUMNS = 200_000
#: Bytes of a text file that are looked at for columns that hold no numbers.
LOOK = 1 << 18
#: How tables say that a value is missing, in lower case.
MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "nan", "null", "none", "?", ".", "#n/a", "#na", "<na>"}
)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Dialect:
    """The form of a text file.

    Attributes
    ----------
    delimiter : comma, semicolon, tab or bar, whichever the first line has most of
    fields : those of the first line
    named : whether they are names: one of them at least is neither a number nor missing
    place, line : byte and number of the first line of numbers
    """

    delimiter: str
    fields: tuple[str, ...]
    named: bool
    place: int
    line: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; their numbers where they have none."""
        return self.fields if self.named else tuple(map(str, range(len(self.fields))))

    def split(self, text: str, number: int, path: Path) -> list[str]:
        """The fields of a line, as many as there are columns."""
        try:
            fields = next(csv.reader([text], delimiter=self.delimiter, strict=True))
        except csv.Error as error:
            raise DataError(f"line {number} of '{path}': {error}; mend it.") from error
        if len(fields) != len(self.fields):
            width = len(self.fields)
            raise DataError(wrong_width(fields, width, self.delimiter, number, path))
        return fields

    def strange(self, path: Path) -> list[str]:
        """Columns whose first fields are no numbers."""
        body = self.first_rows(path)
        return [
            name
            for j, name in enumerate(self.names)
            if any(not is_number(record[j]) and not is_missing(record[j]) for record in body)
        ]

    def first_rows(self, path: Path) -> list[list[str]]:
        """The fields of the first rows, for a look at them.

        Whatever is wrong with the file is left to the reader, which says it with the line.
        """
        with open_packed(path) as file:
            file.seek(self.place)
            text = file.read(LOOK).decode("utf-8", errors="replace")
        lines = text.splitlines()[: -1 if len(text) >= LOOK // 4 else None]  # the last may be cut
        try:
            records = list(csv.reader(filter(str.strip, lines), delimiter=self.delimiter))
        except csv.Error:
            return []
        if "\0" in text:
            return []
        return [record for record in records if len(record) == len(self.fields)]


def sniff(path: Path) -> Dialect:
    """The form of a text file, from its first line that is not blank."""
    with open_packed(path) as file:
        start = file.read(3)
        if start[:2] in _UTF16:
            raise DataError(f"'{path}' is UTF-16 text; save it as UTF-8.")
        file.seek(3 if start == _UTF8_BOM else 0)
        filled = (entry for entry in lines_of(file, 1, path) if not entry[2].isspace())
        place, number, line = _first_row(filled)
    if not line:
        raise DataError(f"'{path}' is empty; give a file with data.")
    text = decode(line, number, path)
    if "\r" in text.strip():
        plain = f"tr '\\r' '\\n' < {quoted(path)} > {quoted(path.with_suffix('.new.csv'))}"
        raise DataError(f"lines of '{path}' end as on an old Mac; change them: {plain}")
    delimiter = delimiter_of(text, path)
    try:
        fields = tuple(field.strip() for field in next(csv.reader([text], delimiter=delimiter)))
    except csv.Error as error:
        raise DataError(f"line {number} of '{path}': {error}; mend it.") from error
    named = not all(is_number(field) or is_missing(field) for field in fields)
    return Dialect(
        delimiter, fields, named, place + (len(line) if named else 0), number + int(named)
    )


def _first_row(filled: Iterator[tuple[int, int, bytes]]) -> tuple[int, int, bytes]:
    """The first line that is no comment, with its place and number."""
    lines: list[tuple[int, int, bytes]] = []
    for entry in filled:
        lines.append(entry)
        if not entry[2].startswith(b"#"):
            break
    texts = [line.decode("utf-8", errors="replace") for _, _, line in lines]
    return lines[comments_before(texts)] if lines else (0, 0, b"")


def comments_before(lines: Sequence[str]) -> int:
    """How many lines before the table begin with ``#``; not names that begin so (``#id,age``)."""
    count = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    if not count:
        return 0
    names, row = lines[count - 1], lines[count]
    sign = max(DELIMITERS, key=row.count)
    return count - int(row.count(sign) == names.count(sign) > 0)


def after_comments(lines: Sequence[str]) -> int:
    """Where the table begins in a text of lines, in characters."""
    filled = [i for i, line in enumerate(lines) if line.strip()]
    until = next((k for k, i in enumerate(filled) if not lines[i].startswith("#")), 0)
    skipped = comments_before([lines[i] for i in filled[: until + 1]])
    return sum(len(line) for line in lines[: filled[skipped]]) if skipped else 0


def quoted(path: Path) -> str:
    """A path for the shell."""
    import shlex  # of no use but in a message

    return shlex.quote(str(path))


def delimiter_of(line: str, path: Path) -> str:
    """Comma, semicolon, tab or bar, whichever a line has most of."""
    delimiter = max(DELIMITERS, key=line.count)
    if (width := 1 + line.count(delimiter)) > MOST_COLUMNS:
        raise DataError(
            f"'{path}' has {width:,} columns, and of a text at most {MOST_COLUMNS:,} are read; "
            "save it as .npy, which has no such limit, or swap rows and columns if they are meant "
            "to be."
        )
    if delimiter not in line and len(line.split()) > 1 and all(map(is_number, line.split())):
        plain = f"{quoted(path)} > {quoted(path.with_suffix('.csv'))}"
        raise DataError(
            f"'{path}' parts its numbers by spaces, and commas, semicolons and tabs are read; "
            f"change them: sed 's/^ *//; s/ *$//; s/[ ][ ]*/,/g' {plain}"
        )
    return delimiter


def wrong_width(fields: Sequence[str], width: int, delimiter: str, number: int, path: Path) -> str:
    """What is wrong with a line of other than so many fields, and what mends it."""
    what = f"line {number} of '{path}' has {len(fields)} fields, where {width} are expected"
    where = f"{quoted(path)} > {quoted(path.with_suffix('.new.csv'))}"
    if width == 1 and number > 1:
        return f"{what}; if a title comes before it, remove that: tail -n +{number} {where}"
    if len(fields) == width + 1 and not fields[-1].strip():
        return (
            f"{what}; if lines end with {delimiter!r}, cut it off: sed 's/{delimiter}$//' {where}"
        )
    return f"{what}; mend it."


def lines_of(file: BinaryIO, number: int, path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Byte, number and content of each line from where the file stands."""
    place = file.tell()
    while line := file.readline(MAX_LINE):
        if len(line) == MAX_LINE:
            raise DataError(
                f"line {number} of '{path}' is longer than {MAX_LINE >> 20} MB; "
                "give one row per line."
            )
        yield place, number, line
        place += len(line)
        number += 1


def decode(line: bytes, number: int, path: Path) -> str:
    """A line as text, or an error that names the byte at fault."""
    if b"\0" in line:
        raise DataError(f"line {number} of '{path}' holds a NUL byte; save it as text.")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"line {number} of '{path}' is not UTF-8 (byte {error.start + 1} is "
            f"{line[error.start]:#x}); save it as UTF-8."
        ) from error


def is_missing(text: str) -> bool:
    """Whether a field says that there is no value."""
    return text.strip().lower() in MISSING


def is_number(text: str) -> bool:
    """Whether a field can be read as a number; 12_3 is a code, though Python takes it for 123."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
