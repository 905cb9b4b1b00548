"""A solver that chooses weighted kernels, what it finds, and the principal axes on that."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mercer._base.config import Config
from mercer._base.linalg import square_sums
from mercer._base.machine import one_blas_thread
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.gram import whiten
from mercer.kernels import Basis, Kernel
from mercer.model import Subspace, from_features
from mercer.model.rank import NullSpectra
from mercer.model.subspace import project_onto
from mercer.solvers.policy import noise_floor
from mercer.sparse.likelihood import Ascent, KernelRows, Likelihood, Pool, ascend


@dataclass(frozen=True)
class Selection:
    """Representing kernels with their weights, and how good they are.

    Attributes
    ----------
    points : (m, d) array, or m objects, or column numbers
        The representing vectors.
    indices : (m,) array or None
        Their row numbers; None where they are not rows.
    weights : (m,) array
        w of eq. (4).
    variance : float
        σ² of eq. (4).
    pool : Pool
        Their kernel matrix and the statistics of the data.
    log_likelihood : float
        Eq. (5) without the constant D log σ².
    kkt : float
        Largest violation of the optimality conditions: ``|q/S − 1|`` on the kernels chosen, ``q/S −
        1`` on the others as far as they were looked at.
    steps : int
        Iterations, or passes over the rows where that is what costs.
    converged : bool
    note : str
        What the report should say beside the solver's name.
    """

    points: RowsLike
    indices: Array | None
    weights: Array
    variance: float
    pool: Pool
    log_likelihood: float
    kkt: float
    steps: int
    converged: bool
    note: str = ""

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def likelihood(self) -> Likelihood:
        """The model at the weights that are positive."""
        active = np.flatnonzero(self.weights > 0)
        return Likelihood(self.pool, active, self.weights[active], self.variance)

    def moved(self, variance: float) -> tuple[Array, Likelihood]:
        """Row numbers and model of those kernels that are worth their place at another σ²."""
        assert self.indices is not None  # centres are there for any σ²
        at = ascend(Likelihood(self.pool, np.arange(len(self)), self.weights, variance)).at
        few = np.arange(len(at.active))
        model = Likelihood(self.pool.subset(at.active), few, at.weights, variance)
        return self.indices[at.active], model


class BoundSelection(ABC):
    """A solver with everything about the rows that does not depend on the noise."""

    rows: KernelRows

    @property
    @abstractmethod
    def largest_variance(self) -> float:
        r"""The σ² from which on no kernel is worth its place: :math:`\max_i q_i/S_i` at w = 0."""

    @abstractmethod
    def solve(
        self, variance: float, limit: int | None = None, start: Selection | None = None
    ) -> Selection:
        """The kernels and weights for a given σ²; may stop early beyond ``limit`` kernels.

        ``start`` is the selection of a larger σ², from which there is less far to go.
        """


@dataclass(frozen=True)
class PoolSelection(BoundSelection):
    """A solver whose candidates are all there from the start.

    ``optimise(start, limit=...)`` goes up from some kernels, and may stop beyond a limit of them.
    ``points`` are the candidates where these are not the rows: then all of them are kept.
    """

    rows: KernelRows
    pool: Pool
    optimise: Callable[..., Ascent]
    points: RowsLike | None = None

    @property
    def largest_variance(self) -> float:
        return largest_ratio(square_sums(self.pool.H) / self.pool.n, self.pool.diag)

    def solve(
        self, variance: float, limit: int | None = None, start: Selection | None = None
    ) -> Selection:
        with one_blas_thread():
            at = Likelihood.empty(self.pool, variance)
            if start is not None:
                indices, model = start.moved(variance)
                at = at.add(indices, model.weights)
            ascent = self.optimise(at, limit=limit)
            if self.points is None:
                return selected(self.rows, np.arange(self.rows.n), ascent)
            weights = np.zeros(len(self.pool))
            weights[ascent.at.active] = ascent.at.weights
            return selection_of(ascent, self.points, None, weights, self.pool)


def largest_ratio(squares: Array, diag: Array) -> float:
    """σ² q/S at w = 0, largest over all candidates: mean k(x_i, x)² / k(x_i, x_i)."""
    present = diag > 0
    return float((squares[present] / diag[present]).max(initial=0.0))


class SparseSolver(Config, ABC):
    """Chooses the kernels of :class:`~mercer.SparseKernelPCA` and their weights."""

    #: Seconds that one fit takes for each row and squared number of kernels; 0 if nobody knows.
    cost: ClassVar[float] = 0.0

    @abstractmethod
    def bind(self, rows: KernelRows, n_kernels: int | None) -> BoundSelection:
        """Do once what does not depend on the noise; ``n_kernels`` is what the user asked for."""

    def choose(self, rows: KernelRows) -> "tuple[SparseSolver, str]":  # noqa: ARG002
        """The solver that does the work, and why it is this one."""
        return self, "asked for"

    @abstractmethod
    def estimate_bytes(self, rows: KernelRows, m: int) -> int:
        """Estimated peak of the solver's own arrays with m kernels."""


