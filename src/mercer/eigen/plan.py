"""What a fit is going to do, and what it will need, before it starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._config import Config
from mercer._types import RowsLike
from mercer.eigen.null import null_spectra
from mercer.eigen.result import Model
from mercer.eigen.unit import Unit
from mercer.rows import Rows
from mercer.subspace import ComponentRule

if TYPE_CHECKING:
    from mercer.eigen.base import Problem, Solver


@dataclass(frozen=True)
class Plan:
    """The solver that will run, and what it needs.

    Attributes
    ----------
    solver : Solver (of :class:`~mercer.SparseKernelPCA`: SparseSolver)
        The one that does the work, never ``Auto``.
    reason : str
        Why: "asked for", or what ``Auto`` says.
    rule : ComponentRule
        How many components.
    bytes : int
        Estimated peak of the solver's own arrays, and of rows that have to be loaded.
    loads : bool
        Whether rows in a file are read into memory first.
    resumable : bool
        Whether the solver can keep its state in a checkpoint, and go on from there.
    """

    solver: Config
    reason: str
    rule: ComponentRule
    bytes: int
    loads: bool
    resumable: bool

    @property
    def name(self) -> str:
        """What the solver is called, as in the report."""
        return type(self.solver).__name__

    def fit(self, problem: Problem) -> Model:
        """Carry it out, in a unit in which neither kernel values nor their squares overflow."""
        X = problem.X[:] if self.loads and isinstance(problem.X, Rows) else problem.X
        problem, solver = replace(problem, X=X), cast("Solver", self.solver)
        unit = Unit.of(problem)
        problem = unit.divide(problem)
        rule = problem.rule.bind(null_spectra(problem, solver))
        fit = unit.multiply(solver.fit(replace(problem, rule=rule)))
        return replace(fit, report=replace(fit.report, reason=self.reason))


def stand_in(rows: RowsLike) -> Any:
    """An array with the rows' shape and type but none of their bytes."""
    return np.broadcast_to(np.zeros(1, rows.dtype), rows.shape)
