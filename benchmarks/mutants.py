"""Is the judge of fits sharp? Old faults are put back, and counted where it sees them.

``python -m benchmarks mutants [COUNT] [--start SEED]``: for each fault, random problems that pass
without it and that it can touch; the share of them that is not called right with it, and how much
of what the judge calls wrong the fit's own audit warns of.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._measure import table
from mercer import KernelPCA
from mercer.exceptions import NumericalWarning
from mercer.gram import GramOperator, StreamedGram
from mercer.kernels import Cosine, Gaussian, Laplacian, Matern, RationalQuadratic
from mercer.kernels.base import PackedParts
from mercer.kernels.composite import _Pair
from mercer.kernels.dot_product import DotProductKernel
from mercer.kernels.radial import RadialKernel
from mercer.model.model import Model
from mercer.solvers import davidson
from mercer.solvers.base import Problem
from tests.cross.judge import Verdict, judge_fit
from tests.cross.problems import SHARES, FitProblem, random_problem, repeated_rows


@dataclass(frozen=True)
class Mutant:
    """A fault: what is replaced, and which problems it touches."""

    name: str
    patches: tuple[tuple[Any, str, Any], ...]
    touches: Callable[[FitProblem], bool]


def main() -> None:
    """Print how much of each fault is seen."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutants")
    parser.add_argument("count", nargs="?", type=int, default=40)
    parser.add_argument("--start", type=int, default=0)
    given = parser.parse_args(sys.argv[2:])
    threadpool_limits(1)
    rows = [_blocks(given.count, given.start)]
    table(["without the look outside", "wrong", "audit warns"], rows)
    rows = [_seen(mutant, given.count, given.start) for mutant in MUTANTS]
    table(["fault", "problems", "judge", "audit", "neither", "audit of judge's"], rows)


def _seen(mutant: Mutant, count: int, start: int) -> list[str]:
    tried = judged = audited = silent = both = 0
    for seed in range(start, start + 100 * count):
        problem = random_problem(seed)
        if not mutant.touches(problem) or not _is_plainly_right(judge_fit(problem)):
            continue
        with ExitStack() as stack:
            for owner, name, new in mutant.patches:
                stack.enter_context(patch.object(owner, name, new))
            verdict = judge_fit(problem)
        tried += 1
        judged += verdict.outcome != "ok"
        audited += verdict.doubted
        silent += _is_plainly_right(verdict)
        both += verdict.doubted and verdict.outcome != "ok"
        if tried == count:
            break
    shares = [(judged, tried), (audited, tried), (silent, tried), (both, judged)]
    return [mutant.name, str(tried), *(f"{a / b:.0%}" if b else "-" for a, b in shares)]


def _is_plainly_right(verdict: Verdict) -> bool:
    return verdict.outcome == "ok" and not verdict.doubted


def _of(change: Callable[[Model], Model]) -> tuple[type, str, Any]:
    """A patch of the last step of each fit."""
    made = Model.of.__func__  # type: ignore[attr-defined]
    return Model, "of", classmethod(lambda cls, *a, **kw: change(made(cls, *a, **kw)))


def _shifted(pair: _Pair, X: Any, origin: Any = None, dtype: Any = None) -> Any:
    """The fault of the first version: rows are shifted for both parts where one may be."""
    first, second = origin or (None, None)
    if _differ(pair):
        radial = first if isinstance(pair.k1, RadialKernel) else second
        X = X if radial is None else X - radial
        first = second = None
    packed = (pair.k1.pack(X, first, dtype), pair.k2.pack(X, second, dtype))
    return PackedParts(packed, np.result_type(packed[0].dtype, packed[1].dtype))


def _differ(pair: _Pair) -> bool:
    """Whether one part does not notice a shift and the other does."""
    kinds = {isinstance(part, RadialKernel) for part in (pair.k1, pair.k2)}
    return len(kinds) == 2 and any(
        isinstance(p, DotProductKernel | Cosine) for p in (pair.k1, pair.k2)
    )


def _mixes(problem: FitProblem) -> bool:
    return isinstance(problem.kernel, _Pair) and _differ(problem.kernel)


def _coarse(problem: FitProblem) -> bool:
    return problem.method.name.startswith("davidson") and problem.X.dtype == np.float64


def _exact(problem: FitProblem) -> bool:
    return problem.method.tol is not None and not problem.method.operators


