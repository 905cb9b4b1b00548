r"""The likelihood of Tipping (2001), eqs. (4)–(10), at given weights.

The covariance in feature space is modelled as :math:`C = \sigma^2 I + \sum_i w_i \phi_i
\phi_i^\top`. Everything comes from a Cholesky factor of

.. math:: B = I + W^{1/2} K W^{1/2} / \sigma^2

on the kernels with positive weight. The paper's :math:`(W^{-1} + K/\sigma^2)^{-1}` overflows as
soon as a weight becomes small, which is what the weights are meant to do; B only gets better
conditioned.

With :math:`S_i = \phi_i^\top C^{-1} \phi_i` and :math:`q_i` the mean over the rows of
:math:`(\phi_i^\top C^{-1} \phi_n)^2`, the gradient is :math:`\partial L/\partial w_i = n (q_i -
S_i)/2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from mercer._base.linalg import square_sums
from mercer._base.machine import blocks, thread_map
from mercer._base.types import Array, Rows
from mercer.kernels import Basis, Kernel
from mercer.points import Points

# What the likelihood has to know of the rows, for a pool of candidate kernels.
#
# For candidates J the kernel matrix :math:`K_{JJ}` and a factor H with
# :math:`H H^\top = K_{Jn} K_{nJ}` are sufficient: after one pass over the n rows nothing depends
# on n any more. H is the triangular factor of a QR decomposition, not the product itself, which
# would square the condition number.


BLOCK = 2048


@dataclass(frozen=True)
class KernelRows:
    """The data of a fit: clean rows, a resolved kernel, and random numbers."""

    kernel: Kernel
    X: Rows
    rng: np.random.Generator

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    @cached_property
    def data(self) -> Points:
        """The rows as what they are to the kernel."""
        return self.kernel.points(self.X)

    @cached_property
    def diag(self) -> Array:
        """k(x, x) of each row, in float64."""
        # From rows in float64, like the columns: else a row and its copy would differ.
        return self.kernel.diag(self.data.cast(np.float64).rows).astype(np.float64)

    def columns(self, index: Array) -> Array:
        """k(x_i, x_j) for all rows i and the chosen j, (n, m) in float64."""
        C = self.against(self.points(index))
        C[index, np.arange(len(index))] = self.diag[index]
        return C

    def against(self, points: Rows) -> Array:
        """k(x_i, s_j) for all rows and any points, (n, m) in float64; a memmap is read forwards."""
        # In float64 for float32 rows, too: small noise makes the weights feel every digit.
        return Basis(self.kernel, points, np.float64).at(self.data)

    def points(self, index: Array) -> Rows:
        """The chosen rows; for a precomputed matrix the numbers of its columns."""
        return self.data.chosen(index).rows

    def among(self, points: Rows) -> Array:
        """The symmetric matrix of k between points that are not rows, in float64."""
        return Basis(self.kernel, points, np.float64).gram()


@dataclass(frozen=True)
class Pool:
    """Candidate kernels and the sufficient statistics of the data for them.

    Attributes
    ----------
    K : (p, p)
        Kernel between the candidates.
    H : (p, h)
        Any factor with ``H Hᵀ = K_Jn K_nJ``.
    n : int
        Number of rows.
    mean_diag : float
        Mean of k(x, x) over the rows: the trace of the covariance in feature space.
    """

    K: Array
    H: Array
    n: int
    mean_diag: float

    @classmethod
    def of_all(cls, rows: KernelRows) -> Pool:
        """Every row is a candidate: the dense matrix, O(n²) memory."""
        K = rows.columns(np.arange(rows.n))
        K = (K + K.T) / 2
        return cls(K, K, rows.n, float(rows.diag.mean()))

    @classmethod
    def of_columns(cls, columns: Array, index: Array, rows: KernelRows) -> Pool:
        """From the kernel columns of some rows; O(n p²) time, O(p²) memory."""
        K = columns[index]
        return cls((K + K.T) / 2, triangular_factor(columns), rows.n, float(rows.diag.mean()))

    @cached_property
    def diag(self) -> Array:
        """k(x_j, x_j) of the candidates."""
        return np.diagonal(self.K).copy()

    def __len__(self) -> int:
        return len(self.K)

    def subset(self, index: Array) -> Pool:
        """The same data with fewer candidates."""
        return Pool(self.K[np.ix_(index, index)], self.H[index], self.n, self.mean_diag)


def triangular_factor(C: Array) -> Array:
    """H (p, h) with ``H Hᵀ = Cᵀ C`` and h ≤ 2p: QR of row blocks, then of their stacked factors."""
    n, p = C.shape
    if n <= 2 * p:
        return C.T.copy()
    parts = thread_map(lambda rows: np.linalg.qr(C[rows], mode="r"), blocks(n, max(BLOCK, 4 * p)))
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r")).T


@dataclass(frozen=True)
class Likelihood:
    """The model at weights w > 0 for the candidates ``active`` of a pool; the others have weight 0.

    O(m³ + m² h) time for everything about the active kernels, O(p m h) for all candidates.
    """

    pool: Pool
    active: Array
    weights: Array
    variance: float

    @classmethod
    def empty(cls, pool: Pool, variance: float) -> Likelihood:
        """The model without kernels: C = σ² I."""
        return cls(pool, np.empty(0, dtype=np.intp), np.empty(0), variance)

    @cached_property
    def value(self) -> float:
        """Log-likelihood per row, eq. (5) without the constant D log σ²."""
        L, V = self.cholesky, self._whitened
        log_det = 2 * np.log(np.diagonal(L)).sum()
        # tr C⁻¹ S_φ = (tr S_φ − tr(B⁻¹ W^½ K_An K_nA W^½) / n σ²) / σ²
        data = (self.pool.mean_diag - (V * V).sum() / self.variance) / self.variance
        return -0.5 * float(log_det + data)

    @property
    def total(self) -> float:
        """Log-likelihood of all rows, eq. (5) without the constant D log σ²."""
        return self.pool.n * self.value

    @property
    def rounding(self) -> float:
        """Differences of :attr:`value` below this mean nothing."""
        return 64 * np.finfo(float).eps * (abs(self.value) + self.pool.mean_diag / self.variance)

    @cached_property
    def slack(self) -> Array:
        """1 − w S of the active kernels: the diagonal of B⁻¹."""
        return square_sums(self._inverse_factor.T)

    @cached_property
    def S(self) -> Array:  # noqa: N802  the letter of the formula
        """φᵀ C⁻¹ φ of the active kernels."""
        # Two equal forms; each cancels where the other does not.
        L, w, var = self.cholesky, self.weights, self.variance
        V = solve_triangular(L, self._root[:, None] * self._inner, lower=True)
        direct = (np.diagonal(self._inner) - square_sums(V.T) / var) / var
        return np.where(self.slack < 0.5, (1 - self.slack) / w, direct)

    @cached_property
    def q(self) -> Array:
        """Mean over the rows of (φᵀ C⁻¹ φ_n)², for the active kernels."""
        return square_sums(self._projected) / self.weights

    @property
    def worth(self) -> Array:
        """Log-likelihood per row that each active kernel adds, by its leave-one-out quantities."""
        return np.asarray(0.5 * (np.log(self.slack) + square_sums(self._projected) / self.slack))

    @property
    def ratio(self) -> Array:
        """q/S of the active kernels; 1 at a stationary point."""
        return self.q / self.S

    @cached_property
    def relative_gradient(self) -> Array:
        """w (q − S): twice the gradient of :attr:`value` with respect to log w."""
        return np.asarray(square_sums(self._projected) - self.weights * self.S)

    @cached_property
    def relative_hessian(self) -> Array:
        """Of twice :attr:`value` in Δw/w: ``A∘A − 2 A∘G``, A = W^½SW^½, G its data part."""
        X = self._inverse_factor
        A = np.eye(len(X)) - X.T @ X  # W^½ S W^½ = I − B⁻¹
        G = self._projected @ self._projected.T
        return np.asarray(A * A - 2 * A * G)

    def candidates(self) -> tuple[Array, Array]:
        """S and q of every candidate of the pool, whatever its weight."""
        pool, var = self.pool, self.variance
        K_A = pool.K[:, self.active]
        V = solve_triangular(self.cholesky, (K_A * self._root).T, lower=True)
        S = (pool.diag - square_sums(V.T) / var) / var
        # φᵢᵀC⁻¹Φ = (k_i − K_iA W^½ B⁻¹ W^½ K_An/σ²) / σ²
        Q = pool.H - (K_A * self._root) @ self._projected * np.sqrt(pool.n)
        q = square_sums(Q) / (var * var * pool.n)
        S[self.active], q[self.active] = self.S, self.q
        return self._above_rounding(S, pool.diag), q

    def S_of(self, k: Array, diag: Array) -> Array:  # noqa: N802  the letter of the formula
        """φᵀC⁻¹φ of any points, from rows k = K_iA and k(x, x); never below rounding."""
        S = (diag - square_sums(k @ self._whitening)) / self.variance
        return self._above_rounding(S, diag)

    def coefficients(self, k: Array) -> Array:
        """u = K_iA W^½ B⁻¹ W^½ / σ² for rows k = K_iA of any points."""
        return np.asarray((k @ self._whitening) @ self._whitening.T)

    def _above_rounding(self, S: Array, diag: Array) -> Array:
        """A candidate inside the span of the active ones may round to S ≤ 0; it adds nothing."""
        floor = 16 * np.finfo(float).eps * diag / self.variance
        return np.maximum(S, floor + np.finfo(float).tiny)

    def coupling(self, some: Array) -> Array:
        """``|φᵢᵀC⁻¹φⱼ| / √(Sᵢ Sⱼ)`` among some candidates: 0 where their gains simply add up."""
        K_A = self.pool.K[np.ix_(some, self.active)]
        V = solve_triangular(self.cholesky, (K_A * self._root).T, lower=True)
        inner = self.pool.K[np.ix_(some, some)] - V.T @ V / self.variance
        size = np.sqrt(np.maximum(np.diagonal(inner), np.finfo(float).tiny))
        return np.asarray(np.abs(inner) / np.outer(size, size))

    def at(self, weights: Array) -> Likelihood:
        """The same kernels with other weights."""
        return Likelihood(self.pool, self.active, weights, self.variance)

    def keep(self, which: Array) -> Likelihood:
        """The same weights without some of the kernels."""
        return Likelihood(self.pool, self.active[which], self.weights[which], self.variance)

    def add(self, candidates: Array | int, weights: Array | float) -> Likelihood:
        """More kernels."""
        active = np.append(self.active, candidates)
        weights = np.append(self.weights, weights)
        return Likelihood(self.pool, active, weights, self.variance)

    @cached_property
    def _root(self) -> Array:
        return np.sqrt(self.weights)

    @cached_property
    def _inner(self) -> Array:
        return np.asarray(self.pool.K[np.ix_(self.active, self.active)])

    @cached_property
    def cholesky(self) -> Array:
        """Lower factor of B = I + W^½ K W^½ / σ²."""
        r = self._root
        B = r[:, None] * self._inner * r / self.variance
        B[np.diag_indices_from(B)] += 1
        return np.linalg.cholesky(B)

    @cached_property
    def _inverse_factor(self) -> Array:
        L = self.cholesky
        return np.asarray(solve_triangular(L, np.eye(len(L)), lower=True))

    @cached_property
    def _whitening(self) -> Array:
        """W^½ L⁻ᵀ / σ: kernel rows times this are whitened coordinates."""
        return np.sqrt(self.weights / self.variance)[:, None] * self._inverse_factor.T

    @cached_property
    def _whitened(self) -> Array:
        """L⁻¹ W^½ H / √n."""
        H = self._root[:, None] * self.pool.H[self.active] / np.sqrt(self.pool.n)
        return np.asarray(solve_triangular(self.cholesky, H, lower=True))

    @cached_property
    def _projected(self) -> Array:
        """W^½ Q / √n = B⁻¹ W^½ H / (σ² √n), where Q Qᵀ are the sums of eq. (12)."""
        solved = solve_triangular(self.cholesky, self._whitened, lower=True, trans="T")
        return np.asarray(solved / self.variance)


def one_weight(S: Array, q: Array) -> Array:
    """The best weight of each kernel that is not in the model: ``(q − S)/S²``, or 0."""
    excess = q - S
    # The square of a kernel that is zero at every row, as of a row of zeros, leaves the floats.
    return np.asarray(np.divide(excess, S**2, out=np.zeros_like(S), where=excess > 0))


def gain(S: Array, q: Array) -> Array:
    """What the best weight of a new kernel adds to the log-likelihood per row; 0 where q ≤ S."""
    x = np.maximum(q / S, 1)
    return np.asarray((x - 1 - np.log(x)) / 2)


# The way up: Newton steps on the weights of the active kernels.


#: A weight may fall to this share of itself, or grow by its inverse, in one step.
SMALLEST_FACTOR = 0.05
#: Levenberg's additions to the curvature, as shares of the largest, until a step gains.
DAMPINGS = (1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 1.0)
#: Kernels with w S below this hardly change the model and may be dropped.
NEGLIGIBLE = 1e-3


class Ascent(NamedTuple):
    """Where an ascent ended, after how many steps, and whether it got there."""

    at: Likelihood
    steps: int
    converged: bool


def ascend(
    at: Likelihood, *, tol: float = 1e-8, max_iter: int = 200, may_prune: bool = True
) -> Ascent:
    """Maximise the likelihood over the weights of the active kernels, dropping those that vanish.

    Converged when ``|q/S − 1| ≤ tol`` on all of them, or when the likelihood cannot grow any more
    within rounding. O(m³ + m² h) per step.
    """
    for _ in range(2):
        at = _fixed_point(at)
    for step in range(max_iter):
        at = prune(at) if may_prune else at
        if not len(at.active) or np.abs(at.ratio - 1).max() <= tol:
            return Ascent(at, step, True)
        better = _newton(at)
        if better is None:
            return Ascent(at, step, True)
        at = better
    return Ascent(at, max_iter, False)


def prune(at: Likelihood) -> Likelihood:
    """Drop the kernels that are negligible *and* that the likelihood would rather be without.

    A small weight alone is no reason: it may be about to grow.
    """
    drop = (1 - at.slack < NEGLIGIBLE) & (at.worth <= 0)
    return at.keep(~drop) if drop.any() else at


def _fixed_point(at: Likelihood) -> Likelihood:
    """The paper's (14), w ← w q/S; with the square root, which cannot fail, where it would lose."""
    ratio = np.clip(at.ratio, SMALLEST_FACTOR, 1 / SMALLEST_FACTOR)
    new = at.at(at.weights * ratio)
    return new if new.value >= at.value else at.at(at.weights * np.sqrt(ratio))


