"""Relevance of planted variables, beside permutation; and what it costs on many rows.

``python -m benchmarks relevance``: circles, moons, an S-curve and xor hidden among 20 columns of
noise, 20 draws each; correlated decoys; and the time and memory of 100,000 × 64 rows with 1,000
landmarks beside those of the fit. Some minutes.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import make_circles, make_moons, make_s_curve
from sklearn.metrics import roc_auc_score

from benchmarks._measure import Contender, compare, table
from mercer import KernelPCA
from mercer.io import open_rows
from mercer.relevance import permutation
from mercer.solvers import Landmarks

ROWS, NOISE_COLUMNS, DRAWS, Q = 300, 20, 20, 4
LEVELS = (0.2, 0.5, 0.7, 1.0)


def signal(name: str, seed: int) -> np.ndarray:
    """Two or three columns with a structure, each of unit variance."""
    rng = np.random.default_rng(seed)
    if name == "circles":
        X = make_circles(ROWS, noise=0.05, factor=0.4, random_state=seed)[0]
    elif name == "moons":
        X = make_moons(ROWS, noise=0.08, random_state=seed)[0]
    elif name == "s-curve":
        X = make_s_curve(ROWS, noise=0.05, random_state=seed)[0]
    else:
        X = rng.choice([-1.0, 1.0], (ROWS, 2)) + 0.2 * rng.standard_normal((ROWS, 2))
    return np.asarray(X / X.std(axis=0))


def hidden(name: str, seed: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The signal among columns of noise of a smaller scale, and which columns it is."""
    rng = np.random.default_rng(1000 + seed)
    S = signal(name, seed)
    X = np.hstack([S, level * rng.standard_normal((ROWS, NOISE_COLUMNS))])
    order = rng.permutation(X.shape[1])
    return X[:, order], order < S.shape[1]


def main() -> None:
    """Print the tables; ``large`` alone for the last of them, ``small`` for the others."""
    part = sys.argv[2] if len(sys.argv) > 2 else "all"
    if part != "large":
        planted()
        decoys()
    if part != "small":
        large()


def planted() -> None:
    """Area under the curve of planted against noise variables, and agreement with permutation."""
    print(f"{ROWS} rows, {NOISE_COLUMNS} noise columns, {Q} components, {DRAWS} draws: area under")
    print("the curve by relevance, for noise of a standard deviation of 0.2 … 1.0 of the signal's;")
    print("at 0.2 beside permutation (the angle of the subspace, 5 repeats) on the same fits.")
    rows = []
    for name in ("circles", "moons", "s-curve", "xor"):
        cells = []
        for level in LEVELS:
            found = [_auc(name, seed, level) for seed in range(DRAWS)]
            cells.append(f"{np.mean(found):.3f} ({np.min(found):.2f})")
        slow = [_beside_permutation(name, seed) for seed in range(3)]
        means = np.mean(slow, axis=0)
        rows.append([name, *cells, f"{means[0]:.3f}", f"{means[1]:.2f}", f"1/{1 / means[2]:.0f}"])
        print(rows[-1], flush=True)
    levels = [f"noise {level} (worst)" for level in LEVELS]
    table(["set", *levels, "permutation", "rank agreement", "time"], rows)
    print()


def _auc(name: str, seed: int, level: float) -> float:
    X, planted = hidden(name, seed, level)
    overall = KernelPCA(Q).fit(X).relevance(X, unit="share").overall
    return float(roc_auc_score(planted, overall))


def _beside_permutation(name: str, seed: int) -> tuple[float, float, float]:
    """Area under the curve by permutation, rank agreement with ours, and our share of its time."""
    X, planted = hidden(name, seed, 0.2)
    model = KernelPCA(Q).fit(X)
    model.relevance(X[:20])  # what a library does on its first use
    started = time.perf_counter()
    ours = model.relevance(X).overall
    quick = time.perf_counter() - started
    started = time.perf_counter()
    slow = permutation(model, X, random_state=0)
    seconds = time.perf_counter() - started
    agreement = spearmanr(ours, slow.drop).statistic
    return float(roc_auc_score(planted, slow.angle)), float(agreement), quick / seconds


def decoys() -> None:
    """Copies of a planted variable share its credit; a decoy of noise has none."""
    print("Circles (x, y), a copy of x with noise of 0.1, and noise: shares by relevance; drop of")
    print("the explained share and angle (degrees) by permutation.")
    rows = []
    rng = np.random.default_rng(0)
    S = signal("circles", 0)
    noise = 0.2 * rng.standard_normal((ROWS, 2))
    copy = S[:, :1] + 0.1 * rng.standard_normal((ROWS, 1))
    for title, X, names in (
        ("without the copy", np.hstack([S, noise]), ["x", "y", "noise", "noise"]),
        ("with the copy", np.hstack([S, copy, noise]), ["x", "y", "copy of x", "noise", "noise"]),
    ):
        model = KernelPCA(Q).fit(X)
        share = model.relevance(X, unit="share").overall
        slow = permutation(model, X, random_state=0)
        for j, name in enumerate(names):
            cells = [f"{share[j]:.3f}", f"{slow.drop[j]:.3f}", f"{slow.angle[j]:.0f}"]
            rows.append([title, name, *cells])
    table(["set", "variable", "relevance", "drop", "angle"], rows)
    print()


def large() -> None:
    """100,000 × 64 rows, 1,000 landmarks: the time and the memory that relevance adds."""
    rows = []
    for q in (10, 20):
        for n in (25_000, 100_000):
            arguments = {"n": n, "q": q}
            runs = compare(
                __name__,
                {
                    "fit": Contender("fit", arguments),
                    "relevance": Contender("relevance_of_rows", arguments),
                    "from a file": Contender("relevance_of_file", arguments),
                },
                repeats=1,
            )
            cells = [f"{run.seconds:.1f} s, {run.added:.0f} MB" for run in runs.values()]
            ratio = runs["relevance"].cpu / runs["fit"].cpu
            rows.append([f"{n:,}", str(q), *cells, f"{ratio:.2f}"])
            print(rows[-1], flush=True)
    table(["rows", "components", "fit", "relevance", "from a file", "fits (CPU)"], rows)


def many_rows(n: int) -> np.ndarray:
    """Ten groups in 64 dimensions."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((10, 64))[rng.integers(10, size=n)] * 2 + rng.standard_normal(
        (n, 64)
    )


def _fitted(X: np.ndarray, q: int) -> Any:
    return KernelPCA(q, solver=Landmarks(1000), random_state=0).fit(X)


def fit(n: int, q: int) -> Any:
    X = many_rows(n)
    return lambda: {"rows": len(_fitted(X, q).subspace_.support)}


def relevance_of_rows(n: int, q: int) -> Any:
    X = many_rows(n)
    model = _fitted(X[:20_000], q)
    return lambda: {"sum": float(model.relevance(X, unit="share").overall.sum())}


def relevance_of_file(n: int, q: int) -> Any:
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "rows.npy"
    X = many_rows(n)
    np.save(path, X)
    model = _fitted(X[:20_000], q)
    del X
    return lambda: {"sum": float(model.relevance(open_rows(path)).overall.sum())}
