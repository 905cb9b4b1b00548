r"""How sure: intervals of eigenvalues and shares, and the stability of components.

A sample's eigenvalue errs to first order by the mean of :math:`z_k^2 - \lambda_k` over its rows,
and to second order, always away from its neighbours, by

.. math:: \frac1n \sum_{l \ne k} \frac{E[z_k^2 z_l^2]}{\lambda_k - \lambda_l}

(perturbation of the covariance operator). Both are means over the rows, so that intervals of
:math:`\log \lambda_k` need no resampling. How far components turn does: it is measured on
replicates in which groups of rows get random weights, and costs one small eigenproblem each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from mercer._base import linalg, numbers
from mercer._base.machine import blas_limited, blocks, one_blas_thread, thread_map
from mercer._base.small_table import SmallTable, shown_as_table
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.kernels import Basis
from mercer.landmarks import RPCholesky
from mercer.model import Subspace
from mercer.model.model import listed
from mercer.model.subspace import require_variables
from mercer.points import Points, Vectors, as_points
from mercer.relevance.measure import TASK, jacobians, summed

# The model's directions and some that it left out, and what rows add up to in them.
#
# How far sampling moves a component depends on its neighbours, also on those beyond the last one
# that was kept. So the q directions :math:`w_k` are completed by directions in the span of a few
# landmarks: an orthonormal basis of what lies outside the subspace,
#
# .. math:: e_j = \sum_i R_{ij} \Big(\phi(l_i) - \sum_k P_{ik} w_k\Big), \qquad
#           P = K_{LS} B, \qquad R^\top (K_{LL} - P P^\top) R = I.


@dataclass(frozen=True)
class Directions:
    """Orthonormal directions w_1 … w_q and further ones, turned to the axes of some rows."""

    subspace: Subspace
    landmarks: Any  #: (l, d) array, or sparse rows
    products: Array  #: (l, q), P
    root: Array  #: (l, p), R
    #: (q + p, r), from the directions to the r leading principal axes of the rows
    turn: Array
    shift: Array  #: (r,), the mean of the turned coordinates; zero for an uncentred model

    @classmethod
    def of(
        cls, subspace: Subspace, points: Points, weight: Array, r: int, rng: np.random.Generator
    ) -> Directions:
        """The r leading axes of rows, among the model's directions and those of 2 r landmarks."""
        kernel = subspace.kernel
        L = RPCholesky().select(kernel, points.rows, min(2 * r, len(points)), rng)
        P = (subspace.scores(L) + subspace.offset).astype(np.float64)
        left = Basis(kernel, L).gram() - P @ P.T
        values, vectors = np.linalg.eigh((left + left.T) / 2)
        # What is left of a landmark near the subspace is rounding, and no direction.
        keep = values > 1e4 * np.finfo(subspace.coef.dtype).eps * max(values[-1], 1e-300)
        width = subspace.n_components + int(keep.sum())
        root = vectors[:, keep] / np.sqrt(values[keep])
        plain = cls(subspace, L, P, root, np.eye(width), np.zeros(width))
        F = plain.features(points)[0]
        mean = weight @ F / weight.sum() if np.any(subspace.mean) else np.zeros(F.shape[1])
        vectors = np.linalg.eigh(((F - mean) * weight[:, None]).T @ (F - mean))[1]
        turn = vectors[:, ::-1][:, :r]
        return replace(plain, turn=turn, shift=mean @ turn)

    def features(self, points: Points) -> tuple[Array, Array]:
        """Coordinates of rows, (n, r), and their squared distances to the mean, (n,)."""
        S = self.subspace
        Z, residual = S.scores_and_residual(points)
        Z = Z.astype(np.float64, copy=False)
        total = linalg.square_sums(Z) + residual
        K = Basis(S.kernel, self.landmarks).at(points)
        outside = (K - (Z + S.offset) @ self.products.T) @ self.root
        return np.hstack([Z, outside]) @ self.turn - self.shift, total

    def sums(self, weight: Array, group: Array, groups: int, rows: slice, block: Any) -> GroupSums:
        """The sums over a block of rows; ``weight`` and ``group`` are those of all rows."""
        S = self.subspace
        Z, total = self.features(S.kernel.points(block).cast(S.coef.dtype))
        return GroupSums.of(Z, total, weight[rows], group[rows], groups)

    def turned(self, axes: Array) -> Directions:
        """These directions in further rotated axes."""
        return replace(self, turn=self.turn @ axes, shift=self.shift @ axes)

    def coefficients(self) -> tuple[Any, Array]:
        """The turned directions as sums of kernels: points (m + l, d) and weights (m + l, r)."""
        S, q = self.subspace, self.subspace.n_components
        on_landmarks = self.root @ self.turn[q:]
        on_support = S.coef @ (self.turn[:q] - self.products.T @ on_landmarks)
        points = S.points.joined(S.kernel.points(self.landmarks)).rows
        return points, np.concatenate([on_support, on_landmarks]).astype(S.coef.dtype)


