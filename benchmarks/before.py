"""Two checkouts side by side: ``python -m benchmarks before TREE [TASK ...] [--repeats N]``.

Two processes that live as long as the run, one for each checkout, do the same work in turn, so that
a disturbance of the machine hits both alike; printed are minima of processor and wall seconds of
this checkout, and ratios to those of the other one, such as ``git worktree add ../old 36c194b``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._data import clusters, gamma_of
from benchmarks._measure import table_as_done

ROOT = Path(__file__).resolve().parents[1]
Work = Callable[[], Any]


def main() -> None:
    """Compare, or be one of the two that are compared."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks before")
    parser.add_argument("tree", type=Path, help="the other checkout")
    parser.add_argument("task", nargs="*", help=f"some of {', '.join(TASKS)}; all by default")
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args(sys.argv[2:])
    if unknown := set(given.task) - set(TASKS):
        sys.exit(f"no such task: {', '.join(sorted(unknown))}; there are {', '.join(TASKS)}")
    both = [Worker(ROOT), Worker(given.tree)]
    heads = ["task", "CPU s", "wall s", "CPU ratio", "wall ratio"]
    names = given.task or list(TASKS)
    table_as_done(heads, (_row(name, both, given.repeats) for name in names), first=28)


class Worker:
    """A process that imports mercer from one checkout and does what it is told."""

    def __init__(self, tree: Path) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([f"{tree}/src", str(ROOT)])}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.before"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def seconds(self, name: str) -> tuple[float, float]:
        """Processor and wall seconds of a task."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        cpu, wall = json.loads(self.process.stdout.readline())
        return cpu, wall


def serve() -> None:
    """Do the tasks that are named on standard input."""
    warnings.simplefilter("ignore")
    ready: dict[str, tuple[Work, int]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            prepare, calls = TASKS[name]
            ready = {name: (prepare(), calls)}
            ready[name][0]()  # what is done once only
        work, calls = ready[name]
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(calls):
            work()
        spent = time.process_time() - cpu, time.perf_counter() - wall
        print(json.dumps([seconds / calls for seconds in spent]), flush=True)


def _row(name: str, both: list[Worker], repeats: int) -> list[str]:
    times = [[worker.seconds(name) for worker in both] for _ in range(repeats)]
    (cpu, wall), (old_cpu, old_wall) = np.min(times, axis=0)
    return [name, f"{cpu:.2g}", f"{wall:.2g}", f"{cpu / old_cpu:.2f}", f"{wall / old_wall:.2f}"]


def fit(n: int, d: int, dtype: str = "float64") -> Callable[[], Work]:
    """KernelPCA of 20 components, the solver left to itself."""

    def prepare() -> Work:
        from mercer import KernelPCA
        from mercer.kernels import Gaussian

        X = clusters(n, d, dtype)
        model = KernelPCA(20, kernel=Gaussian(gamma=gamma_of(d)), random_state=0)
        return lambda: model.fit(X)

    return prepare


def repeated() -> Work:
    """5,000 rows, 1,000 of them distinct, under a narrow kernel."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian

    rng = np.random.default_rng(0)
    X = (rng.normal(size=(1_000, 10)) * 50)[rng.integers(1_000, size=5_000)]
    model = KernelPCA(20, kernel=Gaussian(sigma=1.0), center=False, random_state=0)
    return lambda: model.fit(X)


def one_row() -> Work:
    """``transform`` of a single row, support of 1,000."""
    from mercer import KernelPCA

    X = clusters(1_000, 16, "float64")
    model, row = KernelPCA(10).fit(X), X[:1]
    return lambda: model.transform(row)


def denoise() -> Work:
    """1,000 noisy rows, support of 4,000."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian

    X = clusters(4_000, 64, "float64")
    model = KernelPCA(64, kernel=Gaussian(gamma=gamma_of(64))).fit(X)
    noisy = X[:1_000] + np.random.default_rng(0).normal(scale=0.3, size=(1_000, 64))
    return lambda: model.denoise(noisy)


def novelty() -> Work:
    """A detector on 2,000 rows."""
    from mercer import KernelNovelty

    X = clusters(2_000, 64, "float64")
    return lambda: KernelNovelty().fit(X)


#: What is compared: how it is made ready, and how often it is done in one repeat.
TASKS: dict[str, tuple[Callable[[], Work], int]] = {
    "fit 1000x16": (fit(1_000, 16), 5),
    "fit 1000x64": (fit(1_000, 64), 5),
    "fit 1000x784 float32": (fit(1_000, 784, "float32"), 5),
    "fit 2000x64": (fit(2_000, 64), 3),
    "fit 2000x784 float32": (fit(2_000, 784, "float32"), 3),
    "fit 5000x16 float32": (fit(5_000, 16, "float32"), 1),
    "fit 5000x64": (fit(5_000, 64), 1),
    "fit 5000x784": (fit(5_000, 784), 1),
    "near 10000x64": (fit(10_000, 64), 1),
    "near 10000x64 float32": (fit(10_000, 64, "float32"), 1),
    "near 10000x784": (fit(10_000, 784), 1),
    "near 20000x64": (fit(20_000, 64), 1),
    "near 20000x64 float32": (fit(20_000, 64, "float32"), 1),
    "repeated 5000 of 1000": (repeated, 3),
    "transform of one row": (one_row, 200),
    "denoise 1000 on 4000x64": (denoise, 1),
    "novelty 2000x64": (novelty, 1),
}

if __name__ == "__main__":
    serve()
