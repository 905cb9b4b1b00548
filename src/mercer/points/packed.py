r"""Rows packed for tiles: squared distances and dot products, of dense rows and of sparse ones.

Distances come by one matrix product, and directly where that would lose their digits. With dense
rows in units of the kernel's length, ``[√2 x, −|x|², 1] @ [√2 y, 1, −|y|²]ᵀ = −|x − y|²``. The
product errs by eps·|x|², which is nothing for most data and everything for rows that are spread
wide beside the length.

Sparse rows are not made dense; their columns are of two kinds. A few, the *head*, have an entry in
many rows: they are kept as a dense block and multiplied by BLAS, and where the kernel does not
notice a shift they are shifted by their mean. The rest, the *tail*, is multiplied as it is, by its
places. Columns in which no point of the basis has an entry meet nothing but zeros: only their
squares are kept. Products are summed in float64 whatever the rows are: that costs little beside
finding the places, and distances :math:`|x|^2 + |y|^2 - 2 x \cdot y` of rows that
cannot be centred need the digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from mercer._base.linalg import square_sums, write_shifted
from mercer._base.types import Array, Precision

if TYPE_CHECKING:
    from mercer.points.sparse import SparseRows

#: Norms N from which on close pairs are measured directly: t is right to 3e-5 in float32, 2e-11 in
#: float64. And how many pairs at a time.
WIDE = {"d": 1e5, "f": 256.0}
PAIRS = 1 << 13
#: Beyond these norms the product formula would leave no digits of t at all.
LARGEST = {"d": 4e6, "f": 8e3}
#: Columns with an entry in more than this share of the rows are quicker as dense ones: measured
#: with words of a text, 3.2 ms a tile against 6.9 ms without a head. The block takes no more than
#: 1 / SHARE numbers for each entry.
SHARE = 0.1
#: Of a head with fewer entries than this, as rows have beside means of many rows, only these are
#: multiplied: 0.65 ns each for a column of the tile, where BLAS takes 0.12 ns for a zero, too.
THIN = 0.2
#: Entries of the differences that are measured at a time.
ENTRIES = 1 << 18


def pack_shifted(X: Array, shift: Array, length: float, dtype: np.dtype) -> Factored:
    """``(x - shift) / length``, as factors of the product.

    Subtracts in the rows' own precision, or a finer one: x - shift is exact where it matters.
    """
    left = np.empty((len(X), X.shape[1] + 2), dtype=dtype)
    write_shifted(X, shift, np.sqrt(2.0) / length, left[:, :-2])
    left[:, -2], left[:, -1] = square_sums(left[:, :-2]) / -2, 1
    return Factored(left, -float(left[:, -2].min(initial=0.0)), len(left))


@dataclass(frozen=True)
class Factored:
    """Rows as a factor of the product, all that were packed together or some of them."""

    left: Array  #: ``[√2 x, −|x|², 1]``
    #: Largest |x|² and number of all rows: a worker that is sent some rounds as if it had all.
    largest: float
    count: int
    whole: Factored | None = None  #: all, if these are some, ...
    start: int = 0  #: ... and where these begin

    @cached_property
    def right(self) -> Array:
        """``[√2 x, 1, −|x|²]``, once it is asked for: most rows need one of the two."""
        if self.whole is not None:
            return self.whole.right[self.start : self.start + len(self)]
        turned = self.left.copy()
        turned[:, -2], turned[:, -1] = self.left[:, -1], self.left[:, -2]
        return turned

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of both."""
        return self.left.dtype

    def __reduce__(self) -> tuple[Any, ...]:
        # These rows alone are sent to a worker, and not all that they were packed with.
        return Factored, (self.left, self.largest, self.count)

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: slice) -> Factored:
        whole = self if self.whole is None else self.whole
        start = self.start + rows.indices(len(self))[0]
        return Factored(self.left[rows], self.largest, self.count, whole, start)

    @property
    def points(self) -> Array:
        """The scaled rows themselves."""
        return np.asarray(self.left[:, :-2] / np.sqrt(2.0))

    def negative_squares(self, B: Factored, out: Array, is_kinked: bool) -> None:
        """``out[i, j] = -|a_i - b_j|²``, up to rounding that may leave it a little above zero."""
        most = LARGEST[self.dtype.char]
        if not (self.largest <= most and B.largest <= most):
            with np.errstate(over="ignore"):
                np.negative(cdist(self.points, B.points, "sqeuclidean"), out=out)
            return
        # The factors of a few rows are turned, and not those of all that they are compared with.
        if self.count < B.count:
            np.matmul(self.right, B.left.T, out=out)
        else:
            np.matmul(self.left, B.right.T, out=out)
        _measure_close(self, B, out, is_kinked)


