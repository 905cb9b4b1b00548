"""Rows that are in memory already."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._types import RowsLike
from mercer.rows.base import Rows
from mercer.sparse_rows import SparseRows

__all__ = ["MemoryRows"]


class MemoryRows(Rows):
    """An array, or a list of objects, that the estimator has checked already.

    Parameters
    ----------
    X : (n, d) array, sparse rows, or a list
    columns : names, optional
    """

    def __init__(self, X: RowsLike, columns: Sequence[str] | None = None) -> None:
        self.X = X
        self.columns = None if columns is None else tuple(map(str, columns))
        self._is_table = isinstance(X, np.ndarray | SparseRows)
        self.shape = (len(X), int(X.shape[1]) if self._is_table else 1)
        self.dtype = X.dtype if self._is_table else np.dtype(object)

    def read(self, start: int, stop: int) -> Iterator[Array]:
        yield self.X[start:stop]

    def stream(self, chunks: Sequence[slice]) -> Iterator[tuple[slice, Any]]:
        """Views, without a copy and without a second check."""
        return ((rows, self.X[rows]) for rows in chunks)

    def take(self, index: Array) -> Any:
        return self.X[index] if self._is_table else [self.X[i] for i in index]

    def fingerprint(self) -> str:
        if not self._is_table:
            return hashlib.sha256(repr(self.X[:256]).encode()).hexdigest()
        rows = self.X[np.linspace(0, len(self) - 1, min(len(self), 256)).astype(np.intp)]
        parts = [rows]
        if isinstance(rows, SparseRows):
            parts = [rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)]
        text = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        return hashlib.sha256(text).hexdigest()