def selected(rows: KernelRows, indices: Array, ascent: Ascent) -> Selection:
    """The Selection where an optimiser ended; ``indices`` are the pool's row numbers."""
    at = ascent.at
    if not len(at.active):
        noise = np.sqrt(at.variance)
        raise DataError(f"noise={noise:.3g} leaves no kernel; give a smaller noise, or n_kernels.")
    order = np.argsort(indices[at.active])
    active = at.active[order]
    points, pool = rows.points(indices[active]), at.pool.subset(active)
    return selection_of(ascent, points, indices[active], at.weights[order], pool)


def selection_of(
    ascent: Ascent, points: RowsLike, indices: Array | None, weights: Array, pool: Pool
) -> Selection:
    """The Selection of some points and weights, with what an optimiser says of them."""
    at, steps, converged = ascent
    kkt = violation(at)
    return Selection(points, indices, weights, at.variance, pool, at.total, kkt, steps, converged)


def violation(at: Likelihood) -> float:
    """Largest violation of the optimality conditions over a whole pool."""
    S, q = at.candidates()
    excess = q / S - 1
    excess[at.active] = np.abs(excess[at.active])
    return float(max(excess.max(initial=0.0), 0.0))


# Principal axes on the representing vectors: of the model, of the data, or of another model.


def model_axes(kernel: Kernel, chosen: Selection) -> tuple[Array, Subspace]:
    """Eqs. (15)–(17): eigenvectors of the model's covariance, ``B = W^½ Ũ Λ̃^{-½}``.

    Returns the variances (16), Λ̃ + σ², decreasing, and the subspace.
    """
    root = np.sqrt(chosen.weights)
    lam, U = np.linalg.eigh(root[:, None] * chosen.pool.K * root)
    keep = lam > noise_floor(lam[-1], len(lam), 0.0, lam.dtype)
    lam, U = lam[keep][::-1], U[:, keep][:, ::-1]
    B = root[:, None] * U / np.sqrt(lam)
    return lam + chosen.variance, _uncentred(kernel, chosen.points, B, np.eye(len(lam)))


def data_axes(kernel: Kernel, chosen: Selection) -> tuple[Array, Subspace]:
    """Eigenvectors of the covariance of the *data*, seen through the span of the chosen kernels.

    Returns the variances, decreasing, and the subspace.
    """
    R = whiten(chosen.pool.K)
    # Coordinates a(x) = Rᵀ k(S, x) are orthonormal; their second moments are RᵀH (RᵀH)ᵀ / n.
    V, s, _ = np.linalg.svd(R.T @ chosen.pool.H / np.sqrt(chosen.pool.n), full_matrices=False)
    keep = s**2 > noise_floor(s[0] ** 2, len(s), 0.0, s.dtype)
    return s[keep] ** 2, _uncentred(kernel, chosen.points, R, V[:, keep])


def null_spectra(rows: KernelRows, chosen: Selection) -> NullSpectra:
    """Variances on the same kernels after the columns were permuted independently."""

    def spectra(k: int, repeats: int) -> Array:
        if chosen.indices is None:
            raise DataError("parallel analysis needs rows as kernels; use another solver.")
        drawn = np.zeros((repeats, k))
        for line in drawn:
            permuted = replace(rows, X=rows.data.permuted(rows.rng).rows)
            pool = Pool.of_columns(permuted.columns(chosen.indices), chosen.indices, permuted)
            values, _ = data_axes(rows.kernel, replace(chosen, pool=pool))
            line[: len(values)] = values[:k]
        return drawn

    return spectra


def span(kernel: Kernel, points: RowsLike) -> Subspace:
    """All of the span of the chosen kernels: its residual is eq. (18), k(x,x) − kᵀ K⁻¹ k."""
    R = whiten(Basis(kernel, points, np.float64).gram())
    return _uncentred(kernel, points, R, np.eye(R.shape[1]))


def _uncentred(kernel: Kernel, points: RowsLike, R: Array, V: Array) -> Subspace:
    """The directions ``Φ_S R V`` through the origin."""
    return from_features(kernel, points, R, np.zeros(R.shape[1]), V)


def project(model: Subspace, chosen: Selection, K_points_support: Array) -> tuple[Array, Subspace]:
    """Another model's directions and mean, seen through the span of the chosen kernels.

    See :func:`project_onto`.
    """
    products = K_points_support @ np.column_stack([model.coef, model.mean])
    return project_onto(model, chosen.points, chosen.pool.K, products)