def _measure_close(A: Factored, B: Factored, t: Array, is_kinked: bool) -> None:
    """Take the distances of close pairs directly."""
    # Most rows lie so close together that no tile need be looked at.
    if not is_kinked and A.largest + B.largest <= WIDE[t.dtype.char]:
        return
    norms = -float(A.left[:, -2].min(initial=0.0) + B.left[:, -2].min(initial=0.0))
    reach = _reach(norms, WIDE[t.dtype.char], is_kinked)
    if not reach or t.max(initial=-np.inf) <= -reach:
        return
    close = np.flatnonzero(t > -reach)
    for part in np.array_split(close, -(-len(close) // PAIRS)):
        i, j = np.divmod(part, t.shape[1])
        t[i, j] = -0.5 * square_sums(A.left[i, :-2] - B.left[j, :-2])


def _reach(norms: float, wide: float, is_kinked: bool) -> float:
    """Pairs that are closer than this are measured directly: the formula has lost their digits.

    It errs by eps·N in t, with N the squared norms |x|²/ℓ²; k feels that by its slope, which is
    small from √N on for every profile. A kink feels it where t is nothing but that error, too.
    """
    reach: float = np.sqrt(norms) if norms > wide else 0.0
    return max(reach, 1e-4 * norms) if is_kinked else reach


@dataclass(frozen=True)
class Head:
    """How the columns of a basis are split; the same for all rows that meet it."""

    mean: Array  #: (h,) what dense columns are shifted by; zeros for kernels that notice a shift
    dense: Array  #: (d,) the number of each column among the dense ones, or -1
    tail: Array  #: (d,) the number of each column in the tail, or -1
    size: int  #: columns in the tail

    @classmethod
    def of(cls, rows: SparseRows, *, shift: bool) -> Head:
        """The split for the points of a basis; O(entries + d) time."""
        counts = np.bincount(rows.indices, minlength=rows.width)
        sums = np.bincount(rows.indices, rows.data, minlength=rows.width)
        heavy = counts > SHARE * len(rows)
        light = (counts > 0) & ~heavy
        dense, tail = (np.where(c, np.cumsum(c) - 1, -1).astype(np.int32) for c in (heavy, light))
        return cls(shift * sums[heavy] / len(rows), dense, tail, int(light.sum()))


@dataclass(frozen=True)
class SparsePacked:
    """Sparse rows ready for tiles."""

    head: Array  #: (n, h) the dense columns, shifted, in float64
    tail: SparseRows  #: (n, c) the other columns of the basis, in float64
    rest: Array  #: (n,) the squares of what is in no column of the basis
    norms: Array  #: (n,) squared lengths of the rows as they are here
    #: (n, h) the entries of a head of few, not shifted; None for a head of many
    thin: SparseRows | None
    shift: Array  #: (h,) what the head was shifted by
    dtype: np.dtype  #: of the tiles

    @classmethod
    def of(
        cls, rows: SparseRows, head: Head | None, dtype: Precision, unit: float = 1.0
    ) -> SparsePacked:
        """Rows divided by ``unit``; O(entries) time, and O(n h) for the head.

        Rows that meet without a basis have none.
        """
        if head is None:
            every = np.arange(rows.width, dtype=np.int32)
            head = Head(np.empty(0), np.full_like(every, -1), every, rows.width)
        column, place = head.dense[rows.indices], head.tail[rows.indices]
        data = rows.data.astype(np.float64)
        entries = _kept(rows, column, data, len(head.mean))
        dense = np.tile(-head.mean, (len(rows), 1))
        dense[entries.row_numbers(), entries.indices] += entries.data
        dense /= unit
        is_thin = entries.nnz < THIN * dense.size
        thin = entries.with_data(entries.data / unit) if is_thin else None
        data /= unit
        outside = np.where((column < 0) & (place < 0), data, 0)
        with np.errstate(over="ignore"):  # a length beyond the range of floats is inf
            tail = _kept(rows, place, data, head.size)
            rest = rows.row_sums(outside * outside)
            norms = square_sums(dense) + tail.square_sums() + rest
        return cls(dense, tail, rest, norms, thin, head.mean / unit, np.dtype(dtype or rows.dtype))

    def __len__(self) -> int:
        return len(self.norms)

    def __getitem__(self, rows: slice) -> SparsePacked:
        if rows.start in (0, None) and rows.stop is not None and rows.stop >= len(self):
            return self  # with its transpose, if that is known
        parts = (self.head[rows], self.tail[rows], self.rest[rows], self.norms[rows])
        thin = None if self.thin is None else self.thin[rows]
        return SparsePacked(*parts, thin, self.shift, self.dtype)

    @cached_property
    def transposed(self) -> Any:
        """The tail with its columns as rows, as a right factor is wanted."""
        return self.tail.to_scipy().T.tocsr()

    @cached_property
    def head_columns(self) -> Array:
        """The head with its columns as rows, for factors of few entries."""
        return np.ascontiguousarray(self.head.T)

    def negative_squares(self, B: SparsePacked, out: Array, is_kinked: bool) -> None:
        """``out[i, j] = -|a_i - b_j|²``, up to rounding that may leave it a little above zero."""
        with np.errstate(over="ignore", invalid="ignore"):
            t = products(self, B)
            t *= 2
            t -= self.norms[:, None]
            t -= B.norms
        norms = float(self.norms.max(initial=0.0) + B.norms.max(initial=0.0))
        # Beyond 1/eps² nothing is left of any distance, inf - inf least of all.
        reach = _reach(norms, WIDE["d"], is_kinked) if norms < 1e25 else np.inf
        if reach and not t.max(initial=-np.inf) <= -reach:
            measure(self, B, t, ~(t <= -reach))
        with np.errstate(over="ignore"):
            out[...] = t

    @property
    def largest(self) -> float:
        """The largest entry, for messages."""
        return float(max(np.abs(self.head).max(initial=0), np.abs(self.tail.data).max(initial=0)))


def _kept(rows: SparseRows, place: Array, data: Array, size: int) -> SparseRows:
    """The entries that have a place from 0 on."""
    keep = place >= 0
    if keep.all():
        return type(rows)(data, place, rows.indptr, max(size, 1))
    before = np.concatenate([[0], np.cumsum(keep)])  # entries kept before each one
    indptr = before[rows.indptr].astype(rows.indptr.dtype)
    return type(rows)(data[keep], place[keep], indptr, max(size, 1))


def dot_products(A: Any, B: Any, out: Array) -> None:
    """A tile of ``a_i · b_j`` between packed rows, both sparse or both arrays."""
    if isinstance(A, SparsePacked):
        out[...] = products(A, B)
    else:
        np.matmul(A, B.T, out=out)


def products(A: SparsePacked, B: SparsePacked) -> Array:
    """``a_i · b_j`` in float64."""
    p: Array = (A.tail.to_scipy() @ B.transposed).toarray()
    if A.thin is not None:
        # (x - μ)·b for a b that is shifted: x·b over the entries of x, and one number for each b.
        p += A.thin.to_scipy() @ B.head_columns
        p -= A.shift @ B.head_columns
    elif A.head.shape[1]:
        p += A.head @ B.head.T
    return p


def measure(A: SparsePacked, B: SparsePacked, t: Array, close: Array) -> None:
    """Take the distances of these pairs directly, some at a time."""
    i, j = np.nonzero(close)
    entries = np.diff(A.tail.indptr)[i] + np.diff(B.tail.indptr)[j] + A.head.shape[1] + 1
    cuts = np.searchsorted(np.cumsum(entries), np.arange(ENTRIES, entries.sum(), ENTRIES))
    for part in np.split(np.arange(len(i)), cuts):
        a, b = i[part], j[part]
        with np.errstate(over="ignore"):
            r2 = square_sums(A.head[a] - B.head[b]) + A.tail[a].squared_differences(B.tail[b])
            t[a, b] = -(r2 + A.rest[a] + B.rest[b])
