"""Rows of ``python -m benchmarks practice``: processor and wall seconds of two calls.

And what the rows share: interleaved timing, other work beside, and the file that keeps them.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from mercer._base.machine import n_threads
from mercer._base.numbers import counted

__all__ = [
    "BUSY_RATIOS",
    "COLUMNS",
    "WHAT",
    "Row",
    "Seconds",
    "add_busy",
    "beside_busy_processes",
    "beside_kept",
    "interleaved",
    "keep",
]

RESULTS = Path(__file__).parent / "results"
WHAT = (
    "Processor and wall seconds of what people wait for, beside the work that it should be "
    "measured by; a ratio below one means that ours is faster."
)
PACKAGES = ("mercer", "scikit-learn", "numpy", "scipy")
COLUMNS = ["", "CPU s", "wall s", "beside", "CPU s", "wall s", "CPU ratio", "wall ratio"]
COLUMNS += ["busy: CPU", "wall", "aim", ""]
#: Where the ratios are, and those beside busy processes.
RATIOS, BUSY_RATIOS = slice(6, 8), slice(8, 10)
#: What runs beside: a thread in BLAS, and one in Python.
BUSY = (
    "import numpy as np; A = np.ones((800, 800))\nwhile True: A @ A",
    "while True: pass",
)


@dataclass(frozen=True)
class Seconds:
    """Of the processor (all threads of this process) and of the wall."""

    cpu: float
    wall: float

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.cpu + other.cpu, self.wall + other.wall)

    def __mul__(self, times: float) -> Seconds:
        return Seconds(times * self.cpu, times * self.wall)


@dataclass(frozen=True)
class Row:
    """What was measured beside what; ``aim`` is of the ratios, ``also`` what else was compared."""

    what: str
    ours: Seconds
    beside: str
    theirs: Seconds
    aim: str = ""
    also: str = ""

    def cells(self) -> list[str]:
        """As text, in the order of :data:`COLUMNS`."""
        ratios = self.ours.cpu / self.theirs.cpu, self.ours.wall / self.theirs.wall
        return [
            self.what,
            *_digits(self.ours.cpu, self.ours.wall),
            self.beside,
            *_digits(self.theirs.cpu, self.theirs.wall),
            *_digits(*ratios),
            *("–", "–"),
            self.aim,
            self.also,
        ]


def interleaved(
    calls: dict[str, Callable[[], object]], repeats: int = 3
) -> tuple[dict[str, Seconds], dict[str, object]]:
    """Minima over the repeats, all calls in turn; and what each call returned at last.

    A call starts when all threads of the one before it rest: those of OpenBLAS spin for a tenth of
    a second after their work, at the cost of whoever comes next.
    """
    cpu, wall = (dict.fromkeys(calls, np.inf) for _ in range(2))
    results: dict[str, object] = {}
    for _ in range(repeats):
        for name, call in calls.items():
            _wait_for_rest()
            clock, cycles = time.perf_counter(), time.process_time()
            results[name] = call()
            cpu[name] = min(cpu[name], time.process_time() - cycles)
            wall[name] = min(wall[name], time.perf_counter() - clock)
    return {name: Seconds(cpu[name], wall[name]) for name in calls}, results


def _wait_for_rest() -> None:
    """Until this process takes no more of the processor, for two seconds at most."""
    for _ in range(100):
        cycles = time.process_time()
        time.sleep(0.02)
        if time.process_time() - cycles < 0.002:
            return


@contextmanager
def beside_busy_processes() -> Iterator[None]:
    """Two processes that never rest, as on a shared machine; they end with the block."""
    one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    running = [subprocess.Popen([sys.executable, "-c", work], env=one_thread) for work in BUSY]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def add_busy(name: str, rows: list[list[str]], state: str) -> None:
    """Write the ratios beside busy processes into a table that was kept before."""
    path = RESULTS / f"{name}.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    busy = {row[0]: row[RATIOS] for row in rows}
    for row in record["rows"]:
        row[BUSY_RATIOS] = busy[row[0]]
    record["notes"] = [state]
    path.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def beside_kept(name: str, rows: list[list[str]]) -> list[list[str]]:
    """The rows of a kept table, these in the places of those that they measure again."""
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    known, now = [row[0] for row in before], {row[0]: row for row in rows}
    old = [now.get(label, row) for label, row in zip(known, before, strict=True)]
    return [*old, *(row for row in rows if row[0] not in known)]


def keep(
    name: str,
    what: str,
    columns: list[str],
    rows: list[list[str]],
    state: str,
    command: str,
    notes: list[str] | None = None,
) -> None:
    """Write ``benchmarks/results/NAME.json``, which the documentation shows."""
    threads = counted(n_threads(), "thread")
    record = {
        "what": what,
        "command": command,
        "machine": f"{os.cpu_count()} cores ({platform.machine()}), {threads}",
        "state": state,
        "versions": ", ".join(f"{package} {version(package)}" for package in PACKAGES),
        "columns": columns,
        "rows": rows,
        "notes": notes or [],
    }
    text = json.dumps(record, ensure_ascii=False, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _digits(*values: float) -> list[str]:
    return [f"{value:.2f}" if value < 10 else f"{value:.1f}" for value in values]
