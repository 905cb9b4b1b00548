"""What row sources in files share: names of columns, fingerprints, and compressed files."""

import contextlib
import gzip
import hashlib
import io
import lzma
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mercer._base.optional import require
from mercer._base.spelling import did_you_mean, similar_file
from mercer._base.types import Names
from mercer.exceptions import DataError, Remedy, argument, warn

#: Endings of files that are not the names of folders, too.
FILES = [".csv", ".tsv", ".txt", ".npy", ".npz", ".mtx", ".jsonl", ".ndjson", ".feather", ".arrow"]
FILES += [".gz", ".xz", ".zst", ".xlsx", ".xlsm", ".xls", ".ods"]
_LOOK = 4096


def check_there(path: Path) -> None:
    """Raise unless there is a file, or a folder that is not called as a file is.

    A pipe would wait for a writer, and a device may never end.
    """
    if not path.exists():
        if re.match(r"\w\w+:/", str(path)):  # Path makes one stroke of two
            raise DataError(f"'{path}' is an address; download it first, and give the file.")
        raise DataError(f"there is no file '{path}'" + (similar_file(path) or "; check its name."))
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and path.suffix.lower() not in FILES):
        return
    if stat.S_ISDIR(mode):
        raise DataError(f"'{path}' is a folder, not a {path.suffix} file; name a file in it.")
    kinds = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    what = f"'{path}' is {kinds.get(stat.S_IFMT(mode), 'a device')}; copy it into a file, or "
    shell = "give '-' in its place, and '< FILE' at the end."
    raise DataError(what + Remedy("read it by spooled(stream) of mercer.io.", shell=shell))


@contextlib.contextmanager
def decoding(path: Path, kind: str) -> Iterator[None]:
    """Turn any error of another package about a damaged file into one line that names the file."""
    try:
        yield
    except (DataError, Warning):  # a warning that is an error here says nothing about the file
        raise
    except Exception as error:  # of any kind: decoders raise what they like
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        what = f"'{path}' is not a {kind}, or is damaged: {reason}"
        raise DataError(f"{what}; write it again.") from error


def file_fingerprint(paths: Iterable[Path], opened: BinaryIO | None = None) -> str:
    """A hash of names, sizes, times of the last change, and 64 small pieces of each file.

    ``opened`` is the file, if there is one and somebody has opened it already.
    """
    digest = hashlib.sha256()
    for path in paths:
        state = path.stat()
        size = state.st_size
        digest.update(f"{path.name} {size} {state.st_mtime_ns} ".encode())
        with contextlib.nullcontext(opened) if opened else path.open("rb") as file:
            for start in sorted({int(x) for x in np.linspace(0, max(size - _LOOK, 0), 64)}):
                file.seek(start)
                digest.update(file.read(_LOOK))
    return digest.hexdigest()


