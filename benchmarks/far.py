"""Near-exact fits on dask workers: bits, deaths, cost, and what a larger cluster would take.

``python -m benchmarks far`` does all of it, ``far bits``, ``far cost 100000``, ``far resume`` and
``far model`` a part; ``far model --keep`` writes its tables into ``benchmarks/results``. Seconds
are of processors, the client's and the workers' together, which hold on a busy machine. Every fit
has a client process of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks._data import clusters, gamma_of
from benchmarks._measure import forget_peak, peak_mb, table, table_as_done
from benchmarks._practice import keep
from mercer.gram.passes import FEWEST, STRIP

ROOT = Path(__file__).resolve().parents[1]
D, K = 64, 20
#: Vectors of a pass and of a whole search space, as Davidson takes them for 20 components.
B, S = 36, 200
#: Rows of a partition of the collection.
PART = 10_000
#: Where the model is fitted, and where it is asked.
FITTED, ASKED = (12_000, 20_000), 30_000
#: Bytes a second between two machines, and of memory on a client.
NETWORK, CLIENT = 1e9, 64e9


@dataclass(frozen=True)
class Run:
    """One fit: seconds of the client and of the workers, wall seconds, peak of the client in MB."""

    client: float
    workers: float
    wall: float
    peak: float
    bits: str
    passes: int

    @property
    def cpu(self) -> float:
        """Seconds of all processors."""
        return self.client + self.workers


def main() -> None:
    """All of it, or a part."""
    parts = {"bits": bits, "cost": cost, "resume": resume, "model": model}
    arguments = [argument for argument in sys.argv[2:] if argument != "--keep"]
    for name in arguments[:1] or list(parts):
        parts[name](*map(int, arguments[1:]))


def bits(n: int = ASKED) -> None:
    """One process, threads, pools, 1, 2 and 4 dask workers, and 2 of which one is killed."""
    ways = ["here", "pool 2", "dask 1", "dask 2", "dask 4", "killed 2"]
    first = run("here", n).bits
    rows = ([way, "same bits" if run(way, n).bits == first else "DIFFERENT"] for way in ways)
    table_as_done([f"{n} rows", ""], rows, 12)


def cost(n: int = ASKED) -> None:
    """Processor seconds and the client's peak, beside what is allowed."""
    alone = run("here", n)
    allowed = n * (2 * S + B) * 8 / 1e6 + 300

    def row(way: str) -> list[str]:
        found = alone if way == "here" else run(way, n)
        ratio, peak = found.cpu / alone.cpu, f"{found.peak:.0f} of {allowed:.0f}"
        return [way, f"{found.cpu:.1f}", f"{ratio:.2f}", f"{found.wall:.1f}", peak]

    heads = [f"{n} rows", "CPU s", "ratio", "wall s", "client MB of allowed"]
    table_as_done(heads, map(row, ("here", "pool 2", "dask 2")), 12)


def resume(count: int = 20, n: int = 6000) -> None:
    """A client that is killed again and again at random moments, and resumed."""
    whole, rng, kills, same = run("here", n), np.random.default_rng(0), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "state")
        for _ in range(count):
            while True:
                child = start("here", n, path)
                try:
                    child.wait(rng.uniform(0, 2 * whole.wall) if rng.random() < 0.7 else None)
                    break
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.communicate()
                    kills += 1
            same += finish(child).bits == whole.bits
    print(f"{n} rows: {kills} kills, {same} of {count} resumed fits have the same bits")


