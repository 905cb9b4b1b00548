"""The role of a solver: from a problem (kernel, rows, rule) to a Subspace with a report."""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from mercer import gram
from mercer._base.config import Config
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import ConvergenceWarning, DataError, warn
from mercer.gram.passes import Passes
from mercer.kernels import Kernel
from mercer.model import ComponentRule, Subspace, from_gram
from mercer.model.model import Model, Report, Spectrum
from mercer.points import Points
from mercer.points.crew import Crew
from mercer.points.source import as_source
from mercer.points.sparse import SparseRows
from mercer.solvers import policy
from mercer.solvers.audit import Finding, audit_rows, audit_scores, audit_spectrum, audited
from mercer.solvers.plan import Plan

#: Operations a second of one core, as measured: n³ of LAPACK's eigenvectors, sums of landmark
#: features, kernel values by tiles, and products with a matrix that is kept. What a solver takes is
#: estimated by them, rather too high than too low.
LAPACK, SUMS, TILES, PRODUCTS = 6e9, 1e10, 8e10, 2.5e9
#: What a kernel value costs beside the product of two rows, in operations.
VALUE = 60
#: Share of distinct rows up to which copies are merged.
MERGED = 0.8


@dataclass(frozen=True)
class Problem:
    """What is to be solved: clean rows, a resolved kernel, and how many components are wanted."""

    kernel: Kernel
    points: Points
    rule: ComponentRule
    rng: np.random.Generator
    weight: Array | None = None
    center: bool = True
    crew: Crew | None = None
    passes: Passes | None = None

    def __post_init__(self) -> None:
        vars(self)["points"] = self.kernel.points(self.points)

    @property
    def X(self) -> Rows:  # noqa: N802
        """The rows themselves, for solvers from outside."""
        return self.points.rows

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.points)

    @property
    def d(self) -> int:
        """Number of columns; 1 for objects."""
        return self.points.width

    @property
    def dtype(self) -> np.dtype:
        """float32 for float32 rows, else float64."""
        return self.points.dtype

    @cached_property
    def spot(self) -> gram.SpotCheck:
        """A few rows of the Gram matrix by the kernel's definition."""
        return gram.SpotCheck(self.kernel, self.points, self.weight)

    def streamed(
        self, dtype: Precision, tile_dtype: Precision = None, *, keep: bool = False
    ) -> gram.StreamedGram:
        """The Gram matrix by tiles, which are computed again in every product, or kept."""
        matrix = self.kernel, self.points, dtype, tile_dtype
        return gram.StreamedGram.from_rows(*matrix, spot=self.spot, keep=keep, passes=self.passes)

    def loaded(self) -> Problem:
        """With the rows in memory, and the workers beside which they were."""
        points = self.points
        if points.is_here:
            return self
        return replace(self, points=points.loaded(), crew=points.crew())

    def merged(self) -> tuple[Problem, Array | None]:
        """The same with one row, of greater weight, for rows that are copies; and whose copies.

        Itself and None but where that saves a good part of the work.
        """
        most = int(MERGED * self.n)
        copies = self.points.copies(most)
        if copies is None or not 1 < len(copies[0]) <= most:
            return self, None
        first, group = copies
        weight = np.bincount(group, weights=self.weight).astype(np.float64)
        return replace(self, points=self.points.take(first), weight=weight), group

    def fingerprint(self, *parts: Any) -> str:
        """What a fit depends on, as a short text: a checkpoint of another fit is refused by it.

        Of a look at the rows, of the kernel, the weights, and of what a solver adds.
        """
        weight = b"" if self.weight is None else self.weight.tobytes()
        look, kernel = as_source(self.points).fingerprint(), describe(self.kernel)
        digest = hashlib.sha256(weight).hexdigest()
        everything = (look, self.n, self.d, str(self.dtype), kernel, *parts, digest)
        return hashlib.sha256(repr(everything).encode()).hexdigest()

    @property
    def total(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(self.n if self.weight is None else self.weight.sum())

    @property
    def rank_limit(self) -> int:
        """The most components that can exist: centring takes one away."""
        return max(1, self.n - int(self.center))


def describe(value: Any) -> str:
    """Everything about a parameter, to the last bit: what ``repr`` shortens is written out."""
    if isinstance(value, Config):
        inner = sorted(value.get_params(deep=False).items())
        return f"{type(value).__name__}({[(name, describe(part)) for name, part in inner]})"
    if issparse(value) or isinstance(value, Points):
        return repr([describe(part) for part in SparseRows.of(value).arrays()])
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return repr(value)


class Solver(Config, ABC):
    """A strategy that fits a Subspace."""

    #: Works on rows where they are, block by block, and can keep its state in a checkpoint.
    reads_in_place: ClassVar[bool] = False
    #: Can keep its state in a checkpoint, though it loads the rows.
    keeps_passes: ClassVar[bool] = False

    @abstractmethod
    def fit(self, problem: Problem) -> Model:
        """Solve the problem."""

    @abstractmethod
    def estimate_bytes(self, problem: Problem, k: int) -> int:
        """Estimated peak of the solver's own arrays, for k components."""

    def estimate_seconds(self, problem: Problem, k: int) -> float:  # noqa: ARG002
        """Estimated seconds for k components on this machine; 0 if unknown."""
        return 0.0

    def plan(self, problem: Problem) -> Plan:
        """What :meth:`fit` is going to do; looks at the size of the problem only."""
        in_place = self.reads_in_place and not problem.rule.needs_all_rows
        loads = not problem.points.is_here and not in_place
        k = problem.rule.guess(problem.rank_limit)
        needed, seconds = self.estimate_bytes(problem, k), self.estimate_seconds(problem, k)
        if loads:
            needed += problem.n * problem.d * problem.dtype.itemsize
        resumable = in_place or (self.keeps_passes and not problem.rule.needs_all_rows)
        return Plan(self, "asked for", problem.rule, needed, loads, resumable, seconds)


class EigenSolver(Solver):
    """A solver that works on the Gram matrix, as an operator."""

    #: Every product computes the matrix again; then the solver looks at the trace after its first.
    streams: ClassVar[bool] = False

    @abstractmethod
    def solve(self, operator: gram.GramOperator, k: int, rng: np.random.Generator) -> Spectrum:
        """The k leading eigenpairs of a symmetric operator."""

    def bind(self, problem: Problem) -> gram.GramOperator:
        """The Gram matrix in the storage that suits this solver, before weights and centring."""
        return problem.streamed(problem.dtype)

    def fit(self, problem: Problem) -> Model:
        # Each entry of the Gram matrix needs two rows; only landmarks work from the source.
        problem = problem.loaded()
        distinct, group = problem.merged()
        fit = self._fit(distinct)
        if group is None:
            return fit
        weight, total = problem.weight, np.asarray(distinct.weight)[group]
        share = np.divide(1.0 if weight is None else weight, total, where=total > 0, out=0 * total)
        points = problem.points.cast(fit.eigenvalues.dtype)
        return replace(fit, subspace=fit.subspace.spread(points, group, share))

    def _fit(self, problem: Problem) -> Model:
        """With rows in memory, no matter whether some are copies of others."""
        started = time.perf_counter()
        operator = _weighted_and_centered(self.bind(problem), problem)
        if not self.streams and not operator.can_refine:
            # A solver that streams learns the trace by its first pass.
            policy.refuse_no_variance(operator)
        spectrum, q = self._solve_for_rule(operator, problem)
        operator = spectrum.operator
        if policy.hides_scores(spectrum, problem.dtype):
            return self._fit(replace(problem, points=problem.points.cast(np.float64)))
        trace = policy.total_variance(operator, spectrum.values[:q])
        policy.warn_if_degenerate(problem.kernel, problem.points, spectrum.values, trace, operator)
        name, passes, converged = type(self).__name__, spectrum.passes, spectrum.converged
        if not converged:
            stopped = f"{name} stopped after {passes} passes with {q} pairs"
            error = f"an estimated relative error of {spectrum.errors.max():.2g}"
            remedy = "allow more passes (max_iter, max_passes) or raise tol."
            warn(f"{stopped} and {error}; {remedy}", ConvergenceWarning)
        worst, needed = float(spectrum.errors[:q].max()), self.estimate_bytes(problem, q)
        seconds = time.perf_counter() - started
        report = Report(name, "asked for", passes, seconds, worst, needed, converged)
        subspace, total = self._subspace(problem, spectrum, q), problem.total
        values = spectrum.values[:q].astype(problem.dtype, copy=False)
        norms = spectrum.residuals[:q].astype(problem.dtype, copy=False)
        fit = Model.of(subspace, values, norms, report, rows=total, trace=trace, of_gram=True)
        findings = _findings(problem, fit, spectrum, q)
        return replace(fit, report=audited(fit.report, findings))

    def _solve_for_rule(
        self, operator: gram.GramOperator, problem: Problem
    ) -> tuple[Spectrum, int]:
        """Ask for more eigenpairs until the rule can tell how many it wants."""
        k, passes = problem.rule.guess(problem.rank_limit), 0
        while True:
            spectrum = self.solve(operator, k, problem.rng)
            if spectrum.operator.can_refine and policy.hides_components(spectrum, problem.rule):
                spectrum = self.solve(spectrum.operator.refined(), k, problem.rng)
            policy.refuse_no_variance(spectrum.operator)
            passes += spectrum.passes
            spectrum = replace(spectrum, passes=passes)
            rank = policy.keep_positive(spectrum, problem.kernel, problem.rule)
            q = problem.rule.count(spectrum.values[:rank], spectrum.operator.trace())
            if q is not None:
                return spectrum, q
            if rank < k or k >= problem.rank_limit:
                return spectrum, rank  # there is nothing more to be had
            k = min(2 * k, problem.rank_limit)

    @staticmethod
    def _subspace(problem: Problem, spectrum: Spectrum, q: int) -> Subspace:
        operator, values = spectrum.operator, spectrum.values[:q]
        vectors = spectrum.vectors[:, :q].astype(problem.dtype, copy=False)
        subspace = from_gram(problem.kernel, problem.points, operator, values, vectors)
        packed = operator.basis
        if packed is None or packed.points.rows is not subspace.support:
            return subspace
        return subspace.on(packed) if operator.precision == problem.dtype else subspace


def _findings(problem: Problem, fit: Model, spectrum: Spectrum, q: int) -> list[Finding]:
    subspace, spot = fit.subspace, problem.spot
    # What the model holds is audited, not what the solver has found.
    kept = fit.eigenvalues.astype(spectrum.values.dtype, copy=False)
    spectrum = replace(spectrum, values=np.append(kept, spectrum.values[q:]))
    request = problem.rule.guess(problem.rank_limit) if problem.rule.is_request else 0
    dropped = spectrum.converged and q < request
    findings = audit_spectrum(subspace, spectrum, q, spot, dropped=dropped)
    scores = fit.scores(problem.weight)
    if scores is not None:
        findings.append(audit_scores(subspace, spectrum, scores, spot))
    if not problem.points.is_open:  # new rows have no definition but themselves
        # A given matrix may be asymmetric by 1e-10, and its rows are not its columns then.
        return [replace(finding, allowed=finding.allowed + 1e-9) for finding in findings]
    variance, errors = spectrum.values[:q] / problem.total, spectrum.errors[:q]
    return [*findings, *audit_rows(subspace, spot.rows, variance, errors, spot.values)]


def _weighted_and_centered(base: gram.GramOperator, problem: Problem) -> gram.GramOperator:
    # In float64 whatever the rows are: a direction that is not a unit vector projects badly.
    n = problem.n
    direction = np.full(n, 1 / np.sqrt(n))
    if problem.weight is not None:
        root = np.sqrt(problem.weight, dtype=np.float64)
        base = gram.WeightedGram(base, root)
        direction = root / np.linalg.norm(root)
    if not problem.center:
        return gram.UncenteredGram(base, direction)
    if n < 2:
        raise DataError(f"kernel PCA needs at least 2 rows, not {n}; give more rows.")
    return gram.CenteredGram(base, direction)
