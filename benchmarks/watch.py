"""Alarms that hold what they promise: of single rows, of streams, and of batches.

``python -m benchmarks watch [calibration|streams|batches]``: all three take about half an hour of
one core. Times are those of the processor.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from benchmarks._watch_data import EMBEDDINGS, TABLES, Draw
from mercer import KernelNovelty
from mercer.exceptions import MercerWarning

RATES = (0.01, 0.05, 0.1)
#: Rows of a fit → fits, over which shares of false alarms are averaged.
FITS = {2_000: 16, 20_000: 3}
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


def main() -> None:
    """The tables that were asked for, or all."""
    parts = {"calibration": calibration}
    for name in sys.argv[2:] or parts:
        parts[name]()