@dataclass(frozen=True)
class GroupSums(linalg.Sums):
    """Weighted sums over rows with coordinates z, (r,), and squared distances t to the mean."""

    moments: Array  #: (G, r + 1, r + 1), Σ w u uᵀ over each of G groups, with u = (z, 1)
    total: float  #: Σ w t
    fourth: Array  #: (r + 2, r + 2), Σ w² v vᵀ, with v = (z², t, 1)

    @classmethod
    def of(cls, Z: Array, t: Array, w: Array, group: Array, groups: int) -> GroupSums:
        """Of rows with coordinates Z, squared distances t, weights w and group numbers."""
        order, one = np.argsort(group, kind="stable"), np.ones(len(Z))
        edges = np.searchsorted(group[order], np.arange(groups + 1))
        U = np.column_stack([Z, one])
        weighted, U = (w[:, None] * U)[order], U[order]
        moments = np.stack([weighted[a:b].T @ U[a:b] for a, b in pairwise(edges)])
        V = w[:, None] * np.column_stack([Z**2, t, one])
        return cls(moments, float(w @ t), V.T @ V)

    @property
    def weight(self) -> float:
        """Of all rows."""
        return float(self.moments[:, -1, -1].sum())

    def turned(self, axes: Array) -> GroupSums:
        """The sums in other axes of the same space; fourth moments only of axes that have moved.

        The axes come from many rows already, so that what is left to turn is tiny, except between
        directions of one variance, where these moments hardly differ.
        """
        turn = block_diag(axes, [[1.0]])
        moments = np.einsum("grs,ri,sj->gij", self.moments, turn, turn, optimize=True)
        return replace(self, moments=moments)

    def covariances(self, shares: Array, center: bool) -> Array:
        """Covariance matrices with the groups weighted by each row of ``shares``, (b, r, r)."""
        moments = np.tensordot(shares, self.moments, axes=1)
        moments /= moments[:, -1:, -1:]
        C, mean = moments[:, :-1, :-1], moments[:, :-1, -1]
        return C - mean[:, :, None] * mean[:, None, :] if center else C


#: Replicates that relevance is measured on.
RELEVANCE_REPLICATES = 100
#: Most derivatives in memory at once for sparse rows, which have many variables.
MOST_ENTRIES = 1 << 26
#: Leading components that are looked at.
COMPONENTS = 64
#: Rows on which the axes are found; the sums are over all rows.
SAMPLE = 4096
#: Groups of rows that get random weights, and how many times they do.
GROUPS, REPLICATES = 128, 200
#: A component is stable if resampling leaves more than half of it: 45 degrees.
STABLE = 45.0


@dataclass(frozen=True)
class Interval:
    """An estimate with its lower and upper limit, arrays of one shape."""

    estimate: Array
    low: Array
    high: Array

    def times(self, factor: float) -> Interval:
        """The interval on another scale."""
        return Interval(self.estimate * factor, self.low * factor, self.high * factor)

    def contains(self, value: Any) -> Array:
        """Whether the value lies between the limits, elementwise."""
        return np.asarray((self.low <= value) & (value <= self.high))


