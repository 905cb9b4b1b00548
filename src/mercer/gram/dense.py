"""The Gram matrix computed once and kept: one triangle, for products with single vectors."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from mercer._base.linalg import mirror
from mercer._base.types import Array
from mercer.gram.base import KernelGram, in_range
from mercer.gram.spot_check import SpotCheck
from mercer.kernels import Basis, Kernel
from mercer.points import Points

#: From this many columns on, one product of matrices is quicker than one product for each.
MANY = 12


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
    ) -> DenseGram:
        """Fill the triangle tile by tile in threads; no temporaries."""
        given = kernel.points(X)
        points = in_range(kernel, given)
        dtype = dtype if points is given else np.dtype(np.float64)
        diag = kernel.diag(points.cast(dtype).rows).astype(dtype, copy=False)
        if dtype == np.float32 and not points.fit_float32(diag):
            return cls.from_rows(kernel, points, np.dtype(np.float64), spot)
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
        rows = np.empty((len(index), self.n), dtype=self.dtype)
        for row, i in zip(rows, index, strict=True):
            row[: i + 1], row[i:] = self.lower[i, : i + 1], self.lower[i:, i]
        return np.asarray(rows @ V.astype(self.dtype, copy=False))

    def refined(self) -> DenseGram:
        kernel, X = self.basis.kernel, self.basis.points
        return DenseGram.from_rows(kernel, X, np.dtype(np.float64), self.spot)

    def to_dense(self) -> Array:
        return mirror(self.lower.copy())

    @cached_property
    def _blas(self) -> Any:
        return get_blas_funcs(("symv", "symm"), (self.lower,))


def _untouched(n: int, dtype: np.dtype) -> Array:
    """An n × n array of which the system only backs the pages that are written.

    ``np.empty`` asks for huge pages, and a huge page reaches over many rows: the whole square
    would become resident.
    """
    memory = mmap.mmap(-1, n * n * dtype.itemsize)
    return np.frombuffer(memory, dtype=dtype).reshape(n, n)