def model() -> None:
    """The cost model by 1, 2 and 4 workers, its predictions, and the map beyond this machine."""
    known = [(n, w, run(f"dask {w}", n)) for n in FITTED for w in (1, 2, 4)]
    workers = nnls(
        np.array([_work(n, found.passes) for n, _, found in known]),
        np.array([found.workers for *_, found in known]),
    )[0]
    client = nnls(
        np.array([_client(n, found.passes) for n, _, found in known]),
        np.array([found.client for *_, found in known]),
    )[0]
    unit = (
        f"an entry of the matrix {1e9 * workers[0]:.2f} ns, with a landmark "
        f"{1e9 * workers[1]:.2f} ns; a task {1e3 * workers[2]:.1f} ms of a worker and "
        f"{1e3 * client[0]:.1f} ms of the client; a row {1e6 * client[1]:.1f} µs of the client"
    )
    print(unit)
    rows = []
    for w in (1, 2, 4):
        found = run(f"dask {w}", ASKED)
        said = _work(ASKED, found.passes) @ workers + _client(ASKED, found.passes) @ client
        off = f"{100 * (said / found.cpu - 1):+.0f} %"
        rows.append([f"{ASKED} rows, {w} workers", f"{said:.1f}", f"{found.cpu:.1f}", off])
    heads = ["CPU s", "predicted", "measured", "off"]
    table(heads, rows)
    rate = landmark_rate()
    print(f"landmarks: {1e12 * rate:.1f} ps for each row and product of 1,000 landmarks")
    far = [_far(n, cores, workers, client, rate) for n, cores in FAR]
    table(HEADS, far)
    if "--keep" in sys.argv:
        state = "quiet machine; each fit once"
        command = "python -m benchmarks far model"
        keep("far", CHECKED, heads, rows, state, command, [f"{unit}."])
        keep("far_map", MAP, HEADS, far, "from the table above", command)


FAR = [(n, cores) for n in (10**6, 10**7, 10**8, 10**9) for cores in (64, 1000)]
CHECKED = (
    "Processor seconds of a near-exact fit of 20 components on a dask cluster of this machine, 64 "
    f"columns: predicted from fits of {' and '.join(f'{n:,}' for n in FITTED)} rows by 1, 2 and 4 "
    "workers, and measured."
)
MAP = (
    "What the same model says of more rows and cores: three passes, a network of 1 GB a second and "
    "64 GB of memory on the client. These are predictions, and nothing here was run."
)
HEADS = ["rows", "cores", "near-exact", "what breaks first", "1,000 landmarks", "then"]


