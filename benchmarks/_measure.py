"""Time and peak memory of contenders, each in a process of its own, interleaved.

A contender is a function of a benchmark module that prepares its data and returns the work to be
timed; the work returns a dictionary of facts (for example eigenvalues).
"""

from __future__ import annotations

import contextlib
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

__all__ = ["Contender", "Run", "compare", "peak_mb", "table", "table_as_done"]

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Contender:
    """A function by name, and its arguments; all can be written as JSON.

    ``calls`` repeats the work in its process and keeps the quickest: for work so short that what a
    library does on its first use would show.
    """

    function: str
    arguments: dict[str, Any]
    calls: int = 1


@dataclass(frozen=True)
class Run:
    """The best of the repeats: wall and CPU seconds, memory in MB, facts.

    ``peak`` is of the whole process, with Python and its libraries; ``added`` is what the work put
    on top of what was there before it.
    """

    seconds: float
    cpu: float
    peak: float
    added: float
    facts: dict[str, Any]


def compare(module: str, contenders: dict[str, Contender], repeats: int = 3) -> dict[str, Run]:
    """Run the contenders in turn, ``repeats`` times, and keep the minimum of each.

    Interleaving lets a disturbance of the machine hit all of them alike.
    """
    best: dict[str, Run] = {}
    for _ in range(repeats):
        for name, contender in contenders.items():
            run = _in_child(module, contender)
            known = best.get(name, run)
            best[name] = Run(
                min(run.seconds, known.seconds),
                min(run.cpu, known.cpu),
                min(run.peak, known.peak),
                min(run.added, known.added),
                run.facts,
            )
    return best


def peak_mb() -> float:
    """Peak resident memory of this process in MB; ru_maxrss would be inherited from the parent."""
    try:
        status = Path("/proc/self/status").read_text()
        mark = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(mark.split()[1]) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak() -> None:
    """Let the peak start again from what is resident now, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def table(heads: list[str], rows: list[list[str]]) -> None:
    """Print aligned columns, the first to the left."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    for row in [heads, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]), flush=True)


def table_as_done(heads: list[str], rows: Iterable[list[str]], first: int, other: int = 8) -> None:
    """The same, each row when it is done: ``first`` and ``other`` are the widths of the columns."""
    widths = [first, *(max(other, len(head)) for head in heads[1:])]
    for row in chain([heads], rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(first), *cells]), flush=True)


def _in_child(module: str, contender: Contender) -> Run:
    call = json.dumps([module, contender.function, contender.arguments, contender.calls])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks._measure", call],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{contender} failed:\n{done.stderr[-2000:]}")
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def _child(call: str) -> None:
    # scikit-learn imports pandas wherever it is installed; its 60 MB would blur every ratio.
    sys.modules["pandas"] = None  # type: ignore[assignment]
    import sklearn.decomposition  # noqa: F401

    del sys.modules["pandas"]
    module, function, arguments, calls = json.loads(call)
    work = getattr(import_module(module), function)(**arguments)
    forget_peak()  # making the data may have taken more than the data
    before, seconds, busy = peak_mb(), math.inf, math.inf
    for _ in range(calls):
        wall, cpu = time.perf_counter(), time.process_time()
        facts = work()
        seconds = min(seconds, time.perf_counter() - wall)
        busy = min(busy, time.process_time() - cpu)
    peak = peak_mb()
    print(json.dumps(vars(Run(seconds, busy, peak, peak - before, facts))))


if __name__ == "__main__":
    _child(sys.argv[1])
