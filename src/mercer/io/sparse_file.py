"""Sparse rows in files: SciPy's ``.npz`` and Matrix Market ``.mtx``, loaded after a look."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, issparse

from mercer._base.machine import available_bytes
from mercer._base.types import Array
from mercer.exceptions import DataError, ModelFileError
from mercer.io.files import decoding, refuse_bomb
from mercer.points.source import floating_type
from mercer.points.sparse import SparseRows

_COMPRESSED = {"csr": csr_array, "csc": csc_array}


def is_sparse_npz(path: Path) -> bool:
    """Whether an archive is one that ``scipy.sparse.save_npz`` wrote."""
    if not zipfile.is_zipfile(path):
        return False
    with decoding(path, "readable .npz archive"), zipfile.ZipFile(path) as archive:
        return {"format.npy", "shape.npy", "data.npy"} <= set(archive.namelist())


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
