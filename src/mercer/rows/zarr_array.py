"""Rows in a Zarr array."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mercer._extras import require
from mercer._linalg import Array
from mercer._memory import available_bytes
from mercer.exceptions import DataError, Remedy
from mercer.rows.base import CHUNK, Rows, floating_type
from mercer.rows.files import FileWatch, decoding, stamps
from mercer.rows.npy import table_shape
from mercer.rows.table import Table

#: Chunks that may be declared for each file that is there; empty ones need none.
_SPARSE = 1000


class ZarrRows(Rows):
    """A two-dimensional Zarr array, read one row of its chunks at a time.

    Parameters
    ----------
    path : Path
    array : str, optional
        Its name inside a group; not needed where the group holds one array.
    """

    def __init__(self, path: Path, array: str | None = None) -> None:
        zarr = require("zarr", "io")
        self.watch = FileWatch([path])
        self.path = path
        with decoding(path, "Zarr store"):
            node = zarr.open(str(path), mode="r")
            self._array: Any = node if hasattr(node, "chunks") else _pick(node, path, array)
        self.dtype = floating_type(self._array.dtype, f"'{path}'")
        self.shape = table_shape(tuple(self._array.shape), f"'{path}'")
        with decoding(path, "Zarr store"):
            self._check_size()

    def _check_size(self) -> None:
        """What is not stored reads as zeros, so that a wrong shape would be read for ever."""
        pieces = self._array.shards or self._array.chunks
        size = math.prod(pieces) * self._array.dtype.itemsize
        declared = math.prod(-(-n // c) for n, c in zip(self.shape, pieces, strict=True))
        stored = len(stamps([self.path]))
        if declared > _SPARSE * stored or size > available_bytes() // 2:
            raise DataError(
                f"'{self.path}' declares {declared} chunks of {size >> 20} MB and has {stored} "
                "files; it is damaged, or its chunks are too large: write it again."
            )

    def read(self, start: int, stop: int) -> Iterator[Array]:
        # From one edge of the stored chunks to the next, so that none is decoded twice.
        size = int(self._array.chunks[0])
        while start < stop:
            edge = min(stop, (start // size + 1) * size)
            with decoding(self.path, "Zarr store"):
                block = self._array[start:edge]
            yield block
            start = edge

    def fingerprint(self) -> str:
        digest = hashlib.sha256(repr((self.shape, self.dtype)).encode())
        for file, (size, changed, _) in stamps([self.path]).items():
            digest.update(f"{file.relative_to(self.path)} {size} {changed} ".encode())
        for start in (0, max(len(self) - 256, 0)):
            digest.update(self[start : start + 256].tobytes())
        return digest.hexdigest()


def _pick(group: Any, path: Path, name: str | None) -> Any:
    names = sorted(group.array_keys())
    if name in names or (name is None and len(names) == 1):
        return group[name or names[0]]
    listed = ", ".join(names[:20]) or "no arrays"
    option = Remedy("array=.", shell="--array.")
    raise DataError(f"'{path}' holds {listed}; name one of them with " + option)


def write_zarr(folder: Path, table: Table) -> None:
    """The numbers of a table as an array in chunks of whole rows."""
    zarr, (n, d) = require("zarr", "io"), table.rows.shape
    array: Any = None
    start = 0
    for block in table.blocks():
        if array is None:
            chunks = (min(n, CHUNK), d)
            array = zarr.create_array(
                str(folder), shape=(n, d), chunks=chunks, dtype=block.dtype, overwrite=True
            )
        array[start : start + len(block)] = block.X
        start += len(block)


def not_zarr(folder: Path) -> str | None:
    """Why a folder is none that a Zarr array may replace."""
    known = ("zarr.json", ".zarray", ".zgroup")
    found = any((folder / name).exists() for name in known)
    return None if found or not any(folder.iterdir()) else "is not a Zarr store"
