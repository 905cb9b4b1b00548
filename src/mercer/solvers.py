"""The public door to the fitting strategies; the names in lower case work as strings."""

from mercer import catalogue
from mercer._registry import by_name
from mercer.eigen import Davidson, Dense, Lanczos, Landmarks, Plan, Solver
from mercer.eigen.auto import Auto
from mercer.exceptions import DataError

__all__ = ["Auto", "Davidson", "Dense", "Lanczos", "Landmarks", "Plan", "Solver", "as_solver"]


def as_solver(solver: str | Solver) -> Solver:
    """A solver from its name (with default parameters), or the solver itself."""
    others = "an object of mercer.solvers"
    return by_name("solver", solver, Solver, catalogue.SOLVERS, DataError, others)
