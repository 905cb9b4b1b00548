"""Few representing vectors by maximum likelihood (Tipping 2001): the optimisers."""

from mercer._base import catalogue
from mercer._base.registry import by_name
from mercer.sparse.base import Selection, SparseSolver
from mercer.sparse.column_generation import Auto, ColumnGeneration
from mercer.sparse.likelihood import KernelRows, Likelihood, Pool
from mercer.sparse.pool import EM, MM, Centres, Fast, Greedy

__all__ = ["EM", "MM", "Auto", "Centres", "ColumnGeneration", "Fast", "Greedy", "KernelRows"]
__all__ += ["Likelihood", "Pool", "Selection", "SparseSolver", "as_sparse_solver"]


Rows = KernelRows  # the name of 0.1


def as_sparse_solver(solver: str | SparseSolver) -> SparseSolver:
    """A solver from its name (with default parameters), or the solver itself.

    Examples
    --------
    >>> from mercer.sparse import as_sparse_solver
    >>> as_sparse_solver("greedy")
    Greedy()
    """
    return by_name("solver", solver, SparseSolver, catalogue.SPARSE_SOLVERS)
