"""Near-exact leading eigenpairs in a few passes: block Davidson preconditioned by landmarks.

Davidson 1975; the correction with the projection is Olsen's (Chem. Phys. Lett. 169, 1990). The
preconditioner is the Nyström approximation, whose shifted inverse has a closed form.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from mercer._base.config import with_parameters
from mercer._base.linalg import orthonormalize
from mercer._base.machine import available_bytes, n_threads
from mercer._base.numbers import check_count
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.gram import GramOperator, LowRank, ProbedGram, UncenteredGram
from mercer.gram.checkpoint import PassLog, digest
from mercer.gram.passes import Passes
from mercer.model.model import Model, Spectrum, estimate_errors, rounding_errors
from mercer.points.crew import Workers
from mercer.solvers.base import TILES, VALUE, EigenSolver, Problem, describe
from mercer.solvers.dense import Dense
from mercer.solvers.outside import Outside, outer_pairs
from mercer.solvers.policy import rank_floor

#: Where the next eigenvalue may be as close as this share, a pair of small residual may be another
#: than the one asked for; up to so many rows LAPACK tells them apart.
CROWDED, SOLVABLE = 1e-3, 1000
#: Columns of the matrix that are looked at when the search space calls itself complete, and more
#: of them once it was not; and what they show, as a share of the last eigenvalue wanted, from which
#: on a pass is spent on them.
OUTSIDE, DOUBTFUL = 32, 0.7
#: Passes that most problems take, start and look outside included.
USUAL_PASSES = 4
#: Rows for each column up to which tiles are kept: they cost more time than their products, and
#: take at most so many times half the memory of the rows.
WIDE = 8
#: Rows of a dask collection up to which a pass takes less time here than to hand it out.
ALONE = 10_000


@with_parameters
class Davidson(EigenSolver):
    """Matrix-free: each pass streams over the kernel matrix once, with a block of vectors.

    A landmark solution starts the search space and preconditions its growth; one to three passes
    give a relative error of 1e-6 where a plain Krylov method needs six to nine, and Lanczos a
    hundred.

    Parameters
    ----------
    tol : float, default=1e-6
        Largest estimated relative error of an eigenvalue. From 1e-6 on, tiles are computed in
        float32 (with sums in float64); below that, in float64.
    max_passes : int, default=30
    n_landmarks : int, optional
        Rank of the preconditioner; between 250 and 1,000 by the number of rows if not given.
    keep : bool, optional
        Keep the tiles of the first pass (n²/2 numbers) or compute them again in every pass: the
        same result. By default they are kept if rows have more than n/8 columns, which makes tiles
        expensive, and if they take less than a quarter of the free memory.
    executor : concurrent.futures.Executor, optional
        Workers that compute the tiles: a ``ProcessPoolExecutor``, loky, mpi4py's, dask's
        ``client.get_executor()``. Each of them gets the rows once and n × b numbers in parts for
        each pass. The result has the same bits as in one process where tiles are in float32, and
        differs by rounding where they are in float64. Rows of a dask collection go to the workers
        of its cluster without it.
    checkpoint : path, optional
        A file that keeps the products of the passes, 8 n numbers of bytes for each vector. A fit
        that was stopped, even by a kill or a power cut, continues after its last pass when it is
        called again, with the same result to the last bit; the file of other rows or parameters is
        refused. It is removed when the fit is done.

    Notes
    -----
    O(p n² (d + k)) time for p passes, O(n (d + r + k)) memory: no n × n array, unless tiles are
    kept. For more than a few hundred components :class:`~mercer.solvers.Dense` is faster.
    """

    streams = keeps_passes = True

    tol: float = 1e-6
    _: KW_ONLY
    max_passes: int = 30
    n_landmarks: int | None = None
    keep: bool | None = None
    executor: Executor | None = None
    checkpoint: str | os.PathLike[str] | None = None

    def __sklearn_clone__(self) -> Davidson:
        return type(self)(**self.get_params(deep=False))  # an executor cannot be copied

    def fit(self, problem: Problem) -> Model:
        problem = problem.loaded()
        crew = problem.crew if problem.n > ALONE else None
        if self.executor is not None:
            crew = Workers(self.executor)
        log = self._open_log(problem)
        fit = super().fit(replace(problem, passes=Passes(crew, log)))
        if log is not None:
            log.remove()
        return fit

    def _open_log(self, problem: Problem) -> PassLog | None:
        if self.checkpoint is None:
            return None
        if problem.kernel.takes_objects:
            raise DataError("a checkpoint keeps vectors, not objects; fit without checkpoint=.")
        parts = problem.center, describe(problem.rule), self.tol, self.max_passes, self.n_landmarks
        rows = digest(slice(0, problem.n), problem.X)
        return PassLog(self.checkpoint, problem.fingerprint(*parts), rows, problem.rng)

    def solve(self, operator: GramOperator, k: int, rng: np.random.Generator) -> Spectrum:
        check_count("max_passes", self.max_passes)
        n = operator.n
        if not isinstance(operator, ProbedGram):
            operator = UncenteredGram(operator, np.full(n, 1 / np.sqrt(n)))
        block = min(n, 16 * -(-(k + 8) // 16))
        if 4 * block >= n:  # the search space would soon be everything
            return Dense().solve(_finest(operator), k, rng)
        preconditioner = self._preconditioner(operator, k, rng)
        V = _start(preconditioner, n, block, rng)
        spectrum = self._iterate(operator, preconditioner, V, k, block, rng)
        if n <= SOLVABLE and spectrum.converged and _is_crowded(spectrum, k):
            return Dense().solve(_finest(operator), k, rng)
        hidden = _is_hidden(spectrum, k)
        if operator.can_refine and (hidden or self._is_coarse(spectrum)):
            V, finer = spectrum.vectors, operator.refined()
            if hidden:  # what coarse entries hide, landmarks by the same entries hide, too
                preconditioner = self._preconditioner(finer, k, rng)
                V = np.hstack([V, _start(preconditioner, n, block, rng)])
            again = self._iterate(finer, preconditioner, orthonormalize(V), k, block, rng)
            spectrum = replace(again, passes=again.passes + spectrum.passes)
        return replace(spectrum, values=spectrum.values[:k], vectors=spectrum.vectors[:, :k])

    def _preconditioner(
        self, operator: GramOperator, k: int, rng: np.random.Generator
    ) -> _Preconditioner | None:
        low = operator.low_rank(self._rank(operator.n, k), rng)
        return None if low is None else _Preconditioner(low, *low.spectrum())

    def _is_coarse(self, spectrum: Spectrum) -> bool:
        """Whether pairs or the trace are only as good as the rounding of coarse entries allows."""
        operator = spectrum.operator
        return bool(
            spectrum.errors.max() > self.tol or operator.trace_error() > self.tol * operator.trace()
        )

    def _iterate(
        self,
        operator: ProbedGram,
        preconditioner: _Preconditioner | None,
        V: Array,
        k: int,
        block: int,
        rng: np.random.Generator,
    ) -> Spectrum:
        """Expand the search space by corrections until the k leading pairs have converged.

        Returns a whole block of pairs, with residuals and errors of the first k.
        """
        # No more vectors than there are dimensions: the last ones would not be orthogonal.
        space = _SearchSpace(operator, V, room=min(operator.n, max(6 * block, 200)))
        seen, looks = np.zeros(k), 0
        for passes in range(1, self.max_passes + 1):
            announce("davidson", passes)
            ritz = space.rayleigh_ritz(block)
            spectrum, open_pairs = self._assess(operator, ritz, k, passes)
            if looks and not len(open_pairs):
                open_pairs = _rising(ritz, k, self.tol)
            if len(open_pairs):
                more = _corrections(preconditioner, ritz, open_pairs)
            elif operator.can_refine and self._is_coarse(spectrum):
                break  # finer entries follow, and the look out of the space with them
            elif _grew(operator, ritz.values[:k], seen, self.tol):
                more = _from_outside(operator, ritz, k, OUTSIDE << min(2 * looks, 3))
                seen, looks = ritz.values[:k], looks + 1
            else:
                break
            if not more.shape[1]:
                break
            if passes == self.max_passes:
                if looks and not len(open_pairs):  # another look may change as much as the last one
                    growth = 1 - seen / ritz.values[:k]
                    spectrum = replace(spectrum, errors=np.maximum(spectrum.errors, growth))
                spectrum = replace(spectrum, converged=False)
                break
            if space.is_full(block):  # thick restart
                space.restart(ritz)
            if not len(open_pairs):
                operator.renew_probes(rng)  # the space may know by now all that the old ones tell
            del ritz, spectrum  # the next ones would come while these are still here
            space.extend(more)
        return replace(spectrum, vectors=_power_step(ritz))  # noqa: F821 the last round keeps them

    def _assess(
        self, operator: GramOperator, ritz: _Ritz, k: int, passes: int
    ) -> tuple[Spectrum, Array]:
        """How good the pairs are after some passes, and which of the first k want another one."""
        values, R = ritz.values[:k], ritz.residual_vectors(slice(None))
        norms = np.linalg.norm(R, axis=0)
        residuals, beyond = norms[:k], _next_value(ritz.values, norms, k)
        errors = np.minimum(
            estimate_errors(values, residuals, beyond), _second_order(ritz.values, R, k)
        )
        floor = rank_floor(operator, float(values[0]))
        # Beyond the rank there are no digits to wait for: such pairs are dropped afterwards.
        # A Ritz value comes from below, though, and may grow by a residual that is no rounding.
        may_count = (values + residuals > floor) & (residuals > floor / 16)
        is_open = (errors > self.tol) & may_count
        if not is_open.any() or passes == self.max_passes:
            rounding = rounding_errors(operator, values, ritz.vectors[:, :k])
            errors = errors + rounding
            # Another pass costs less than all of them once more with finer entries.
            is_open |= (errors > self.tol) & (rounding < self.tol / 2) & may_count
        pairs, settled = (ritz.values, ritz.vectors, residuals, errors), not is_open.any()
        spectrum = Spectrum(*pairs, passes, operator, converged=settled, beyond=beyond)
        return spectrum, np.flatnonzero(is_open)

    def bind(self, problem: Problem) -> GramOperator:
        return problem.streamed(np.float64, self._tile(problem), keep=self._keeps(problem))

    def estimate_bytes(self, problem: Problem, k: int) -> int:
        n = problem.n
        helped = self.executor is not None or problem.points.cores
        packed = 2 * n * (problem.d + 2) + (0 if helped else n * self._rank(n, k))
        kept = n**2 // 2 if self._keeps(problem) else 0
        return (packed + kept) * self._tile(problem).itemsize + n * 8 * (k + 8) * 10

    def estimate_seconds(self, problem: Problem, k: int) -> float:
        double = self._tile(problem).itemsize // 4
        operations = USUAL_PASSES * problem.n**2 * (problem.d + k + VALUE) * double
        return operations / (TILES * (problem.points.cores or n_threads()))

    def _tile(self, problem: Problem) -> np.dtype:
        """The type of a number in a tile."""
        return np.dtype(np.float32) if self.tol >= 1e-6 else problem.dtype

    def _keeps(self, problem: Problem) -> bool:
        if self.keep is not None or self.executor is not None:
            return bool(self.keep and self.executor is None)
        n, points = problem.n, problem.points
        # Tiles of a given matrix cost nothing, and those of sparse rows may be far more than rows.
        wide = points.has_coordinates and n <= WIDE * problem.d
        return wide and n**2 / 2 * self._tile(problem).itemsize < available_bytes() / 4

    def _rank(self, n: int, k: int) -> int:
        # A preconditioner much wider than the block pays for itself in passes.
        return min(n, self.n_landmarks or max(4 * k, min(1000, max(250, n // 25))))


@dataclass(frozen=True)
class _Ritz:
    """Leading Ritz pairs of the search space, with the products A·vectors."""

    values: Array
    vectors: Array
    products: Array

    def residual_vectors(self, pairs: Array | slice) -> Array:
        """``A v - λ v`` of some pairs."""
        return np.asarray(self.products[:, pairs] - self.vectors[:, pairs] * self.values[pairs])


class _SearchSpace:
    """Orthonormal vectors V and the products W = A V, growing in place.

    Arrays in column order: columns that are not used yet take no memory, and growth copies nothing.
    """

    def __init__(self, operator: GramOperator, V: Array, room: int) -> None:
        self._operator = operator
        self._V, self._W = (np.empty((operator.n, room), order="F") for _ in range(2))
        self._H = np.empty((room, room))
        self._size = 0
        self._append(V, operator.matmat(V))

    def is_full(self, block: int) -> bool:
        """Whether there is no room for another block."""
        return self._size + block > self._V.shape[1]

    def restart(self, ritz: _Ritz) -> None:
        """Keep the leading Ritz vectors only."""
        self._size = 0
        self._append(ritz.vectors, ritz.products)

    def extend(self, T: Array) -> None:
        """Add what is new in the columns of T: one pass over the operator."""
        T = orthonormalize(T, against=self._V[:, : self._size])
        self._append(T, self._operator.matmat(T))

    def rayleigh_ritz(self, count: int) -> _Ritz:
        """The leading pairs of the operator restricted to the space."""
        V, W, s = self._V[:, : self._size], self._W[:, : self._size], self._size
        values, Y = np.linalg.eigh(self._H[:s, :s])
        values, Y = values[::-1][:count], np.ascontiguousarray(Y[:, ::-1][:, :count])
        return _Ritz(values, V @ Y, W @ Y)

    def _append(self, V: Array, W: Array) -> None:
        columns = slice(self._size, self._size + V.shape[1])
        self._V[:, columns], self._W[:, columns] = V, W
        self._size = columns.stop
        # eigh reads the lower triangle: only the new rows of VᵀW, and the mean of what is both.
        new = self._V[:, columns].T @ self._W[:, : columns.stop]
        self._H[columns, : columns.stop] = new
        corner = self._H[columns, columns]
        corner[:] = (corner + corner.T) / 2


@dataclass(frozen=True)
class _Preconditioner:
    """The shifted inverse ``(θ I - U diag(s) Uᵀ)⁻¹`` of a low-rank approximation."""

    low: LowRank
    s: Array
    M: Array

    def leading(self, count: int) -> Array:
        """The approximation's own leading eigenvectors."""
        return self.low.expand(self.M[:, :count])

    def apply(self, R: Array, theta: Array) -> Array:
        """Column j of R through the inverse with shift θ_j: R/θ + U (1/(θ - s) - 1/θ) Uᵀ R."""
        shifted = theta - self.s[:, None]
        # Close to a pole the correction would be the Ritz vector itself and nothing else.
        near = np.abs(shifted) < 1e-3 * theta
        shifted = np.where(near, np.copysign(1e-3 * theta, shifted), shifted)
        inner = (1 / shifted - 1 / theta) * (self.M.T @ self.low.contract(R))
        return np.asarray(R / theta + self.low.expand(self.M @ inner))


