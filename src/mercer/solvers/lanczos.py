"""A few leading eigenpairs to full precision by implicitly restarted Lanczos (ARPACK)."""

from dataclasses import KW_ONLY

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from mercer._base.config import with_parameters
from mercer._base.linalg import orthonormalize
from mercer._base.machine import available_bytes, lapack_threads, n_threads
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import ConvergenceError, Remedy
from mercer.gram import DenseGram, GramOperator, ProbedGram
from mercer.model.model import Spectrum, measured
from mercer.solvers.base import LAPACK, PRODUCTS, TILES, VALUE, EigenSolver, Problem
from mercer.solvers.dense import Dense
from mercer.solvers.outside import Outside, outer_pairs
from mercer.solvers.policy import rank_floor


@with_parameters
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
    About 2 k + 60 products for k components. :class:`~mercer.solvers.Davidson` needs far fewer
    passes and is faster from a few thousand rows on.
    """

    tol: float = 0.0
    _: KW_ONLY
    max_iter: int | None = None
    keep: bool | None = None

    def solve(self, operator: GramOperator, k: int, rng: np.random.Generator) -> Spectrum:
        n = operator.n
        # The Krylov spaces would be nearly everything; and from half of it on LAPACK is quicker.
        if k + _BLOCK * _ROUNDS >= n or (n <= _SMALL and 2 * _width(n, k) >= n):
            return Dense().solve(operator, k, rng)
        try:
            values, V, passes, converged = self._arpack(operator, k, rng, None)
        except (ArpackError, ConvergenceError) as error:
            if n > _SMALL or self.max_iter is not None:
                raise ConvergenceError(f"Lanczos failed ({error}); use Dense.") from error
            return Dense().solve(operator, k, rng)
        # Where ARPACK gives up by its own limit, the spectrum is flat: LAPACK minds that least.
        gave_up = not converged and self.max_iter is None
        for _ in range(0 if gave_up else _SEARCHES):
            passes += _ROUNDS
            bar = _last_that_counts(operator, values, self.tol)
            missed = _missed_copies(operator, V, bar, rng) or _missed_outside(
                operator, values, V, bar
            )
            if not missed:
                return measured(operator, values, V, passes, converged=converged)
            try:
                _, more, steps, all_found = self._arpack(operator, missed, rng, V)
            except ConvergenceError:
                break
            values, V = _merge(operator, V, more, k)
            passes += steps + 1
            converged = converged and all_found
        # So many copies: a spectrum that is flat, where a Krylov space sees next to nothing.
        if 3 * operator.n**2 * operator.dtype.itemsize < available_bytes() / 2:
            return Dense().solve(operator, k, rng)
        return measured(operator, values, V, passes, converged=False)

    def _arpack(
        self, operator: GramOperator, k: int, rng: np.random.Generator, outside: Array | None
    ) -> tuple[Array, Array, int, bool]:
        """The k leading pairs, optionally of the operator with some eigenvectors projected out.

        Values and vectors, the number of products, and whether all have converged.
        """
        n, steps = operator.n, 0

        def product(v: Array) -> Array:
            nonlocal steps
            steps += 1
            announce("lanczos", steps)
            return _project(operator.matmat(_project(v.reshape(n, 1), outside)), outside)[:, 0]

        action = LinearOperator((n, n), matvec=product, dtype=operator.dtype)
        start, converged = rng.standard_normal(n).astype(operator.dtype), True
        width = _width(n, k)
        # ARPACK's own limit; less for few rows, where LAPACK costs as much as ten products a row.
        restarts = self.max_iter or (max(20, 5 * n // (width - k)) if n <= _SMALL else None)
        try:
            with lapack_threads(n):
                values, vectors = eigsh(
                    action, k, which="LA", tol=self.tol, maxiter=restarts, v0=start, ncv=width
                )
        except ArpackNoConvergence as error:
            values, vectors, converged = error.eigenvalues, error.eigenvectors, False
            if not len(values):
                raise ConvergenceError(
                    f"Lanczos found none of {k} eigenpairs in {steps} products; "
                    + Remedy("raise max_iter.", shell="choose another --solver, such as dense.")
                ) from error
        except ArpackError:
            if product(start).any():
                raise
            # ARPACK refuses the zero matrix, whose eigenvectors are any.
            some = fixed_rng(0).standard_normal((n, k)).astype(operator.dtype)
            return np.zeros(k, operator.dtype), orthonormalize(some), steps, True
        order = np.argsort(values)[::-1]
        return values[order], vectors[:, order], steps, converged

    def bind(self, problem: Problem) -> GramOperator:
        if self._keeps(problem):
            return DenseGram.from_rows(problem.kernel, problem.points, problem.dtype, problem.spot)
        return super().bind(problem)

    def estimate_bytes(self, problem: Problem, k: int) -> int:
        matrix = problem.n**2 // 2 if self._keeps(problem) else 2 * problem.n * problem.d
        return (matrix + 3 * k * problem.n) * problem.dtype.itemsize

    def estimate_seconds(self, problem: Problem, k: int) -> float:
        steps, entries = 2 * k + 60, problem.n**2
        values = entries * (problem.d + VALUE) / TILES
        computed = values if self._keeps(problem) else steps * values
        # Where the spectrum is flat, LAPACK takes over.
        return min(computed + steps * entries / PRODUCTS, problem.n**3 / LAPACK) / n_threads()

    def _keeps(self, problem: Problem) -> bool:
        fits = problem.n**2 / 2 * problem.dtype.itemsize < available_bytes() / 4
        return fits if self.keep is None else self.keep


# A space of 4 blocks of 4 sees a missed eigenvalue well before it could compute it.
_BLOCK, _ROUNDS = 4, 4
#: Columns that are looked at outside.
_COLUMNS = 16
#: Rows up to which LAPACK may take over for many components.
_SMALL = 2000
#: Searches for missed copies before LAPACK takes over.
_SEARCHES = 4


def _width(n: int, k: int) -> int:
    """Of the Krylov space: a wider one than ARPACK's default costs little beside what it saves."""
    return min(n, max(2 * k + 1, k + 20))


