"""Whether intervals of eigenvalues and shares hold what they promise, and what they cost.

``python -m benchmarks uncertainty [repeats]``: samples of 500 and 2,000 rows from four data models
whose true spectrum is known from 200,000 rows; how often nominal 95 % intervals of the eight
leading eigenvalues and shares contain the truth, and the time beside that of the fit. Half an hour
with the usual 150 repeats.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks._measure import table
from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.solvers import Landmarks

Q = 8
TRUTH = 200_000


def groups(n: int, rng: np.random.Generator) -> np.ndarray:
    """Four groups of different size in four dimensions."""
    centres = np.array([[0, 0, 0, 0], [3, 0, 0, 0], [0, 2.5, 1, 0], [1, 1, -2, 2.0]])
    which = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    return centres[which] + 0.7 * rng.standard_normal((n, 4))


def ellipse(n: int, rng: np.random.Generator) -> np.ndarray:
    """A ring of 1 × 0.9 with noise: its eigenvalues come in close pairs."""
    return ring(n, rng) * [1, 0.9]


def ring(n: int, rng: np.random.Generator) -> np.ndarray:
    """A round one: true eigenvalues are equal in pairs."""
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.c_[np.cos(angle), np.sin(angle)] + 0.1 * rng.standard_normal((n, 2))


def heavy_tails(n: int, rng: np.random.Generator) -> np.ndarray:
    """Student's t with 5 degrees of freedom in three dimensions."""
    return rng.standard_t(5, (n, 3)) * [1, 0.8, 0.6]


MODELS: dict[str, tuple[Callable[..., np.ndarray], float]] = {
    "four groups, 4-D": (groups, 0.12),
    "ellipse (close pairs)": (ellipse, 0.7),
    "ring (equal pairs)": (ring, 0.7),
    "heavy tails, 3-D": (heavy_tails, 0.3),
}


def main() -> None:
    """Print the table of coverage, and that of the cost."""
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    cost()
    print(f"Coverage of nominal 95 % intervals, {Q} leading components, {repeats} samples each.")
    rows = []
    for name, (draw, gamma) in MODELS.items():
        truth = population(draw, gamma)
        for n in (500, 2000):
            rows.append([name, f"{n:,}", *coverage(draw, gamma, truth, n, repeats)])
            print("|", " | ".join(rows[-1]), "|", flush=True)
    print()
    table(["data", "rows", "eigenvalues", "worst", "shares", "worst", "stable"], rows)


def population(draw: Callable[..., np.ndarray], gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Variances and shares of very many rows."""
    X = draw(TRUTH, np.random.default_rng(10**6))
    model = KernelPCA(Q, kernel=Gaussian(gamma=gamma), solver=Landmarks(300), random_state=0).fit(X)
    return model.explained_variance_, model.explained_variance_ratio_


def coverage(
    draw: Callable[..., np.ndarray],
    gamma: float,
    truth: tuple[np.ndarray, np.ndarray],
    n: int,
    repeats: int,
) -> list[str]:
    """Mean over the components and the worst of them, for eigenvalues and for shares."""
    hits = np.zeros((2, repeats, Q))
    stable = []
    for i in range(repeats):
        X = draw(n, np.random.default_rng(i))
        found = KernelPCA(Q, kernel=Gaussian(gamma=gamma)).fit(X).uncertainty(X)
        hits[0, i] = found.eigenvalues.times(1 / n).contains(truth[0])
        hits[1, i] = found.shares.contains(truth[1])
        stable.append(found.n_stable)
    each = hits.mean(axis=1)
    cells = [f"{value:.3f}" for k in (0, 1) for value in (each[k].mean(), each[k].min())]
    return [*cells, f"{np.mean(stable):.1f}"]


def cost() -> None:
    """Time of ``uncertainty`` beside that of ``fit``, the better of three each, interleaved."""
    rows = []
    for n, q in ((500, 8), (2000, 8), (2000, 20), (10_000, 8)):
        X = np.random.default_rng(0).standard_normal((n, 20))
        X[:, :3] *= 3
        fits, measured = [], []
        for _ in range(3):
            started = time.perf_counter()
            model = KernelPCA(q).fit(X)
            fits.append(time.perf_counter() - started)
            started = time.perf_counter()
            model.uncertainty(X)
            measured.append(time.perf_counter() - started)
        ratio = min(measured) / min(fits)
        rows.append([f"{n:,}", str(q), f"{min(fits):.3f}", f"{min(measured):.3f}", f"{ratio:.2f}"])
    table(["rows", "components", "fit (s)", "uncertainty (s)", "fits"], rows)
    print()
