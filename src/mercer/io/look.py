"""One look at a file: delimiter, names of columns, where the rows begin, what is in the first."""

import contextlib
import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path
from shlex import quote
from typing import BinaryIO, NamedTuple

import numpy as np

from mercer._base.files import FileWatch
from mercer._base.types import Array, PathLike
from mercer.exceptions import DataError, Remedy, warn
from mercer.io.arrays import parquet_names
from mercer.io.files import COMPRESSED, at_line, file_fingerprint, numbered, open_plain
from mercer.io.images import find_images

#: Endings of text files.
TEXT = (".csv", ".tsv", ".txt")
#: Endings of workbooks.
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
#: What separates the fields of a line.
DELIMITERS = ",;\t|"
#: A longer line is not a table of numbers, and would have to be held in memory.
MAX_LINE = 1 << 24
#: Most columns of a text file: each has a name and a parser of its own.
MOST_COLUMNS = 200_000
#: Lines among which names of columns are looked for below titles.
MOST_TITLES = 12
#: Bytes of a text file that are looked at for columns that hold no numbers.
LOOK = 1 << 18
#: How tables say that a value is missing, in lower case.
MISSING = {"", "na", "n/a", "n.a.", "nan", "null", "none", "?", ".", "#n/a", "#na", "<na>"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line of a text file: the byte at which it begins, its number, and its bytes."""

    place: int
    number: int
    content: bytes
    path: Path

    @property
    def text(self) -> str:
        """The line as text, or an error that names the byte at fault."""
        if b"\0" in self.content:
            raise self.fault(" holds a NUL byte; save it as text.")
        try:
            return self.content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.fault(f" is not UTF-8 (byte {error.start + 1}); save it as such.") from error

    def fields(self, delimiter: str, *, strict: bool = False) -> list[str]:
        """The fields of the line; ``strict`` if quotes must be closed where a field ends."""
        try:
            return next(csv.reader([self.text], delimiter=delimiter, strict=strict))
        except csv.Error as error:
            raise self.fault(f": {error}; fix it.") from error

    def fault(self, what: str) -> DataError:
        """The error, with the line's number and the path."""
        return at_line(self.number, self.path, what)


@dataclass(frozen=True)
class Dialect:
    """The form of a text file."""

    delimiter: str  #: comma, semicolon, tab or bar, whichever the first line has most of
    fields: tuple[str, ...]  #: those of the first line
    named: bool  #: whether they are names: one of them at least is neither a number nor missing
    #: place, line: byte and number of the first line of numbers
    place: int
    line: int

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; their numbers where they have none."""
        return self.fields if self.named else tuple(map(str, range(len(self.fields))))

    def split(self, line: Line) -> list[str]:
        """The fields of a line, as many as there are columns."""
        fields, width = line.fields(self.delimiter, strict=True), len(self.fields)
        if len(fields) != width:
            raise wrong_width(fields, width, self.delimiter, line.number, line.path)
        return fields


@dataclass(eq=False)
class Look(os.PathLike[str]):
    """What a file says about itself, from one look at its beginning that is handed on.

    Nothing is read before it is asked for, and a text file is opened once: for its form, its first
    rows, its fingerprint and, if it is short, all of its bytes.
    """

    path: Path
    #: The line of a text file or sheet, from 1, that has the names of the columns; found if None.
    header_row: int | None = None
    sheet: str | None = None  #: of a workbook: name, or number from 1; the first if None
    array: str | None = None  #: of an .npz archive or a Zarr store: which array

    def __post_init__(self) -> None:
        self.kind = self.path.suffix.lower()

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @classmethod
    def at(cls, path: PathLike, array: str | None = None) -> "Look":
        """A look at a file; one that was taken already is used again."""
        return path if isinstance(path, Look) else cls(Path(path), array=array)

    @cached_property
    def beginning(self) -> "Beginning":
        """The beginning of a text file; from now on, changes of the file are noticed."""
        self.watch = FileWatch([self.path])
        with open_plain(self.path) as file:
            mark = file.read(3 if file.peek(3).startswith(_UTF8_BOM) else 0)
            head = []
            for line in lines_of(file, 1, self.path):
                head.append(line.content)
                if not line.content.isspace() and not line.content.startswith(b"#"):
                    break
                if line.place > MAX_LINE:
                    none = f"'{self.path}' has no row in its first {MAX_LINE >> 20} MB"
                    raise DataError(f"{none}, only blank lines and comments; remove them.")
            rest = file.read(LOOK)
            fingerprint = "" if self.kind in COMPRESSED else file_fingerprint([self.path], file)
        return Beginning(len(head), b"".join([mark, *head, rest]), len(rest) < LOOK, fingerprint)

    @cached_property
    def dialect(self) -> Dialect:
        """The form of a text file; raises for what is not a table of text in UTF-8."""
        return sniff(self.beginning, self.path, self.header_row)

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns of a text or Parquet file; their numbers where they have none."""
        return list(self.dialect.names) if self.kind in TEXT else self._parquet[0]

    @cached_property
    def images(self) -> list[Path]:
        """The PNG files of a folder."""
        return find_images(self.path) if self.path.is_dir() and self.kind != ".zarr" else []

    @property
    def has_names(self) -> bool:
        """Whether its columns are known by their names, as those of texts and Parquet files are."""
        if self.kind in TEXT:
            return self.dialect.named
        folder = self.path.is_dir() and self.kind != ".zarr"
        return self.kind == ".parquet" or (folder and not self.images)

    @cached_property
    def first_fields(self) -> dict[str, tuple[str, ...]]:
        """For each column of a text file with names its fields in the first rows.

        Whatever is wrong with the file is left to the reader, which says it with the line.
        """
        if self.kind not in TEXT or not self.path.is_file() or not self.dialect.named:
            return {}
        text = self.beginning.bytes[self.dialect.place :].decode("utf-8", errors="replace")
        lines = text.splitlines()[: None if self.beginning.complete else -1]  # it may be cut
        records: list[list[str]] = []
        with contextlib.suppress(csv.Error):
            rows = list(csv.reader(filter(str.strip, lines), delimiter=self.dialect.delimiter))
            records = [row for row in rows if len(row) == len(self.names) and "\0" not in text]
        return dict(zip(self.names, zip(*records, strict=True), strict=False))

    @cached_property
    def non_numeric(self) -> list[str]:
        """Columns that hold anything other than numbers, as far as the first rows show."""
        if self.kind in TEXT:
            return [name for name, texts in self.first_fields.items() if numbers_of(texts) is None]
        return self._parquet[1]

    @cached_property
    def _parquet(self) -> tuple[list[str], list[str]]:
        return parquet_names(self.path)

    @contextlib.contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The bytes of a text file, from memory if all of them were seen."""
        if "beginning" in vars(self) and self.beginning.complete:
            yield io.BytesIO(self.beginning.bytes)
        else:
            with open_plain(self.path) as file:
                yield file

    @cached_property
    def fingerprint(self) -> str:
        """As of :func:`~mercer.io.files.file_fingerprint`."""
        return self.beginning.fingerprint or file_fingerprint([self.path])


@dataclass(frozen=True)
class Beginning:
    """The first bytes of a text file."""

    lines: int  #: how many to the first that is not blank or a comment
    bytes: bytes  #: to ``LOOK`` bytes beyond these
    complete: bool  #: whether they are all
    fingerprint: str  #: of the file; nothing if it is compressed


def sniff(beginning: Beginning, path: Path, header_row: int | None = None) -> Dialect:
    """The form of a text file, from the first line of its table."""
    if beginning.bytes[:2] in _UTF16:
        raise DataError(f"'{path}' is UTF-16 text; save it as UTF-8.")
    file = io.BytesIO(beginning.bytes)
    file.seek(len(_UTF8_BOM) if beginning.bytes.startswith(_UTF8_BOM) else 0)
    most = max(MOST_TITLES, beginning.lines, header_row or 0)
    lines = list(islice(lines_of(file, 1, path), most))
    texts = [line.content.decode("utf-8", errors="replace") for line in lines]
    line = lines[first_line(texts, path, header_row)]
    if "\r" in line.text.strip():
        plain = f"tr '\\r' '\\n' < {_anew(path)}"
        raise DataError(f"lines of '{path}' end as on an old Mac; change them: {plain}")
    delimiter = delimiter_of(line.text, path)
    fields = tuple(map(str.strip, line.fields(delimiter)))
    if header_row is None and all(is_number(field) or is_missing(field) for field in fields):
        return Dialect(delimiter, fields, False, line.place, line.number)
    names, below = tuple(numbered(fields, path)), line.place + len(line.content)
    return Dialect(delimiter, names, True, below, line.number + 1)


def first_line(lines: Sequence[str], path: Path, header_row: int | None = None) -> int:
    """The place of the first line of a table: what was asked for, or after comments or titles.

    Names may begin as comments do (``#id,age``).
    """
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        raise DataError(f"'{path}' is empty; give a file with data.")
    if header_row is not None:
        if header_row > (last := filled[-1] + 1):
            raise DataError(f"'{path}' has no names in line {header_row}; its last line is {last}.")
        return next(i for i in filled if i >= header_row - 1)
    comments = next((k for k, i in enumerate(filled) if not lines[i].startswith("#")), 0)
    if not comments:
        return after_titles(lines, path) or filled[0]
    names, row = (lines[i] for i in filled[comments - 1 : comments + 1])
    sign = max(DELIMITERS, key=row.count)
    return filled[comments - int(row.count(sign) == names.count(sign) > 0)]


def after_titles(lines: Sequence[str], path: Path) -> int:
    """The place of the names of columns if titles stand before them, which is said; else 0.

    Where it is plain: a title is one text alone, and after it come names and a row of as many
    fields, two at least.
    """
    filled = [i for i, line in enumerate(lines[:MOST_TITLES]) if line.strip()]
    texts = [lines[i] for i in filled]
    sign = max(DELIMITERS, key="".join(texts[-2:]).count)
    try:
        fields = [[*map(str.strip, record)] for record in csv.reader(texts, delimiter=sign)]
    except csv.Error:  # the reader of rows says what is wrong, and where
        return 0
    k = len([*takewhile(_is_title, fields)])
    # With fewer records than lines a field goes over several of them.
    if not 0 < k < len(fields) - 1 or len(fields) < len(filled):
        return 0
    names, row = fields[k : k + 2]
    if len(names) != len(row) or sum(map(bool, names)) < 2 or any(map(is_number, names)):
        return 0
    first = fields[0][0].strip(' "')[:40]
    remedy = Remedy("remove the lines before it", shell="give another by --header-row")
    where = f"the table of '{path}' begins in line {filled[k] + 1}, after {first!r}; "
    warn(where + remedy + " if that is wrong.")
    return filled[k]


def _is_title(fields: Sequence[str]) -> bool:
    return sum(map(bool, fields)) == 1 and not fields[0].startswith("#")


def _anew(path: Path, ending: str = ".new.csv") -> str:
    """``FILE > NEW`` for a shell."""
    return f"{quote(str(path))} > {quote(str(path.with_suffix(ending)))}"


def delimiter_of(line: str, path: Path) -> str:
    """Comma, semicolon, tab or bar, whichever a line has most of."""
    delimiter = max(DELIMITERS, key=line.count)
    if (width := 1 + line.count(delimiter)) > MOST_COLUMNS:
        many = f"'{path}' has {width:,} columns, and a text at most {MOST_COLUMNS:,}"
        raise DataError(f"{many}; save it as .npy, or swap rows and columns if they are mixed up.")
    if delimiter not in line and len(line.split()) > 1 and all(map(is_number, line.split())):
        plain = f"sed 's/^ *//; s/ *$//; s/[ ][ ]*/,/g' {_anew(path, '.csv')}"
        raise DataError(f"'{path}' separates numbers by spaces; change them: {plain}")
    return delimiter


def wrong_width(
    fields: Sequence[str], width: int, delimiter: str, number: int, path: Path
) -> DataError:
    """The error for a line with another number of fields, with a remedy."""
    remedy = "fix it."
    if width == 1 and number > 1:
        remedy = f"if titles come before it, remove them: tail -n +{number} {_anew(path)}"
    elif len(fields) == width + 1 and not fields[-1].strip():
        cut = f"sed 's/{delimiter}$//' {_anew(path)}"
        remedy = f"if lines end with {delimiter!r}, cut it off: {cut}"
    return at_line(number, path, f" has {len(fields)} fields, where {width} are expected; {remedy}")


def lines_of(file: BinaryIO, number: int, path: Path) -> Iterator[Line]:
    """The lines from the current position of the file; the first has this number."""
    place = file.tell()
    while content := file.readline(MAX_LINE):
        line = Line(place, number, content, path)
        if len(content) == MAX_LINE:
            raise line.fault(f" is longer than {MAX_LINE >> 20} MB; give one row per line.")
        yield line
        place += len(content)
        number += 1


def numbers_of(texts: Sequence[str]) -> Array | None:
    """Fields as numbers, NaN where one is missing; None if one of them is something else."""
    if "_" in "".join(texts):  # see is_number
        return None
    with contextlib.suppress(ValueError):
        return np.array([*map(float, texts)])
    with contextlib.suppress(ValueError):
        return np.array([np.nan if is_missing(text) else float(text) for text in texts])
    return None


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
