"""Sparse rows: landmarks on many of them, and exact components of a text, beside scikit-learn.

``python -m benchmarks sparse_rows`` runs a tenth of the size; ``... sparse_rows full`` the sizes of
the claim (1,000,000 × 30,000 and 20,000 rows); with ``many`` or ``text`` that table alone. Each
contender in a process of its own; CPU and wall seconds, peak memory of the whole process with the
rows, and what the work added. ``uniform``: columns alike; ``text``: word k occurs 1/k times
as often as the first, rows are of length one, as tf-idf makes them.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks._measure import Contender, Run, compare, table

COLUMNS, EACH, LANDMARKS = 30_000, 50, 500
GAMMA = 0.5


def main() -> None:
    """Print the two tables."""
    full = "full" in sys.argv
    warnings.simplefilter("ignore")
    parts = {"many", "text"} & set(sys.argv) or {"many", "text"}
    if "many" in parts:
        many(1_000_000 if full else 100_000)
    if "text" in parts:
        text(20_000 if full else 5_000)


def rows(n: int, kind: str, seed: int = 0) -> Any:
    """Rows of 50 entries in 30,000 columns, float64."""
    rng = np.random.default_rng(seed)
    if kind == "uniform":
        columns = rng.integers(COLUMNS, size=n * EACH, dtype=np.int32)
        values = rng.random(n * EACH)
    else:
        chance = np.cumsum(1 / np.arange(1, COLUMNS + 1))
        columns = np.searchsorted(chance, rng.random(n * EACH) * chance[-1]).astype(np.int32)
        values = np.log(COLUMNS / (1.0 + columns))  # the weight of a rare word
    starts = np.arange(0, n * EACH + 1, EACH)
    X = sparse.csr_array((values, columns, starts), shape=(n, COLUMNS))
    X.sum_duplicates()
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    return X


def many(n: int) -> None:
    """Landmarks in one pass beside Nystroem and TruncatedSVD, with as many landmarks."""
    print(f"{n:,} × {COLUMNS:,}, {EACH} entries a row, Gaussian, m = {LANDMARKS}, 10 components.")
    for kind in ("uniform", "text"):
        contenders = {
            f"mercer, {rule}": Contender("fit_landmarks", {"n": n, "kind": kind, "select": rule})
            for rule in ("uniform", "rpcholesky", "kmeans")
        }
        contenders["Nystroem + TruncatedSVD"] = Contender("fit_nystroem", {"n": n, "kind": kind})
        show(kind, compare("benchmarks.sparse_rows", contenders, repeats=1))


def text(n: int) -> None:
    """The leading components beside scikit-learn's KernelPCA on the same sparse rows."""
    print(f"{n:,} rows of a text, Gaussian, 10 components.")
    names = {"mercer": "fit_mercer", "scikit-learn": "fit_sklearn"}
    contenders = {
        name: Contender(function, {"n": n, "kind": "text"}) for name, function in names.items()
    }
    show("text", compare("benchmarks.sparse_rows", contenders, repeats=1))


def show(kind: str, runs: dict[str, Run]) -> None:
    """One line for each contender: time, memory, and the variance that its components hold."""
    lines = [
        [
            kind,
            name,
            f"{run.cpu:.1f}",
            f"{run.seconds:.1f}",
            f"{run.peak:.0f}",
            f"{run.added:.0f}",
            run.facts["held"],
        ]
        for name, run in runs.items()
    ]
    heads = ["rows", "", "CPU s", "wall s", "peak MB", "added MB", "held by 10 components"]
    table(heads, lines)
    print()


def fit_landmarks(n: int, kind: str, select: str) -> Callable[[], dict[str, Any]]:
    """Landmarks, with the scores of all rows."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.solvers import Landmarks

    X = rows(n, kind)
    solver = Landmarks(LANDMARKS, select=select)
    model = KernelPCA(10, kernel=Gaussian(gamma=GAMMA), solver=solver, random_state=0)

    def work() -> dict[str, Any]:
        Z = model.fit(X).transform(X)
        return {"held": f"{Z.var(axis=0).sum():.6f}"}

    return work


def fit_nystroem(n: int, kind: str) -> Callable[[], dict[str, Any]]:
    """scikit-learn's two steps; the map has n × m numbers."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.kernel_approximation import Nystroem

    X = rows(n, kind)

    def work() -> dict[str, Any]:
        features = Nystroem(gamma=GAMMA, n_components=LANDMARKS, random_state=0).fit_transform(X)
        features -= features.mean(axis=0)  # kernel PCA is centred
        Z = TruncatedSVD(10, random_state=0).fit_transform(features)
        return {"held": f"{Z.var(axis=0).sum():.6f}"}

    return work


def fit_mercer(n: int, kind: str) -> Callable[[], dict[str, Any]]:
    """The solver that is chosen by itself."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian

    X = rows(n, kind)
    model = KernelPCA(10, kernel=Gaussian(gamma=GAMMA), random_state=0)

    def work() -> dict[str, Any]:
        Z = model.fit_transform(X)
        found = model.report_
        return {"held": f"{Z.var(axis=0).sum():.6f} ({found.solver}, {found.passes} passes)"}

    return work


def fit_sklearn(n: int, kind: str) -> Callable[[], dict[str, Any]]:
    """Its default for few components of many rows is ARPACK on the dense matrix."""
    from sklearn.decomposition import KernelPCA

    X = rows(n, kind)
    model = KernelPCA(10, kernel="rbf", gamma=GAMMA, random_state=0)

    def work() -> dict[str, Any]:
        Z = model.fit_transform(X)
        return {"held": f"{Z.var(axis=0).sum():.6f}"}

    return work
