"""Judge a fit by the definition: whether it is right, and whether it knows how right it is."""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.exceptions import (
    ConvergenceWarning,
    IndefiniteKernelWarning,
    MercerError,
    NumericalWarning,
    RankWarning,
)
from mercer.kernels.composite import Scaled
from tests.cross.grams import check_operators
from tests.cross.limits import Unbounded, bounded
from tests.cross.outputs import Outputs, check_outputs
from tests.cross.problems import FitProblem
from tests.cross.reference import Reference

OUTCOMES = (
    "ok",
    "refused",
    "wrong",
    "over-claimed",
    "refused without cause",
    "too slow",
    "crashed",
)

#: Eigenvalues below minus this share of the largest make a kernel indefinite (FAULTS, the policy).
NEGATIVE_LIMIT = 1e-5
#: Seconds of the processor for a fit of less than a thousand rows; most take some milliseconds.
SECONDS = 10.0


@dataclass(frozen=True)
class Verdict:
    """What became of a fit: one of :data:`OUTCOMES`, why, its cost, and its own audit's word."""

    outcome: str
    detail: str = ""
    seconds: float = 0.0
    doubted: bool = False

    @property
    def good(self) -> bool:
        """Right, or refused for a reason."""
        return self.outcome in ("ok", "refused")


def check_fit(problem: FitProblem) -> None:
    """Raise ``AssertionError`` unless the fit is right, knows its error, and ends in time.

    Eigenvalues, their number, scores of old and fresh rows, reconstruction errors and shares are
    compared with :class:`~tests.cross.reference.Reference`, in extended precision; a refusal must
    have its cause in the data, and ``report_.estimated_error`` must be at least a third of the
    true error.

    Examples
    --------
    A solver, a kernel or an estimator of your own takes the place of one that was drawn:

    >>> from dataclasses import replace
    >>> from tests.cross.judge import check_fit
    >>> from tests.cross.problems import random_problem
    >>> problem = random_problem(36)
    >>> check_fit(replace(problem, k=2))
    """
    verdict = judge_fit(problem)
    if not verdict.good:
        raise AssertionError(f"{verdict.outcome}: {verdict.detail} ({problem.describe()})")


def judge_fit(problem: FitProblem, seconds: float = SECONDS) -> Verdict:
    """Fit, and compare with the definition."""
    started = time.perf_counter()
    n = len(problem.X)
    steps = {"lanczos": 1000 + 10 * n, "davidson": 70}
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            with bounded(seconds, steps):
                found = None if problem.method.operators else Outputs.of(problem)
                reference = Reference.of(problem)
                faults = check_operators(problem, reference) if found is None else []
        except Unbounded as error:
            return Verdict("too slow", str(error), time.perf_counter() - started)
        except MercerError as error:
            return _judge_refusal(problem, error)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            return Verdict("crashed", f"{type(error).__name__}: {error} ({where})")
    took = time.perf_counter() - started
    given = [w.category for w in caught]
    doubted = NumericalWarning in given
    if found is not None:
        faults = _silence(problem, reference, found, given)
        faults += check_outputs(problem, reference, found)
    if not faults:
        return Verdict("ok", seconds=took, doubted=doubted)
    worst = min(faults, key=lambda fault: OUTCOMES.index(fault[0]))
    others = "; ".join(text for _, text in faults if text != worst[1])
    return Verdict(worst[0], f"{worst[1]}; {others}" if others else worst[1], took, doubted)


