"""Fifty SIGKILLs at random moments of a checkpointed fit: the result must not change.

``python -m benchmarks kill`` or, with another number of kills, ``python -m benchmarks kill 5``.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._data import write_clusters

ROOT = Path(__file__).resolve().parents[1]
N, D, M = 400_000, 16, 300

_FIT = """
import json, sys
from mercer import KernelPCA
from mercer.solvers import Landmarks
path, checkpoint = sys.argv[1:]
model = KernelPCA(20, solver=Landmarks({m}, checkpoint=checkpoint or None), random_state=0)
print("ready", flush=True)
print(json.dumps(model.fit(path).eigenvalues_.tolist()))
"""


def main() -> None:
    """Kill, resume, compare."""
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    with tempfile.TemporaryDirectory() as folder:
        survived, fits, difference = kill_loop(Path(folder), kills)
    print(f"{survived} kills, {fits} finished fits, largest relative difference {difference:.1e}")


def kill_loop(folder: Path, kills: int, n: int = N, m: int = M) -> tuple[int, int, float]:
    """Kills survived, fits finished in between, and their largest difference to the undisturbed."""
    path = write_clusters(folder / "rows.npy", n, D, "float64")
    child = _start(path, "", m)
    started = (
        time.perf_counter()
    )  # of the fit alone: a kill while modules are imported shows nothing
    undisturbed = _finish(child)
    span = time.perf_counter() - started
    rng = np.random.default_rng(0)
    checkpoint = folder / "fit.checkpoint"
    killed, results = 0, []
    while killed < kills:
        child = _start(path, str(checkpoint), m)
        try:
            child.wait(rng.uniform(0, span / 3))
            results.append(_finish(child))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.communicate()
            killed += 1
    results.append(_finish(_start(path, str(checkpoint), m)))
    difference = max(float(np.abs(values / undisturbed - 1).max()) for values in results)
    if checkpoint.exists():
        raise RuntimeError("a finished fit has left its checkpoint")
    return killed, len(results), difference


def _start(path: Path, checkpoint: str, m: int) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", _FIT.format(m=m), str(path), checkpoint],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()  # imports are done: from here on a kill is worth something
    return child


def _finish(child: subprocess.Popen[str]) -> np.ndarray:
    out, _ = child.communicate()
    if child.returncode:
        raise RuntimeError(f"the fit ended with {child.returncode}")
    return np.array(json.loads(out.splitlines()[-1]))
