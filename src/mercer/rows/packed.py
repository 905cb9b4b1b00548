"""Files in a compressed wrapper: gzip, xz, zstd."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from mercer._extras import require
from mercer.exceptions import DataError

__all__ = ["PACKED", "open_packed", "plain_name"]

#: Endings of compressed files.
PACKED = (".gz", ".xz", ".zst")
#: Bytes that are unpacked at a time on the way to a place.
SKIP = 1 << 20


def plain_name(path: Path) -> Path:
    """The name without the ending of the wrapper: ``x.csv.gz`` is ``x.csv`` inside."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


@contextlib.contextmanager
def open_packed(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, out of its wrapper if it has one."""
    kind = path.suffix.lower()
    try:
        with _open(path, kind) as file:
            yield cast(BinaryIO, file)
    except (EOFError, OSError, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's fault, not the file's
        raise DataError(
            f"'{path}' is no whole {kind} file ({' '.join(str(error).split())[:120]}); "
            "write it again."
        ) from error


def _open(path: Path, kind: str) -> Any:
    if kind == ".gz":
        return gzip.open(path, "rb")
    if kind == ".xz":
        return lzma.open(path, "rb")
    if kind == ".zst":
        return io.BufferedReader(_Zstandard(path), 1 << 16)
    return path.open("rb")


class _Zstandard(io.RawIOBase):
    """The bytes inside a zstd file; a place is found by unpacking what lies before it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin()

    def _begin(self) -> None:
        arrow = require("pyarrow", "io")
        self._stream = arrow.CompressedInputStream(arrow.OSFile(str(self._path)), "zstd")
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._stream.read(len(buffer))
        buffer[: len(found)] = found
        self._place += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        place = offset + (self._place if whence == io.SEEK_CUR else 0)
        if whence == io.SEEK_END or place < 0:
            raise io.UnsupportedOperation("the end of a compressed file is not known")
        if place < self._place:
            self._stream.close()
            self._begin()
        while self._place < place and (found := self._stream.read(min(place - self._place, SKIP))):
            self._place += len(found)
        return self._place

    def tell(self) -> int:
        return self._place

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
