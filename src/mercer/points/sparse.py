"""Sparse rows: what SciPy's CSR holds, behind the few habits of an array that the library needs.

SciPy's own matrices and arrays have no length, copy on every slice and become dense by a sum. These
rows have a length, are cut without a copy and never become dense unless ``to_dense`` says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from mercer._base.linalg import power_of_two
from mercer._base.types import Array, Precision
from mercer.exceptions import ModelFileError
from mercer.points.packed import Head, SparsePacked, measure, products
from mercer.points.points import Numbers, Points


@dataclass(frozen=True, eq=False)
class SparseRows(Numbers):
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
    is_sparse = True
    can_wait = True

    @classmethod
    def of(cls, X: Any, dtype: Precision = None) -> SparseRows:
        """From points, or what SciPy makes a CSR array of; entries in order, without zeros."""
        matrix = X.for_user() if isinstance(X, Points) else X
        rows = csr_array(matrix, dtype=dtype)
        if not (rows.has_canonical_format and rows.data.all()):
            rows = rows.copy()  # what the caller has is not changed
            rows.sum_duplicates()
            rows.eliminate_zeros()
        return cls(rows.data, rows.indices, rows.indptr, int(rows.shape[1]))

    @property
    def rows(self) -> SparseRows:
        """These: kernels take sparse rows as they are."""
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.width

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        """Of the entries."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Entries that are kept."""
        return len(self.data)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, index: Any) -> SparseRows:
        """A slice (of step 1: without a copy of the entries), or rows by number or mask."""
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            indptr = self.indptr[start : max(start, stop) + 1]
            part = slice(int(indptr[0]), int(indptr[-1]))
            return SparseRows(self.data[part], self.indices[part], indptr - indptr[0], self.width)
        taken = self.to_scipy()[index if isinstance(index, slice) else np.atleast_1d(index)]
        return SparseRows(taken.data, taken.indices, taken.indptr, self.width)

    def take(self, index: Array | slice) -> SparseRows:
        return self[index]

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self.to_scipy() @ V)

    def __array__(self, dtype: Precision = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            f"{self!r} are never made an array in silence; use rows.to_dense() where "
            f"{len(self) * self.width * self.dtype.itemsize >> 20} MB are acceptable."
        )

    def __repr__(self) -> str:
        return f"SparseRows of shape {self.shape}, {self.dtype}, {self.nnz} entries"

    def astype(self, dtype: Precision, copy: bool = False) -> SparseRows:
        """The same in another precision; the structure is shared."""
        return self.with_data(self.data.astype(dtype, copy=copy))

    def with_data(self, data: Array) -> SparseRows:
        """Other entries at the same places."""
        return SparseRows(data, self.indices, self.indptr, self.width)

    cast = astype

    def copy(self) -> SparseRows:
        """Rows that share nothing with these."""
        return SparseRows(self.data.copy(), self.indices.copy(), self.indptr.copy(), self.width)

    def to_scipy(self) -> Any:
        """A ``scipy.sparse.csr_array`` that shares the memory of these rows."""
        rows = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
        rows.has_canonical_format = True
        return rows

    for_user = to_scipy

    def arrays(self) -> tuple[Array, ...]:
        return self.data, self.indices, self.indptr

    @property
    def largest(self) -> float:  # type: ignore[override]
        return float(np.abs(self.data).max(initial=0.0))

    @property
    def _lack(self) -> str:  # type: ignore[override]
        megabytes = -(-len(self) * self.width * self.dtype.itemsize >> 20)
        return (
            "sparse rows are not moved, which would fill their zeros; fit to X.toarray() "
            f"({megabytes} MB for these rows), or for pre-images use preimage='nearest', or "
            "'combination' with a kernel of the distance"
        )

    def to_dense(self) -> Array:
        """All entries, with the zeros: O(n d) memory, as the name admits."""
        return np.asarray(self.to_scipy().toarray())

    def row_sums(self, values: Array | None = None) -> Array:
        """Sums over each row, of the entries or of one value for each; in the values' precision."""
        entries = self if values is None else self.with_data(values)
        return np.asarray(entries.to_scipy().sum(axis=1))

    def square_sums(self) -> Array:
        """Squared lengths of the rows, in the rows' precision."""
        return self.row_sums(self.data * self.data)

    def row_numbers(self) -> Array:
        """The row of each entry, (z,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def adopt(self, others: Points) -> SparseRows:
        return others if isinstance(others, SparseRows) else SparseRows.of(others)

    def joined(self, *others: Points) -> SparseRows:
        parts = [self.adopt(part).to_scipy() for part in others]
        return SparseRows.of(vstack([self.to_scipy(), *parts], format="csr"))

    def permuted(self, rng: np.random.Generator) -> SparseRows:
        order = np.argsort(self.indices, kind="stable")
        counts = np.bincount(self.indices, minlength=self.width)
        rows = [rng.choice(len(self), count, replace=False) for count in counts if count]
        places = (np.concatenate(rows), self.indices[order])
        return SparseRows.of(coo_array((self.data[order], places), shape=self.shape))

    def exchanged(self, share: float, rng: np.random.Generator) -> SparseRows:
        """Each entry is lost with this chance, and each of another row comes with it.

        So words of a text do; rows keep their number of entries on the mean, and entries at one
        place are added.
        """
        other = self[rng.permutation(len(self))]
        stay = self.with_data(self.data * (rng.random(self.nnz) >= share))
        come = other.with_data(other.data * (rng.random(other.nnz) < share))
        return SparseRows.of(stay.to_scipy() + come.to_scipy())

    def squared_differences(self, others: Points) -> Array:
        """``|x_i - y_i|²`` of row after row, (n,)."""
        return SparseRows.of(self.to_scipy() - self.adopt(others).to_scipy()).square_sums()

    def middle(self) -> Array:
        """Zero, (1,): a shift would fill the zeros."""
        return np.zeros(1)

    def origin(self, *, shift: bool) -> Head:
        """Which columns are full; they alone are shifted, if that is not noticed."""
        return Head.of(self, shift=shift)

    def for_products(self, origin: Head | None, dtype: Precision) -> SparsePacked:
        """Rows ready for tiles of dot products."""
        return SparsePacked.of(self, origin, dtype)

    def for_distances(self, origin: Head | None, dtype: Precision, length: float) -> SparsePacked:
        """Rows in units of a length, ready for tiles of squared distances."""
        return SparsePacked.of(self, origin, dtype, length)

    def reach(self, origin: Any, length: float) -> float:  # noqa: ARG002
        """No limit of the squared distances from the origin is known."""
        return np.inf

    def is_filled(self) -> Array:
        """Which rows are not zero, (n,)."""
        return np.diff(self.indptr) > 0

    def unit(self, dtype: Precision = None) -> SparseRows:  # noqa: ARG002
        """Rows divided by their lengths, in float64; zeros stay zeros."""
        data, row = self.data.astype(np.float64), self.row_numbers()
        # Of the rows with entries alone: SciPy's own largest ones take twice the time.
        filled = self.is_filled()
        largest = np.maximum.reduceat(np.abs(data), self.indptr[:-1][filled]) if len(data) else data
        scaled = data / np.repeat(largest, np.diff(self.indptr)[filled])
        norm = np.sqrt(self.row_sums(scaled * scaled))
        return self.with_data(scaled / norm[row])

    def exact_products(self, others: SparseRows) -> Array:
        """``x_i · y_j``, summed in float64."""
        return products(*(SparsePacked.of(rows, None, np.float64) for rows in (self, others)))

    def exact_squares(self, others: SparseRows, length: float) -> Array:
        """``|x_i - y_j|² / length²`` by the differences themselves; for a few of these rows."""
        # Else squares might leave the range of floats; by a power of two no digit is lost.
        size = power_of_two(max(self.largest, others.largest))
        X, Y = (rows.with_data(rows.data.astype(np.float64) / size) for rows in (self, others))
        t = np.empty((len(X), len(Y)))
        A, B = (SparsePacked.of(rows, None, np.float64) for rows in (X, Y))
        measure(A, B, t, np.ones(t.shape, dtype=bool))
        with np.errstate(over="ignore"):
            return np.asarray(-t / (length / size) ** 2)

    def to_unit(self, unit: float | None = None) -> tuple[SparseRows, float]:
        """In float64, in a unit: the one in which they reach 1 if none is given."""
        unit = unit or self.largest or 1.0
        return self.with_data(self.data / np.float64(unit)), unit

    def pair_squares(self) -> Array:
        """Squared distances of all pairs of rows, in the order of ``pdist``; 0 for equal ones."""
        packed = self.for_distances(self.origin(shift=True), np.float64, 1.0)
        t = np.empty((len(self), len(self)))
        packed.negative_squares(packed, t, is_kinked=True)
        return np.maximum(-t, 0)[np.triu_indices(len(self), k=1)]

    def check(self) -> None:
        """Raise :class:`ModelFileError` if this is no CSR structure: for rows from a model file."""
        arrays = self.arrays()
        vectors = all(isinstance(part, np.ndarray) and part.ndim == 1 for part in arrays)
        if not vectors or [part.dtype.kind for part in arrays] != ["f", "i", "i"]:
            raise ModelFileError("sparse rows are not made of three vectors of numbers")
        if type(self.width) is not int or self.width < 1:
            raise ModelFileError(f"sparse rows have {str(self.width)[:80]!r} columns")
        try:
            rows = csr_array(arrays, shape=self.shape)
            rows.check_format(full_check=True)
        except ValueError as error:
            raise ModelFileError(f"sparse rows of {self.width} columns: {error}") from error
        # SciPy cuts off what is over.
        if rows.nnz != len(self.data) or not rows.has_canonical_format:
            raise ModelFileError("entries of sparse rows are too many, or not in order")
        if not np.isfinite(self.data).all():
            raise ModelFileError("sparse rows hold NaN or infinity")
