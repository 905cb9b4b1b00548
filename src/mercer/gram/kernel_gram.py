"""The Gram matrix of a kernel: one triangle of it kept, or tiles that products compute again."""

import mmap
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import get_blas_funcs

from mercer._base import linalg, machine
from mercer._base.types import Array, Precision
from mercer.gram.base import GramOperator, float32_holds, in_range
from mercer.gram.passes import Passes
from mercer.gram.spot_check import SpotCheck
from mercer.kernels import Basis, Kernel
from mercer.points import Points
from mercer.points.tiles import Tiles

#: From this many columns on, one product of matrices is quicker than one product for each.
MANY = 12
#: Bytes of a square that may be backed by memory as a whole.
SMALL = 1 << 25
#: Columns that a pass has at least.
BLOCK = 16


@dataclass(frozen=True, eq=False)
class KernelGram(GramOperator):
    """The matrix of a kernel between rows, whose entries can be computed again."""

    basis: Basis = field()  #: the rows, packed; without the default of other operators
    diag: Array  #: (n,) the diagonal, exact
    spot: SpotCheck  #: a few rows of the matrix by the kernel's definition

    def diagonal(self) -> Array:
        return self.diag

    def block(self, rows: Array | slice, columns: Array) -> Array:
        basis, points = self.basis, self.basis.points
        right = basis.pack(points.chosen(columns))
        left = basis.packed[rows] if isinstance(rows, slice) else basis.pack(points.take(rows))
        return Tiles(basis.kernel.fill, left, right, self.precision).gram(np.float64)

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:
        return self.spot.shifts(self.row_products, V, row_scale)

    @abstractmethod
    def row_products(self, index: Array, V: Array) -> Array:
        """Some rows of ``K V``, as :meth:`matmat` computes them."""


@dataclass(frozen=True, eq=False)
class DenseGram(KernelGram):
    """The lower triangle in a square array, whose upper one is never touched.

    BLAS multiplies a vector by a symmetric matrix in one sweep over its triangle. O(n² d) time to
    build, n²/2 numbers of memory. Use :class:`StreamedGram` where that is too much.
    """

    lower: Array

    @classmethod
    def from_rows(
        cls, kernel: Kernel, X: Points, dtype: np.dtype, spot: SpotCheck | None = None
    ) -> Self:
        """Fill the triangle tile by tile in threads; no temporaries."""
        points, diag, dtype = _representable(kernel, X, dtype, dtype)
        basis = Basis(kernel, points, dtype)
        lower = _untouched(len(basis), dtype)
        basis.own_tiles().lower(lower)
        np.fill_diagonal(lower, diag)
        return cls(basis, diag, spot or SpotCheck(kernel, points), lower)

    def matmat(self, V: Array) -> Array:
        # BLAS thinks in columns: for it our lower triangle is the upper one of the transpose.
        A, V = self.lower.T, V.astype(self.dtype, copy=False)
        by_vector, by_matrix = self._blas
        if V.shape[1] >= MANY:
            return np.asarray(by_matrix(1.0, A, V))
        if V.shape[1] == 1:  # most products of Lanczos's
            return np.asarray(by_vector(1.0, A, V[:, 0]))[:, None]
        return np.stack([by_vector(1.0, A, v) for v in V.T], axis=1)

    def row_products(self, index: Array, V: Array) -> Array:
        rows = np.stack([np.append(self.lower[i, :i], self.lower[i:, i]) for i in index])
        return np.asarray(rows @ V.astype(self.dtype, copy=False))

    def refined(self) -> "DenseGram":
        kernel, X = self.basis.kernel, self.basis.points
        return DenseGram.from_rows(kernel, X, np.dtype(np.float64), self.spot)

    def to_dense(self) -> Array:
        return linalg.mirror(self.lower.copy())

    @cached_property
    def _blas(self) -> Any:
        return get_blas_funcs(("symv", "symm"), (self.lower,))


