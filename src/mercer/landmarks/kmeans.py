"""Landmarks as cluster centres: a few Lloyd steps after a good start."""

from dataclasses import KW_ONLY
from functools import reduce
from operator import iadd

import numpy as np
from scipy.sparse import csr_array, diags_array

from mercer._base.config import with_parameters
from mercer._base.linalg import square_sums, write_shifted
from mercer._base.machine import blocks, thread_map
from mercer._base.types import Array, Precision, Rows
from mercer.kernels import Basis, Kernel, Linear
from mercer.landmarks.base import LandmarkRule
from mercer.landmarks.rpcholesky import RPCholesky
from mercer.points.sparse import SparseRows
from mercer.points.tiles import EDGE

#: Rows that are assigned at a time; and parts in which their means are summed, in fixed order.
STEP, PARTS = 512, 4
#: Rows with WIDE times as many columns are compared along axes, a fourth of the number of centres
#: but between these, found by SOME centres.
AXES, MOST_AXES, WIDE, SOME = 64, 128, 3, 200
#: Entries of a mean of sparse rows, for each of a row: more make every product slower, and see
#: little more of the data (0.01 % of the variance of ten components in a made text, 0.2 % in
#: docstrings; 18 % in 20,000 rows whose columns are alike, where there are no groups to find).
ENTRIES = 8


@with_parameters
class KMeans(LandmarkRule):
    """Cluster centres, which see more of the leading eigenvalues than rows do (Zhang et al. 2008).

    Few steps suffice: the first one does most of the work, and it is the start that finds rare
    groups.

    Parameters
    ----------
    start : LandmarkRule, optional
        Where the centres start; :class:`RPCholesky` if not given.
    steps : int, default=2
    sample : int, default=20_000
        Rows that the steps look at.

    Notes
    -----
    For kernels of objects there are no means: the start is returned as it is. O(steps · sample · m
    d) time. Means of sparse rows keep their largest entries, eight times as many as rows have on
    the mean.
    """

    start: LandmarkRule | None = None
    _: KW_ONLY
    steps: int = 2
    sample: int = 20_000

    def select(self, kernel: Kernel, X: Rows, m: int, rng: np.random.Generator) -> Rows:
        start = RPCholesky() if self.start is None else self.start
        centres = start.select(kernel, X, m, rng)
        if not kernel.takes_vectors or m >= len(X):
            return centres
        points = kernel.points(X).sample(max(self.sample, 5 * m), rng)
        if not points.is_sparse:
            return lloyd(points.rows, centres, self.steps)
        for _ in range(self.steps):
            centres = sparse_lloyd_step(points.rows, centres)
        return centres


def lloyd(X: Array, centres: Array, steps: int) -> Array:
    """Move each centre to the mean of the rows nearest to it; a centre without rows stays.

    Where there are many columns, rows and centres are compared along a few axes, and all means but
    the last are taken there.
    """
    # |x - c|² orders like |c|²/2 - x·c: around the middle a large offset does not cancel.
    origin = centres.mean(axis=0, dtype=np.float64).astype(X.dtype)
    scale = np.abs(centres - origin).max() or 1
    unit = 1 if 1e-6 < scale < 1e6 else scale  # so that products stay in the range of float32
    C = (centres - origin) / unit
    norms = square_sums(C)
    # Unless a few centres are far away, single precision tells which one is nearest.
    C = C.astype(np.float32 if norms.max() < 1e3 * np.median(norms) else X.dtype, copy=False)
    axes = _leading_axes(C)
    rows, points = _around(X, origin, unit, C.dtype, axes), C if axes is None else C @ axes
    for _ in range(steps - 1):
        points = _moved(points, _nearest(rows, points), rows, C.dtype)
    # The last means are of the rows themselves, not of what single precision leaves of them.
    return _moved(centres, _nearest(rows, points), X, np.float64)


def _around(X: Array, origin: Array, unit: float, dtype: Precision, axes: Array | None) -> Array:
    """Rows around an origin, in another unit, or what the axes see of them."""
    width = X.shape[1] if axes is None else axes.shape[1]
    rows = np.empty((len(X), width), dtype=dtype)

    def fill(part: slice) -> None:
        moved = np.empty(X[part].shape, dtype=dtype)
        write_shifted(X[part], origin, 1 / unit, moved)
        rows[part] = moved if axes is None else moved @ axes

    thread_map(fill, blocks(len(X), STEP))
    return rows


def _leading_axes(C: Array) -> Array | None:
    """Axes of most of the centres' variance, (d, r); None where there are not many more columns."""
    m, d = C.shape
    r = min(MOST_AXES, max(AXES, m // 4))
    if d < WIDE * r or m <= r:
        return None
    some = C[:: -(-m // SOME)]
    values, vectors = (part[..., -r:] for part in np.linalg.eigh(some @ some.T))
    keep = values > len(some) * np.finfo(C.dtype).eps * values[-1]
    return np.ascontiguousarray(some.T @ (vectors[:, keep] / np.sqrt(values[keep])))


def _nearest(rows: Array, C: Array) -> Array:
    """The number of the nearest centre of each row."""
    half = square_sums(C) / 2

    def assign(part: slice) -> Array:
        near = rows[part] @ C.T
        near -= half
        return np.asarray(np.argmax(near, axis=1))

    return np.concatenate(thread_map(assign, blocks(len(rows), STEP)))


def _moved(centres: Array, nearest: Array, rows: Array, dtype: Precision) -> Array:
    """The means, taken in a type, of the rows that each centre is nearest to."""
    counts = np.bincount(nearest, minlength=len(centres))

    def add(part: slice) -> Array:
        each = np.arange(part.stop - part.start)
        shares = (1 / counts[nearest[part]]).astype(dtype)
        member = csr_array((shares, (nearest[part], each)), shape=(len(centres), len(each)))
        return member @ rows[part]

    parts = thread_map(add, blocks(len(rows), -(-len(rows) // PARTS)))
    return np.where(counts[:, None] > 0, reduce(iadd, parts), centres).astype(centres.dtype)


def sparse_lloyd_step(X: SparseRows, centres: SparseRows) -> SparseRows:
    """The same for sparse rows: tiles of x·c in float64, and a mean of sparse rows is sparse."""
    basis = Basis(Linear(), centres, np.float64)
    half = centres.astype(np.float64).square_sums() / 2

    def assign(rows: slice) -> Array:
        p = np.empty((rows.stop - rows.start, len(centres)))
        basis.kernel.fill(basis.pack(X[rows]), basis.packed, p)
        return np.asarray(np.argmin(half - p, axis=1))

    nearest = np.concatenate(thread_map(assign, blocks(len(X), EDGE["d"])))
    counts = np.bincount(nearest, minlength=len(centres))
    share = 1 / counts[nearest]
    member = csr_array((share, (nearest, np.arange(len(X)))), shape=(len(centres), len(X)))
    stays = diags_array((counts == 0).astype(np.float64))  # a centre without rows
    moved = member @ X.to_scipy() + stays @ centres.to_scipy()
    return _largest_entries(SparseRows.of(moved, X.dtype), ENTRIES * -(-X.nnz // len(X)))


def _largest_entries(C: SparseRows, most: int) -> SparseRows:
    """Rows without the smallest entries of those that have more than so many."""
    keep = np.ones(C.nnz, dtype=bool)
    for i in np.flatnonzero(np.diff(C.indptr) > most):
        start, stop = C.indptr[i], C.indptr[i + 1]
        keep[start + np.argpartition(-np.abs(C.data[start:stop]), most)[most:]] = False
    return SparseRows.of(C.with_data(np.where(keep, C.data, 0)))
