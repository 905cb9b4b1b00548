"""Kernel PCA inside the span of landmarks (Nyström): one pass over the rows, r × r sums."""

import os
import time
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from mercer._base import catalogue
from mercer._base.config import with_parameters
from mercer._base.machine import n_threads
from mercer._base.numbers import check_count, fixed_rng
from mercer._base.registry import by_name
from mercer._base.types import Array, Rows
from mercer.exceptions import DataError
from mercer.gram import Checkpoint, LandmarkFeatures, chunk_sums, sum_features
from mercer.landmarks import Given, KMeans, LandmarkRule
from mercer.model.model import Model, Report
from mercer.points import Points
from mercer.solvers.audit import audit_rows, audited
from mercer.solvers.base import LAPACK, SUMS, Problem, Solver, describe
from mercer.solvers.landmark_model import (
    Few,
    LandmarkModel,
    Sample,
    counted,
    rounding,
    truncation,
    weighted_draw,
)

#: Rows on which errors are estimated: not fewer, where they are not all, and not more.
FEWEST_CHECKED, MOST_CHECKED = 700, 2000
#: Share of the truncation error below which rounding does not show: it is claimed eight times over.
HIDDEN = 0.1
#: Products in a pass from which on float32 saves more than a hundredth of a second.
WORTH = 2e8
#: Of so few landmarks the second choice is k-means after so many steps, which then cost little.
FEW, SETTLED = 50, 20


