"""Which solver for which problem."""

from __future__ import annotations

from dataclasses import replace

from mercer.eigen.base import Problem, Solver
from mercer.eigen.dense import Dense
from mercer.eigen.lanczos import Lanczos
from mercer.eigen.result import Fit

__all__ = ["Auto"]


class Auto(Solver):
    """x."""

    def fit(self, problem: Problem) -> Fit:
        solver, reason = self.choose(problem)
        fit = solver.fit(problem)
        return replace(fit, report=replace(fit.report, reason=reason))

    def choose(self, problem: Problem) -> tuple[Solver, str]:
        """The solver for a problem, and why."""
        k = problem.rule.guess(problem.rank_limit)
        if problem.n <= 500 or k > problem.n / 10:
            return Dense(), f"auto: {k} of {problem.n} components, LAPACK on the full matrix is fastest"
        return Lanczos(), f"auto: {k} of {problem.n} components, exact by Lanczos"
