"""Sparse rows: what SciPy's CSR holds, behind the few habits of an array that the library needs.

SciPy's own matrices and arrays have no length, copy on every slice and become dense by a sum. These
rows have a length, are cut without a copy and never become dense unless ``to_dense`` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from mercer._base.linalg import square_sums
from mercer._base.types import Array, Precision, RowsLike
from mercer.exceptions import ModelFileError

__all__ = [
    "SparseRows",
    "alike",
    "concatenate",
    "dense",
    "exchanged",
    "permuted_columns",
    "same_rows",
    "squared_differences",
]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of which only the entries that are not zero are kept; frozen.

    Attributes
    ----------
    data : (z,) the entries, row after row
    indices : (z,) their columns, increasing in each row
    indptr : (n + 1,) where each row begins
    width : number of columns, d

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from mercer.points.sparse import SparseRows
    >>> rows = SparseRows.of(csr_array(np.diag([1.0, 2.0, 3.0])))
    >>> rows
    SparseRows of shape (3, 3), float64, 3 entries
    >>> rows[1:].to_scipy().toarray()
    array([[0., 2., 0.],
           [0., 0., 3.]])
    """

    data: Array
    indices: Array
    indptr: Array
    width: int

    ndim: ClassVar[int] = 2

    @classmethod
    def of(cls, X: RowsLike, dtype: Precision = None) -> SparseRows:
        """From anything that SciPy makes a CSR array of; entries in order, without zeros."""
        given = X.to_scipy() if isinstance(X, cls) else X
        rows = csr_array(given, dtype=dtype)
        clean = rows.has_canonical_format and rows.data.all()
        if not clean:
            if rows is given or np.may_share_memory(rows.data, getattr(given, "data", np.empty(0))):
                rows = rows.copy()  # what the caller has is not changed
            rows.sum_duplicates()
            rows.eliminate_zeros()
        return cls(rows.data, rows.indices, rows.indptr, int(rows.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.width

    @property
    def dtype(self) -> np.dtype:
        """Of the entries."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Entries that are kept."""
        return len(self.data)

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        return int(self.data.nbytes + self.indices.nbytes + self.indptr.nbytes)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, rows: RowsLike) -> SparseRows:
        """A slice (of step 1: without a copy of the entries), or rows by number or mask."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                indptr = self.indptr[start : max(start, stop) + 1]
                part = slice(int(indptr[0]), int(indptr[-1]))
                return SparseRows(
                    self.data[part], self.indices[part], indptr - indptr[0], self.width
                )
            rows = np.arange(start, stop, step)
        taken = self.to_scipy()[np.atleast_1d(np.asarray(rows))]
        return SparseRows(taken.data, taken.indices, taken.indptr, self.width)

    def __array__(self, dtype: Precision = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            f"{self!r} are never made an array in silence; use rows.to_dense() where "
            f"{len(self) * self.width * self.dtype.itemsize >> 20} MB are no matter."
        )

    def __repr__(self) -> str:
        return f"SparseRows of shape {self.shape}, {self.dtype}, {self.nnz} entries"

    def astype(self, dtype: Precision, copy: bool = False) -> SparseRows:
        """The same in another precision; the structure is shared."""
        return self.with_data(self.data.astype(dtype, copy=copy))

    def with_data(self, data: Array) -> SparseRows:
        """Other entries at the same places."""
        return SparseRows(data, self.indices, self.indptr, self.width)

    def copy(self) -> SparseRows:
        """Rows that share nothing with these."""
        return SparseRows(self.data.copy(), self.indices.copy(), self.indptr.copy(), self.width)

    def to_scipy(self) -> Any:
        """A ``scipy.sparse.csr_array`` that shares the memory of these rows."""
        rows = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
        rows.has_canonical_format = True
        return rows

    def to_dense(self) -> Array:
        """All entries, with the zeros: O(n d) memory, as the name admits."""
        return np.asarray(self.to_scipy().toarray())

    def row_sums(self, values: Array | None = None) -> Array:
        """Sums over each row, of the entries or of one value for each; in the values' precision."""
        values = self.data if values is None else values
        sums = np.zeros(len(self), dtype=values.dtype)
        filled = np.flatnonzero(np.diff(self.indptr))
        if len(filled):  # an empty row between two others has no part in reduceat's sums
            sums[filled] = np.add.reduceat(values, self.indptr[filled])
        return sums

    def square_sums(self) -> Array:
        """Squared lengths of the rows, in the rows' precision."""
        return self.row_sums(self.data * self.data)

    def row_numbers(self) -> Array:
        """The row of each entry, (z,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def check(self, *, ordered: bool = True) -> None:
        """Raise :class:`ModelFileError` if this is no CSR structure: for rows from a file.

        ``ordered`` if columns have to increase in each row.
        """
        arrays = (self.data, self.indices, self.indptr)
        if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in arrays):
            raise ModelFileError("sparse rows are not made of three vectors")
        if self.data.dtype.kind != "f" or any(part.dtype.kind != "i" for part in arrays[1:]):
            raise ModelFileError("sparse rows have entries or places of a foreign type")
        if type(self.width) is not int or self.width < 1 or len(self.data) != len(self.indices):
            raise ModelFileError("sparse rows have as many places as entries, and columns")
        steps = np.diff(self.indptr)
        if not len(self.indptr) or self.indptr[0] != 0 or (steps < 0).any():
            raise ModelFileError("rows of a sparse matrix begin one after the other, from 0 on")
        if self.indptr[-1] != len(self.data):
            raise ModelFileError("the last of the sparse rows does not end with the entries")
        if len(self.indices) and not 0 <= self.indices.min() <= self.indices.max() < self.width:
            raise ModelFileError(f"sparse rows have entries beyond their {self.width} columns")
        same = np.diff(self.row_numbers()) == 0
        if ordered and (np.diff(self.indices)[same] <= 0).any():
            raise ModelFileError("columns of a sparse row do not increase")
        if not np.isfinite(self.data).all():
            raise ModelFileError("sparse rows hold NaN or infinity")


def alike(X: RowsLike, Y: RowsLike) -> tuple[Any, Any]:
    """Two sets of vectors as sparse rows if one of them is; for a few rows."""
    if isinstance(X, SparseRows) or isinstance(Y, SparseRows):
        return SparseRows.of(X), SparseRows.of(Y)
    return X, Y


def dense(block: RowsLike) -> Any:
    """A block of rows as an array; for a few rows."""
    return block.to_dense() if isinstance(block, SparseRows) else block


def concatenate(parts: Sequence[RowsLike]) -> Any:
    """Rows one below the other: sparse if the first of them are."""
    if isinstance(parts[0], SparseRows):
        stacked = vstack([SparseRows.of(part).to_scipy() for part in parts], format="csr")
        return SparseRows.of(stacked)
    return np.concatenate([dense(part) for part in parts])


def permuted_columns(X: RowsLike, rng: np.random.Generator) -> Any:
    """Each column in an order of its own; the entries of a sparse one go to other rows."""
    if not isinstance(X, SparseRows):
        return rng.permuted(X, axis=0)
    order = np.argsort(X.indices, kind="stable")
    counts = np.bincount(X.indices, minlength=X.width)
    rows = [rng.choice(len(X), count, replace=False) for count in counts if count]
    places = (np.concatenate(rows), X.indices[order])
    return SparseRows.of(coo_array((X.data[order], places), shape=X.shape))


def exchanged(X: SparseRows, share: float, rng: np.random.Generator) -> SparseRows:
    """Each entry is lost with this chance, and each of another row comes with it: words of a text.

    Rows keep their number of entries on the mean; entries at one place are added.
    """
    other = X[rng.permutation(len(X))]
    kept = X.with_data(X.data * (rng.random(X.nnz) >= share))
    come = other.with_data(other.data * (rng.random(other.nnz) < share))
    return SparseRows.of(kept.to_scipy() + come.to_scipy())


def squared_differences(A: RowsLike, B: RowsLike) -> Array:
    """``|a_i - b_i|²`` of two sets of rows, both sparse or both dense, (n,)."""
    if isinstance(A, SparseRows) and isinstance(B, SparseRows):
        return SparseRows.of(A.to_scipy() - B.to_scipy()).square_sums()
    return square_sums(np.asarray(A) - np.asarray(B))


def same_rows(A: RowsLike, B: RowsLike) -> bool:
    """Whether two sets of rows are equal, entry by entry."""
    if isinstance(A, SparseRows) and isinstance(B, SparseRows):
        parts = ((A.data, B.data), (A.indices, B.indices), (A.indptr, B.indptr))
        return A.width == B.width and all(np.array_equal(a, b) for a, b in parts)
    if isinstance(A, SparseRows) or isinstance(B, SparseRows):
        return False
    return bool(np.array_equal(A, B))
