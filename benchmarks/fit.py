"""Fitting beside every solver of scikit-learn: time and peak memory, one interleaved run.

``python -m benchmarks fit`` runs the whole table, ``python -m benchmarks fit 1000 5000x784`` a
part: numbers of rows, with columns and a type if only these are wanted (``5000x64,float32``).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks._data import clusters, gamma_of
from benchmarks._measure import Contender, compare, table_as_done

SIZES = (1_000, 2_000, 5_000, 10_000)
COLUMNS = (16, 64, 784)
K = 20
#: Beyond, LAPACK on the whole matrix takes ten times as long as ARPACK.
DENSE_UP_TO = 2_000


def main() -> None:
    """Print one row for each size, width and precision, when it is done."""
    cells = [
        (n, d, dtype)
        for name in sys.argv[2:] or map(str, SIZES)
        for n, columns, types in [named(name)]
        for d in columns
        for dtype in types
    ]
    print(
        f"{K} components, Gaussian; ratios to the fastest solver of scikit-learn that is right.\n"
        "memory: peak of the whole process, of which Python and its libraries take 130 MB; "
        "added: by the fit."
    )
    heads = ["n, d, type", "mercer s", "MB", "error", "beside", "best s", "MB"]
    heads += ["faster", "by CPU", "memory", "added"]
    table_as_done(heads, (one(*cell) for cell in cells), first=19)


def named(name: str) -> tuple[int, Sequence[int], Sequence[str]]:
    """Rows, numbers of columns and types of what is written like ``5000x64,float32``."""
    found = re.fullmatch(r"(\d+)(?:x(\d+))?(?:,(float32|float64))?", name)
    if found is None:
        sys.exit(f"no such row: {name}; write rows, rows x columns or a type as in 5000x64,float32")
    n, d, dtype = found.groups()
    return int(n), [int(d)] if d else COLUMNS, [dtype] if dtype else ("float64", "float32")


def one(n: int, d: int, dtype: str) -> list[str]:
    """One row: mercer's auto against the fastest of scikit-learn's solvers."""
    data, calls = {"n": n, "d": d, "dtype": dtype}, 3 if n <= 2_000 else 1
    contenders = {"mercer": Contender("mercer", data, calls)}
    for solver in ("arpack", "randomized", *(["dense"] if n <= DENSE_UP_TO else [])):
        contenders[solver] = Contender("sklearn", data | {"solver": solver}, calls)
    runs = compare("benchmarks.fit", contenders, repeats=3 if n <= 5_000 else 2)
    ours = runs.pop("mercer")
    exact = np.array(runs["arpack"].facts["values"])
    error = np.abs(np.array(ours.facts["values"]) / exact - 1).max()
    # The randomised solver is fast by being off by percents; it is no peer unless it is right.
    right = {
        name: run
        for name, run in runs.items()
        if np.abs(np.array(run.facts["values"]) / exact - 1).max() < 1e-3
    }
    best = min(right, key=lambda name: right[name].seconds)
    peer = right[best]
    return [
        f"{n}, {d}, {dtype}",
        f"{ours.seconds:.3f}",
        f"{ours.peak:.0f}",
        f"{error:.0e}",
        best,
        f"{peer.seconds:.3f}",
        f"{peer.peak:.0f}",
        f"{peer.seconds / ours.seconds:.1f}x",
        f"{peer.cpu / ours.cpu:.1f}x",
        f"{ours.peak / peer.peak:.2f}",
        f"{ours.added / peer.added:.2f}",
    ]


def mercer(n: int, d: int, dtype: str) -> Callable[[], dict[str, object]]:
    """KernelPCA with solver="auto"."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian

    X = clusters(n, d, dtype)
    model = KernelPCA(K, kernel=Gaussian(gamma=gamma_of(d)), random_state=0)
    return lambda: {"values": model.fit(X).eigenvalues_.tolist()}


def sklearn(n: int, d: int, dtype: str, solver: str) -> Callable[[], dict[str, object]]:
    """scikit-learn's KernelPCA with one of its solvers."""
    from sklearn.decomposition import KernelPCA

    X = clusters(n, d, dtype)
    model = KernelPCA(K, kernel="rbf", gamma=gamma_of(d), eigen_solver=solver, random_state=0)
    return lambda: {"values": model.fit(X).eigenvalues_.tolist()}
