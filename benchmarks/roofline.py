"""How near to the limit of one core the passes are: ``python -m benchmarks roofline [--keep]``.

Everything of size n × m is made of three things, a tile at a time: a matrix product that gives the
kernel's arguments, ``exp``, and a product of the tile with something narrow. Their speed alone, at
the size of a tile, is the limit; a pass reaches that share of it that its processor time tells.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._data import clusters, gamma_of
from benchmarks._measure import table
from benchmarks._practice import keep
from mercer import KernelPCA
from mercer.gram import LandmarkFeatures, StreamedGram, sum_features
from mercer.kernels import Gaussian
from mercer.points.tiles import EDGE
from mercer.preimage import FixedPoint

#: Rows, support points, landmarks, columns, components.
N, S, M, D, Q = 6_000, 4_000, 1_000, 64, 20
#: Sweeps of a fixed point that stops on purpose.
SWEEPS = 5
REPEATS = 7
COLUMNS = ["", "limit, s", "CPU s", "share"]


@dataclass(frozen=True)
class Limit:
    """Seconds for each entry of a tile: its argument, ``exp``, and a product with b columns."""

    argument: float
    exp: float
    product: Callable[[int], float]
    square: float  # for each entry of the landmark features: its share of their sum of squares


def main() -> None:
    """Print what the parts can do, and what the passes make of it; ``--keep`` writes it down."""
    rows, parts = [], []
    with threadpool_limits(1):
        for dtype in ("float64", "float32"):
            limit = limits(dtype)
            parts.append(speeds(dtype, limit))
            print(f"\n{parts[-1]}")
            found = passes(dtype, limit)
            table(COLUMNS, found)
            rows += [[f"{name}, {dtype}", *cells] for name, *cells in found]
        if "--keep" in sys.argv[2:]:
            what = "Seconds of a pass beside those that its parts take alone, one thread."
            state = "minima of processor seconds"
            keep("roofline", what, COLUMNS, rows, state, "python -m benchmarks roofline", parts)


def limits(dtype: str) -> Limit:
    """Measured on one tile that stays in cache."""
    rng, edge = np.random.default_rng(0), EDGE[np.dtype(dtype).char]
    rows = rng.standard_normal((edge, D + 2)).astype(dtype)
    tile = -rng.random((edge, edge)).astype(dtype)
    out, entries = np.empty_like(tile), tile.size
    features = rng.standard_normal((2048, M)).astype(dtype)

    def product(b: int) -> float:
        narrow = rng.standard_normal((edge, b)).astype(dtype)
        return quickest(lambda: tile @ narrow, 50) / entries

    return Limit(
        quickest(lambda: np.matmul(rows, rows.T, out=out), 50) / entries,
        quickest(lambda: np.exp(tile, out=out), 50) / entries,
        product,
        quickest(lambda: features.T @ features) / features.size,
    )


def speeds(dtype: str, limit: Limit) -> str:
    """What the parts can do alone."""
    return (
        f"{dtype}, tiles of {EDGE[np.dtype(dtype).char]}, one core: "
        f"arguments of {D} columns {2e-9 * (D + 2) / limit.argument:.1f} GFlop/s, "
        f"exp {1e-9 / limit.exp:.2f} G/s, product with {Q} columns "
        f"{2e-9 * Q / limit.product(Q):.1f} GFlop/s, "
        f"sum of squares of {M:,} features {2e-9 * M / limit.square:.1f} GFlop/s"
    )


def passes(dtype: str, limit: Limit) -> list[list[str]]:
    """Each pass with the seconds that its parts would take."""
    X = clusters(N, D, dtype)
    kernel = Gaussian(gamma=gamma_of(D))
    tile = limit.argument + limit.exp
    streamed = StreamedGram.from_rows(kernel, X, np.dtype(dtype))
    V = np.random.default_rng(0).standard_normal((N, Q)).astype(dtype)
    features = LandmarkFeatures(kernel, X[:M], np.dtype(dtype), Q)
    worked = np.dtype(features.working).name
    model = KernelPCA(Q, kernel=kernel, random_state=0).fit(X[:S])
    bound = FixedPoint(early_stop=SWEEPS).init(model.subspace_)
    Z = model.transform(X[:M])
    sweep = tile + limit.product(D + 1)
    rows = [
        # One triangle of tiles, each of which serves both halves.
        cells(
            "Davidson pass",
            N * (N + 1) / 2 * (tile + 2 * limit.product(Q)),
            lambda: streamed.matmat(V),
        ),
        cells("transform", N * S * (tile + limit.product(Q)), lambda: model.transform(X)),
        cells(
            f"denoise, {SWEEPS} sweeps",
            M * S * (SWEEPS * sweep + limit.product(Q)),
            lambda: bound.solve(Z, X[:M]),
        ),
    ]
    if worked == dtype:  # features of a smooth kernel are summed in float64
        ideal = N * M * (tile + limit.square)
        rows.insert(1, cells("landmark pass", ideal, lambda: sum_features(features, X)))
    return rows


def cells(name: str, ideal: float, work: Callable[[], object]) -> list[str]:
    """One row of the table."""
    seconds = quickest(work)
    return [name, f"{ideal:.3f}", f"{seconds:.3f}", f"{ideal / seconds:.0%}"]


def quickest(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """The least processor time of several calls."""
    found = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        found = min(found, time.process_time() - start)
    return float(found)
