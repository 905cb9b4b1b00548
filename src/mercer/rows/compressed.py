"""Files in a compressed wrapper: gzip, xz, zstd."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from mercer._extras import require
from mercer.exceptions import DataError

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
def open_plain(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, out of its wrapper if it has one."""
    kind = path.suffix.lower()
    try:
        with _open(path, kind) as file:
            yield cast(BinaryIO, file)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's fault, not the file's
        raise DataError(
            f"'{path}' is not a complete {kind} file ({' '.join(str(error).split())[:120]}); "
            "write it again."
        ) from error


def _open(path: Path, kind: str) -> Any:
    return (
        io.BufferedReader(_Decompressed(path), 1 << 16) if kind in COMPRESSED else path.open("rb")
    )


def refuse_bomb(path: Path, size: int, compressed: int) -> None:
    """Raise if what is unpacked, or declared to be, is out of all proportion."""
    if size > MUCH and size > TIMES * compressed:
        raise DataError(
            f"'{path}' unpacks to {size >> 20} MB, {size // max(compressed, 1)} times what it "
            "takes, and rows of numbers do not; if it holds such rows, unpack it, and give the "
            "plain file."
        )


def look_inside(path: Path) -> None:
    """Refuse what is not a table before its lines are counted, which may be many and short."""
    if path.suffix.lower() in COMPRESSED:
        with open_plain(path) as file:
            file.seek(MUCH + 1)


class _Decompressed(io.RawIOBase):
    """The bytes inside a compressed file; a place is found by unpacking what lies before it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin()

    def _begin(self) -> None:
        kind = self._path.suffix.lower()
        self._place = 0
        if kind == ".zst":
            arrow = require("pyarrow", "io")
            self._file = arrow.OSFile(str(self._path))
            self._stream = arrow.CompressedInputStream(self._file, "zstd")
        else:
            self._file = self._path.open("rb")
            self._stream = (gzip if kind == ".gz" else lzma).open(self._file)

    def _read(self, size: int) -> bytes:
        found: bytes = self._stream.read(size)
        self._place += len(found)
        refuse_bomb(self._path, self._place, self._file.tell())
        return found

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        place = offset + (self._place if whence == io.SEEK_CUR else 0)
        if whence == io.SEEK_END or place < 0:
            raise io.UnsupportedOperation("the end of a compressed file is not known")
        if place < self._place:
            self._end()
            self._begin()
        while self._place < place and self._read(min(place - self._place, SKIP)):
            pass
        return self._place

    def tell(self) -> int:
        return self._place

    def close(self) -> None:
        if not self.closed:
            self._end()
        super().close()

    def _end(self) -> None:
        self._stream.close()
        self._file.close()
