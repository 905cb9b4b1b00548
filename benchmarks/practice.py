"""What people wait for in practice: ``python -m benchmarks practice [ROW ...] [--busy] [--keep]``.

Processor and wall seconds beside the work that they should be measured by, minima of interleaved
repeats. With ``--busy`` two busy processes run beside. ``--keep`` writes the rows into
``benchmarks/results``, in their places; after it ``--busy --keep`` adds the ratios beside busy
processes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial

import numpy as np
from sklearn.datasets import load_digits

from benchmarks._data import clusters
from benchmarks._denoise_data import rows_of
from benchmarks._measure import table
from benchmarks._practice import (
    BUSY_RATIOS,
    COLUMNS,
    WHAT,
    Row,
    add_busy,
    beside_busy_processes,
    beside_kept,
    interleaved,
    keep,
)
from benchmarks._practice_landmarks import landmarks
from benchmarks.preimage_speed import TOL, manifold, thinned
from mercer import KernelNovelty, KernelPCA
from mercer.kernels import Gaussian
from mercer.model import Subspace
from mercer.preimage import FixedPoint, fixed_point
from mercer.selection import choose_by_noise, kernels_around
from mercer.solvers import Landmarks

COMMAND = "python -m benchmarks practice"
#: Support points, rows and columns of the row "denoise".
SIZES = ((4_000, 1_000, 64), (10_000, 2_000, 64), (20_000, 5_000, 64))
#: Rows of a batch of the NumPy loop: of 2,000 it took 1.2 times as long.
LOOP_ROWS = 250


def main() -> None:
    """Run the rows that are named, or all."""
    rows = {
        "tune": tune,
        "choice": choice,
        "denoise": denoise,
        "novelty": novelty,
        "landmarks": landmarks,
    }
    busy, kept = (flag in sys.argv[2:] for flag in ("--busy", "--keep"))
    named = [argument for argument in sys.argv[2:] if argument not in ("--busy", "--keep")]
    if unknown := set(named) - set(rows):
        sys.exit(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(rows)}")
    load = f"load average of the machine {os.getloadavg()[0]:.1f} before"
    with beside_busy_processes() if busy else nullcontext():
        found = [row for name in named or rows for row in shown(rows[name])]
    cells = [row.cells() for row in found]
    if kept and busy:
        add_busy("practice", cells, f"Busy: with `--busy`, two busy processes beside; {load}.")
    elif kept:
        cells = beside_kept("practice", cells) if named else cells
        keep("practice", WHAT, COLUMNS, cells, f"{load}; interleaved, minima", COMMAND)


def shown(rows: Callable[[], Iterator[Row]]) -> list[Row]:
    """Print the rows, without the columns that only a kept table fills."""
    found = list(rows())
    lines = [COLUMNS.copy(), *(row.cells() for row in found)]
    for line in lines:
        del line[BUSY_RATIOS]
    table(lines[0], lines[1:])
    return found


def tune() -> Iterator[Row]:
    """The choice of width and components beside one fit and one denoise."""
    rng = np.random.default_rng(0)
    X = load_digits().data[rng.permutation(1797)] / 16
    held_out = X[1198:] + 0.25 * rng.standard_normal((599, 64))
    model = KernelPCA(512).fit(X)
    seconds, _ = interleaved(
        {
            "fit": lambda: KernelPCA(512).fit(X),
            "denoise": lambda: model.denoise(held_out),
            "tune": lambda: KernelPCA().tune(X, noise=0.25, rows="clean"),
            "fewer": lambda: KernelPCA().tune(X[:1500], noise=0.25, rows="clean"),
        },
        repeats=2,
    )
    unit, beside = seconds["fit"] + seconds["denoise"], "fit of 512, denoise of 599 rows"
    yield Row("tune, 1,797 × 64", seconds["tune"], beside, unit, "≤ 15")
    yield Row("tune, 1,500 × 64", seconds["fewer"], beside, unit)


def choice() -> Iterator[Row]:
    """What the search from coarse to fine chooses, beside every cell in full."""
    for name in ("digits", "USPS", "breast cancer"):
        rows = rows_of(name)
        kernels = kernels_around("gaussian", rows)

        # Noise of half the standard deviation.
        search = partial(choose_by_noise, KernelPCA(), rows, kernels=kernels)
        calls = {"quick": search, "plain": partial(search, exhaustive=True)}
        seconds, found = interleaved(calls, repeats=1)
        quick, plain = found["quick"], found["plain"]
        same = (quick.kernel.length, quick.n_components) == (
            plain.kernel.length, plain.n_components)  # fmt: skip
        also = f"{'same' if same else 'OTHER'} choice, error {quick.value / plain.value:.5f}"
        label = f"search, {name}, {len(rows):,} × {rows.shape[1]}"
        yield Row(label, seconds["quick"], "every cell", seconds["plain"], "≤ 1", also)


def denoise() -> Iterator[Row]:
    """Pre-images in mixed precision beside float64 alone and a NumPy loop."""
    for size in SIZES:
        yield denoise_one(*size)


def denoise_one(n: int, m: int, d: int) -> Row:
    """One size of them."""
    rng = np.random.default_rng(0)
    X, Y = manifold(n, d, rng), manifold(m, d, rng) + 0.15 * rng.standard_normal((m, d))
    kernel = Gaussian(width=3.0)
    subspace = KernelPCA(32, kernel=kernel, solver="davidson", random_state=0).fit(X).subspace_
    Z = subspace.scores(Y)
    mixed, doubles = (FixedPoint(tol=TOL).init(subspace) for _ in range(2))
    with_doubles_alone(doubles)
    S = np.ascontiguousarray(subspace.support)
    step = TOL * mixed.sweep.scale
    calls = {
        "mixed": lambda: mixed.solve(Z, Y),
        "float64": lambda: doubles.solve(Z, Y),
        "loop": lambda: loop(S, Y, subspace, step),
    }
    seconds, found = interleaved(calls)
    points, plain = (found[name].points for name in ("mixed", "float64"))
    apart = np.linalg.norm(points - plain, axis=1) / mixed.sweep.scale
    also = (
        f"{seconds['mixed'].cpu / seconds['float64'].cpu:.2f} of float64 alone (CPU), "
        f"same points {np.mean(apart < 10 * TOL):.2%}, at most {apart.max():.0e} apart"
    )
    label = f"denoise, {n:,} support × {m:,} rows × {d}"
    return Row(label, seconds["mixed"], "NumPy loop, in place", seconds["loop"], "≤ 0.33", also)


def loop(S: np.ndarray, Y: np.ndarray, subspace: Subspace, step: float) -> np.ndarray:
    """The quickest plain NumPy loop that we know, in batches that stay near the processor."""
    parts = [slice(i, i + LOOP_ROWS) for i in range(0, len(Y), LOOP_ROWS)]
    expansions = (subspace.expansion(subspace.scores(Y[part])) for part in parts)
    return np.concatenate(
        [thinned(S, Y[part], G, 1 / 9.0, step) for part, G in zip(parts, expansions, strict=True)]
    )


def with_doubles_alone(bound: fixed_point._BoundFixedPoint) -> None:
    """Leave the sweeps in float32 out."""
    bound.__dict__["rough"] = None


def novelty() -> Iterator[Row]:
    """A detector with its held-out scores beside one fit of as many components, by its solver."""
    for n in (1_000, 5_000, 20_000):
        X = clusters(n, 64, "float64")
        subspace = KernelNovelty(random_state=0).fit(X).score_.subspace
        m, q, kernel = len(subspace.support), subspace.n_components, subspace.kernel
        solver, beside = ("auto", "") if m == n else (Landmarks(m), f", solver=Landmarks({m})")
        model = KernelPCA(q, kernel=kernel, solver=solver, random_state=0)
        detector = KernelNovelty(random_state=0)
        calls = {"ours": partial(detector.fit, X), "fit": partial(model.fit, X)}
        seconds, _ = interleaved(calls)
        beside = f"KernelPCA({q}{beside})"
        yield Row(f"novelty, {n:,} × 64", seconds["ours"], beside, seconds["fit"], "≤ 4")