@dataclass(frozen=True, eq=False)
class StreamedGram(KernelGram):
    """Products with K in O(n² (d + b)) time and O(n (d + b)) memory.

    Tiles may be in float32 while sums are in float64: the products are then right to about 1e-7 of
    the largest eigenvalue, at half the time. With ``keep`` the first product keeps its tiles, n²/2
    numbers, for the others.
    """

    tiles: Tiles
    passes: Passes = field(default_factory=Passes)

    @classmethod
    def from_rows(
        cls,
        kernel: Kernel,
        X: Points,
        dtype: Any = np.float64,
        tile_dtype: Any = None,
        block: int | None = None,
        spot: SpotCheck | None = None,
        *,
        keep: bool = False,
        passes: Passes | None = None,
    ) -> Self:
        """Pack the rows once; nothing of size n × n is made, unless a product shall keep it."""
        planned = np.dtype(tile_dtype or dtype)
        points, diag, tile = _representable(kernel, X, dtype, planned)
        basis = Basis(kernel, points, tile)
        # Tiles that became larger than planned are not kept.
        kept: dict[tuple[int, int], Array] | None = {} if keep and tile == planned else None
        tiles = Tiles(kernel.fill, basis.packed, basis.packed, tile, block, kept)
        return cls(basis, diag, spot or SpotCheck(kernel, points), tiles, passes or Passes())

    def matmat(self, V: Array) -> Array:
        return self.passes.product(self.tiles, V.astype(self.dtype, copy=False), self.diag)

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:
        # BLAS sums for a block of columns in another order than for few; rows that are copies of
        # each other make the difference one of digits, and which of the two a pass takes is not
        # known.
        repeats = -(-BLOCK // V.shape[1])
        errors = super().entry_errors(V, row_scale)
        if repeats == 1 or self.precision != np.float32:
            return errors
        wide = super().entry_errors(np.tile(V, repeats), row_scale)
        return np.maximum(errors, wide[: V.shape[1]])

    def row_products(self, index: Array, V: Array) -> Array:
        """Rows of ``K V`` as a pass makes them: sums in the tiles' type within a tile."""
        rows = self._sampled if index is self.spot.index else self._rows(index)
        factor = V.astype(self.precision, copy=False)
        product = np.zeros((len(index), factor.shape[1]), dtype=V.dtype)
        for columns in machine.blocks(self.n, self.tiles.width):
            product += rows[:, columns] @ factor[columns]
        return product

    @cached_property
    def _sampled(self) -> Array:
        """The rows that are judged again and again."""
        return self._rows(self.spot.index)

    def _rows(self, index: Array) -> Array:
        rows = self.basis.at(self.basis.points.take(index))
        rows[np.arange(len(index)), index] = self.diag[index]
        return rows

    def refined(self) -> "StreamedGram":
        kernel, X = self.basis.kernel, self.basis.points
        return StreamedGram.from_rows(kernel, X, np.float64, spot=self.spot, passes=self.passes)

    def to_dense(self) -> Array:
        K = np.empty((self.n, self.n), dtype=self.dtype)
        self.tiles.lower(K)
        np.fill_diagonal(K, self.diag)
        return linalg.mirror(K)


def _representable(
    kernel: Kernel, X: Points, dtype: Precision, entries: np.dtype
) -> tuple[Points, Array, np.dtype]:
    """Rows, the diagonal in ``dtype``, and the type of the entries; all in float64 if need be."""
    rows, double = kernel.points(X), np.dtype(np.float64)
    points = in_range(kernel, rows)
    if points is not rows:
        dtype = entries = double
    diag = kernel.diag(points.cast(dtype).rows)
    if entries == np.float32 and not (points.fit_float32(diag) and float32_holds(kernel, points)):
        dtype = entries = double
        diag = kernel.diag(points.cast(dtype).rows)
    return points, diag.astype(dtype), entries


def _untouched(n: int, dtype: np.dtype) -> Array:
    """An n × n array of which the system only backs the pages that are written.

    ``np.empty`` asks for huge pages, and a huge page reaches over many rows: the whole square
    would become resident. Of a small one that is no loss, and new pages of 4 kB would cost a fit
    of 1,000 rows a fifth of its time.
    """
    if n * n * dtype.itemsize <= SMALL:
        return np.empty((n, n), dtype)
    memory = mmap.mmap(-1, n * n * dtype.itemsize)
    return np.frombuffer(memory, dtype=dtype).reshape(n, n)
