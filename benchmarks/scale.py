"""From ten thousand rows to ten million: near-exact, landmarks, files, streams.

``python -m benchmarks scale`` prints all tables (about an hour on two cores);
``python -m benchmarks scale near files`` only those.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _data
from benchmarks._measure import Contender, Run, compare, table

K = 20
MODULE = "benchmarks.scale"
Work = Callable[[], dict[str, Any]]


def main() -> None:
    """Print the tables that are asked for."""
    tables = {
        "near": near,
        "large": large,
        "landmarks": landmarks,
        "files": files,
        "stream": stream,
        "million": million,
        "embeddings": embeddings,
    }
    asked = sys.argv[2:] or list(tables)
    unknown = sorted(set(asked) - set(tables))
    if unknown:
        sys.exit(f"{', '.join(unknown)} is not known; give some of {', '.join(tables)}")
    for name in asked:
        print(f"\n== {name}: {tables[name].__doc__}")
        tables[name]()


def near() -> None:
    """Near-exact to 1e-6 beside scikit-learn's ARPACK."""
    sets = [
        {"data": "clusters", "n": n, "d": d, "dtype": dtype}
        for n, d in ((10_000, 64), (20_000, 64), (10_000, 784))
        for dtype in ("float64", "float32")
    ]
    sets += [{"data": "usps", "n": 0, "d": 256, "dtype": "float64"}]
    rows = []
    for data in sets:
        runs = compare(
            MODULE,
            {"mercer": Contender("davidson", data), "sklearn": Contender("arpack", data)},
            repeats=3 if data["n"] < 20_000 else 2,
        )
        error = worst(runs["mercer"].facts["values"], runs["sklearn"].facts["values"])
        rows.append([label(data), *cells(runs["mercer"], runs["sklearn"]), f"{error:.0e}"])
    table(["data", "s", "MB", "peer s", "MB", "faster", "memory", "error"], rows)


def large() -> None:
    """float32, d=64, tol 1e-6: memory, and time that grows no worse than n²."""
    rows = []
    for n in (30_000, 100_000):
        data = {"data": "clusters", "n": n, "d": 64, "dtype": "float32"}
        run = compare(MODULE, {"mercer": Contender("davidson", data)}, repeats=1)["mercer"]
        check = compare(MODULE, {"check": Contender("subsample", data)}, repeats=1)["check"]
        facts = [run.facts["estimate"], check.facts["error"], check.facts["estimate"]]
        rows.append(
            [
                str(n),
                f"{run.seconds:.1f}",
                f"{run.peak:.0f}",
                str(run.facts["passes"]),
                *(f"{fact:.0e}" for fact in facts),
            ]
        )
    table(["n", "s", "MB", "passes", "estimate", "4,000 rows: error", "estimate"], rows)


def landmarks() -> None:
    """Landmarks beside scikit-learn's Nystroem + PCA, with as many landmarks."""
    sets = [("usps", 0), ("mnist", 20_000), ("cover", 100_000), ("clusters", 1_000_000)]
    rows = []
    for name, n in sets:
        data = {"data": name, "n": n, "d": 32, "dtype": "float64"}
        exact = None
        if name != "clusters":
            exact = compare(MODULE, {"exact": Contender("davidson", data)}, 1)["exact"]
        for m in (300, 1000, 2000) if name != "clusters" else (300,):
            runs = compare(
                MODULE,
                {
                    "mercer": Contender("landmark_fit", data | {"m": m}),
                    "sklearn": Contender("nystroem", data | {"m": m}),
                },
                repeats=1 if n >= 100_000 else 2,
            )
            errors = ["", "", ""]
            if exact is not None:
                ours, peer = (
                    worst(runs[who].facts["values"], exact.facts["values"])
                    for who in ("mercer", "sklearn")
                )
                errors = [f"{ours:.1e}", f"{peer:.1e}", f"{peer / ours:.1f}x"]
            estimate = f"{runs['mercer'].facts['estimate']:.0e}"
            rows.append(
                [
                    f"{label(data)}, m={m}",
                    *cells(runs["mercer"], runs["sklearn"]),
                    *errors,
                    estimate,
                ]
            )
    heads = ["data", "s", "MB", "peer s", "MB", "faster", "memory"]
    table([*heads, "error", "peer error", "smaller", "estimate"], rows)


def files() -> None:
    """Rows from files: npy and Parquet, a million and ten million rows."""
    folder = Path(tempfile.gettempdir()) / "mercer-benchmarks"
    folder.mkdir(exist_ok=True)
    rows = []
    for n, d, m, kind in (
        (300_000, 32, 1000, "npy"),
        (1_000_000, 32, 1000, "npy"),
        (1_000_000, 32, 1000, "parquet"),
        (10_000_000, 16, 500, "npy"),
    ):
        path = _data.write_clusters(folder / f"clusters-{n}-{d}.npy", n, d, "float64")
        if kind == "parquet":
            path = as_parquet(path)
        run = compare(MODULE, {"file": Contender("file_fit", {"path": str(path), "m": m})}, 1)
        rows.append([f"{n} x {d} {kind}, m={m}", *alone(run["file"], n)])
    table(["data", "s", "MB", "us per row", "estimate"], rows)