def _newton(at: Likelihood) -> Likelihood | None:
    """A step that gains; None if none does, within rounding."""
    for damping in DAMPINGS:
        step = _direction(at, damping)
        better = _search(at, step)
        if better is not None:
            return better
        if 0.5 * float(at.relative_gradient @ step) <= at.rounding:
            return None
    monotone = at.at(at.weights * np.sqrt(at.ratio))
    return monotone if monotone.value > at.value + at.rounding else None


def _direction(at: Likelihood, damping: float) -> Array:
    """|Hessian|⁻¹ gradient in relative steps Δw/w: uphill even where L is not concave.

    A weight that wants to leave the range of one step is sent to its end, and the others are solved
    for without it (Bertsekas 1982): merely cutting its step short could turn the whole downhill.
    """
    g, H = at.relative_gradient, at.relative_hessian
    step, free = np.zeros_like(g), np.ones(len(g), dtype=bool)
    while free.any():
        curvature, U = np.linalg.eigh(H[np.ix_(free, free)])
        size = np.abs(curvature)
        step[free] = U @ ((U.T @ g[free]) / (size + damping * size.max()))
        falls = free & (step < SMALLEST_FACTOR - 1) & (g < 0)
        grows = free & (step > 1 / SMALLEST_FACTOR - 1) & (g > 0)
        if not (falls | grows).any():
            break
        step[falls], step[grows] = SMALLEST_FACTOR - 1, 1 / SMALLEST_FACTOR - 1
        free &= ~(falls | grows)
    return step


def _search(at: Likelihood, step: Array) -> Likelihood | None:
    """Halve the step until the likelihood grows; None if it does not."""
    steepness = np.abs(at.relative_gradient).max()
    for t in 0.5 ** np.arange(6):
        factor = np.clip(1 + t * step, SMALLEST_FACTOR, 1 / SMALLEST_FACTOR)
        new = at.at(at.weights * factor)
        promised = 0.5 * float(at.relative_gradient @ (factor - 1))
        if new.value - at.value > max(1e-4 * promised, at.rounding):
            return new
        # Near the top values differ by rounding only, and the gradient still tells the way.
        level = new.value >= at.value - at.rounding
        if level and np.abs(new.relative_gradient).max() < 0.9 * steepness:
            return new
    return None