@shown_as_table
@dataclass(frozen=True)
class Uncertainty:
    """The sampling error of a model: how much it would differ for another sample of as many rows.

    (``report_.estimated_error`` is the numerical error: how far the solver is from the exact
    components of *these* rows.)

    Attributes
    ----------
    eigenvalues : Interval
        ``estimate``, ``low`` and ``high``, each (q,), on the scale of ``eigenvalues_``. At most the
        64 leading components are looked at.
    shares : Interval
        Of the true variance, as ``explained_variance_ratio_``.
    angle, angle_quantile : (q,) arrays
        By how many degrees a component turns away from itself: the mean, and the quantile of the
        level.
    mixing : (q, r) array
        Where it turns: the mean squared cosine between component k in a resample and direction l,
        among them directions that the model has left out. Rows sum to 1 at most.
    subspace_angle : float
        The largest angle between all q components together and those of a resample: the quantile.
    level : float
    n_rows : int
    """

    eigenvalues: Interval
    shares: Interval
    angle: Array
    angle_quantile: Array
    mixing: Array
    subspace_angle: float
    level: float
    n_rows: int
    _resamples: _Resamples

    def _table(self) -> SmallTable:
        share, stable = self.shares, self.stable
        rows = [
            (
                f"component {k}",
                f"{share.estimate[k]:.1%} of the variance",
                f"{share.low[k]:.1%} to {share.high[k]:.1%}",
                f"turns by up to {self.angle_quantile[k]:.0f}°",
                "stable" if stable[k] else "not stable",
            )
            for k in range(min(5, len(stable)))
        ]
        return SmallTable(f"Uncertainty of {len(stable)} components, {self.n_rows} rows", rows)

    @property
    def stable(self) -> Array:
        """Components of which more than half is kept at the level, (q,) bool."""
        return np.asarray(self.angle_quantile < STABLE)

    @property
    def n_stable(self) -> int:
        """How many components are stable."""
        return int(self.stable.sum())

    @property
    def neighbours(self) -> list[tuple[int, ...]]:
        """For each component those, counted from 0, into which a tenth or more of it turns."""
        away = self.mixing[:, : len(self.angle)] * (1 - np.eye(len(self.angle)))
        return [tuple(np.flatnonzero(row >= 0.1).tolist()) for row in away]

    @property
    def noise(self) -> Array:
        """Components of which more leaves the model than stays in it, (q,) bool."""
        return np.asarray(self.mixing[:, : len(self.angle)].sum(axis=1) < 0.5)

    @property
    def advice(self) -> list[str]:
        """In words: which components are stable, which mix, and which are noise."""
        q, noise = len(self.angle), np.flatnonzero(self.noise)
        samples = f"{self.level:.0%} of samples of {self.n_rows:,} rows"
        turn = f"in {samples} they turn by less than 45 degrees."
        lines = [f"{self.n_stable} of {q} components are stable: {turn}"]
        for group in self._mixing_groups():
            alike = f"Components {listed(group)} are not distinguishable from each other"
            why = "their variances are close, and sampling turns them into each other"
            lines.append(f"{alike}: {why}. Interpret them as one.")
        if noise.size:
            some = f"Component{'s' * (noise.size > 1)} {listed(noise)}"
            why = "sampling replaces most of it by directions that the model has left out."
            lines.append(f"{some} cannot be distinguished from noise: {why}")
        angle = f"{self.subspace_angle:.0f} degrees ({self.level:.0%})"
        return [*lines, f"All {q} together turn by at most {angle}."]

    def _mixing_groups(self) -> list[Array]:
        """Components that turn into each other, joined; stable ones and noise left out."""
        q = len(self.angle)
        turned = (self.mixing[:, :q] >= 0.1) | np.eye(q, dtype=bool)
        turned[:, self.stable | self.noise] = False
        count, label = connected_components(turned.T @ turned)
        groups = (np.flatnonzero(label == i) for i in range(count))
        return [group for group in groups if len(group) > 1]

    @cached_property
    def relevance(self) -> Interval:
        """Intervals of ``relevance(unit="share").components``, (q, d); computed when asked for."""
        return self._resamples.relevance(self.level)

    def __str__(self) -> str:
        return "\n".join(self.advice)


