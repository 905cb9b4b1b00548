"""Kernel PCA inside the span of landmarks (Nyström): one pass over the rows, r × r sums."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.eigen.base import Problem, Solver
from mercer.eigen.policy import NEGATIVE_LIMIT, noise_floor, refuse_negative
from mercer.eigen.result import Fit, Report
from mercer.exceptions import DataError, KernelError, RankWarning, warn
from mercer.gram import FeatureSums, LandmarkFeatures, sum_features, whiten
from mercer.kernels import cross_gram
from mercer.landmarks import Given, KMeans, LandmarkRule, RPCholesky, Uniform, sample_rows
from mercer.subspace import from_features

__all__ = ["LandmarkModel", "Landmarks"]

#: Rows on which the part of feature space outside the span is looked at.
CHECK_ROWS = 2000


class Landmarks(Solver):
    """Components inside the span of m landmarks, from one pass over the rows.

    Parameters
    ----------
    m : int, default=1000
        Number of landmarks. The error falls quickly with m; ``report_`` estimates it.
    select : str, LandmarkRule or (m, d) array, default="kmeans"
        ``"kmeans"`` (a randomly pivoted Cholesky start, then two Lloyd steps: measured best),
        ``"rpcholesky"``, ``"uniform"``, a rule of :mod:`mercer.landmarks`, or the points
        themselves.

    Notes
    -----
    O(n m (d + m)) time and O(m²) memory beside the rows, which may be a memmap. The eigenvalues are
    lower bounds of the exact ones; ``report_.unexplained`` is the share of the trace outside the
    span.
    """

    def __init__(self, m: int = 1000, *, select: str | LandmarkRule | Any = "kmeans") -> None:
        self.m = m
        self.select = select

    def fit(self, problem: Problem) -> Fit:
        started = time.perf_counter()
        landmarks = self.choose(problem)
        features = LandmarkFeatures(problem.kernel, landmarks)
        sums = sum_features(features, problem.X, problem.weight)
        return LandmarkModel.of(features, sums, problem).fit(problem, started)

    def choose(self, problem: Problem) -> Any:
        """The landmarks."""
        if problem.kernel.is_pairwise:
            raise KernelError(
                "landmarks need points, and a precomputed matrix has none; "
                "use solver='davidson' or 'lanczos'."
            )
        m = min(self.m, problem.n)
        return as_landmark_rule(self.select).select(problem.kernel, problem.X, m, problem.rng)


@dataclass(frozen=True)
class LandmarkModel:
    """Eigenpairs of the covariance of ``a(x) = Rᵀ k(Z, x)``, where Z are the landmarks.

    Attributes
    ----------
    values, vectors : eigenpairs in the coordinates a, values as of the Gram matrix
    mean : (r,) the mean of a
    weight : number of rows, or the sum of their weights
    trace : total variance, of which ``unexplained`` lies outside the span of the landmarks
    """

    features: LandmarkFeatures
    basis: Array
    values: Array
    vectors: Array
    mean: Array
    weight: float
    trace: float
    unexplained: float

    @classmethod
    def of(cls, features: LandmarkFeatures, sums: FeatureSums, problem: Problem) -> LandmarkModel:
        """From the sums over the rows."""
        K = cross_gram(features.kernel, features.packed, features.packed).astype(np.float64)
        if not features.kernel.is_mercer:
            spectrum = np.linalg.eigvalsh(K)
            refuse_negative(spectrum[0], spectrum[-1], NEGATIVE_LIMIT * spectrum[-1])
        R = whiten((K + K.T) / 2)
        mean = R.T @ sums.linear / sums.weight if problem.center else np.zeros(R.shape[1])
        second = R.T @ sums.square @ R
        values, vectors = np.linalg.eigh(second - sums.weight * np.outer(mean, mean))
        trace = sums.diagonal - sums.weight * float(mean @ mean)
        floor = noise_floor(values[-1], len(K), float(K.diagonal().max()), problem.dtype)
        if values[-1] <= floor:
            raise DataError(
                "kernel has no variance on the landmarks: the largest eigenvalue is "
                f"{values[-1]:.2g}; give rows that differ, or another kernel width."
            )
        keep = values > floor
        unexplained = max(sums.diagonal - float(np.trace(second)), 0.0)
        return cls(
            features,
            R,
            values[keep][::-1],
            vectors[:, keep][:, ::-1],
            mean,
            sums.weight,
            trace,
            unexplained / trace,
        )

    def fit(self, problem: Problem, started: float) -> Fit:
        """The Fit, with errors estimated on a sample of the rows."""
        rank = len(self.values)
        counted = problem.rule.count(self.values, self.trace)
        q = rank if counted is None else counted
        asked = problem.rule.guess(problem.rank_limit)
        if problem.rule.is_request and rank < asked:
            warn(
                f"{asked} components were asked for, but the landmarks span only {rank}; "
                f"kept {rank}. Ask for fewer, or give more landmarks.",
                RankWarning,
            )
        lam = self.values[:q]
        residuals, beyond = self.residuals(sample_rows(problem.X, CHECK_ROWS, problem.rng), q)
        gap = np.maximum(lam - beyond, np.finfo(float).tiny)
        dtype, r = problem.dtype, len(self.mean)
        report = Report(
            solver="Landmarks",
            reason="asked for",
            passes=1,
            seconds=time.perf_counter() - started,
            estimated_error=float(np.max(residuals / lam * np.minimum(1, residuals / gap))),
            bytes=(3 * r * r + 4 * 2048 * r) * 8,
            unexplained=self.unexplained,
        )
        subspace = from_features(
            problem.kernel,
            self.features.landmarks,
            *(part.astype(dtype) for part in (self.basis, self.mean, self.vectors[:, :q])),
        )
        return Fit(subspace, lam.astype(dtype), residuals.astype(dtype), self.trace, report)

    def residuals(self, sample: Any, q: int) -> tuple[Array, float]:
        r"""Estimated ``|A w - λ w|`` for the leading q directions, and the next eigenvalue.

        Inside the span the pair is exact; outside, the residual is :math:`\sum_i z_i
        \phi_\perp(x_i)`
        with :math:`\phi_\perp` the part of a point that the landmarks do not see. Its squared norm
        is a double sum over rows, estimated from the pairs of a sample.
        """
        kernel, p, n = self.features.kernel, len(sample), self.weight
        packed = kernel.pack(sample, self.features.origin)
        a = self.features.of(sample, np.float64) @ self.basis
        Z = (a - self.mean) @ self.vectors[:, :q]
        outside = cross_gram(kernel, packed, packed).astype(np.float64) - a @ a.T
        own = np.maximum(kernel.diag(sample) - square_sums(a), 0)
        np.fill_diagonal(outside, 0)
        pairs = np.einsum("iq,iq->q", Z, outside @ Z)
        beyond = _largest_eigenvalue(outside, own) * n / p
        if p >= n:
            return np.sqrt(np.maximum(pairs + own @ Z**2, 0)), beyond
        # Two standard deviations on top: the estimate shall rather be too large.
        spread = np.sqrt(2 * np.einsum("iq,iq->q", Z**2, outside**2 @ Z**2))
        upper = (pairs + 2 * spread) * n * (n - 1) / (p * (p - 1))
        return np.sqrt(np.maximum(upper, 0) + own @ Z**2 * n / p), beyond


def _largest_eigenvalue(off_diagonal: Array, diagonal: Array) -> float:
    """Of a small positive definite matrix, by a few power steps: a tenth off does no harm."""
    v = np.ones(len(diagonal))
    size = 0.0
    for _ in range(20):
        v = off_diagonal @ v + diagonal * v
        size = float(np.linalg.norm(v))
        if size == 0:
            return 0.0
        v /= size
    return size


def as_landmark_rule(select: Any) -> LandmarkRule:
    """A rule from its name, from points, or the rule itself."""
    if isinstance(select, LandmarkRule):
        return select
    if isinstance(select, str):
        if select not in _BY_NAME:
            raise DataError(
                f"select={select!r} is not known; give one of {', '.join(map(repr, _BY_NAME))}, "
                "a rule of mercer.landmarks, or the points themselves."
            )
        return _BY_NAME[select]()
    return Given(select)


_BY_NAME: dict[str, type[LandmarkRule]] = {
    "kmeans": KMeans,
    "rpcholesky": RPCholesky,
    "uniform": Uniform,
}
