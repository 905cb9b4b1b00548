"""Which optimiser for which number of rows."""

from __future__ import annotations

from mercer.sparse.base import BoundSelection, SparseSolver
from mercer.sparse.column_generation import ColumnGeneration
from mercer.sparse.greedy import Greedy
from mercer.sparse.pool import KernelRows

#: Up to this many rows the whole matrix is kept.
DENSE_UP_TO = 1500


class Auto(SparseSolver):
    """:class:`Greedy` on up to 1,500 rows, :class:`ColumnGeneration` on more.

    The choice and its reason are in ``report_``.
    """

    def bind(self, rows: KernelRows, n_kernels: int | None) -> BoundSelection:
        return self.choose(rows)[0].bind(rows, n_kernels)

    def choose(self, rows: KernelRows) -> tuple[SparseSolver, str]:
        if rows.n <= DENSE_UP_TO:
            return Greedy(), f"auto: {rows.n} rows, exact"
        if not rows.kernel.points(rows.X).is_open:
            chosen = ColumnGeneration(rank=0, sweeps=20)
            return chosen, f"auto: {rows.n} rows of a precomputed matrix"
        return ColumnGeneration(), f"auto: {rows.n} rows"

    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        return self.choose(rows)[0].estimate_bytes(rows, m)
