"""Files of many rows at the command line: ``python -m benchmarks files [ROW ...] [--keep]``.

A CSV of 100,000 rows of nine columns in many units (forest cover). Beside each command stands the
shortest script that does the same in memory: pyarrow reads, the library works, and nothing is
written. Both are processes of their own, from their start to their end, so that the command's
checks, its scaling of columns and its output count. Of commands that make a page the aim is
seconds and 1 GB of memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks._measure import table
from benchmarks._practice import beside_kept, keep

ROWS, COLUMNS, REPEATS = 100_000, 9, 2
HEADS = ["100,000 rows of a CSV", "CPU s", "wall s", "MB", "script: CPU s", "wall s"]
HEADS += ["CPU ratio", "wall ratio", "aim"]

COMMAND = "python -m benchmarks files"
WHAT = (
    "Commands on a CSV of 100,000 rows and 9 columns, beside the shortest script that does the same"
    " in memory and writes nothing. Of whole processes, with the start of Python."
)
STATE = f"busy machine, one core; the least of {REPEATS} runs"

READ = """
import numpy as np, mercer
from pyarrow import csv
table = csv.read_csv("rows.csv")
X = np.column_stack([column.to_numpy() for column in table.columns]).astype(float)
X = (X - X.mean(axis=0)) / X.std(axis=0)
"""
FIT = "mercer.KernelPCA(64, solver='landmarks', random_state=0).fit(X)"
TRANSFORM = "mercer.load('bare.mercer').transform(X)"
#: What the page's worker does with a file that was named or dropped.
EXPLORE = """
from pathlib import Path
from mercer.live.protocol import Wanted
from mercer.live.worker import Job, do
assert do(Job(Path("rows.csv"), "rows.csv", Path("made"), Wanted("")))
"""
TO_HTML = f"{READ}mercer.load('bare.mercer').to_html('page.html', X)"
#: As many components as landmarks allow: the scores of all rows on them would take 800 MB.
WIDE = f"{READ}{FIT.replace('64', '999')}.to_html('page.html', X)"

_MERCER = ("-m", "mercer")
#: Each name: what runs, and what stands beside it.
CALLS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "mercer fit": ((*_MERCER, "fit", "rows.csv", "-o", "made.mercer", "--force"), READ + FIT),
    "mercer transform": (
        (*_MERCER, "transform", "rows.mercer", "rows.csv", "-o", "z.csv", "--force"),
        READ + TRANSFORM,
    ),
    "explore, one fit": (("-c", EXPLORE), None),
    "plot live": (
        (*_MERCER, "plot", "live", "rows.mercer", "rows.csv", "-o", "live.html", "--force"),
        None,
    ),
    "to_html": (("-c", TO_HTML), None),
    "to_html, 999 components": (("-c", WIDE), None),
}


@dataclass(frozen=True)
class Cost:
    """Of a process with all that it started: seconds, and its peak in MB."""

    cpu: float
    wall: float
    peak: float


def main() -> None:
    """Print a row for each command."""
    names = [name for name in sys.argv[2:] if name != "--keep"] or list(CALLS)
    if unknown := sorted(set(names) - set(CALLS)):
        sys.exit(f"{', '.join(unknown)} is not known; give some of {', '.join(CALLS)}")
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        rows = [row(name, *CALLS[name], folder) for name in names]
    table(HEADS, rows)
    if "--keep" in sys.argv:
        keep("files", WHAT, HEADS, beside_kept("files", rows), STATE, COMMAND)


def prepare(folder: Path) -> None:
    """The rows, and a model by the command and by the library."""
    from benchmarks import _data

    X = np.load(_data.folder() / "odds_cover.npz")["X"][:, :COLUMNS]
    X = X[np.random.default_rng(0).permutation(len(X))[:ROWS]]
    head = ",".join(f"c{j}" for j in range(COLUMNS))
    np.savetxt(folder / "rows.csv", X, fmt="%d", delimiter=",", header=head, comments="")
    run((*_MERCER, "fit", "rows.csv", "-o", "rows.mercer"), str(folder))
    run(("-c", f"{READ}{FIT}.save('bare.mercer')"), str(folder))


def row(name: str, call: tuple[str, ...], script: str | None, folder: str) -> list[str]:
    """The best of the repeats, in turn."""
    calls = [call] if script is None else [call, ("-c", script)]
    runs = [[run(one, folder) for one in calls] for _ in range(REPEATS)]
    best = [least(costs) for costs in zip(*runs, strict=True)]
    cells = [name, f"{best[0].cpu:.1f}", f"{best[0].wall:.1f}", f"{best[0].peak:.0f}"]
    if script is None:
        return [*cells, "", "", "", "", "seconds, 1,000 MB"]
    ratios = best[0].cpu / best[1].cpu, best[0].wall / best[1].wall
    cells += [f"{best[1].cpu:.1f}", f"{best[1].wall:.1f}"]
    return [*cells, *(f"{ratio:.2f}" for ratio in ratios), "≤ 3"]


def least(costs: Sequence[Cost]) -> Cost:
    """The minimum of each figure."""
    return Cost(*np.min([(cost.cpu, cost.wall, cost.peak) for cost in costs], axis=0).tolist())


def run(call: tuple[str, ...], folder: str) -> Cost:
    """A Python process; it must succeed."""
    started = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, *call], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(call)} ended with {child.returncode}")
    wall = time.perf_counter() - started
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