def _last_that_counts(operator: GramOperator, values: Array, tol: float) -> float:
    """What an eigenvalue outside has to exceed; below the floor is rounding, dropped afterwards."""
    return max(float(values[-1]) * (1 + tol), 0.0) + rank_floor(operator, float(values[0]))


def _missed_copies(operator: GramOperator, V: Array, bar: float, rng: np.random.Generator) -> int:
    """How many eigenvalues above the last one found have their vectors outside V.

    A Krylov space of a single vector holds one vector of each eigenspace; ARPACK meets further
    copies of a repeated eigenvalue through rounding only, and sometimes not at all. A few blocks
    started outside V show whether that happened.
    """
    Q = rng.standard_normal((operator.n, _BLOCK)).astype(operator.dtype)
    Q = orthonormalize(Q, against=V)
    basis, products = np.empty((operator.n, 0), operator.dtype), []
    for _ in range(_ROUNDS):
        basis = np.hstack([basis, Q])
        products.append(operator.matmat(Q))
        Q = orthonormalize(products[-1], against=np.hstack([V, basis]))
    H = basis.T @ np.hstack(products)
    return int((np.linalg.eigvalsh((H + H.T) / 2) > bar).sum())


def _missed_outside(operator: GramOperator, values: Array, V: Array, bar: float) -> int:
    """The same by whole columns, which see one block of rows among many that are alike."""
    if not isinstance(operator, ProbedGram):
        return 0
    W = V * values
    rows = Outside.of(operator, V, W).rows(min(operator.n // 2, _COLUMNS), bar)
    bounds, _ = outer_pairs(operator.block(slice(None), rows), V, W, rows, operator.scale(), bar)
    return int((bounds > bar).sum())


def _merge(operator: GramOperator, V: Array, more: Array, k: int) -> tuple[Array, Array]:
    """The k leading Ritz pairs of both sets of vectors together."""
    basis = np.hstack([V, orthonormalize(more, against=V)])
    H = basis.T @ operator.matmat(basis)
    values, Y = np.linalg.eigh((H + H.T) / 2)
    return values[::-1][:k], basis @ Y[:, ::-1][:, :k]


def _project(V: Array, outside: Array | None) -> Array:
    return V if outside is None else V - outside @ (outside.T @ V)