def pick_columns(names: tuple[str, ...], columns: Names | None, path: Path) -> list[int]:
    """Positions of these columns among the names; of all names for None."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(f"'{path}' has two columns named {twice[0]!r}; rename one of them.")
    wanted = names if columns is None else columns
    check_columns(wanted, names, f"'{path}' has")
    places = {name: j for j, name in enumerate(names)}
    return [places[name] for name in wanted]


def check_columns(columns: Iterable[str], names: Sequence[str], what: str = "there is") -> None:
    """Raise for the first missing column, with what may have been meant and what there is."""
    known = {*names}
    for name in columns:
        if name not in known:
            guess = did_you_mean(name, names)
            raise DataError(f"{what} no column {name!r}; {guess}name one of {names_text(names)}.")


def numbered(names: Sequence[str], path: Path) -> list[str]:
    """Names of columns that all differ: where they do not, places and numbers are added, and said.

    The first one may be empty: so are names of rows called.
    """
    made: dict[str, str] = {}
    for place, name in enumerate(names):
        plain = name or (f"column_{place + 1}" if place else "")
        others = (f"{plain}_{k}" for k in range(2, len(names) + 2))
        made[next(own for own in chain([plain], others) if own not in made)] = name
    if new := [own for own, name in made.items() if own != name]:
        warn(f"columns of '{path}' without a name of their own are called {names_text(new)} here.")
    return [*made]


def names_text(names: Sequence[str]) -> str:
    """Some names for a message."""
    shown = ", ".join(repr(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def other_use(what: str, names: Sequence[str]) -> Remedy:
    """What may be done with columns that are not numbers; ``what`` are they called."""
    drop, label = argument("drop", [*names]), argument("label", names[0])
    return f"leave {what} out with " + drop + ", or keep the classes with " + label


def unknown_ending(path: Path, known: Iterable[str]) -> str:
    """The message for a file of an unknown kind."""
    return f"'{path.name}': the ending '{path.suffix}' is not known; give one of {', '.join(known)}"


def at_line(number: int, path: Path, what: str) -> DataError:
    """An error about a line of a file."""
    return DataError(f"line {number} of '{path}'" + what)


def lacks_text(what: str, lost: Sequence[str], count: int, others: Sequence[str]) -> str:
    """Which of a model's columns a table lacks; some may be there under other names."""
    instead = f"it has {names_text(others)} instead; rename what is the same, or " if others else ""
    lacking = f"{what} lacks {len(lost)} of the model's {count} columns: {names_text(lost)}"
    return f"{lacking}; {instead}give the columns that were there in fit."


#: Endings of compressed files.
COMPRESSED = (".gz", ".xz", ".zst")
#: Bytes that are unpacked at a time on the way to a place.
SKIP = 1 << 20
#: What unpacks to more bytes than this, and so many times what it takes, is not a table: rows of
#: real numbers shrink by 2 to 20 times, those with a one among a hundred zeros by 75.
MUCH, TIMES = 1 << 26, 500


def plain_name(path: Path) -> Path:
    """The name without the ending of the wrapper: ``x.csv.gz`` is ``x.csv`` inside."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


@contextlib.contextmanager
def open_plain(path: Path) -> "Iterator[io.BufferedReader[Any]]":
    """The bytes of a file, decompressed if it is compressed."""
    packed = path.suffix.lower() in COMPRESSED
    with io.BufferedReader(_Decompressed(path), 1 << 16) if packed else path.open("rb") as file:
        yield file


def refuse_bomb(path: Path, size: int, compressed: int) -> None:
    """Raise if the unpacked size, real or declared, is out of all proportion."""
    if size > MUCH and size > TIMES * compressed:
        much = f"unpacks to {size >> 20} MB, {size // max(compressed, 1)} times what it takes"
        raise DataError(f"'{path}' {much}; if that is right, unpack it, and give the plain file.")


def look_inside(path: Path) -> None:
    """Refuse what is not a table before its lines are counted, which may be many and short."""
    if path.suffix.lower() in COMPRESSED:
        with open_plain(path) as file:
            file.seek(MUCH + 1)


class _Decompressed(io.RawIOBase):
    """The bytes inside a compressed file; a place is found by unpacking what lies before it."""

    def __init__(self, path: Path) -> None:
        self._path, self._place, self._opened = path, 0, contextlib.ExitStack()
        kind, opened = path.suffix.lower(), self._opened.enter_context
        if kind == ".zst":
            arrow = require("pyarrow", "io")
            self._file = opened(arrow.OSFile(str(path)))
            self._stream = opened(arrow.CompressedInputStream(self._file, "zstd"))
        else:
            self._file = opened(path.open("rb"))
            self._stream = opened((gzip if kind == ".gz" else lzma).open(self._file))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with decoding(self._path, f"complete {self._path.suffix} file"):
            part = self._stream.read(len(buffer))
        buffer[: len(part)] = part
        self._place += len(part)
        refuse_bomb(self._path, self._place, self._file.tell())
        return len(part)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        place = offset + (self._place if whence == io.SEEK_CUR else 0)
        if whence == io.SEEK_END or place < self._place:
            raise io.UnsupportedOperation("compressed files are read forwards; open it again")
        while self._place < place and self.read(min(place - self._place, SKIP)):
            pass
        return self._place

    def close(self) -> None:
        self._opened.close()
        super().close()
