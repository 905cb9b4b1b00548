"""Random fits on repeated rows: ``python -m benchmarks repeated [COUNT] [--start SEED]``.

Copies of a row are one row with their weights' sum: the truth is LAPACK's spectrum of the distinct
rows, from the kernel's definition in extended precision. Prints true errors beside claims by kernel
and by noise, and a line that repeats each failure.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._measure import table
from mercer import KernelPCA
from mercer.exceptions import NumericalWarning
from mercer.kernels import Kernel
from mercer.solvers import Davidson
from tests.cross.definitions import MAKERS, Draw, DrawnKernel
from tests.cross.problems import SHARES, FitProblem, Method, repeated_rows
from tests.cross.reference import Reference

#: Distinct rows that LAPACK is given; with noise all rows are distinct.
DISTINCT = 2000
NOISES = (0.0, 1e-6, 1e-2)
#: Kernels whose width is drawn, beside the distance of two groups; of the others it is ignored.
FAMILIES = ("gaussian", "matern32", "laplacian", "rational quadratic", "polynomial", "sum")


@dataclass(frozen=True)
class Measured:
    """A fit beside the truth."""

    seed: int
    text: str
    labels: dict[str, str]
    error: float
    claim: float
    warned: bool

    @property
    def ratio(self) -> float:
        """How many times its claim the error is."""
        return self.error / self.claim if self.error else 0.0


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks repeated")
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--largest", type=int, default=20_000, help="rows of the largest fit")
    given = parser.parse_args(sys.argv[2:])
    seeds = range(given.start, given.start + given.count)
    done = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for one in pool.map(measure, seeds, [given.largest] * len(seeds)):
            done.append(one)
            if not one.ratio <= 3:
                print(_line(one, given.largest), flush=True)
    print()
    for title in done[0].labels:
        _print(title, done)


def measure(seed: int, largest: int = 20_000) -> Measured:
    """Fit the problem of a seed on one thread."""
    problem, noise = repeated_problem(seed, largest)
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = problem.estimator().fit(problem.X, sample_weight=problem.weight)
        reference = Reference.of(merged(problem))
    labels = {
        "kernel": problem.family,
        "noise": f"{noise:g}",
        "groups": problem.data,
        "solver": problem.method.name,
    }
    return Measured(
        seed,
        f"{problem.describe()}, noise {noise:g}",
        labels,
        true_error(reference, model.eigenvalues_),
        model.report_.estimated_error,
        any(issubclass(w.category, NumericalWarning) for w in caught),
    )


def true_error(reference: Reference, values: Any) -> float:
    """The largest relative error of an eigenvalue, beyond what rounding explains."""
    true = reference.leading(len(values))
    off = np.abs(values / float(reference.unit) - true) - reference.rounding
    return float(max(0.0, (off / np.abs(true)).max()))


def merged(problem: FitProblem) -> FitProblem:
    """The same problem with each distinct row once."""
    X, which = np.unique(problem.X, axis=0, return_inverse=True)
    weight = np.bincount(which.ravel(), problem.weight)
    return replace(problem, X=X, Y=X[:0], weight=weight)


def repeated_problem(seed: int, largest: int = 20_000) -> tuple[FitProblem, float]:
    """Rows in groups, and how much noise they have."""
    rng = np.random.default_rng([seed, 24])
    noise = float(rng.choice(NOISES))
    n = round(200 * (min(largest, DISTINCT if noise else largest) / 200) ** rng.random())
    groups = min(max(2, round(n / 10 ** rng.uniform(0.4, 1.5))), DISTINCT)
    sizes = str(rng.choice(list(SHARES)))
    d = int(rng.choice([2, 5, 10, 30]))
    X = repeated_rows(rng, n, d, SHARES[sizes](groups), noise)
    drawn = _kernel(rng, str(rng.choice(FAMILIES)), d)
    weight = 10 ** rng.uniform(0, 1.5, n) if rng.random() < 0.4 else None
    method = METHODS[int(rng.integers(len(METHODS)))]
    problem = FitProblem(
        drawn.kernel, drawn.definition, X, X[:2], weight, int(rng.integers(5, 51)),
        bool(rng.integers(2)), method, drawn.family, f"{sizes} repeats", seed,
    )  # fmt: skip
    return problem, noise


def _kernel(rng: np.random.Generator, family: str, d: int) -> DrawnKernel:
    """From narrow beside the distance of groups to as wide as the data."""

    def draw(name: str) -> Kernel:
        return MAKERS[name](Draw(rng, float(np.sqrt(d) * 10 ** rng.uniform(-2.5, 0.3)), 1 / d, d))

    if family == "sum":
        return DrawnKernel(draw("gaussian") + draw("matern52"), "sum")
    name = str(rng.choice(["polynomial", "cosine"])) if family == "polynomial" else family
    return DrawnKernel(draw(name), family)


def _with(solver: Any) -> Callable[[FitProblem], KernelPCA]:
    return lambda p: KernelPCA(
        p.k, kernel=p.kernel, center=p.center, solver=solver, random_state=p.seed
    )


METHODS = (Method("auto", _with("auto")), Method("davidson", _with(Davidson()), tol=1e-6))


def _line(one: Measured, largest: int) -> str:
    options = "" if largest == 20_000 else f" --largest {largest}"
    return (
        f"python -m benchmarks repeated 1 --start {one.seed}{options}  # error {one.error:.2g}, "
        f"claim {one.claim:.2g}{', warned' if one.warned else ''} | {one.text}"
    )


def _print(title: str, done: Iterable[Measured]) -> None:
    parts = defaultdict(list)
    for one in done:
        parts[one.labels[title]].append(one)
        parts["all"].append(one)
    rows = [
        [
            name,
            str(len(part)),
            f"{max(one.error for one in part):.2g}",
            f"{max(one.ratio for one in part):.2g}",
            str(sum(not one.ratio <= 3 for one in part)),
            str(sum(one.warned for one in part)),
        ]
        for name, part in sorted(parts.items(), key=lambda item: (item[0] == "all", item[0]))
    ]
    table([title, "fits", "largest error", "error / claim", "beyond 3", "warned"], rows)
    print()
