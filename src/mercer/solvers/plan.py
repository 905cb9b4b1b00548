"""What a fit is going to do, and how: with kernel values near one, whatever units the rows have.

Squares of kernel values leave float64 at 1e154, and eigenvalues are made of such squares. Those of
:math:`4^{-e} k` and of weights :math:`2^{-f} w` are :math:`4^{-e} 2^{-f}` times those of k and w,
and division by a power of two does not round: the problem is scaled before it is solved, and the
fit afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._base.config import Config
from mercer._base.linalg import SQUARABLE, power_of_two
from mercer._base.machine import size_text, time_text
from mercer._base.small_table import SmallTable, shown_as_table
from mercer._base.types import Array
from mercer.gram.base import HEAD, in_range, largest_value
from mercer.kernels import Scaled
from mercer.model import ComponentRule, Count
from mercer.model.model import Model
from mercer.model.rank import NullSpectra
from mercer.points import Points, Vectors
from mercer.solvers.policy import refuse_magnitude

if TYPE_CHECKING:
    from mercer.solvers.base import Problem, Solver


def _in_unit(problem: Problem) -> tuple[Problem, Callable[[Model], Model]]:
    """The problem in units of about its largest k(x, x) and weight, and the way back for its fit.

    Where the squares of these are in range the units are 1.
    """
    kernel, points = problem.kernel, problem.points
    points = points if points.is_here else points.take(slice(HEAD))
    largest = largest_value(kernel, points)
    # No value of a Mercer kernel is larger; where that is zero, so have to be the rows.
    is_lost = largest > 0 or (kernel.is_mercer and points.largest > 0)
    if not largest <= 1 or (is_lost and len(points) == problem.n):
        refuse_magnitude(points, largest)
    heaviest = 1.0 if problem.weight is None else float(problem.weight.max())
    root, unit = _unit(largest, np.sqrt(largest)), _unit(heaviest, heaviest)
    if root == unit == 1:
        return problem, lambda fit: fit
    weight = None if problem.weight is None else problem.weight / unit

    def multiplied(fit: Model) -> Model:
        square, subspace = root**2, fit.subspace
        with np.errstate(over="ignore"):
            values = fit.eigenvalues.astype(np.float64) * unit * square
        refuse_magnitude(points, float(values[0]), float(values[-1]), weight=unit)
        # w = Φ B keeps its length, so that B shrinks as Φ grows; b = Bᵀ K c grows with it.
        return replace(
            fit,
            subspace=replace(
                subspace,
                kernel=kernel,
                coef=subspace.coef / root,
                offset=subspace.offset * root,
                mean_square=subspace.mean_square * square,
            ),
            eigenvalues=values.astype(fit.eigenvalues.dtype),
            explained_variance=fit.explained_variance * square,
            residuals=None if fit.residuals is None else fit.residuals * unit * square,
            n_rows=fit.n_rows * unit,
        )

    kernel_here = kernel if root == 1 else Scaled(root**-2, kernel)
    return replace(problem, kernel=kernel_here, weight=weight), multiplied


def _unit(size: float, unit: float) -> float:
    """A power of two near the unit; 1 where squares of the size, and sums of them, are in range."""
    in_range = size == 0 or 1 / SQUARABLE < size < SQUARABLE
    return 1.0 if in_range else float(power_of_two(unit))


def null_spectra(problem: Problem, solver: Solver) -> NullSpectra:
    """What chance gives, the same rows with permuted columns: a fit when a rule asks for it."""

    def spectra(k: int, repeats: int) -> Array:
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
        problem, multiplied = _in_unit(problem)
        rule = problem.rule.bind(null_spectra(problem, solver))
        fit = multiplied(solver.fit(replace(problem, rule=rule)))
        return replace(fit, report=replace(fit.report, reason=self.reason))


class _StandIn(Vectors):
    """Vectors of which nothing but the size is known."""

    def copies(self, most: int | None = None) -> None:
        """All of them are taken to be different."""


def stand_in(points: Points) -> Points:
    """Vectors with the points' number, width and type but none of their bytes."""
    return _StandIn(np.broadcast_to(np.zeros(1, points.dtype), (len(points), points.width)))
