"""All eigenpairs by LAPACK."""

import numpy as np

from mercer._base.machine import lapack_threads
from mercer.gram import GramOperator
from mercer.model.model import Spectrum, measured
from mercer.solvers.base import LAPACK, EigenSolver, Problem


class Dense(EigenSolver):
    """LAPACK's divide and conquer on the full matrix: exact, O(n³) time and 3 n² numbers of memory.

    The right solver when a large part of the spectrum is wanted. Use
    :class:`~mercer.solvers.Lanczos` or :class:`~mercer.solvers.Davidson` for a few components.
    """

    def solve(self, operator: GramOperator, k: int, rng: np.random.Generator) -> Spectrum:  # noqa: ARG002
        # LAPACK wants the full matrix; keeping half of it beside would be no use.
        # NumPy's eigh lets other threads run, SciPy's holds the GIL until the end.
        K = operator.to_dense()
        with lapack_threads(len(K)):
            values, vectors = np.linalg.eigh(K)
        leading = slice(None, -k - 1, -1)
        return measured(
            operator, values[leading], vectors[:, leading], passes=1, smallest=float(values[0])
        )

    def estimate_bytes(self, problem: Problem, k: int) -> int:  # noqa: ARG002
        return 3 * problem.n**2 * problem.dtype.itemsize

    def estimate_seconds(self, problem: Problem, k: int) -> float:  # noqa: ARG002
        return problem.n**3 / LAPACK