@dataclass(frozen=True)
class _Resamples:
    """What intervals of further quantities need: axes, their rotations, and some of the rows."""

    directions: Directions
    turns: Array  # (b, r, q)
    points: Points
    weight: Array  # (n,) of the rows
    weights: Array  # (b, n) of the rows in each resample

    def relevance(self, level: float) -> Interval:
        """Of the shares of relevance, (q, d), from components that turned and rows that were drawn.

        A component of a resample is ``sum_l V_lk w_l``, and so are its derivatives: those of the
        leading 2 q directions at a few hundred rows tell the relevance in every replicate.
        """
        q = self.turns.shape[2]
        points, coef = self.directions.coefficients()
        V, rows = self.turns[:RELEVANCE_REPLICATES, : 2 * q], _dense_rows(self.points, 2 * q)
        kernel = self.directions.subspace.kernel
        J = jacobians(kernel, Vectors(rows), points, coef[:, : 2 * q], 64).astype(np.float64)
        n, p, d = J.shape
        mean = self.weight @ rows / self.weight.sum()
        variance = self.weight @ (rows - mean) ** 2 / self.weight.sum()
        columns = np.moveaxis(J, 1, 0).reshape(p, n * d)

        def shares(turn: Array, weight: Array) -> Array:
            squares = np.square(turn.T @ columns).reshape(-1, n, d)
            parts = np.einsum("a,kaj->kj", weight, squares) * variance
            return np.asarray(parts / parts.sum(axis=1, keepdims=True))

        estimate = shares(np.eye(p, q), self.weight)
        drawn = thread_map(lambda b: shares(V[b], self.weights[b]), range(len(V)))
        # On the log, around the estimate: turning spreads relevance, which is a bias.
        logs = np.log(np.maximum(drawn, 1e-300))
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(logs - logs.mean(axis=0), tails, axis=0)
        return Interval(estimate, estimate * np.exp(low), np.minimum(estimate * np.exp(high), 1.0))


def _dense_rows(points: Points, components: int) -> Array:
    """The rows, made dense if the derivatives of so many components fit into memory."""
    entries = len(points) * components * points.width
    if points.is_sparse and entries > MOST_ENTRIES:
        raise DataError(
            f"derivatives of {components} components by {points.width} variables at {len(points)} "
            f"rows take {entries * 8 >> 20} MB; fit fewer of either, or use relevance() alone."
        )
    return np.asarray(points.to_dense())


