"""Sparse kernel PCA: scaling, the optimisers side by side, prediction, and centres instead of rows.

``python -m benchmarks sparse``: ten minutes or so. ``python -m benchmarks sparse certify`` runs the
exact sweeps on all sizes, too (half an hour on two cores). One thread each, CPU seconds.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks._data import cover, folder
from benchmarks._measure import Contender, compare, table
from mercer import KernelPCA, SparseKernelPCA
from mercer._base.machine import one_blas_thread
from mercer.kernels import Gaussian
from mercer.papers import tipping2001
from mercer.papers.sources import read_pima_part
from mercer.sparse import EM, MM, ColumnGeneration, Fast, Greedy, SparseSolver

SIZES = (20_000, 50_000, 100_000, 200_000)
NOISE = 0.1


def main() -> None:
    """Print the four tables."""
    warnings.simplefilter("ignore")
    scaling(certify_up_to=SIZES[-1] if "certify" in sys.argv else 50_000)
    optimisers()
    prediction()
    centres()


def scaling(certify_up_to: int) -> None:
    """Column generation on forest cover, σ² = 0.01, and its distance from the certified optimum."""
    print("Forest cover, 10 columns, median width, σ² = 0.01; l is the log-likelihood per row.")
    rows, cpu = [], {}
    for n in SIZES:
        names = {"plain": 0, "swept": 30} if n <= certify_up_to else {"plain": 0}
        runs = compare(
            "benchmarks.sparse",
            {name: Contender("fit_cover", {"n": n, "sweeps": s}) for name, s in names.items()},
            repeats=1,
        )
        plain, swept = runs["plain"], runs.get("swept")
        cpu[n] = plain.cpu
        gap = f"{swept.facts['l'] - plain.facts['l']:+.1e}" if swept else "-"
        line = [f"{n:,}", f"{plain.facts['m']}", f"{plain.cpu:.1f}", f"{plain.peak:.0f}"]
        rows.append([*line, f"{plain.facts['l']:.4f}", gap, f"{swept.cpu:.0f}" if swept else "-"])
    heads = ["rows", "kernels", "CPU s", "peak MB", "l", "certified l - l", "its CPU s"]
    table(heads, rows)
    exponent = np.log(cpu[SIZES[-1]] / cpu[SIZES[0]]) / np.log(SIZES[-1] / SIZES[0])
    print(f"CPU time grows as n^{exponent:.2f}.\n")


def fit_cover(n: int, sweeps: int) -> Callable[[], dict[str, Any]]:
    """One fit, as a contender."""
    X = cover(n)

    def work() -> dict[str, Any]:
        with one_blas_thread():
            solver = ColumnGeneration(sweeps=sweeps)
            model = SparseKernelPCA(noise=NOISE, solver=solver, random_state=0).fit(X)
        return {"m": len(model.weights_), "l": model.log_likelihood_ / n, "kkt": model.kkt_}

    return work


def optimisers() -> None:
    """The paper's iterations and ours, on the paper's two data sets."""
    toy = tipping2001.three_clusters(0)[0]
    pima, _ = read_pima_part(folder() / "Pima.tr.csv")
    pima = (pima - pima.mean(axis=0)) / pima.std(axis=0)
    cases = {
        "clusters, 90 rows": (toy, Gaussian(width=0.25), 0.25),
        "Pima, 200 rows": (pima, Gaussian(width=10.0), 0.1),
    }
    solvers: dict[str, SparseSolver] = {
        "EM (13), 2,000 steps": EM(max_iter=2000),
        "fast (14), 2,000 steps": Fast(max_iter=2000),
        "MM, 2,000 steps": MM(max_iter=2000),
        "greedy": Greedy(),
        "column generation": ColumnGeneration(),
    }
    for title, (X, kernel, noise) in cases.items():
        rows = []
        for name, solver in solvers.items():
            model, seconds = _timed(SparseKernelPCA(noise=noise, kernel=kernel, solver=solver), X)
            found = [f"{len(model.weights_)}", f"{model.log_likelihood_:.3f}", f"{model.kkt_:.0e}"]
            rows.append([name, *found, f"{seconds:.2f}"])
        table([title, "kernels", "log-likelihood", "KKT violation", "CPU s"], rows)
        print()


def prediction() -> None:
    """10,000 rows through 100 kernels and through all 20,000."""
    X = cover(30_000)
    X, new = X[:20_000], X[20_000:]
    kernel = Gaussian().resolve(X)
    sparse = SparseKernelPCA(100, kernel=kernel, n_components=20, random_state=0).fit(X)
    full = KernelPCA(20, kernel=kernel, center=False, random_state=0).fit(X)
    seconds: dict[str, float] = {}
    for _ in range(3):
        for name, model in (("sparse", sparse), ("full", full)):
            started = time.perf_counter()
            model.transform(new)
            seconds[name] = min(seconds.get(name, np.inf), time.perf_counter() - started)
    ratio = seconds["full"] / seconds["sparse"]
    print(
        f"transform of 10,000 rows: {seconds['full']:.2f} s with 20,000 kernels, "
        f"{1000 * seconds['sparse']:.1f} ms with 100: {ratio:.0f} times faster.\n"
    )


def centres() -> None:
    """Mean reconstruction error of held-out rows, rows by likelihood against k-means centres."""
    digits = load_digits().data
    forest = cover(12_000)
    rows = []
    for name, X, n in (("digits", digits, 1200), ("forest cover", forest, 8000)):
        for m in (30, 60, 120):
            errors = []
            for solver, refit in (("auto", False), ("auto", True), ("kmeans", True)):
                model = SparseKernelPCA(m, solver=solver, refit=refit, random_state=0).fit(X[:n])
                p = max(1, m // 2)
                errors += [model.reconstruction_error(X[n:], n_components=p).mean()]
                if refit:
                    errors += [model.span_error(X[n:]).mean()]
            rows.append([f"{name}, {m} kernels", *(f"{e:.4f}" for e in errors)])
    print("Mean squared reconstruction error in feature space of rows that were held out.")
    heads = ["", "paper, M/2 PCs", "refit, M/2", "rows, all", "k-means, M/2", "k-means, all"]
    table(heads, rows)


def _timed(model: SparseKernelPCA, X: np.ndarray) -> tuple[SparseKernelPCA, float]:
    with one_blas_thread():
        started = time.process_time()
        model.fit(X)
        return model, time.process_time() - started
