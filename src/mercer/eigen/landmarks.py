"""Kernel PCA inside the span of landmarks (Nyström): one pass over the rows, r × r sums."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._by_name import by_name
from mercer._config import Config
from mercer._linalg import Array, square_sums
from mercer._random import fixed_rng
from mercer.eigen.audit import audit_rows, audited
from mercer.eigen.base import Problem, Solver
from mercer.eigen.policy import NEGATIVE_LIMIT, noise_floor, refuse_negative
from mercer.eigen.result import Fit, Report
from mercer.exceptions import DataError, RankWarning, warn
from mercer.gram import Checkpoint, FeatureSums, LandmarkFeatures, sum_features
from mercer.kernels import Basis
from mercer.landmarks import Given, KMeans, LandmarkRule, RPCholesky, Uniform, sample_rows
from mercer.rows import Rows, as_rows
from mercer.subspace import Subspace, from_features

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
    checkpoint : path, optional
        A file that keeps the state of the pass. A fit that was stopped, even by a kill or a power
        cut, goes on from there when it is called again, with the same result to the last bit. The
        rows summed before are read and compared first; if they have changed, the file is refused,
        and so is that of other data or parameters. It is removed when the fit is done.

    Notes
    -----
    O(n m (d + m)) time and O(m²) memory beside the rows, which may live in files or on a cluster
    (:mod:`mercer.rows`). The eigenvalues are lower bounds of the exact ones;
    ``report_.estimated_error`` is an upper estimate of their relative error, from a sample of
    rows, and ``report_.unexplained`` the share of the trace outside the span.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.solvers import Landmarks
    >>> X = np.random.default_rng(0).standard_normal((2000, 4))
    >>> model = KernelPCA(5, solver=Landmarks(200), random_state=0).fit(X)
    >>> bool(model.report_.estimated_error < 0.02)
    True
    """

    reads_in_place = True

    def __init__(
        self,
        m: int = 1000,
        *,
        select: str | LandmarkRule | Any = "kmeans",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.m = m
        self.select = select
        self.checkpoint = checkpoint

    def fit(self, problem: Problem) -> Fit:
        started = time.perf_counter()
        problem.kernel.points(problem.X).require_open("solver='landmarks'")
        checkpoint = self._open_checkpoint(problem)
        # Two streams of random numbers: a resumed fit skips the choice of landmarks.
        seeds = problem.rng.integers(2**63, size=2)
        if checkpoint is not None and checkpoint.seeds is not None:
            seeds = checkpoint.seeds
        choosing, checking = map(fixed_rng, seeds)
        pool, sample = _samples(problem, max(20_000, 5 * self.m), choosing, checking)
        if checkpoint is None or checkpoint.landmarks is None:
            m = min(self.m, problem.n)
            landmarks = as_landmark_rule(self.select).select(problem.kernel, pool, m, choosing)
        else:
            landmarks = checkpoint.landmarks
        if checkpoint is not None:
            checkpoint.begin(landmarks, seeds, pool)
        leading = problem.rule.guess(min(self.m, problem.rank_limit))
        features = LandmarkFeatures(problem.kernel, landmarks, problem.dtype, leading)
        sums = sum_features(features, problem.X, problem.weight, checkpoint)
        fit = LandmarkModel.of(features, sums, problem.center).fit(problem, sample, started)
        if checkpoint is not None:
            checkpoint.remove()
        return fit

    def estimate_bytes(self, problem: Problem, k: int) -> int:  # noqa: ARG002
        return _bytes(min(self.m, problem.n))

    def _open_checkpoint(self, problem: Problem) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        weight = b"" if problem.weight is None else problem.weight.tobytes()
        parts = (
            as_rows(problem.X).fingerprint(),
            problem.n,
            problem.d,
            str(problem.dtype),
            describe(problem.kernel),
            problem.rule.guess(min(self.m, problem.rank_limit)),  # decides how sums are whitened
            self.m,
            describe(self.select),
            hashlib.sha256(weight).hexdigest(),
        )
        return Checkpoint(self.checkpoint, hashlib.sha256(repr(parts).encode()).hexdigest())


def _bytes(m: int) -> int:
    """The sums, and blocks of features of m landmarks."""
    return (3 * m * m + 4 * 2048 * m) * 8


def describe(value: Any) -> str:
    """Everything about a parameter, to the last bit: what ``repr`` shortens is written out."""
    if isinstance(value, Config):
        inner = sorted(value.get_params(deep=False).items())
        return f"{type(value).__name__}({[(name, describe(part)) for name, part in inner]})"
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return repr(value)


def _samples(
    problem: Problem, size: int, choosing: np.random.Generator, checking: np.random.Generator
) -> tuple[Any, Any]:
    """Rows to choose landmarks from, and other rows to look at the error on."""
    if not isinstance(problem.X, Rows):
        return problem.X, sample_rows(problem.X, CHECK_ROWS, checking)
    # One pass over the storage for both.
    both = sample_rows(problem.X, size + CHECK_ROWS, choosing)
    if len(both) == problem.n:
        return both, sample_rows(both, CHECK_ROWS, checking)
    apart = checking.permutation(len(both)) < CHECK_ROWS
    return both[~apart], both[apart]


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
    values: Array
    vectors: Array
    mean: Array
    weight: float
    trace: float
    unexplained: float

    @classmethod
    def of(cls, features: LandmarkFeatures, sums: FeatureSums, center: bool) -> LandmarkModel:
        """From the sums over the rows."""
        if not features.kernel.is_mercer:
            spectrum = np.linalg.eigvalsh(features.gram)
            refuse_negative(spectrum[0], spectrum[-1], NEGATIVE_LIMIT * spectrum[-1])
        sums = features.whitened(sums)
        mean = sums.linear / sums.weight if center else np.zeros(len(sums.linear))
        values, vectors = np.linalg.eigh(sums.square - sums.weight * np.outer(mean, mean))
        trace = sums.diagonal - sums.weight * float(mean @ mean)
        scale = sums.diagonal / sums.weight
        floor = noise_floor(values[-1], len(values), scale, np.dtype(np.float64))
        if values[-1] <= floor:
            raise DataError(
                "kernel has no variance on the landmarks: the largest eigenvalue is "
                f"{values[-1]:.2g}; give rows that differ, or another kernel width."
            )
        keep = values > floor
        unexplained = max(sums.diagonal - float(np.trace(sums.square)), 0.0)
        return cls(
            features,
            values[keep][::-1],
            vectors[:, keep][:, ::-1],
            mean,
            sums.weight,
            trace,
            unexplained / trace,
        )

    def fit(self, problem: Problem, sample: Any, started: float) -> Fit:
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
        residuals, beyond = self.residuals(sample, q)
        errors, r = self.errors(residuals, beyond), len(self.mean)
        report = Report(
            solver="Landmarks",
            reason="asked for",
            passes=1,
            seconds=time.perf_counter() - started,
            estimated_error=float(errors.max()),
            bytes=_bytes(r),
            unexplained=self.unexplained,
        )
        subspace, rounding = self.subspace(q), np.full(q, self.features.rounding)
        findings = audit_rows(subspace, sample, self.values[:q] / self.weight, rounding)
        return Fit.of(
            subspace,
            self.values[:q].astype(self.features.dtype),
            residuals.astype(self.features.dtype),
            audited(report, findings),
            rows=self.weight,
            trace=self.trace,
        )

    def subspace(self, q: int) -> Subspace:
        """The leading q directions, written on the landmarks."""
        parts = (self.features.basis, self.mean, self.vectors[:, :q])
        return from_features(
            self.features.kernel,
            self.features.landmarks,
            *(part.astype(self.features.dtype) for part in parts),
        )

    def errors(self, residuals: Array, beyond: float) -> Array:
        """Upper estimates of the eigenvalues' relative errors: the smaller of the two bounds."""
        lam = self.values[: len(residuals)]
        gap = lam - beyond
        share = np.divide(residuals, gap, out=np.ones(len(lam)), where=gap > residuals)
        truncation = residuals / lam * share
        return np.asarray(truncation + self.features.rounding)

    def residuals(self, sample: Any, q: int) -> tuple[Array, float]:
        r"""Estimated ``|A w - λ w|`` for the leading q directions, and the next eigenvalue.

        Inside the span the pair is exact; outside, the residual is
        :math:`\sum_i z_i \phi_\perp(x_i)` with :math:`\phi_\perp` the part of a point that the
        landmarks do not see. Its squared norm is a double sum over rows, estimated from the pairs
        of a sample.
        """
        kernel, p, n = self.features.kernel, len(sample), self.weight
        sample = kernel.points(sample).cast(np.float64).rows
        a = self.features.kernel_values(sample) @ self.features.basis
        Z = (a - self.mean) @ self.vectors[:, :q]
        outside = Basis(kernel, sample, np.float64).gram() - a @ a.T
        own = np.maximum(kernel.diag(sample) - square_sums(a), 0)
        np.fill_diagonal(outside, 0)
        shares = Z * (outside @ Z)
        beyond = _largest_eigenvalue(outside, own) * n / p
        if p >= n:
            return np.sqrt(np.maximum(shares.sum(axis=0) + own @ Z**2, 0)), beyond
        # Two standard deviations on top, because the estimate shall rather be too large: those of
        # a sum over pairs have a part from the rows and one from the pairs themselves.
        from_rows = 4 * p * shares.var(axis=0)
        from_pairs = 2 * np.einsum("iq,iq->q", Z**2, outside**2 @ Z**2)
        upper = shares.sum(axis=0) + 2 * np.sqrt(from_rows + from_pairs)
        diagonal = own @ Z**2 + 2 * np.sqrt(p * (own[:, None] * Z**2).var(axis=0))
        scale = n * (n - 1) / (p * (p - 1))
        return np.sqrt(np.maximum(upper, 0) * scale + diagonal * n / p), beyond


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


_BY_NAME: dict[str, type[LandmarkRule]] = {
    "kmeans": KMeans,
    "rpcholesky": RPCholesky,
    "uniform": Uniform,
}


def as_landmark_rule(select: Any) -> LandmarkRule:
    """A rule from its name, from points, or the rule itself."""
    if not isinstance(select, str | LandmarkRule):
        return Given(select)
    others = "a rule of mercer.landmarks, or the points themselves"
    return by_name("select", select, LandmarkRule, _BY_NAME, DataError, others)
