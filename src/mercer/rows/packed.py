"""Files in a compressed wrapper: gzip, xz, zstd."""

from __future__ import annotations

import contextlib
import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from mercer._extras import require
from mercer.exceptions import DataError

__all__ = ["PACKED", "SEEKABLE", "open_packed", "plain_name"]

#: Endings of compressed files.
PACKED = (".gz", ".xz", ".zst")
#: Those in which a reader can go to a place, by unpacking what lies before it.
SEEKABLE = (".gz", ".xz")


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
        arrow = require("pyarrow", "io")
        return arrow.CompressedInputStream(arrow.OSFile(str(path)), "zstd")
    return path.open("rb")
