"""Rows in files of arrays: .npy, Zarr and Parquet are read in blocks, .npz and .mtx loaded whole.

Sparse rows are SciPy's ``.npz`` and Matrix Market ``.mtx``.
"""

import hashlib
import math
import zipfile
from collections.abc import Iterator
from inspect import signature
from io import BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from mercer._base.files import FileWatch, stamps
from mercer._base.machine import available_bytes, blocks
from mercer._base.optional import require
from mercer._base.types import Array, Names
from mercer.exceptions import DataError, Remedy
from mercer.io.files import decoding, file_fingerprint, names_text, pick_columns, refuse_bomb
from mercer.points.source import CHUNK, Source, floating_type, warn_of_long
from mercer.points.sparse import SparseRows

#: Arrays that hold the indices of a sparse matrix.
_PLACES = {"indices.npy", "indptr.npy", "row.npy", "col.npy"}
#: Columns are numbered by 32 bits.
MOST_COLUMNS = (1 << 31) - 1
#: No side of an array is longer, whatever its type.
_LONGEST = np.iinfo(np.intp).max // 64


class NpyRows(Source):
    """A two-dimensional .npy file, read block by block.

    Plain reads rather than a memory map: what has been read does not stay in the process's memory,
    and a file that is cut short meanwhile gives an error, where a map would kill the process.
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
        if (size := path.stat().st_size) < declared:
            raise DataError(f"'{path}' declares {declared} bytes but has {size}; save it again.")

    def read(self, start: int, stop: int) -> Iterator[Array]:
        n, d = self.shape
        with self.path.open("rb") as file:
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

    def _fill(self, part: Array, file: BufferedReader, first: int) -> None:
        """Read entries of the file, from number ``first`` on in the order of the file."""
        file.seek(self._offset + first * self._stored.itemsize)
        if file.readinto(part.view(np.uint8).data) < part.nbytes:
            raise DataError(f"'{self.path}' ends too early; it is damaged, save it again.")

    def fingerprint(self) -> str:
        return file_fingerprint([self.path])


def load_npz(path: Path, name: str | None) -> Array:
    """One array of an .npz archive, in memory, if its declared size fits into what is free."""
    with decoding(path, "readable .npz archive"), zipfile.ZipFile(path) as archive:
        member = f"{_picked(members(path), path, name)}.npy"
        with archive.open(member) as file:
            shape, _, dtype = read_header(file, path)
            if dtype.hasobject:
                raise DataError(f"'{member}' in '{path}' holds objects; save numbers or texts.")
            size, entry = _bytes(shape, dtype), archive.getinfo(member)
            refuse_bomb(path, size, min(entry.compress_size, path.stat().st_size))
            _refuse_large(f"'{member}' in '{path}'", size, "save it as .npy, read in blocks")
            file.seek(0)
            return np.lib.format.read_array(file)


def members(path: Path) -> list[str]:
    """Names of the arrays in an .npz archive; empty for other files."""
    if not zipfile.is_zipfile(path):
        return []
    with decoding(path, "readable .npz archive"), zipfile.ZipFile(path) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def _picked(names: list[str], path: Path, name: str | None) -> str:
    """The array that is asked for, or the only one."""
    if name in names or (name is None and len(names) == 1):
        return name or names[0]
    end = "." if name else Remedy(" with array=.", shell=" with --array.")
    what = f"has no {name!r}, and holds" if name else "holds"
    raise DataError(f"'{path}' {what} {names_text(names) or 'no arrays'}; name one of them" + end)


def read_header(file: BinaryIO | Any, path: Path) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type of an array, without reading it; never runs pickled code."""
    with decoding(path, "NumPy array"):
        major, minor = np.lib.format.read_magic(file)
        reader = getattr(np.lib.format, f"read_array_header_{major}_{minor}")
        shape, fortran, dtype = reader(file)
    if any(not 0 <= side <= _LONGEST for side in shape):
        raise DataError(f"'{path}' declares the impossible shape {shape}; save it again.")
    return shape, fortran, dtype


def table_shape(shape: tuple[int, ...], what: str) -> tuple[int, int]:
    """The shape, if it is that of a table."""
    if len(shape) != 2 or not 0 < shape[1] <= MOST_COLUMNS:
        limit = f"not that of a table of 1 to {MOST_COLUMNS:,} columns"
        raise DataError(f"{what} has shape {shape}, {limit}; save it reshaped to (n, d).")
    return int(shape[0]), int(shape[1])


