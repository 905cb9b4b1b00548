"""Speed of pre-images against NumPy loops, and what acceleration saves, in one interleaved run."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.model import Subspace
from mercer.papers.mika1999 import PAPER_TABLE1, gaussians
from mercer.preimage import FixedPoint

TOL = 1e-5
REPEATS = 3
SIZES = ((20_000, 5_000, 64), (3_000, 500, 256), (5_000, 2_000, 8))


def main() -> None:
    """Print the tables."""
    print("Seconds for all pre-images; minima of interleaved repeats; ratios to mercer in float64")
    heads = ("n", "points", "d", "batched", "per point", "float64", "float32", "ratio", "", "")
    print("{:>7}{:>8}{:>5}{:>10}{:>11}{:>9}{:>9}{:>9}{:>8}{:>7}".format(*heads))
    for n, m, d in SIZES:
        speed(n, m, d)
    print("\nDelayed Anderson on Table 1: kernel evaluations against plain steps, same points")
    for sigma in PAPER_TABLE1:
        share, same = anderson(sigma)
        print(f"  sigma {sigma:<5} {share:6.3f} of the evaluations, same point on {same:.3%}")


def manifold(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Noisy points around a bent surface of three dimensions: plain steps take about twenty."""
    angles = rng.uniform(0, 2 * np.pi, (n, 3))
    waves = np.column_stack([f(k * angles) for k in (1, 2) for f in (np.cos, np.sin)])
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((max(d, 12), 12)))[0][:d]
    return waves @ frame.T * 2 + 0.15 * rng.standard_normal((n, d))


def speed(n: int, m: int, d: int) -> None:
    """One row of the table."""
    rng = np.random.default_rng(0)
    X, Y = manifold(n, d, rng), manifold(m, d, rng) + 0.15 * rng.standard_normal((m, d))
    kernel = Gaussian(width=3.0)
    subspace = KernelPCA(32, kernel=kernel, solver="davidson", random_state=0).fit(X).subspace_
    doubles, singles = prepared(subspace, Y), prepared(in_single(subspace), Y.astype(np.float32))
    step = TOL * doubles.sweep.scale
    # The loops are slow and their points independent: a sample of whole batches, scaled up.
    some, few = min(m, 250), min(m, 20)
    G = subspace.expansion(subspace.scores(Y[:some]))
    gamma = 1 / 9.0
    runs: dict[str, tuple[Callable[[], object], float]] = {
        "float64": (doubles, 1),
        "float32": (singles, 1),
        "batched": (lambda: batched(X, Y[:some], G, gamma, step), m / some),
        "per point": (lambda: one_by_one(X, Y[:few], G[:few], gamma, step), m / few),
    }
    seconds = interleaved(runs)
    ratios = [seconds["batched"] / seconds["float64"], seconds["per point"] / seconds["float64"]]
    faster = seconds["float64"] / seconds["float32"]
    print(
        f"{n:7}{m:8}{d:5}{seconds['batched']:10.2f}{seconds['per point']:11.2f}"
        f"{seconds['float64']:9.2f}{seconds['float32']:9.2f}"
        f"{ratios[0]:8.1f}x{ratios[1]:7.1f}x{faster:6.2f}x"
    )
    tracemalloc.start()
    found = doubles()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    off = np.abs(found.points[:some] - batched(X, Y[:some], G, gamma, step)).max()
    print(
        f"        sweeps {found.iterations.mean():.1f}, peak {peak:.0f} MB, {off:.1e} off the loop"
    )


def in_single(subspace: Subspace) -> Subspace:
    """The same subspace in float32."""
    names = ("support", "coef", "mean", "offset")
    return replace(subspace, **{name: getattr(subspace, name).astype("f") for name in names})


def prepared(subspace: Subspace, Y: np.ndarray) -> Callable[[], object]:
    """A call without arguments that solves for all points."""
    Z = subspace.scores(Y)
    bound = FixedPoint(tol=TOL).init(subspace)

    def call() -> object:
        return bound.solve(Z, Y)

    call.sweep = bound.sweep  # type: ignore[attr-defined]
    return call


def batched(X: np.ndarray, Y: np.ndarray, G: np.ndarray, gamma: float, step: float) -> np.ndarray:
    """Eq. (10) on all points at once, as one writes it in NumPy with scikit-learn's kernel."""
    Z = Y
    for _ in range(300):
        W = G * rbf_kernel(Z, X, gamma=gamma)
        new = W @ X / W.sum(axis=1, keepdims=True)
        moved = np.linalg.norm(new - Z, axis=1)
        Z = new
        if (moved <= step).all():
            break
    return Z


def thinned(X: np.ndarray, Y: np.ndarray, G: np.ndarray, gamma: float, step: float) -> np.ndarray:
    """The same as a careful user writes it: in place, and rows that have arrived are left out."""
    Z, left, squares = Y.copy(), np.arange(len(Y)), gamma * (X * X).sum(axis=1)
    for _ in range(300):
        z = Z[left]
        W = z @ X.T
        W *= 2 * gamma
        W -= squares
        W -= gamma * (z * z).sum(axis=1)[:, None]
        np.exp(W, out=W)
        W *= G
        Z[left] = W @ X / W.sum(axis=1, keepdims=True)
        moving = np.linalg.norm(Z[left] - z, axis=1) > step
        if not moving.all():
            left, G = left[moving], G[moving]
        if not left.size:
            break
    return Z


def one_by_one(
    X: np.ndarray, Y: np.ndarray, G: np.ndarray, gamma: float, step: float
) -> np.ndarray:
    """Eq. (10) point by point, as in most code on the web."""
    return np.concatenate(
        [batched(X, Y[i : i + 1], G[i : i + 1], gamma, step) for i in range(len(Y))]
    )


def interleaved(runs: dict[str, tuple[Callable[[], object], float]]) -> dict[str, float]:
    """Minimum seconds of each, the repeats taken in turn so that a busy machine hits all alike."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(REPEATS):
        for name, (call, factor) in runs.items():
            began = time.perf_counter()
            call()
            best[name] = min(best[name], factor * (time.perf_counter() - began))
    return best


def anderson(sigma: float, draws: int = 3) -> tuple[float, float]:
    """Share of the kernel evaluations, and of points that end in the same place."""
    fast = plain = same = total = 0
    for seed in range(draws):
        data = gaussians(sigma, np.random.default_rng([seed, int(1000 * sigma)]))
        model = KernelPCA(9, kernel=Gaussian(width=np.sqrt(20) * sigma)).fit(data.train)
        for q in range(1, 10):
            subspace = model.subspace_.leading(q)
            Z = subspace.scores(data.test)
            quick = FixedPoint().init(subspace).solve(Z, data.test)
            slow = FixedPoint(accelerate=False, max_iter=3000).init(subspace).solve(Z, data.test)
            fast += quick.iterations.sum()
            plain += np.minimum(slow.iterations, 300).sum()
            apart = np.linalg.norm(quick.points - slow.points, axis=1)
            same += (apart <= 1e-3 * np.linalg.norm(slow.points, axis=1)).sum()
            total += len(Z)
    return fast / plain, same / total
