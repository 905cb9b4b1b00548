"""Alarms that hold what they promise: of single rows, of streams, and of batches.

``python -m benchmarks watch [calibration|streams|batches|losses]``: the first three take about half
an hour of one core. Times are those of the processor. The last is in ``_watch_losses.py``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from time import process_time

import numpy as np
from scipy.signal import lfilter

from benchmarks import _watch_losses
from benchmarks._watch_data import EMBEDDINGS, TABLES, Draw
from mercer import KernelDrift, KernelNovelty
from mercer.exceptions import MercerWarning
from mercer.kernels import Gaussian

RATES = (0.01, 0.05, 0.1)
#: Rows of a fit → fits, over which shares of false alarms are averaged.
FITS = {2_000: 40, 20_000: 12}
FRESH = 4_000


def calibration() -> None:
    """False alarms of the default detector on six kinds of data, asked for 1, 5 and 10 %."""
    print("| false alarms, % | rows | asked 1 | asked 5 | asked 10 |\n|---|---:|---:|---:|---:|")
    tables = ("normal", "heavy", "sheet")
    for name, draw in {**{name: TABLES[name] for name in tables}, **EMBEDDINGS}.items():
        for n, fits in FITS.items():
            shares = 100 * np.mean([_flagged(draw, n, seed) for seed in range(fits)], axis=0)
            cells = " | ".join(f"{share:.2f}" for share in shares)
            print(f"| {name} | {n:,} | {cells} |", flush=True)


def _flagged(draw: Draw, n: int, seed: int) -> list[float]:
    rng = np.random.default_rng([n, seed])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MercerWarning)
        model = KernelNovelty(random_state=seed).fit(draw(n, rng))
    p = model.p_values(draw(FRESH, rng))
    return [float((p <= rate).mean()) for rate in RATES]


#: Calm streams, their rows, and those of them that rivals take their thresholds from; streams that
#: change, after so many rows, and rows that are waited.
CALM, LONG, FEW, CHANGING, AFTER, WAIT = 1_000, 10_000, 200, 100, 1_000, 1_000
LEVEL = 0.01
REFERENCE = 500
#: Rows of a window of the Kolmogorov-Smirnov test, and rows from one window to the next.
WINDOW, STEP = 100, 20


def streams() -> None:
    """False alarms of whole streams, and how long changes stay unseen, beside control charts."""
    rng = np.random.default_rng(0)
    draw = TABLES["normal"]
    model = KernelNovelty(20, random_state=0).fit(draw(600, rng))
    start = process_time()
    alarms = sum(_first_alarm(model, draw, None, seed) < np.inf for seed in range(CALM))
    micro = 1e6 * (process_time() - start) / CALM / LONG
    print(f"{CALM:,} calm streams of {LONG:,} rows at level {LEVEL:.0%}: {alarms / CALM:.2%} alarm")
    print(f"{micro:.0f} µs a row, with scoring and the drawing of rows\n")
    calm = {name: [] for name in CHARTS}
    for seed in range(FEW):
        known, rows = _stream(draw, None, LONG, [1, seed])
        for name, chart in CHARTS.items():
            calm[name].append(chart(known, rows).max())
    limits = {name: float(np.quantile(found, 1 - LEVEL)) for name, found in calm.items()}
    print("| rows until an alarm, median (not within 1,000 rows) | " + " | ".join(CHANGES) + " |")
    print("|---|" + "---:|" * len(CHANGES))
    delays = [
        [_first_alarm(model, draw, change, seed) - AFTER for seed in range(CHANGING)]
        for change in CHANGES
    ]
    print("| monitor, guaranteed | " + " | ".join(map(_median, delays)) + " |", flush=True)
    for name, chart in CHARTS.items():
        delays = []
        for change in CHANGES:
            streams = (_stream(draw, change, AFTER + WAIT, [2, i]) for i in range(CHANGING))
            above = np.array([chart(*stream) > limits[name] for stream in streams])
            first = np.where(above.any(axis=1), above.argmax(axis=1), np.inf)
            delays.append(first * (AFTER + WAIT) / above.shape[1] - AFTER)
        print(f"| {name}, threshold by simulation | " + " | ".join(map(_median, delays)) + " |")


def _median(delays: list[float]) -> str:
    found = np.array([delay for delay in delays if delay >= 0])  # false alarms before the change
    middle = np.median(found)
    unseen = int(np.isinf(found).sum())
    return (f"{middle:.0f}" if middle < np.inf else "—") + (f" ({unseen} %)" if unseen else "")


def _stream(draw: Draw, change: str | None, n: int, seed: list[int]) -> tuple:
    """Normal rows to compare with, and a stream that changes after AFTER rows, or never."""
    rng = np.random.default_rng(seed)
    known, rows = draw(REFERENCE, rng), draw(n, rng)
    if change is not None:
        rows[AFTER:] = CHANGES[change](rows[AFTER:], rng)
    return known, rows


def _shifted(columns: slice) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def shift(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # noqa: ARG001
        X[:, columns] += 0.5  # columns have a standard deviation of 1
        return X

    return shift


CHANGES = {
    "all columns by half a standard deviation": _shifted(slice(None)),
    "one column by half of one": _shifted(slice(1)),
    "spread × 1.2": lambda X, rng: 1.2 * X,  # noqa: ARG005
    "one column on its own": lambda X, rng: np.c_[rng.permutation(X[:, 0]), X[:, 1:]],
}


def _first_alarm(model: KernelNovelty, draw: Draw, change: str | None, seed: int) -> float:
    n = LONG if change is None else AFTER + WAIT
    known, rows = _stream(draw, change, n, [1 if change is None else 2, seed])
    found = model.monitor(known, level=LEVEL, random_state=seed)
    found.update(rows)
    return np.inf if found.alarm_at_ is None else found.alarm_at_


def page_hinkley(known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Page and Hinkley's test of both directions in each column, with a tolerance of a quarter."""
    z = (rows - known.mean(axis=0)) / known.std(axis=0)
    highest = np.zeros(len(rows))
    for sign in (1, -1):
        total = np.cumsum(sign * z - 0.25, axis=0)
        low = np.minimum.accumulate(np.minimum(total, 0), axis=0)
        highest = np.maximum(highest, (total - low).max(axis=1))
    return highest