def _bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    """Size in Python's integers: a forged header must not overflow."""
    return math.prod(map(int, shape), start=dtype.itemsize)


#: Chunks that may be declared for each file that is there; empty ones need none.
_SPARSE = 1000


class ZarrRows(Source):
    """A two-dimensional Zarr array, read one row of its chunks at a time.

    ``array`` is its name inside a group, not needed where the group holds one array.
    """

    def __init__(self, path: Path, array: str | None = None) -> None:
        zarr = require("zarr", "io")
        self.watch = FileWatch([path])
        self.path = path
        with decoding(path, "Zarr store"):
            self._array: Any = zarr.open(str(path), mode="r")
            if not hasattr(self._array, "chunks"):  # a group
                self._array = self._array[_picked(sorted(self._array.array_keys()), path, array)]
            self.dtype = floating_type(self._array.dtype, f"'{path}'")
            self.shape = table_shape(tuple(self._array.shape), f"'{path}'")
            # Chunks that are not stored read as zeros, however many are declared.
            pieces = self._array.shards or self._array.chunks
            size = math.prod(pieces) * self._array.dtype.itemsize
            declared = math.prod(-(-n // c) for n, c in zip(self.shape, pieces, strict=True))
            stored = len(stamps([path]))
        if declared > _SPARSE * stored or size > available_bytes() // 2:
            what = f"'{path}' declares {declared} chunks of {size >> 20} MB in {stored} files"
            raise DataError(f"{what}: damaged, or its chunks are too large; write it again.")

    def read(self, start: int, stop: int) -> Iterator[Array]:
        # From one edge of the stored chunks to the next, so that none is decoded twice.
        size = int(self._array.chunks[0])
        edges = [start, *range((start // size + 1) * size, stop, size), stop]
        for low, high in pairwise(edges):
            with decoding(self.path, "Zarr store"):
                block = self._array[low:high]
            yield block

    def fingerprint(self) -> str:
        digest = hashlib.sha256(repr((self.shape, self.dtype)).encode())
        for file, (size, changed, _) in stamps([self.path]).items():
            digest.update(f"{file.relative_to(self.path)} {size} {changed} ".encode())
        for start in (0, max(len(self) - 256, 0)):
            digest.update(self[start : start + 256].tobytes())
        return digest.hexdigest()


def load_sparse_npz(path: Path) -> SparseRows:
    """The matrix in an archive of SciPy; nothing is unpickled, and its indices are checked."""
    with decoding(path, "sparse .npz archive"):
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            for name in _PLACES.intersection(archive.namelist()):
                with archive.open(name) as file:  # SciPy would round indices that are not whole
                    if read_header(file, path)[2].kind != "i":
                        raise DataError(f"'{path}' has places of a foreign type; save it again.")
        refuse_bomb(path, size, path.stat().st_size)
        _refuse_large(f"'{path}'", size)
        matrix: Any = sparse.load_npz(path)
        if matrix.format in ("csr", "csc"):
            matrix.check_format(full_check=True)
    if matrix.format not in ("csr", "csc", "coo"):
        raise DataError(f"'{path}' holds a {matrix.format!r} matrix; save it as CSR: X.tocsr().")
    table_shape(matrix.shape, f"'{path}'")
    return _checked(path, matrix)


def load_mtx(path: Path) -> SparseRows | Array:
    """A Matrix Market file; one that lists all entries ("array") is dense."""
    from scipy.io import mminfo, mmread  # takes longer to load than most files

    with decoding(path, "Matrix Market file"):
        n, d, entries, layout, field, _ = mminfo(path)
    if field not in ("real", "integer", "unsigned-integer", "double", "pattern"):
        raise DataError(f"'{path}' holds {field} entries; give real ones.")
    table_shape((n, d), f"'{path}'")
    _refuse_large(f"'{path}'", 8 * n * d if layout == "array" else 40 * entries)
    # SciPy 1.14 does not know the argument, and 1.18 warns where it is not given.
    how: Any = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
    with decoding(path, "Matrix Market file"):
        matrix = mmread(path, **how)
    return _checked(path, matrix) if sparse.issparse(matrix) else np.asarray(matrix)


def _checked(path: Path, matrix: Any) -> SparseRows:
    rows = SparseRows.of(matrix, floating_type(matrix.dtype, f"'{path}'"))
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        place = f"row {rows.row_numbers()[bad[0]]}, column {rows.indices[bad[0]]}"
        raise DataError(f"'{path}' has a value that is not finite at {place}; fix it.")
    return rows


def _refuse_large(what: str, size: int, instead: str = "give a part of its rows at a time") -> None:
    if size > available_bytes() // 2:
        raise DataError(f"{what} unpacks to {size >> 20} MB, over half the free memory; {instead}.")


class ParquetRows(Source):
    """A Parquet file, or a folder whose files (in the order of their names) hold the same columns.

    Row groups are decoded in small batches, so that memory does not grow with their size. Missing
    values are refused when they are met.
    """

    def __init__(self, path: Path, columns: Names | None = None) -> None:
        self._parquet = require("pyarrow.parquet", "io")
        self.path = path
        self._files = parquet_files(path)
        self.watch = FileWatch(self._files)
        counts, schemas = [], []
        for file in self._files:
            with decoding(file, "Parquet file"), self._open(file) as parquet:
                counts.append(parquet.metadata.num_rows)
                schemas.append(parquet.schema_arrow)
            if schemas[-1].names != schemas[0].names:
                other = f"'{file}' has other columns than '{self._files[0]}'"
                raise DataError(f"{other}; put files of one table into a folder.")
        names = tuple(schemas[0].names)
        chosen = [schemas[0].field(i) for i in pick_columns(names, columns, path)]
        self.columns = tuple(field.name for field in chosen)
        self.dtype = np.dtype(np.float32)  # if all columns are
        for field in chosen:
            kind = floating_type(_dtype(field), f"column {field.name!r} of '{path}' ({field.type})")
            self.dtype = np.promote_types(self.dtype, kind)
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.shape = (int(self._starts[-1]), len(self.columns))

    def read(self, start: int, stop: int) -> Iterator[Array]:
        for file, (first, last) in zip(self._files, pairwise(self._starts), strict=True):
            if max(start, first) < min(stop, last):
                yield from self._read_file(file, max(start - first, 0), min(stop, last) - first)

    def labels(self, name: str) -> list[Any]:
        """A column of any kind."""
        parts = [self._parquet.read_table(file, columns=[name]).column(0) for file in self._files]
        return [value for part in parts for value in part.to_pylist()]

    def _read_file(self, file: Path, start: int, stop: int) -> Iterator[Array]:
        with decoding(file, "Parquet file"), self._open(file) as parquet:
            metadata = parquet.metadata
            sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            ends = np.cumsum(sizes)
            groups = np.flatnonzero((ends > start) & (ends - sizes < stop)).tolist()
            position = int(ends[groups[0]] - sizes[groups[0]])
            for batch in parquet.iter_batches(CHUNK, groups, list(self.columns or ())):
                yield self._array(batch[max(start - position, 0) : max(stop - position, 0)])
                position += len(batch)

    def _array(self, batch: Any) -> Array:
        block = np.empty((len(batch), self.shape[1]), dtype=self.dtype)
        for j, column in enumerate(batch.columns):
            block[:, j] = column.to_numpy(zero_copy_only=False)  # nulls become NaN
            if "int64" in str(column.type) and not self.told_of_long:
                whole, name = column.drop_null().to_numpy(), batch.schema.names[j]
                self.told_of_long = warn_of_long(whole[:, None], [name])
        return block

    def _open(self, file: Path) -> Any:
        return self._parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)

    def fingerprint(self) -> str:
        return file_fingerprint(self._files) + ",".join(self.columns or ())


def parquet_names(path: Path) -> tuple[list[str], list[str]]:
    """Names of the columns, and of those that are not numbers."""
    file = parquet_files(path)[0]
    with decoding(file, "Parquet file"):
        schema = require("pyarrow.parquet", "io").read_schema(file)
    return list(schema.names), [f.name for f in schema if _dtype(f).kind not in "fiub"]


def _dtype(field: Any) -> np.dtype:
    """NumPy's type of a column; object where it has none."""
    try:
        dtype: np.dtype = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    return dtype


def parquet_files(path: Path) -> list[Path]:
    """The file, or those of a folder and the folders in it."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise DataError(f"the folder '{path}' holds neither .png nor .parquet files.")
    return files
