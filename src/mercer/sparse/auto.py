"""Which optimiser for which number of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mercer.sparse.base import BoundSelection, Selection, SparseSolver
from mercer.sparse.column_generation import ColumnGeneration
from mercer.sparse.greedy import Greedy
from mercer.sparse.pool import Rows

__all__ = ["Auto"]

#: Up to this many rows the whole matrix is kept.
DENSE_UP_TO = 1500


class Auto(SparseSolver):
    """:class:`Greedy` on up to 1,500 rows, :class:`ColumnGeneration` on more.

    The choice and its reason are in ``report_``.
    """

    def bind(self, rows: Rows, n_kernels: int | None) -> BoundSelection:
        solver, reason = self.choose(rows)
        return _Chosen(
            rows, solver.bind(rows, n_kernels), f"auto: {type(solver).__name__}, {reason}"
        )

    def choose(self, rows: Rows) -> tuple[SparseSolver, str]:
        """The solver for some rows, and why."""
        if rows.n <= DENSE_UP_TO:
            return Greedy(), f"{rows.n} rows, exact"
        if not rows.kernel.points(rows.X).is_open:
            return ColumnGeneration(rank=0, sweeps=20), f"{rows.n} rows of a precomputed matrix"
        return ColumnGeneration(), f"{rows.n} rows"

    def estimate_bytes(self, rows: Rows, m: int) -> int:
        return self.choose(rows)[0].estimate_bytes(rows, m)


@dataclass(frozen=True)
class _Chosen(BoundSelection):
    """Another bound solver that also says why it was chosen."""

    rows: Rows
    bound: BoundSelection
    reason: str

    @property
    def largest_variance(self) -> float:
        return self.bound.largest_variance

    def solve(self, variance: float, limit: int | None = None) -> Selection:
        found = self.bound.solve(variance, limit)
        note = f"{self.reason}, {found.note}" if found.note else self.reason
        return replace(found, note=note)