def _judge_refusal(problem: FitProblem, error: MercerError) -> Verdict:
    """A refusal needs a cause: no variance above rounding, an indefinite kernel, or overflow."""
    reference = Reference.of(problem)
    text = f"{type(error).__name__}: {error}"
    largest_entry = reference.size * reference.unit
    limits = np.finfo(problem.X.dtype)
    if not limits.tiny / limits.eps < largest_entry < 0.1 * limits.max / max(reference.w.max(), 1):
        return Verdict("refused", text)
    if "overflows" in text and largest_entry / _factor(problem.kernel) > 0.1 * limits.max:
        return Verdict("refused", text)  # before a small factor brings it back
    # Four of the largest eigenvalues would.
    if "overflows" in text and reference.values[0] * reference.unit > 0.2 * limits.max:
        return Verdict("refused", text)
    limit = 1e15 if problem.X.dtype == np.float32 else 1e60
    if "squares beyond" in text and not 1 / limit < reference.size * reference.unit < limit:
        return Verdict("refused", text)
    largest = float(reference.values[0])
    if "variance" in text and largest <= 4 * reference.floor:
        return Verdict("refused", text)
    if "on the landmarks" in text and (problem.method.tol is None or _sees_little(reference)):
        return Verdict("refused", text)  # a narrow kernel sees nothing from a centre of two rows
    if "all rows are equal" in text and (problem.X[0] == problem.X).all():
        return Verdict("refused", text)
    if "positive" in text and problem.method.tol is None and not problem.kernel.is_mercer:
        return Verdict("refused", text)  # landmarks are not always rows: indefinite there
    if ("positive" in text or "variance" in text) and _is_indefinite(reference, problem, 0.5):
        return Verdict("refused", text)
    return Verdict(
        "refused without cause",
        f"{text} [true λ₁ {largest:.3g}, smallest {reference.values[-1]:.3g}, "
        f"rounding {reference.rounding:.2g}, in units of {reference.unit:.2g}]",
    )


def _factor(kernel: Any) -> float:
    """What a scaled kernel is multiplied by, in all."""
    return kernel.factor * _factor(kernel.kernel) if isinstance(kernel, Scaled) else 1.0


def _sees_little(reference: Reference) -> bool:
    """Whether a third of the rows as landmarks may miss nearly all: K is close to a diagonal."""
    return bool(reference.values[0] < 3 * reference.trace / len(reference.w))


def _is_indefinite(reference: Reference, problem: FitProblem, share: float) -> bool:
    """Below zero by this share of the limit; landmarks look at K itself, before weights."""
    values = [reference.values]
    if problem.method.tol is None and share < 1:
        values.append(np.linalg.eigvalsh(reference.K[reference.counts].astype(np.float64))[::-1])
    rounding = reference.rounding if share < 1 else -reference.rounding
    return any(v[-1] < -share * NEGATIVE_LIMIT * abs(v[0]) + rounding for v in values)


def _silence(
    problem: FitProblem, reference: Reference, found: Outputs, given: list[Any]
) -> list[tuple[str, str]]:
    """Warnings that are missing, and warnings for nothing."""
    faults = []
    q, asked = len(found.values), problem.k
    short = isinstance(asked, int) and q < asked
    rank, stopped = RankWarning in given, ConvergenceWarning in given
    if short and not rank and not stopped:
        faults.append(("wrong", f"{q} of {asked} components, and no warning"))
    # A share that the landmarks do not hold is said, too.
    lacking = isinstance(asked, float) and float(found.ratio.sum()) < asked
    if rank and not short and not lacking:
        faults.append(("wrong", f"RankWarning, but {q} of {asked} components were found"))
    if stopped == found.converged:
        faults.append(("wrong", f"converged={found.converged}, ConvergenceWarning: {stopped}"))
    slightly = IndefiniteKernelWarning in given
    # Solvers go on in float64 where float32 hides components, and see what is below zero there.
    seen = reference.rounding * float(np.finfo(np.float64).eps) / reference.eps
    if slightly and reference.values[-1] > -seen / 64:
        faults.append(("wrong", f"IndefiniteKernelWarning at λ_min {reference.values[-1]:.2g}"))
    if problem.method.tol is not None and _is_indefinite(reference, problem, 2):
        faults.append(
            ("wrong", f"silent on an indefinite kernel: λ_min {reference.values[-1]:.2g}")
        )
    return faults