def stream() -> None:
    """partial_fit over 100 chunks beside one fit with the same landmarks."""
    data = {"data": "clusters", "n": 100_000, "d": 32, "dtype": "float64"}
    runs = compare(
        MODULE,
        {
            name: Contender("chunks_fit", data | {"chunks": count})
            for name, count in (("one", 1), ("hundred", 100))
        },
        repeats=1,
    )
    error = worst(runs["hundred"].facts["values"], runs["one"].facts["values"])
    rows = [[name, f"{run.seconds:.1f}", f"{run.peak:.0f}"] for name, run in runs.items()]
    table(["chunks", "s", "MB"], rows)
    print(f"largest relative difference of the eigenvalues: {error:.1e}")


def million() -> None:
    """1,000,000 rows of 64 columns from Parquet, by 300 and 1,000 landmarks."""
    folder = Path(tempfile.gettempdir()) / "mercer-benchmarks"
    folder.mkdir(exist_ok=True)
    n, d = 1_000_000, 64
    path = as_parquet(_data.write_clusters(folder / f"clusters-{n}-{d}.npy", n, d, "float64"))
    rows = []
    for m in (300, 1000):
        run = compare(MODULE, {"file": Contender("file_fit", {"path": str(path), "m": m})}, 1)
        rows.append([f"{n} x {d}, m={m}", f"{run['file'].cpu:.1f}", *alone(run["file"], n)])
    table(["data", "CPU s", "s", "MB", "us per row", "estimate"], rows)


def embeddings() -> None:
    """Novelty of 100,000 float32 embeddings beside one fit by landmarks; 5 % false alarms asked."""
    rows = []
    for name in ("manifold", "sphere"):
        with tempfile.TemporaryDirectory() as folder:
            path = str(_drawn(name, Path(folder) / "rows.npy", 100_000))
            runs = compare(
                MODULE,
                {
                    "novelty": Contender("detector", {"path": path}),
                    "landmarks": Contender("bare_fit", {"path": path}),
                    "alarms": Contender("alarms", {"path": path, "name": name}),
                },
                1,
            )
        ours, bare = runs["novelty"], runs["landmarks"]
        figures = [ours.cpu, bare.cpu, ours.cpu / bare.cpu]
        cells = [f"{figure:.1f}" for figure in figures]
        alarms = f"{100 * runs['alarms'].facts['share']:.2f} %"
        rows.append([name, *cells, f"{ours.peak:.0f}", alarms])
    table(["embeddings", "CPU s", "landmarks: CPU s", "ratio", "MB", "false alarms"], rows)


def _drawn(name: str, path: Path, n: int, part: int = 10_000) -> Path:
    """A file of rows in float32, drawn part by part."""
    from benchmarks import _watch_data

    rng = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (n, _watch_data.WIDE))
    for i in range(0, n, part):
        rows[i : i + part] = getattr(_watch_data, name)(part, rng)
    return path


def load(data: str, n: int, d: int, dtype: str) -> tuple[np.ndarray, float]:
    """Rows by name, and the Gaussian's gamma for them."""
    if data == "clusters":
        return _data.clusters(n, d, dtype), _data.gamma_of(d)
    from mercer.kernels.width import median_length

    X = _data.usps() if data == "usps" else {"mnist": _data.mnist, "cover": _data.cover}[data](n)
    return X.astype(dtype), 1 / median_length(X) ** 2


