"""Dask: 1, 2 and 4 workers agree with a single process; the loss of a worker changes no bit.

``python -m benchmarks cluster``; a smaller table with ``python -m benchmarks cluster 100000``.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._data import gamma_of, write_clusters
from benchmarks._measure import table

N, D, M = 1_000_000, 32, 300
CHUNK = 50_000


def main() -> None:
    """Fit by one process, by 1, 2 and 4 workers, and by 2 of which one is killed."""
    n = int(sys.argv[2]) if len(sys.argv) > 2 else N
    folder = Path(tempfile.gettempdir()) / "mercer-benchmarks"
    folder.mkdir(exist_ok=True)
    path = write_clusters(folder / f"clusters-{n}-{D}.npy", n, D, "float64")
    started = time.perf_counter()
    single = fit(path)
    rows = [["one process", f"{time.perf_counter() - started:.1f}", ""]]
    reference = None
    for workers, kill in ((1, False), (2, False), (4, False), (2, True)):
        seconds, values = on_cluster(path, n, workers, kill)
        reference = values if reference is None else reference
        same = "bit for bit" if np.array_equal(values, reference) else "DIFFERENT"
        error = np.abs(values / single - 1).max()
        name = f"{workers} workers{', one killed' if kill else ''}"
        rows.append([name, f"{seconds:.1f}", f"{error:.1e} to one process, {same} to 1 worker"])
    table(["", "s", "eigenvalues"], rows)


def fit(rows: Any) -> np.ndarray:
    """The eigenvalues, with landmarks that do not depend on where the rows are."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.solvers import Landmarks

    solver = Landmarks(M, select=points())
    model = KernelPCA(20, kernel=Gaussian(gamma=gamma_of(D)), solver=solver, random_state=0)
    return np.asarray(model.fit(rows).eigenvalues_)


def points() -> np.ndarray:
    """Landmarks."""
    from benchmarks._data import clusters

    return clusters(M, D, "float64", seed=12345)


def on_cluster(path: Path, n: int, workers: int, kill: bool) -> tuple[float, np.ndarray]:
    """Seconds and eigenvalues on a LocalCluster; its tasks read the file themselves."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    def read(start: int) -> np.ndarray:
        return np.array(np.load(path, mmap_mode="r")[start : start + CHUNK])

    starts = range(0, n, CHUNK)
    parts = [
        da.from_delayed(dask.delayed(read)(i), (min(CHUNK, n - i), D), np.float64) for i in starts
    ]
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        pids = [info["pid"] for info in client.run(lambda: {"pid": os.getpid()}).values()]
        if kill:
            threading.Timer(1.0, os.kill, (pids[0], signal.SIGKILL)).start()
        started = time.perf_counter()
        values = fit(da.concatenate(parts))
        return time.perf_counter() - started, values