def t_squared_and_q(known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """T² in three principal components and Q outside, smoothed over twenty rows, the larger."""
    mean = known.mean(axis=0)
    _, _, axes = np.linalg.svd(known - mean, full_matrices=False)

    def parts(X: np.ndarray) -> np.ndarray:
        along = (X - mean) @ axes.T
        return np.c_[
            (along[:, :3] ** 2 / ((known - mean) @ axes[:3].T).var(axis=0)).sum(axis=1),
            (along[:, 3:] ** 2).sum(axis=1),
        ]

    usual = parts(known)
    z = (parts(rows) - usual.mean(axis=0)) / usual.std(axis=0)
    return lfilter([0.05], [1, -0.95], z, axis=0).max(axis=1)


def kolmogorov_smirnov(known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The largest statistic over columns of windows against the reference: Bonferroni's choice."""
    highest = np.zeros((len(rows) - WINDOW) // STEP + 1)
    grid = np.arange(1, WINDOW + 1) / WINDOW
    for column, reference in zip(rows.T, np.sort(known, axis=0).T, strict=True):
        window = np.sort(np.lib.stride_tricks.sliding_window_view(column, WINDOW)[::STEP], axis=1)
        share = np.searchsorted(reference, window) / len(reference)
        apart = np.maximum(grid - share, share - grid + 1 / WINDOW).max(axis=1)
        highest = np.maximum(highest, apart)
    return np.r_[np.zeros(WINDOW // STEP), highest]  # a window is seen at its end


def mmd(known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """MMD² of windows and the reference by all pairs, as alibi-detect has it; Gaussian, median."""
    kernel = Gaussian().resolve(known)
    across = np.cumsum(np.r_[0, kernel(rows, known).mean(axis=1)])
    own, starts = kernel(known, known).mean(), range(0, len(rows) - WINDOW + 1, STEP)
    within = [kernel(rows[s : s + WINDOW], rows[s : s + WINDOW]).mean() for s in starts]
    between = (across[WINDOW:] - across[:-WINDOW])[::STEP] / WINDOW
    return np.r_[np.zeros(WINDOW // STEP), own + np.array(within) - 2 * between]


def adwin(known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The largest difference between recent and earlier means, of all columns and 2, 4, 8 … rows.

    As ADWIN (Bifet & Gavaldà 2007) compares the two ends of its window, which is not cut before the
    first alarm, with a threshold by simulation in the place of its bound.
    """
    z = (np.r_[known, rows] - known.mean(axis=0)) / known.std(axis=0)
    total = np.cumsum(np.r_[np.zeros((1, z.shape[1])), z], axis=0)
    ends, highest = np.arange(len(known) + 1, len(z) + 1), np.zeros(len(rows))
    for recent in 2 ** np.arange(1, int(np.log2(len(known))) + 1):
        start = ends - recent
        apart = (total[ends] - total[start]) / recent - total[start] / start[:, None]
        scaled = np.abs(apart) * np.sqrt(recent * start / ends)[:, None]
        highest = np.maximum(highest, scaled.max(axis=1))
    return highest


CHARTS = {
    "ADWIN by column": adwin,
    "Page–Hinkley by column": page_hinkley,
    "PCA's T² and Q": t_squared_and_q,
    "Kolmogorov–Smirnov by column": kolmogorov_smirnov,
    "MMD of windows": mmd,
}


#: Reference rows, rows of a batch, references and batches of each kind, and permutations of the
#: dense test.
KNOWN, BATCH, REFERENCES, BATCHES, PERMUTED = 2_200, 300, 30, 1_500, 200
POWER = 60
#: Reference rows for one more comparison of times.
LARGE = 10_000


def batches() -> None:
    """Size and power of the test for drift, beside dense MMD with permutations."""
    print("| size of the test for drift, % | asked 5 | asked 1 |\n|---|---:|---:|")
    for name, draw in {**TABLES, **EMBEDDINGS}.items():
        p = []
        for seed in range(REFERENCES):
            rng = np.random.default_rng([3, seed])
            model = KernelDrift(random_state=seed).fit(draw(KNOWN, rng))
            p += [model.test(draw(BATCH, rng)).p_value for _ in range(BATCHES // REFERENCES)]
        shares = " | ".join(f"{100 * (np.array(p) <= rate).mean():.1f}" for rate in (0.05, 0.01))
        print(f"| {name} | {shares} |", flush=True)
    print(f"\n| power at 5 %, {KNOWN:,} rows and {BATCH} | ours | dense MMD | ms | ms |")
    print("|---|---:|---:|---:|---:|")
    for what, (draw, change) in DRIFTS.items():
        found, times = np.zeros((2, POWER)), np.zeros((2, POWER))
        for seed in range(POWER):
            rng = np.random.default_rng([4, seed])
            known, batch = draw(KNOWN, rng), change(draw(BATCH, rng))
            model = KernelDrift(random_state=seed).fit(known)
            start = process_time()
            found[0, seed] = model.test(batch).p_value
            middle = process_time()
            found[1, seed] = dense(known, batch)
            times[:, seed] = middle - start, process_time() - middle
        power, ms = (found <= 0.05).mean(axis=1), 1e3 * np.median(times, axis=1)
        cells = f"{power[0]:.2f} | {power[1]:.2f} | {ms[0]:.1f} | {ms[1]:.0f}"
        print(f"| {what} | {cells} |", flush=True)
    rng, draw = np.random.default_rng(5), TABLES["independent"]
    known, batch = draw(LARGE, rng), draw(BATCH, rng)
    model, start = KernelDrift(random_state=0).fit(known), process_time()
    model.test(batch)
    middle = process_time()
    dense(known, batch)
    ms = 1e3 * (middle - start), 1e3 * (process_time() - middle)
    print(f"\n{LARGE:,} reference rows: {ms[0]:.1f} and {ms[1]:,.0f} ms")


def _plus(X: np.ndarray, columns: slice, by: float) -> np.ndarray:
    X[:, columns] += by
    return X


DRIFTS = {
    "all of 8 columns by 0.1": (TABLES["independent"], lambda X: _plus(X, slice(None), 0.1)),
    "one of 8 columns by 0.2": (TABLES["independent"], lambda X: _plus(X, slice(1), 0.2)),
    "spread × 1.1": (TABLES["normal"], lambda X: 1.1 * X),
}


def dense(known: np.ndarray, batch: np.ndarray) -> float:
    """Unbiased MMD² of all pairs, with its p-value by permutations in one matrix product."""
    Z, n, b = np.r_[known, batch], len(known), len(batch)
    K = Gaussian().resolve(Z)(Z)
    np.fill_diagonal(K, 0)
    rng = np.random.default_rng(0)
    inside = np.zeros((PERMUTED + 1, n + b))
    inside[0, n:] = 1
    for row in inside[1:]:
        row[rng.permutation(n + b)[:b]] = 1
    sums = inside @ K
    own = (sums * inside).sum(axis=1)
    across = sums.sum(axis=1) - own
    others = K.sum() - 2 * across - own
    found = others / (n * (n - 1)) + own / (b * (b - 1)) - 2 * across / (n * b)
    return float((found >= found[0]).mean())


def main() -> None:
    """The tables that were asked for, or all."""
    parts = {"calibration": calibration, "streams": streams, "batches": batches}
    parts["losses"] = _watch_losses.main
    for name in [word for word in sys.argv[2:] if not word.startswith("-")] or parts:
        parts[name]()