def _finest(operator: GramOperator) -> GramOperator:
    return operator.refined() if operator.can_refine else operator


def _grew(operator: GramOperator, values: Array, before: Array, tol: float) -> bool:
    """Whether the last look out of the search space was worth its pass."""
    return bool((values - before > tol * values + rank_floor(operator, float(values[0]))).any())


def _rising(ritz: _Ritz, k: int, tol: float) -> Array:
    """Pairs after the k-th whose eigenvalue may be among the first k.

    What was found outside of the space enters it far from converged, and a Ritz value comes from
    below.
    """
    residuals = np.linalg.norm(ritz.residual_vectors(slice(k, None)), axis=0)
    above = ritz.values[k:] + residuals > (1 + tol) * ritz.values[k - 1]
    return k + np.flatnonzero(above & (residuals > tol * ritz.values[k:]))


def _from_outside(operator: ProbedGram, ritz: _Ritz, k: int, columns: int) -> Array:
    """Vectors that may belong to an eigenvalue among the first k, and are not in the space."""
    V, W = ritz.vectors, ritz.products
    count = min(operator.n // 2, max(columns, V.shape[1]))
    rows = Outside.of(operator, V, W).rows(count, float(ritz.values[k - 1]))
    A = operator.block(slice(None), rows)
    bar = DOUBTFUL * float(ritz.values[k - 1])
    bounds, Y = outer_pairs(A, V, W, rows, operator.scale(), bar)
    doubtful = np.flatnonzero(bounds > bar)
    return np.asarray(A @ Y[:, doubtful[: V.shape[1]]])  # a block at a time


def _power_step(ritz: _Ritz) -> Array:
    """``A v = θ v + r`` in the place of v, which costs no pass.

    What is wrong in v lies further down the spectrum and shrinks. Values and residuals are those
    of v, and so on the safe side.
    """
    R = ritz.residual_vectors(slice(None))
    converges = np.linalg.norm(R, axis=0) < 0.1 * ritz.values
    theta = np.where(converges, ritz.values, np.inf)
    return orthonormalize(ritz.vectors + R / theta)


def _second_order(values: Array, R: Array, k: int) -> Array:
    """Relative errors of the first k values, by what lies outside of the search space.

    Eigenvalues λ of A are those of ``H + Bᵀ (λ - C)⁻¹ B`` (Schur), where H = diag(θ) is A in the
    space, B y = r are the residuals and C is A outside, with no eigenvalue above the last θ of the
    block: a pair that is close to another one of the space gains nothing from it. Twice that, for
    what lies outside is known from below only.
    """
    if len(values) <= k or not values[k - 1] - values[-1] > np.finfo(float).eps * values[0]:
        return np.full(len(values[:k]), np.inf)
    theta = values[:-1]
    gap = np.maximum(theta, theta[k - 1]) - values[-1]
    R = R[:, :-1] / np.sqrt(gap)
    better = np.linalg.eigvalsh(np.diag(theta) + R.T @ R)[::-1]
    relative = 2 * (better[:k] - theta[:k]) / np.maximum(np.abs(theta[:k]), np.finfo(float).tiny)
    return np.asarray(np.maximum(relative, np.finfo(values.dtype).eps))


def _next_value(values: Array, residuals: Array, k: int) -> float:
    """How large the eigenvalue after the k-th may be: its Ritz value comes from below."""
    if len(values) <= k:
        return 0.0
    theta, r = float(values[k]), float(residuals[k])
    return theta + min(r, r * r / max(theta - float(values[-1]), np.finfo(float).tiny))


def _is_crowded(spectrum: Spectrum, k: int) -> bool:
    """Whether the next eigenvalue may be as large as the last one wanted.

    By its Ritz value, or by the diagonal: where entries of it are eigenvalues, the matrix is close
    to a diagonal one, and a search space sees little of it.
    """
    entry, last = np.partition(spectrum.operator.diagonal(), -k - 1)[-k - 1], spectrum.values[k - 1]
    return bool(spectrum.beyond > (1 - CROWDED) * last or entry > 0.9 * last)


def _is_hidden(spectrum: Spectrum, k: int) -> bool:
    """Whether eigenvalues, or the variance as a whole, are below the rounding of the entries."""
    floor = rank_floor(spectrum.operator, float(spectrum.values[0]))
    return bool(spectrum.values[:k].min() <= floor)


def _start(
    preconditioner: _Preconditioner | None, n: int, b: int, rng: np.random.Generator
) -> Array:
    V = np.empty((n, 0)) if preconditioner is None else preconditioner.leading(b)
    more = rng.standard_normal((n, b - V.shape[1]))
    return orthonormalize(np.hstack([V, more]))


def _corrections(preconditioner: _Preconditioner | None, ritz: _Ritz, pairs: Array) -> Array:
    """Olsen's correction t = M⁻¹r - ε M⁻¹x, with ε such that t is orthogonal to x."""
    R, X = ritz.residual_vectors(pairs), ritz.vectors[:, pairs]
    if preconditioner is None:
        return R
    theta = ritz.values[pairs]
    both = preconditioner.apply(np.hstack([R, X]), np.tile(theta, 2))
    MR, MX = both[:, : len(theta)], both[:, len(theta) :]
    epsilon = np.einsum("ij,ij->j", X, MR) / np.einsum("ij,ij->j", X, MX)
    return np.asarray(MR - epsilon * MX)