def _work(n: int, passes: int) -> np.ndarray:
    """Entries of all passes, entries with landmarks, and tasks."""
    return np.array([passes * n**2 / 2, n * min(1000, n // 25), passes * _tasks(n)], float)


def _client(n: int, passes: int) -> np.ndarray:
    """Tasks, and rows of all passes."""
    return np.array([passes * _tasks(n), passes * n], float)


def _tasks(n: int) -> float:
    """Pairs of strips, and the sums of their halves."""
    strips = max(FEWEST, -(-n // STRIP))
    return strips * (strips + 1) / 2 + strips**2 / 7


def _far(n: int, cores: int, workers: np.ndarray, client: np.ndarray, rate: float) -> list[str]:
    """What 3 passes over n rows of 64 columns take, and a fit by 1,000 landmarks."""
    passes = 3
    parts = {
        "the workers' time": float(_work(n, passes) @ workers) / cores,
        "the client's time": float(_client(n, passes) @ client),
        "the network": passes * n * B * 12 / NETWORK,
    }
    memory = n * (2 * S + B) * 8
    first = max(parts, key=lambda name: parts[name])
    if memory > CLIENT:
        first = f"the client's memory, {memory / 1e9:.0f} GB"
    simple = {
        "the workers' time": n * 1000 * (2 * D + 1000) * rate / cores,
        "reading": n * D * 8 / NETWORK / max(1, cores / 16),
    }
    then = max(simple, key=lambda name: simple[name])
    seconds = sum(parts.values())
    return [f"{n:.0e}", str(cores), _span(seconds), first, _span(sum(simple.values())), then]


def _span(seconds: float) -> str:
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds > 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"


def landmark_rate() -> float:
    """Seconds of a core for a row and a product of landmarks, in one process."""
    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.solvers import Landmarks

    n, m, X = 50_000, 1000, clusters(50_000, D, "float64")
    solver = Landmarks(m, select=X[:m].copy())
    started = time.process_time()
    KernelPCA(K, kernel=Gaussian(gamma=gamma_of(D)), solver=solver, random_state=0).fit(X)
    return (time.process_time() - started) / (n * m * (2 * D + m))


def run(way: str, n: int) -> Run:
    """A fit in a process of its own."""
    return finish(start(way, n, ""))


def start(way: str, n: int, checkpoint: str) -> subprocess.Popen[str]:
    """The process, which is ready to fit."""
    call = [sys.executable, "-m", "benchmarks.far", way, str(n), checkpoint]
    child = subprocess.Popen(call, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()  # modules are imported, and workers are there
    return child


def finish(child: subprocess.Popen[str]) -> Run:
    """What it has found."""
    out, _ = child.communicate()
    if child.returncode:
        raise RuntimeError(f"the fit ended with {child.returncode}")
    return Run(**json.loads(out.splitlines()[-1]))


def _child(way: str, n: int, checkpoint: str) -> Run:
    import mercer
    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.solvers import Davidson

    kind, _, count = way.partition(" ")
    rows: Any = clusters(n, D, "float64")
    # Modules are loaded, and threads started, by a small fit.
    KernelPCA(2, solver=Davidson(), random_state=0).fit(rows[:600])
    solver = Davidson(checkpoint=checkpoint or None)
    pca = KernelPCA(K, kernel=Gaussian(gamma=gamma_of(D)), solver=solver, random_state=0)
    if kind == "here":
        return _timed(pca, rows, [])
    if kind == "pool":
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(int(count), get_context("spawn")) as pool:
            list(pool.map(_warm, range(4 * int(count))))
            pca.set_params(solver__executor=pool)
            return _timed(pca, rows, list(pool._processes))
    from distributed import Client, LocalCluster

    options = {"n_workers": int(count), "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
    ):
        pids = list(client.run(_warm, 0).values())
        np.save(path := Path(folder) / "rows.npy", rows)
        rows = _from_file(path, n)
        if kind == "dask":
            return _timed(pca, rows, pids)
        with mercer.listen(_killer(pids[0])):
            return _timed(pca, rows, pids)


def _from_file(path: Path, n: int) -> Any:
    """Rows that tasks read, as one should: what a client has sent is lost with its worker."""
    import dask
    import dask.array as da

    def read(start: int) -> np.ndarray:
        return np.array(np.load(path, mmap_mode="r")[start : start + PART])

    starts = range(0, n, PART)
    parts = [
        da.from_delayed(dask.delayed(read)(i), (min(PART, n - i), D), np.float64) for i in starts
    ]
    return da.concatenate(parts)


def _timed(pca: Any, rows: Any, pids: list[int]) -> Run:
    print("ready", flush=True)
    forget_peak()
    before, own, wall = _seconds(pids), time.process_time(), time.perf_counter()
    fitted = pca.fit(rows)
    wall, own, spent = time.perf_counter() - wall, time.process_time() - own, _seconds(pids)
    both = fitted.eigenvalues_.tobytes() + fitted.subspace_.coef.tobytes()
    digest, passes = hashlib.sha256(both).hexdigest(), fitted.report_.passes
    return Run(own, spent - before, wall, peak_mb(), digest, passes)


def _seconds(pids: list[int]) -> float:
    """Processor seconds of other processes so far; those of the dead do not count."""
    total = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    return total


def _killer(pid: int) -> Callable[[str, int, int], None]:
    """A listener that kills a worker in the middle of a pass."""

    def listen(stage: str, done: int, total: int) -> None:  # noqa: ARG001
        if stage == "tiles" and done == 3:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    return listen


def _warm(_: int) -> int:
    import mercer.solvers  # noqa: F401

    time.sleep(0.05)
    return os.getpid()


if __name__ == "__main__":
    name, size, state = sys.argv[1:]
    found = _child(name, int(size), state)
    print(json.dumps(asdict(found)), flush=True)
