"""The one function that turns what users have into a row source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.types import RowsLike
from mercer.exceptions import DataError, argument
from mercer.io.delimited import CsvRows
from mercer.io.files import COMPRESSED, check_there, plain_name
from mercer.io.images import ImageRows, find_images
from mercer.io.look import TEXT
from mercer.io.npy import NpyRows, ZarrRows, load_npz
from mercer.io.parquet import ParquetRows
from mercer.io.sparse_file import is_sparse_npz, load_mtx, load_sparse_npz
from mercer.points.source import (
    MemoryRows,
    Source,
    check_finite,
    floating_type,
    warn_of_long,
)


def open_rows(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    array: str | None = None,
    allow_nan: bool = False,
) -> Source:
    """Rows of a file, to be read in blocks.

    Parameters
    ----------
    path : path
        ``.npy``; ``.npz`` (loaded); ``.parquet`` or a folder of such files; ``.csv``, ``.tsv``,
        ``.txt``, also in ``.gz``, ``.xz`` or ``.zst`` (needs pyarrow); ``.zarr``; a folder of
        PNG images; sparse rows (loaded) as ``.npz`` of ``scipy.sparse.save_npz`` or Matrix
        Market ``.mtx``. The ending decides.
    columns : names, optional
        For Parquet and CSV: the columns to use.
    array : str, optional
        For npz and Zarr: which array.
    allow_nan : bool, default=False
        Let missing values through as NaN (in CSV: empty fields, ``NA`` and the like), for
        ``impute`` and :class:`~mercer.MissingKernelPCA`. Otherwise they are refused with their
        place.

    Returns
    -------
    Rows
        Give it to ``fit`` and ``transform`` in place of an array.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from mercer import KernelPCA
    >>> from mercer.io import open_rows
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.random.default_rng(0).standard_normal((500, 3)))
    >>> rows = open_rows(path)
    >>> rows.shape
    (500, 3)
    >>> KernelPCA(4).fit(rows).transform(rows).shape
    (500, 4)
    """
    path = Path(path)
    check_there(path)
    kind = path.suffix.lower()
    refuse_array(path, array)
    if kind == ".mtx" or (kind == ".npz" and array is None and is_sparse_npz(path)):
        rows = load_mtx(path) if kind == ".mtx" else load_sparse_npz(path)
        return _checked(rows, allow_nan) if isinstance(rows, np.ndarray) else MemoryRows(rows)
    if kind == ".npz":
        return _checked(load_npz(path, array), allow_nan)
    opened = _open(path, kind, columns, array, allow_nan)
    opened.allow_nan = allow_nan
    return opened


def refuse_array(path: Path, array: str | None) -> None:
    """The name of an array means something in archives and stores only."""
    if array is not None and path.suffix.lower() not in (".npz", ".zarr"):
        named = argument("array", array)
        raise DataError(f"'{path}' holds one table, so that " + named + " means nothing.")


def _open(
    path: Path, kind: str, columns: Sequence[str] | None, array: str | None, allow_nan: bool
) -> Source:
    if kind == ".npy":
        return NpyRows(path)
    if kind == ".zarr":
        return ZarrRows(path, array)
    if path.is_dir() and (images := find_images(path)):
        return ImageRows(images)
    if kind == ".parquet" or path.is_dir():
        return ParquetRows(path, columns)
    inside = plain_name(path).suffix.lower()
    if kind in TEXT or (inside in TEXT and kind in COMPRESSED):
        return CsvRows(path, columns, allow_nan=allow_nan)
    if kind in COMPRESSED:
        raise DataError(
            f"'{path.name}' is compressed, and rows are read in blocks from plain files, or from "
            "text in .gz, .xz and .zst; unpack it, or read it into memory with "
            "mercer.tables.read_table."
        )
    raise DataError(
        f"'{path.name}': the ending '{kind}' is not known; "
        "give .npy, .npz, .mtx, .parquet, .csv, .tsv, .txt or .zarr."
    )


def as_rows(X: RowsLike) -> Source:
    """A row source for anything that is one, and for arrays and lists in memory."""
    if isinstance(X, str | os.PathLike):
        return open_rows(X)
    if hasattr(X, "__dask_graph__"):
        from mercer.io.cluster import DaskRows  # only where dask is used

        return DaskRows(X)
    return X if isinstance(X, Source) else MemoryRows(X)


def is_source(X: RowsLike) -> bool:
    """Whether :func:`as_rows` makes a source of it that streams, unlike an array."""
    return isinstance(X, Source | str | os.PathLike) or hasattr(X, "__dask_graph__")


def _checked(array: Any, allow_nan: bool) -> Source:
    warn_of_long(array, None)
    rows = MemoryRows(np.ascontiguousarray(array, dtype=floating_type(array.dtype, "the array")))
    check_finite(rows.X, 0, None, rows.place, allow_nan)
    return rows
