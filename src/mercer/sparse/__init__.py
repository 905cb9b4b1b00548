"""Few representing vectors by maximum likelihood (Tipping 2001): the optimisers."""

from mercer._by_name import by_name
from mercer._registry import ours
from mercer.exceptions import DataError
from mercer.sparse.auto import Auto
from mercer.sparse.base import Selection, SparseSolver
from mercer.sparse.centres import Centres
from mercer.sparse.column_generation import ColumnGeneration
from mercer.sparse.greedy import Greedy
from mercer.sparse.likelihood import Likelihood
from mercer.sparse.pool import KernelRows, Pool
from mercer.sparse.updates import EM, MM, Fast

__all__ = [
    "EM",
    "MM",
    "Auto",
    "Centres",
    "ColumnGeneration",
    "Fast",
    "Greedy",
    "KernelRows",
    "Likelihood",
    "Pool",
    "Selection",
    "SparseSolver",
    "as_sparse_solver",
]

Rows = KernelRows  # the name of 0.1

_BY_NAME: dict[str, type[SparseSolver]] = {
    "auto": Auto,
    "greedy": Greedy,
    "column_generation": ColumnGeneration,
    "em": EM,
    "fast": Fast,
    "mm": MM,
    "kmeans": Centres,
}

ours("sparse", *_BY_NAME.values())


def as_sparse_solver(solver: str | SparseSolver) -> SparseSolver:
    """A solver from its name (with default parameters), or the solver itself.

    Examples
    --------
    >>> from mercer.sparse import as_sparse_solver
    >>> as_sparse_solver("greedy")
    Greedy()
    """
    others = "an object of mercer.sparse"
    return by_name("solver", solver, SparseSolver, _BY_NAME, DataError, others)
