"""What a fit is going to do, and how: with kernel values near one, whatever units the rows have.

Squares of kernel values leave float64 at 1e154, and eigenvalues are made of such squares. Those of
:math:`4^{-e} k` and of weights :math:`2^{-f} w` are :math:`4^{-e} 2^{-f}` times those of k and w,
and division by a power of two does not round: the problem is scaled before it is solved, and the
fit afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._base.config import Config
from mercer._base.linalg import SQUARABLE, power_of_two
from mercer._base.machine import size_text, time_text
from mercer._base.small_table import SmallTable, shown_as_table
from mercer._base.types import Array
from mercer.exceptions import DataError, Remedy
from mercer.gram.base import HEAD, in_range
from mercer.kernels import Kernel, Scaled
from mercer.model import ComponentRule, Count
from mercer.model.model import Model
from mercer.model.rank import NullSpectra
from mercer.points import Points, Vectors
from mercer.solvers.policy import refuse_magnitude

if TYPE_CHECKING:
    from mercer.solvers.base import Problem, Solver


@dataclass(frozen=True)
class Unit:
    """What the kernel and the weights of a problem are divided by: ``root²`` and ``weight``."""

    kernel: Kernel
    points: Points
    root: float
    weight: float

    @classmethod
    def of(cls, problem: Problem) -> Unit:
        """The largest k(x, x) and the largest weight, where their squares are out of range."""
        kernel, points, weight = problem.kernel, problem.points, problem.weight
        points = points if points.is_here else points.take(slice(HEAD))
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            largest = float(np.abs(kernel.diag(points.rows)).max(initial=0.0))
        # No value of a Mercer kernel is larger; where that is zero, so have to be the rows.
        is_lost = largest > 0 or (kernel.is_mercer and points.largest > 0)
        if not largest <= 1 or (is_lost and len(points) == problem.n):
            refuse_magnitude(points, largest)
        heaviest = 1.0 if weight is None else float(weight.max())
        return cls(kernel, points, _unit(largest, np.sqrt(largest)), _unit(heaviest, heaviest))

    def divide(self, problem: Problem) -> Problem:
        """The problem in this unit."""
        if self.root != 1:
            problem = replace(problem, kernel=Scaled(self.root**-2, self.kernel))
        if self.weight != 1 and problem.weight is not None:
            problem = replace(problem, weight=problem.weight / self.weight)
        return problem

    def multiply(self, fit: Model) -> Model:
        """The fit of the problem that was divided, as that of the problem itself."""
        if self.root == self.weight == 1:
            return fit
        dtype, square, subspace = fit.eigenvalues.dtype, self.root**2, fit.subspace
        with np.errstate(over="ignore"):
            values = fit.eigenvalues.astype(np.float64) * self.weight * square
        ends = float(values[0]), float(values[-1])
        refuse_magnitude(self.points, *ends, weight=self.weight)
        # w = Φ B keeps its length, so that B shrinks as Φ grows; b = Bᵀ K c grows with it.
        return replace(
            fit,
            subspace=replace(
                subspace,
                kernel=self.kernel,
                coef=subspace.coef / self.root,
                offset=subspace.offset * self.root,
                mean_square=subspace.mean_square * square,
            ),
            eigenvalues=values.astype(dtype),
            explained_variance=fit.explained_variance * square,
            residuals=None if fit.residuals is None else fit.residuals * self.weight * square,
            n_rows=fit.n_rows * self.weight,
        )


def _unit(size: float, unit: float) -> float:
    """A power of two near the unit; 1 where squares of the size, and sums of them, are in range."""
    in_range = size == 0 or 1 / SQUARABLE < size < SQUARABLE
    return 1.0 if in_range else float(power_of_two(unit))


def null_spectra(problem: Problem, solver: Solver) -> NullSpectra:
    """What chance gives, the same rows with permuted columns: a fit when a rule asks for it."""

    def spectra(k: int, repeats: int) -> Array:
        if not problem.points.is_here:
            raise DataError(
                "columns can only be permuted in memory; give a number of components, or "
                + Remedy("rows[:n].", shell="fewer rows.")
            )
        k = min(k, problem.rank_limit)
        bare = solver
        if getattr(solver, "checkpoint", None) is not None:  # which belongs to the rows themselves
            bare = type(solver)(**solver.get_params(deep=False) | {"checkpoint": None})
        rows = []
        for _ in range(repeats):
            shuffled = replace(problem, points=problem.points.permuted(problem.rng), rule=Count(k))
            values = bare.fit(shuffled).eigenvalues
            rows.append(np.pad(values, (0, k - len(values))))
        return np.array(rows)

    return spectra


@shown_as_table
@dataclass(frozen=True)
class Plan:
    """What a fit is going to do, and what it will need, before it starts.

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
    seconds : float
        Estimated time on this machine if it is idle; 0 if unknown.
    """

    solver: Config
    reason: str
    rule: ComponentRule
    bytes: int
    loads: bool
    resumable: bool
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """What the solver is called, as in the report."""
        return type(self.solver).__name__

    def _table(self) -> SmallTable:
        loads = ", after the file has been loaded" if self.loads else ""
        lines = {
            "solver": self.name,
            "reason": self.reason,
            "components": self.rule.describe(),
            "memory": f"about {size_text(self.bytes)}{loads}",
            "time": time_text(self.seconds) if self.seconds else "",
            "checkpoint": "can be stopped and resumed" if self.resumable else "",
        }
        return SmallTable("Plan", [line for line in lines.items() if line[1]])

    def fit(self, problem: Problem) -> Model:
        """Carry it out, in a unit in which neither kernel values nor their squares overflow."""
        problem = problem.loaded() if self.loads else problem
        points = in_range(problem.kernel, problem.points)
        problem, solver = replace(problem, points=points), cast("Solver", self.solver)
        unit = Unit.of(problem)
        problem = unit.divide(problem)
        rule = problem.rule.bind(null_spectra(problem, solver))
        fit = unit.multiply(solver.fit(replace(problem, rule=rule)))
        return replace(fit, report=replace(fit.report, reason=self.reason))


class _StandIn(Vectors):
    """Vectors of which nothing but the size is known."""

    def copies(self, most: int | None = None) -> None:
        """All of them are taken to be different."""


def stand_in(points: Points) -> Points:
    """Vectors with the points' number, width and type but none of their bytes."""
    return _StandIn(np.broadcast_to(np.zeros(1, points.dtype), (len(points), points.width)))
