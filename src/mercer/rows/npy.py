"""Rows in NumPy's own files: .npy read in blocks, .npz loaded after a look at what it declares."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mercer._linalg import Array
from mercer._memory import available_bytes
from mercer._parallel import blocks
from mercer.exceptions import DataError, Remedy
from mercer.rows.base import CHUNK, Rows, floating_type
from mercer.rows.compressed import refuse_bomb
from mercer.rows.files import FileWatch, decoding, file_fingerprint

#: No side of an array is longer, whatever its type.
_LONGEST = np.iinfo(np.intp).max // 64


class NpyRows(Rows):
    """A two-dimensional .npy file, read block by block.

    Plain reads rather than a memory map: what has been read does not stay in the process's memory,
    and a file that is cut short meanwhile gives an error, where a map would kill the process.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.watch = FileWatch([path])
        with path.open("rb") as file:
            shape, self._fortran, self._stored = read_header(file, path)
            self._offset = file.tell()
        self.dtype = floating_type(self._stored, f"'{path}'")
        self.shape = table_shape(shape, f"'{path}'")
        declared = self._offset + _bytes(shape, self._stored)
        if path.stat().st_size < declared:
            raise DataError(
                f"'{path}' declares {declared} bytes but has {path.stat().st_size}; "
                "it is damaged or still being written."
            )

    def read(self, start: int, stop: int) -> Iterator[Array]:
        n, d = self.shape
        with self.path.open("rb", buffering=0) as file:
            for part in blocks(stop - start, CHUNK):  # those of a pass, which are used as they are
                i, rows = start + part.start, part.stop - part.start
                if self._fortran:
                    # 64 apart: columns at a power of two of bytes would share one set of the cache.
                    columns = np.empty((d, rows + 64), self._stored)[:, :rows]
                    for j, column in enumerate(columns):
                        self._fill(column, file, j * n + i)
                    yield columns.T
                else:
                    block = np.empty((rows, d), self._stored)
                    self._fill(block.reshape(-1), file, i * d)
                    yield block

    def _fill(self, part: Array, file: FileIO, first: int) -> None:
        """Read entries of the file, from number ``first`` on in the order of the file."""
        left = part.view(np.uint8).data
        file.seek(self._offset + first * self._stored.itemsize)
        while len(left):
            got = file.readinto(left)
            if not got:
                raise DataError(f"'{self.path}' ends too early; it is damaged, save it again.")
            left = left[got:]

    def fingerprint(self) -> str:
        return file_fingerprint([self.path])


def load_npz(path: Path, name: str | None) -> Array:
    """One array of an .npz archive, in memory; what is declared is compared with what is free."""
    with decoding(path, "readable .npz archive"), zipfile.ZipFile(path) as archive:
        member = _member(archive, path, name)
        with archive.open(member) as file:
            shape, fortran, dtype = read_header(file, path)
            floating_type(dtype, f"'{member}' in '{path}'")
            shape = table_shape(shape, f"'{member}' in '{path}'")
            size, entry = _bytes(shape, dtype), archive.getinfo(member)
            refuse_bomb(path, size, min(entry.compress_size, path.stat().st_size))
            if size > available_bytes() // 2:
                raise DataError(
                    f"'{member}' in '{path}' unpacks to {size >> 20} MB, more than half of the "
                    "free memory; save it as .npy, which is read in blocks."
                )
            data = file.read(size)
    if len(data) < size:
        raise DataError(f"'{member}' in '{path}' is shorter than it declares; save it again.")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _member(archive: zipfile.ZipFile, path: Path, name: str | None) -> str:
    arrays = [entry for entry in archive.namelist() if entry.endswith(".npy")]
    if name is not None and f"{name}.npy" in arrays:
        return f"{name}.npy"
    if name is None and len(arrays) == 1:
        return arrays[0]
    listed = ", ".join(entry.removesuffix(".npy") for entry in arrays[:20]) or "no arrays"
    option = Remedy("array=.", shell="--array.")
    raise DataError(f"'{path}' holds {listed}; name one of them with " + option)


def read_header(file: BinaryIO | Any, path: Path) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type of an array, without reading it; never runs pickled code."""
    try:
        version = np.lib.format.read_magic(file)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = reader(file)
    except Exception as error:  # of any kind: NumPy parses the header as Python text
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"'{path}' is not an .npy array: {reason}; save it with numpy.save."
        ) from error
    if any(not 0 <= side <= _LONGEST for side in shape):
        raise DataError(f"'{path}' declares the impossible shape {shape}; save it again.")
    return shape, fortran, dtype


def table_shape(shape: tuple[int, ...], what: str) -> tuple[int, int]:
    """The shape, if it is that of a table."""
    if len(shape) == 2 and shape[1] == 0:
        raise DataError(f"{what} has shape {shape}, no columns; give at least one.")
    if len(shape) != 2:
        flat = f"({shape[0]}, -1)" if len(shape) > 2 else "(-1, 1)"
        raise DataError(
            f"{what} has shape {shape}, not that of a table; load it in Python as X, and write "
            f"numpy.save('flat.npy', X.reshape{flat})."
        )
    return int(shape[0]), int(shape[1])


def _bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    """In Python's integers: a forged header must not overflow."""
    total = dtype.itemsize
    for side in shape:
        total *= int(side)
    return total
