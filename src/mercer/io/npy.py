"""Rows in files of arrays: .npy and Zarr are read in blocks, .npz and .mtx loaded after a look.

Sparse rows are SciPy's ``.npz`` and Matrix Market ``.mtx``.
"""

from __future__ import annotations

import hashlib
import math
import zipfile
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, issparse

from mercer._base.files import FileWatch, stamps
from mercer._base.machine import available_bytes, blocks
from mercer._base.optional import require
from mercer._base.types import Array
from mercer.exceptions import DataError, ModelFileError, Remedy
from mercer.io.files import decoding, file_fingerprint, refuse_bomb
from mercer.io.table import Table
from mercer.points.source import CHUNK, Source, floating_type
from mercer.points.sparse import SparseRows

_COMPRESSED = {"csr": csr_array, "csc": csc_array}
#: No side of an array is longer, whatever its type.
_LONGEST = np.iinfo(np.intp).max // 64


class NpyRows(Source):
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
        member = f"{_picked(members(path), path, name)}.npy"
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


def members(path: Path) -> list[str]:
    """Names of the arrays of an .npz archive; none for what is not one."""
    if not zipfile.is_zipfile(path):
        return []
    with decoding(path, "readable .npz archive"), zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def _picked(names: list[str], path: Path, name: str | None) -> str:
    """The array that is asked for, or the only one."""
    if name in names or (name is None and len(names) == 1):
        return name or names[0]
    listed = ", ".join(names[:20]) or "no arrays"
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


#: Chunks that may be declared for each file that is there; empty ones need none.
_SPARSE = 1000


class ZarrRows(Source):
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
            self._array: Any = zarr.open(str(path), mode="r")
            if not hasattr(self._array, "chunks"):  # a group
                names = sorted(self._array.array_keys())
                self._array = self._array[_picked(names, path, array)]
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


def load_sparse_npz(path: Path) -> SparseRows:
    """The matrix of an archive of SciPy's; nothing is unpickled, and its places are checked."""
    with decoding(path, "readable .npz archive"), zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        refuse_bomb(path, size, path.stat().st_size)
        _refuse_large(path, size)
    with decoding(path, "sparse .npz archive"), np.load(path, allow_pickle=False) as archive:
        parts = {name: archive[name] for name in archive.files}
    kind = _text(parts["format"])
    n, d = _shape(path, parts["shape"])
    floating_type(parts["data"].dtype, f"'{path}'")
    if kind in _COMPRESSED:
        major, minor = (n, d) if kind == "csr" else (d, n)
        given = [parts.get(name, np.empty(0)) for name in ("data", "indices", "indptr")]
        _check_places(path, given, major, minor)
        matrix: Any = _COMPRESSED[kind](tuple(given), shape=(n, d))
    elif kind == "coo":
        places = [parts.get(name, np.empty(0)) for name in ("row", "col")]
        for place, side in zip(places, (n, d), strict=True):
            inside = place.dtype.kind == "i" and len(place) == len(parts["data"])
            if not inside or (len(place) and not 0 <= place.min() <= place.max() < side):
                raise _broken(path, "has entries beyond its shape")
        matrix = coo_array((parts["data"], tuple(places)), shape=(n, d))
    else:
        raise DataError(f"'{path}' holds a {kind!r} matrix; save it as CSR: X.tocsr().")
    return _checked(path, matrix)


def load_mtx(path: Path) -> SparseRows | Array:
    """A Matrix Market file; one that lists all entries ("array") is dense."""
    from scipy.io import mminfo, mmread  # takes longer to load than most files

    with decoding(path, "Matrix Market file"):
        n, d, entries, layout, field, _ = mminfo(path)
    if field not in ("real", "integer", "unsigned-integer", "double", "pattern"):
        raise DataError(f"'{path}' holds {field} entries; give real ones.")
    _shape(path, np.array([n, d]))
    _refuse_large(path, 8 * n * d if layout == "array" else 40 * entries)
    with decoding(path, "Matrix Market file"):
        matrix = mmread(path)
    if not issparse(matrix):
        return np.asarray(matrix)
    return _checked(path, matrix)


def _checked(path: Path, matrix: Any) -> SparseRows:
    rows = SparseRows.of(matrix, floating_type(matrix.dtype, f"'{path}'"))
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        row, column = rows.row_numbers()[bad[0]], rows.indices[bad[0]]
        raise DataError(f"'{path}' has no finite number at row {row}, column {column}; fix it.")
    return rows


def _check_places(path: Path, given: list[Array], major: int, minor: int) -> None:
    data, indices, indptr = given
    kept = np.nan_to_num(data.astype(np.float64)) if data.dtype.kind in "fiub" else data
    if len(indptr) != major + 1:
        raise _broken(path, f"has {len(indptr) - 1} places for {major} rows or columns")
    try:
        SparseRows(kept, indices, indptr, minor).check(ordered=False)
    except ModelFileError as error:
        raise _broken(path, f"makes no sense: {error}") from error


def _shape(path: Path, shape: Array) -> tuple[int, int]:
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or not 0 < int(shape[1]) < 1 << 31:
        raise DataError(f"'{path}' is not a table of rows and columns; save a matrix.")
    return int(shape[0]), int(shape[1])


def _text(value: Array) -> str:
    word = value.item() if value.size == 1 else ""
    return word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)


def _refuse_large(path: Path, size: int) -> None:
    if size > available_bytes() // 2:
        raise DataError(
            f"'{path}' unpacks to {size >> 20} MB, more than half of the free memory; "
            "give a part of its rows at a time."
        )


def _broken(path: Path, what: str) -> DataError:
    return DataError(f"'{path}' {what}; save it again with scipy.sparse.save_npz.")