@blas_limited
def measure_uncertainty(
    subspace: Subspace,
    X: RowsLike,
    *,
    level: float = 0.95,
    weight: Array | None = None,
    seed: int = 0,
) -> Uncertainty:
    """Sampling errors of a model, from the rows that it was fitted to.

    Parameters
    ----------
    subspace : Subspace of vectors
    X : (n, d) array or row source
        The training rows, or others like them.
    level : float, default=0.95
    weight : (n,) array, optional
    seed : int, default=0

    Notes
    -----
    One pass over the rows, as ``transform``, and 200 eigenproblems of at most 128 × 128.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.relevance import measure_uncertainty
    >>> X = np.random.default_rng(0).standard_normal((400, 3)) * [3.0, 1.0, 1.0]
    >>> model = KernelPCA(3, kernel="linear").fit(X)
    >>> found = measure_uncertainty(model.subspace_, X)
    >>> found.stable  # the second and the third have one variance, and no direction of their own
    array([ True, False, False])
    """
    require_variables(subspace, "matter")
    numbers.check_rate("level", level, 0.95)
    if (n := len(X)) < 8:
        raise DataError(f"{n} rows say nothing about their own spread; give at least 8.")
    rng, points = numbers.fixed_rng(seed), as_points(X)
    subspace = subspace.leading(COMPONENTS)
    q, center = subspace.n_components, bool(np.any(subspace.mean))
    groups = min(GROUPS, n)
    group = rng.permutation(n).astype(np.int32) % groups
    index = np.sort(rng.permutation(n)[:SAMPLE])
    w = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    rows = points.take(index).cast(subspace.coef.dtype)
    directions = Directions.of(subspace, rows, w[index], min(4 * q, q + 64), rng)
    work = partial(directions.sums, w, group, groups)
    sums: GroupSums = summed(work, points, 4 * TASK, "uncertainty")
    lam, axes = _decreasing(sums.covariances(np.ones((1, groups)), center))
    sums = sums.turned(axes[0])
    eigenvalues, shares = _intervals(lam[0], sums, q, level)
    draws = rng.exponential(size=(REPLICATES, groups))
    turns = _turns(sums.covariances(draws, center), q)
    angles = np.degrees(np.arccos(np.clip(np.abs(np.einsum("bkk->bk", turns[:, :q])), 0, 1)))
    inside = np.linalg.svd(turns[:, :q], compute_uv=False)[:, -1]
    largest = np.degrees(np.arccos(np.clip(inside, 0, 1)))
    kept = rng.permutation(len(rows))[:512]
    # The rows at hand stand for all: their weights vary as those of all rows would.
    damped = 1 + (draws - 1) * np.sqrt(min(1.0, len(kept) / n))
    own = w[index][kept]
    drawn = own * damped[:, group[index][kept]]
    resamples = _Resamples(directions.turned(axes[0]), turns, rows.take(kept), own, drawn)
    return Uncertainty(
        eigenvalues.times(sums.weight),
        shares,
        angles.mean(axis=0),
        np.quantile(angles, level, axis=0),
        (turns**2).mean(axis=0).T,
        float(np.quantile(largest, level)),
        level,
        n,
        resamples,
    )


def _intervals(lam: Array, sums: GroupSums, q: int, level: float) -> tuple[Interval, Interval]:
    """Of the q leading variances, and of their shares of the total."""
    weight, r = sums.weight, len(lam)
    trace = sums.total / weight
    tiny = np.finfo(float).tiny
    lam = np.maximum(lam, tiny)
    top = lam[:q]
    fourth, (cross, second) = sums.fourth[:r, :q], sums.fourth[r:, :q]
    # Var(mean of z²/λ - 1), and of z²/λ - t/trace, with weights
    square = np.diagonal(fourth) / top**2
    own = square - 2 * second / top + sums.fourth[-1, -1]
    share = square - 2 * cross / top / trace + sums.fourth[r, r] / trace**2
    gaps = top - lam[:, None]
    np.fill_diagonal(gaps, np.inf)
    gaps = np.where(np.abs(gaps) < tiny, tiny, gaps)
    beyond = cross - fourth.sum(axis=0)  # directions with λ near 0
    push = (fourth / gaps).sum(axis=0) + beyond / top
    z = float(ndtri((1 + level) / 2))

    def interval(estimate: Array, variance: Array) -> Interval:
        error = np.sqrt(np.maximum(variance, 0)) / weight
        # Between eigenvalues that sampling cannot tell apart the series means nothing.
        bias = np.clip(push / top / weight**2, -error / 2, error / 2)
        low, high = np.exp(-bias - z * error), np.exp(-bias + z * error)
        return Interval(estimate, estimate * low, estimate * high)

    return interval(top, own), interval(top / trace, share)


def _decreasing(C: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(C)
    return values[:, ::-1], vectors[:, :, ::-1]


def _turns(C: Array, q: int) -> Array:
    """The q leading eigenvectors of each matrix, (b, r, q), in threads."""
    with one_blas_thread():
        parts = thread_map(lambda rows: _decreasing(C[rows])[1][:, :, :q], blocks(len(C), 25))
    return np.concatenate(parts)
