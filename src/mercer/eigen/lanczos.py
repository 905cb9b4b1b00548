"""A few leading eigenpairs to full precision by implicitly restarted Lanczos (ARPACK)."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from mercer._memory import available_bytes
from mercer._progress import announce
from mercer.eigen.base import EigenSolver, Problem
from mercer.eigen.dense import Dense
from mercer.eigen.result import Spectrum, measured
from mercer.exceptions import ConvergenceError
from mercer.gram import DenseGram, GramOperator, StreamedGram

__all__ = ["Lanczos"]


class Lanczos(EigenSolver):
    """ARPACK on the operator: exact to rounding, one product with a single vector per step.

    Parameters
    ----------
    tol : float, default=0
        Relative accuracy of the eigenvalues; 0 means machine precision.
    max_iter : int, optional
        Restarts; ARPACK's own limit (10 n) if not given.
    keep : bool, optional
        Keep the matrix (n²/2 numbers) or compute it again in every step. By default it is kept if
        it takes less than a quarter of the free memory.

    Notes
    -----
    About 2 k + 60 products for k components. :class:`~mercer.solvers.Davidson` needs far fewer passes
    and is faster from a few thousand rows on.
    """

    def __init__(
        self, tol: float = 0.0, *, max_iter: int | None = None, keep: bool | None = None
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.keep = keep

    def solve(self, operator: GramOperator, k: int, rng: np.random.Generator) -> Spectrum:
        n = operator.n
        if k >= n - 1 or n <= 32:  # ARPACK needs room for its Krylov space
            return Dense().solve(operator, k, rng)
        steps = 0

        def product(v: np.ndarray) -> np.ndarray:
            nonlocal steps
            steps += 1
            announce("lanczos", steps)
            return operator.matmat(v.reshape(n, 1))[:, 0]

        action = LinearOperator((n, n), matvec=product, dtype=operator.dtype)
        start = rng.standard_normal(n).astype(operator.dtype)
        # A wider Krylov space than ARPACK's default costs little beside the products it saves.
        width = min(n, max(2 * k + 1, k + 20))
        converged = True
        try:
            values, vectors = eigsh(
                action, k, which="LA", tol=self.tol, maxiter=self.max_iter, v0=start, ncv=width
            )
        except ArpackNoConvergence as error:
            values, vectors, converged = error.eigenvalues, error.eigenvectors, False
            if not len(values):
                raise ConvergenceError(
                    f"Lanczos found none of {k} eigenpairs in {steps} products; raise max_iter."
                ) from error
        order = np.argsort(values)[::-1]
        return measured(operator, values[order], vectors[:, order], steps, converged=converged)

    def bind(self, problem: Problem) -> GramOperator:
        if self._keeps(problem):
            return DenseGram.from_rows(problem.kernel, problem.X, problem.dtype)
        return StreamedGram.from_rows(problem.kernel, problem.X, problem.dtype)

    def estimate_bytes(self, problem: Problem, k: int) -> int:
        matrix = problem.n**2 // 2 if self._keeps(problem) else 2 * problem.n * problem.d
        return (matrix + 3 * k * problem.n) * problem.dtype.itemsize

    def _keeps(self, problem: Problem) -> bool:
        fits = problem.n**2 / 2 * problem.dtype.itemsize < available_bytes() / 4
        return fits if self.keep is None else self.keep