@with_parameters
class Landmarks(Solver):
    """Components inside the span of m landmarks, from one pass over the rows.

    Parameters
    ----------
    m : int, default=1000
        Number of landmarks. The error falls quickly with m; ``report_`` estimates it.
    select : str, LandmarkRule or (m, d) array, default="kmeans"
        ``"kmeans"`` (a randomly pivoted Cholesky start, then two Lloyd steps: measured best; up to
        50 landmarks twenty steps, if the estimated error is smaller), ``"rpcholesky"``,
        ``"uniform"``, a rule of :mod:`mercer.landmarks`, or the points themselves.
    checkpoint : path, optional
        A file that keeps the state of the pass. A fit that was stopped, even by a kill or a power
        cut, continues from there when it is called again, with the same result to the last bit. The
        rows summed before are read and compared first; if they have changed, the file is refused,
        and so is that of other data or parameters. It is removed when the fit is done.

    Notes
    -----
    O(n m (d + m)) time and O(m²) memory beside the rows, which may live in files or on a cluster
    (:mod:`mercer.io`). The eigenvalues are lower bounds of the exact ones;
    ``report_.estimated_error`` is an upper estimate of their relative error, from a sample of
    rows, and ``report_.unexplained`` the share of the trace outside the span. Rows in float64 in
    memory are summed in float32 first, and again in float64 where that would show: where its
    rounding is not far below what the landmarks miss. Rows elsewhere are read once, in float64.

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

    m: int = 1000
    _: KW_ONLY
    select: str | LandmarkRule | Any = "kmeans"
    checkpoint: str | os.PathLike[str] | None = None

    def fit(self, problem: Problem) -> Model:
        started = time.perf_counter()
        check_count("m", self.m)
        problem.points.require_open("solver='landmarks'", "use solver='davidson'")
        leading = problem.rule.guess(min(self.m, problem.rank_limit))  # decides about whitening
        checkpoint = None
        if self.checkpoint is not None:
            fingerprint = problem.fingerprint(leading, self.m, describe(self.select))
            checkpoint = Checkpoint(self.checkpoint, fingerprint)
        # Two streams of random numbers: a resumed fit skips the choice of landmarks.
        seeds = problem.rng.integers(2**63, size=2)
        if checkpoint is not None and checkpoint.seeds is not None:
            seeds = checkpoint.seeds
        choosing, checking = map(fixed_rng, seeds)
        pool, sample = _samples(problem, self.m, choosing, checking)
        if checkpoint is None or checkpoint.landmarks is None:
            landmarks = self._choose(problem, pool.rows, sample, choosing)
        else:
            landmarks = checkpoint.landmarks
        features = LandmarkFeatures(problem.kernel, landmarks, problem.dtype, leading)
        if checkpoint is not None:
            checkpoint.begin(features.points, seeds, pool)
        # Rows elsewhere are read once only, and rows in memory rather twice than rounded too soon.
        once = checkpoint is not None or not problem.points.is_here
        short = problem.n * self.m * (problem.d + self.m / 2) < WORTH
        few = sample.few(problem.kernel, features.points)
        learnt = None if once or short else _in_single(features, problem, sample, few)
        if learnt is None:
            model = counted(_model(features, problem, checkpoint), problem.rule, few)
            learnt = model, *truncation(model, sample)
        fit = _fit(learnt, few, started)
        if checkpoint is not None:
            checkpoint.remove()
        return fit

    def estimate_bytes(self, problem: Problem, k: int) -> int:  # noqa: ARG002
        return _bytes(min(check_count("m", self.m), problem.n))

    def estimate_seconds(self, problem: Problem, k: int) -> float:  # noqa: ARG002
        n, m = problem.n, min(check_count("m", self.m), problem.n)
        return (n * m * (2 * problem.d + m) / SUMS + m**3 / LAPACK) / n_threads()

    def _choose(
        self, problem: Problem, rows: Rows, sample: Sample, rng: np.random.Generator
    ) -> Rows:
        """By the rule; a few centres by the better of a few Lloyd steps and many."""
        kernel, m = problem.kernel, min(self.m, problem.n)
        landmarks = as_landmark_rule(self.select).select(kernel, rows, m, rng)
        is_usual = isinstance(self.select, str) and self.select == "kmeans"
        if not is_usual or not kernel.takes_vectors or m > FEW or m == problem.n:
            return landmarks
        settled = KMeans(steps=SETTLED).select(kernel, rows, m, rng)
        return min(landmarks, settled, key=lambda chosen: _estimated(chosen, problem, sample))


def _bytes(m: int) -> int:
    """The sums, and blocks of features of m landmarks."""
    return (3 * m * m + 4 * 2048 * m) * 8


def _model(
    features: LandmarkFeatures, problem: Problem, checkpoint: Checkpoint | None = None
) -> LandmarkModel:
    """From one pass over the rows."""
    sums = sum_features(features, problem.points, problem.weight, checkpoint)
    return LandmarkModel.of(features, sums, problem.center, problem.n)


def _estimated(landmarks: Rows, problem: Problem, sample: Sample) -> float:
    """The largest error of a component that these landmarks leave, by the sample alone."""
    count = problem.rule.guess(min(len(landmarks), problem.rank_limit))
    features = LandmarkFeatures(problem.kernel, landmarks, problem.dtype, count)
    sums = chunk_sums(features, sample.weight, slice(None), sample.rows.rows)
    try:
        model = LandmarkModel.of(features, sums, problem.center, problem.n)
    except DataError:  # all rows may vary where those of the sample do not
        return np.inf
    model = model.leading(problem.rule.count(model.values, model.trace) or len(model.values))
    return float(truncation(model, sample)[0].max())


def _in_single(
    features: LandmarkFeatures, problem: Problem, sample: Sample, few: Few
) -> tuple[LandmarkModel, Array, Array] | None:
    """The model of rows in float64 from kernel values in float32, which take half the time.

    None where that shows: where its rounding is not far below what the landmarks do not see.
    """
    rough = features.in_single() if problem.kernel.is_mercer else None
    if rough is None:
        return None
    model = _model(rough, problem)
    count = problem.rule.count(model.values, model.trace)
    if count is None or count >= len(model.values):
        return None
    model = model.leading(count)
    model = replace(model, rounded=rounding(model, few))
    truncated, norms = truncation(model, sample)
    return (model, truncated, norms) if (model.rounded < HIDDEN * truncated).all() else None


def _fit(learnt: tuple[LandmarkModel, Array, Array], few: Few, started: float) -> Model:
    """The Model, with how it was found."""
    model, truncated, norms = learnt
    # Rounding is looked at on few rows, and was four times as large once in 20,000 fits.
    error = float((truncated + 2 * model.rounded).max())
    seconds, needed = time.perf_counter() - started, _bytes(len(model.mean))
    report = Report("Landmarks", "asked for", 1, seconds, estimated_error=error, bytes=needed)
    return audited_model(model, few, norms.astype(model.features.dtype), report)


def audited_model(model: LandmarkModel, few: Few, residuals: Array | None, report: Report) -> Model:
    """The Model, audited on a few of the rows."""
    subspace, values = model.subspace(), model.values.astype(model.features.dtype)
    variance = model.values / model.weight
    findings = audit_rows(subspace, few.rows, variance, model.rounded, few.exact)
    report = audited(replace(report, unexplained=model.unexplained), findings)
    return Model.of(subspace, values, residuals, report, rows=model.weight, trace=model.trace)


def _samples(
    problem: Problem, m: int, choosing: np.random.Generator, checking: np.random.Generator
) -> tuple[Points, Sample]:
    """Rows to choose m landmarks from, and other rows to look at the error on."""
    X, n, weight = problem.points, problem.n, problem.weight
    pool = max(20_000, 5 * m)
    # p² kernel values tell the error of n · m: a sixth of them keeps the check short.
    p = int(np.clip(np.sqrt(n * m / 6), FEWEST_CHECKED, MOST_CHECKED))
    if X.is_here or n <= pool + p:
        rows = X.loaded()
        return rows, Sample.draw(rows, weight, p, checking)
    # One pass over the storage for both.
    if weight is None:
        both, total, share = X.sample(pool + p, choosing), float(n), p / n
        apart = checking.permutation(len(both)) < p
    else:
        index = choosing.choice(n, pool, replace=False)
        index = np.append(index, weighted_draw(weight, p, checking))
        order = np.argsort(index, kind="stable")
        both, total, share = X.take(index[order]), float(weight.sum()), 0.0
        apart = order >= pool
    return both.take(~apart), Sample(both.take(apart), np.full(p, total / p), share)


def as_landmark_rule(select: Any) -> LandmarkRule:
    """A rule from its name, from points, or the rule itself."""
    if not isinstance(select, str | LandmarkRule):
        return Given(select)
    others = "a rule of mercer.landmarks, or the points themselves"
    return by_name("select", select, LandmarkRule, catalogue.LANDMARK_RULES, DataError, others)
