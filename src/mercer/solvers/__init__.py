"""Fitting strategies: leading eigenpairs of the Gram operator, and the policies that all share.

The names in lower case work as strings.
"""

from mercer._base import catalogue
from mercer._base.registry import by_name
from mercer.solvers.auto import Auto
from mercer.solvers.base import EigenSolver, Problem, Solver
from mercer.solvers.davidson import Davidson
from mercer.solvers.dense import Dense
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.landmarks import Landmarks
from mercer.solvers.plan import Plan

__all__ = ["Auto", "Davidson", "Dense", "EigenSolver", "Lanczos", "Landmarks", "Plan", "Problem"]
__all__ += ["Solver", "as_solver"]


def as_solver(solver: str | Solver) -> Solver:
    """A solver from its name (with default parameters), or the solver itself."""
    return by_name("solver", solver, Solver, catalogue.SOLVERS)
