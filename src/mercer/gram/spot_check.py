"""A few rows of the Gram matrix by the kernel's definition: what fast entries are judged by."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._base.machine import blocks, thread_map
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.kernels import Kernel, RadialKernel
from mercer.points import Points, as_points

#: Rows looked at: their direct distances cost about a hundredth of a fit of 2,000 rows.
ROWS = 32
#: With more columns than this, fewer rows, down to :data:`FEWEST`.
COLUMNS = 256
FEWEST = 8
#: Rows that they are compared with at a time.
BLOCK = 512
#: A vector that lives on less than this share of the rows is looked at there, at so many of them,
#: half as many of wide ones: a sample would miss it.
LOCAL, TOP = 1 / 16, 4


@dataclass(frozen=True)
class SpotCheck:
    """Random rows of K in float64, half of them where entries err most times the weight.

    That is where the diagonal is large, or the norm for kernels of the distance.
    """

    #: kernel, points: the matrix
    kernel: Kernel
    points: Points
    weight: Array | None = None  #: sample weights, if there are any

    @cached_property
    def index(self) -> Array:
        """The numbers of the rows, (s,)."""
        n, s = len(self.points), self._size
        if s == n:
            return np.arange(n)
        return fixed_rng(0).choice(n, s, p=self._chance)

    @property
    def rows(self) -> Points:
        """The rows that are looked at, in their own precision."""
        return self.points.take(self.index)

    @cached_property
    def values(self) -> Array:
        """The rows themselves, (s, n)."""
        return self.exact(self.index)

    def exact(self, index: Array, columns: Array | None = None) -> Array:
        """Rows of the matrix with these numbers, (b, n), or some of their entries."""
        points, rows = self.points, self.points.take(index).rows
        if not points.has_coordinates:
            values = self.kernel.exact(rows, points.rows)
            return values if columns is None else values[:, columns]
        if columns is not None:
            return self.kernel.exact(rows, points.take(columns).rows)
        # Block by block: no copy of all rows in float64.
        parts = blocks(len(self.points), BLOCK)
        return np.hstack(
            thread_map(lambda part: self.kernel.exact(rows, points.take(part).rows), parts)
        )

    def norms(self, R: Array, row_scale: Array | None = None) -> Array:
        """Estimated norms of columns (n, b) of which ``R`` (s, b) are the rows looked at.

        ``row_scale`` (n,) multiplies the rows first.
        """
        if row_scale is not None:
            R = R * row_scale[self.index, None]
        if self._size == len(self.points):
            return np.asarray(np.linalg.norm(R, axis=0))
        drawn = self._size * self._chance[self.index, None]
        return np.asarray(np.sqrt((R**2 / drawn).sum(axis=0)))

    def sums(self, T: Array) -> tuple[Array, Array]:
        """Estimated sums of columns (n, b) of which ``T`` (s, b) are the rows looked at.

        With three standard errors, which are zero if all rows were looked at.
        """
        if self._size == len(self.points):
            return T.sum(axis=0), np.zeros(T.shape[1])
        parts = T / (self._size * self._chance[self.index, None])
        return parts.sum(axis=0), 3 * np.sqrt(self._size * parts.var(axis=0))

    def shifts(
        self, product: Callable[[Array, Array], Array], V: Array, row_scale: Array | None = None
    ) -> Array:
        """Upper estimates of ``|vᵀ E v|``, where ``product(index, V)`` are rows of (K + E) V.

        Vectors and sums are rounded like the entries, as a pass does it. Of errors by chance
        most cancel in the sum; three of its standard errors are added, because the estimate shall
        rather be too large. Rows on which a vector lives are looked at themselves.
        ``V`` (n, b) and ``row_scale`` are D v and D where the matrix has weights, D E D.
        """

        def off(index: Array, values: Array) -> Array:
            return np.asarray(values @ V - product(index, V))

        R = off(self.index, self.values)
        norms = self.norms(R, row_scale)
        if self._size == len(self.points):
            return norms
        terms = R * V[self.index] / self._chance[self.index, None]
        spread = 3 * terms.std(axis=0) / np.sqrt(self._size)
        sampled = np.minimum(norms, np.abs(terms.mean(axis=0)) + spread)
        return np.asarray(sampled + self.local_shifts(off, V))

    def local_shifts(self, off: Callable[[Array, Array], Array], V: Array) -> Array:
        """``|vᵀ E v|`` of vectors that live on few rows, by the largest of these.

        ``off(index, values)`` are rows of E V, where ``values`` are those of the matrix.
        """
        square, shifts = V**2, np.zeros(V.shape[1])
        norm = square.sum(axis=0)
        local = np.flatnonzero(norm**2 < LOCAL * len(V) * (square**2).sum(axis=0))
        if len(local):
            most = TOP if self.points.width <= COLUMNS else TOP // 2
            top = np.argpartition(-square[:, local], most - 1, axis=0)[:most]
            own, place = np.unique(top, return_inverse=True)
            R = off(own, self.exact(own))[place.reshape(top.shape), local] * V[top, local]
            # What these rows show stands for the others of their group.
            shifts[local] = np.abs(R.sum(axis=0)) / square[top, local].sum(axis=0) * norm[local]
        return shifts

    @property
    def _size(self) -> int:
        n, d = len(self.points), self.points.width
        size = ROWS if d <= COLUMNS else max(FEWEST, ROWS * COLUMNS // d)
        return n if n <= 2 * size else size

    @cached_property
    def _chance(self) -> Array:
        points = as_points(self.points)
        size = self.kernel.diag(points.rows)
        if _has_distances(self.kernel):
            size = size * points.square_sums()
        share = np.abs(size).astype(np.float64) * (1.0 if self.weight is None else self.weight)
        total = float(share.sum())  # infinite for squares of rows at 1e200
        share = share / total if 0 < total < np.inf else np.full(len(share), 1 / len(share))
        return np.asarray(0.5 / len(share) + 0.5 * share)


def _has_distances(kernel: Kernel) -> bool:
    """Whether a kernel, or a part of it, is one of the distance."""
    return isinstance(kernel, RadialKernel) or any(map(_has_distances, kernel.parts))