def _weighted(problem: FitProblem) -> bool:
    weight = problem.weight
    on_rows = problem.method.name in ("dense", "lanczos kept", "lanczos streamed")
    return on_rows and weight is not None and weight.max() > 1e14 * weight[weight > 0].min()


def _larger(share: float) -> Callable[[Model], Model]:
    return lambda fit: replace(fit, eigenvalues=fit.eigenvalues * (1 + share))


def _moved(fit: Model) -> Model:
    spread = np.sqrt(fit.explained_variance)
    return replace(fit, subspace=replace(fit.subspace, offset=fit.subspace.offset + 1e-3 * spread))


def _divided(fit: Model, weight: Any) -> Any:
    """Scores by ``λ B / w``, whose rounding tiny weights blow up."""
    if not fit.of_gram:
        return None
    return fit.subspace.coef * fit.eigenvalues / np.where(weight > 0, weight, 1)[:, None]


def _blocks(count: int, start: int) -> list[str]:
    """Wrong fits on groups of rows under narrow kernels, if the search space does not look out."""
    blind = (
        (davidson, "_from_outside", lambda operator, *_: np.empty((operator.n, 0))),
        (Problem, "merged", lambda problem: (problem, np.arange(problem.n))),
    )
    wrong = warned = seed = 0
    while wrong < count and seed < 20 * count:
        X, weight, options = groups(start + seed)
        seed += 1
        with ExitStack() as stack, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for owner, name, new in blind:
                stack.enter_context(patch.object(owner, name, new))
            near = KernelPCA(**options, solver=davidson.Davidson()).fit(X, sample_weight=weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            true = KernelPCA(**options, solver="dense").fit(X, sample_weight=weight)
        q = min(near.n_components_, true.n_components_)
        error = np.abs(near.eigenvalues_[:q] / true.eigenvalues_[:q] - 1).max()
        if error > 3 * near.report_.estimated_error + 1e-12:
            wrong += 1
            warned += any(issubclass(w.category, NumericalWarning) for w in caught)
    return [f"{seed} fits on groups of rows", str(wrong), f"{warned / max(wrong, 1):.0%}"]


def groups(seed: int) -> tuple[np.ndarray, np.ndarray | None, dict[str, Any]]:
    """Rows in many groups, weights, and a kernel that is narrow beside their distances."""
    rng = np.random.default_rng([seed, 77])
    n, d = int(rng.integers(1100, 2200)), int(rng.choice([5, 10, 30]))
    shares = SHARES[str(rng.choice(list(SHARES)))](int(n / rng.uniform(2.5, 12)))
    X = repeated_rows(rng, n, d, shares, float(rng.choice([0, 1e-6, 1e-2])))
    length = float(np.sqrt(d) * 10 ** rng.uniform(-1.5, -0.6))
    kernels = (
        Gaussian(sigma=length), Matern(length), Laplacian(gamma=1 / length),
        RationalQuadratic(length, alpha=5.0), Gaussian(sigma=length) + Matern(length, nu=2.5),
        Matern(length, nu=0.5),
    )  # fmt: skip
    kernel = kernels[rng.integers(len(kernels))]
    center, weighted, k = bool(rng.integers(2)), rng.random() < 0.4, int(rng.integers(5, 40))
    weight = 10 ** rng.uniform(0, 1.5, n) if weighted else None
    options = {"n_components": k, "kernel": kernel, "center": center, "random_state": 0}
    return X, weight, options


MUTANTS = [
    Mutant("sums and products: rows shifted for both parts", ((_Pair, "pack", _shifted),), _mixes),
    Mutant(
        "Davidson: float32 entries, their rounding not estimated",
        (
            (GramOperator, "can_refine", False),
            (StreamedGram, "entry_errors", lambda _, V, __=None: np.zeros(V.shape[1])),
        ),
        _coarse,
    ),
    Mutant(
        "weights over 14 decades: scores by division", ((Model, "scores", _divided),), _weighted
    ),
    Mutant("eigenvalues 1e-2 too large", (_of(_larger(1e-2)),), _exact),
    Mutant("eigenvalues 1e-4 too large", (_of(_larger(1e-4)),), _exact),
    Mutant("scores off centre by 1e-3 of their spread", (_of(_moved),), _exact),
]
