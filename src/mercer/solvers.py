"""The public door to the fitting strategies; the names in lower case work as strings."""

from mercer._by_name import by_name
from mercer._registry import ours
from mercer.eigen import Davidson, Dense, Lanczos, Landmarks, Plan, Solver
from mercer.eigen.auto import Auto
from mercer.exceptions import DataError

__all__ = ["Auto", "Davidson", "Dense", "Lanczos", "Landmarks", "Plan", "Solver", "as_solver"]

_BY_NAME: dict[str, type[Solver]] = {
    "auto": Auto,
    "dense": Dense,
    "lanczos": Lanczos,
    "davidson": Davidson,
    "landmarks": Landmarks,
}

ours("solvers", *_BY_NAME.values())


def as_solver(solver: str | Solver) -> Solver:
    """A solver from its name (with default parameters), or the solver itself."""
    return by_name("solver", solver, Solver, _BY_NAME, DataError, "an object of mercer.solvers")