def davidson(**data: Any) -> Work:
    """Near-exact."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.solvers import Davidson

    X, gamma = load(**data)
    model = KernelPCA(K, kernel=Gaussian(gamma=gamma), solver=Davidson(), random_state=0)

    def work() -> dict[str, Any]:
        model.fit(X)
        return {
            "values": model.eigenvalues_.tolist(),
            "passes": model.report_.passes,
            "estimate": model.report_.estimated_error,
        }

    return work


def subsample(**data: Any) -> Work:
    """True error and estimate on 4,000 of the rows, which can be solved exactly."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.solvers import Davidson, Dense

    X, gamma = load(**data)
    few, kernel = X[:: len(X) // 4000][:4000], Gaussian(gamma=gamma)

    def work() -> dict[str, Any]:
        exact = KernelPCA(K, kernel=kernel, solver=Dense()).fit(few.astype(np.float64))
        near = KernelPCA(K, kernel=kernel, solver=Davidson(), random_state=0).fit(few)
        error = worst(near.eigenvalues_.tolist(), exact.eigenvalues_.tolist())
        return {"error": error, "estimate": near.report_.estimated_error}

    return work


def arpack(**data: Any) -> Work:
    """scikit-learn's best solver at these sizes."""
    from sklearn.decomposition import KernelPCA

    X, gamma = load(**data)
    model = KernelPCA(K, kernel="rbf", gamma=gamma, eigen_solver="arpack", random_state=0)
    return lambda: {"values": model.fit(X).eigenvalues_.tolist()}


def landmark_fit(m: int, **data: Any) -> Work:
    """Landmarks with the default choice of points."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.solvers import Landmarks

    X, gamma = load(**data)
    model = KernelPCA(K, kernel=Gaussian(gamma=gamma), solver=Landmarks(m), random_state=0)

    def work() -> dict[str, Any]:
        model.fit(X)
        return {
            "values": model.eigenvalues_.tolist(),
            "estimate": model.report_.estimated_error,
        }

    return work


def nystroem(m: int, **data: Any) -> Work:
    """What one does with scikit-learn: Nystroem features, then PCA."""
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem

    X, gamma = load(**data)

    def work() -> dict[str, Any]:
        features = Nystroem(gamma=gamma, n_components=m, random_state=0).fit_transform(X)
        pca = PCA(K, random_state=0).fit(features)
        return {"values": (pca.explained_variance_ * (len(X) - 1)).tolist()}

    return work


def file_fit(path: str, m: int) -> Work:
    """A fit straight from a file."""
    from mercer import KernelPCA
    from mercer.io import open_rows
    from mercer.kernels import Gaussian
    from mercer.solvers import Landmarks

    rows = open_rows(path)
    kernel = Gaussian(gamma=_data.gamma_of(rows.shape[1]))
    model = KernelPCA(K, kernel=kernel, solver=Landmarks(m), random_state=0)

    def work() -> dict[str, Any]:
        model.fit(rows)
        return {"estimate": model.report_.estimated_error}

    return work


def detector(path: str) -> Work:
    """A detector as it is by default."""
    from mercer import KernelNovelty

    def work() -> dict[str, Any]:
        KernelNovelty(random_state=0).fit(path)
        return {}

    return work


def alarms(path: str, name: str) -> Work:
    """The share of 20,000 fresh rows that it calls new."""
    from benchmarks import _watch_data
    from mercer import KernelNovelty

    fresh = getattr(_watch_data, name)(20_000, np.random.default_rng(1)).astype(np.float32)

    def work() -> dict[str, Any]:
        model = KernelNovelty(random_state=0).fit(path)
        return {"share": float((model.predict(fresh) < 0).mean())}

    return work


def bare_fit(path: str) -> Work:
    """As many landmarks as a detector takes, with the default choice of them."""
    from mercer import KernelPCA
    from mercer.solvers import Landmarks

    model = KernelPCA(K, solver=Landmarks(), random_state=0)

    def work() -> dict[str, Any]:
        model.fit(path)
        return {}

    return work


def chunks_fit(chunks: int, **data: Any) -> Work:
    """partial_fit over equal chunks; the landmarks are given, so that they are the same."""
    from mercer import IncrementalKernelPCA
    from mercer.kernels import Gaussian

    X, gamma = load(**data)
    model = IncrementalKernelPCA(K, kernel=Gaussian(gamma=gamma), select=X[:300])

    def work() -> dict[str, Any]:
        for chunk in np.array_split(X, chunks):
            model.partial_fit(chunk)
        return {"values": model.eigenvalues_.tolist()}

    return work


def as_parquet(path: Path) -> Path:
    """The same table as a Parquet file, written in row groups of 131,072 rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = path.with_suffix(".parquet")
    if not target.exists():
        X = np.load(path, mmap_mode="r")
        names = [f"x{j}" for j in range(X.shape[1])]
        schema = pa.schema([(name, pa.float64()) for name in names])
        with pq.ParquetWriter(target, schema) as writer:
            for i in range(0, len(X), 131_072):
                part = np.asarray(X[i : i + 131_072])
                writer.write_table(pa.table(dict(zip(names, part.T, strict=True))))
    return target


def label(data: dict[str, Any]) -> str:
    """How a table names its data."""
    if data["data"] == "clusters":
        return f"{data['n']} x {data['d']} {data['dtype']}"
    return f"{data['data']} {data['n'] or ''}".strip()


def cells(ours: Run, peer: Run) -> list[str]:
    """Seconds, memory and ratios of two runs."""
    return [
        f"{ours.seconds:.2f}",
        f"{ours.peak:.0f}",
        f"{peer.seconds:.2f}",
        f"{peer.peak:.0f}",
        f"{peer.seconds / ours.seconds:.1f}x",
        f"{ours.peak / peer.peak:.2f}",
    ]


def alone(run: Run, n: int) -> list[str]:
    """Seconds, memory and cost per row of one run."""
    return [
        f"{run.seconds:.1f}",
        f"{run.peak:.0f}",
        f"{1e6 * run.seconds / n:.2f}",
        f"{run.facts['estimate']:.0e}",
    ]


def worst(values: list[float], exact: list[float]) -> float:
    """Largest relative error."""
    return float(np.abs(np.array(values) / np.array(exact) - 1).max())
