"""The public door to the fitting strategies; the names in lower case work as strings."""

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


def as_solver(solver: str | Solver) -> Solver:
    """A solver from its name (with default parameters), or the solver itself."""
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, str) and solver in _BY_NAME:
        return _BY_NAME[solver]()
    raise DataError(
        f"solver={solver!r} is not known; give one of {', '.join(map(repr, _BY_NAME))}, "
        "or an object of mercer.solvers."
    )
