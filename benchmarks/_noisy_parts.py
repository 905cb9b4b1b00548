"""What ``tune`` on noisy rows does on a circle, what it costs, and what many rows take.

``python -m benchmarks denoise circle | cost | many``. Rows are drawn by seeds that no setting was
chosen with; seconds are of the processor, in this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.papers.schreurs2018 import circle as scene_of
from mercer.papers.schreurs2018 import figure1
from mercer.solvers import Auto, Landmarks

__all__ = ["PARTS"]

DRAWS, SEED = 8, 27
NOISE = 0.3
SHAPE, SOME = (100_000, 64), 3000


def circle() -> None:
    """Mean distance from a circle of rows with noise of .3 in the plane, nothing set."""
    print(f"{'rows':>5}{'noisy':>8}{'paper':>8}{'ours':>8}   each of the draws")
    for n in (300, 500, 1000):
        found = []
        for s in range(DRAWS):
            scene = scene_of(np.random.default_rng([SEED, n, s]), n, NOISE)
            model = KernelPCA(random_state=0).tune(scene.points)
            ways = (scene.points, figure1(scene), model.denoise(scene.points))
            found.append([scene.distance(way) for way in ways])
        noisy, paper, ours = np.transpose(found)
        each = " ".join(f"{value:.3f}" for value in np.sort(ours))
        means = "".join(f"{way.mean():>8.3f}" for way in (noisy, paper, ours))
        print(f"{n:>5}{means}   {each}", flush=True)


def cost() -> None:
    """One choice on noisy digits, beside one on rows that are taken for clean."""
    clean = load_digits().data / 16
    noisy = clean + 0.25 * np.random.default_rng(SEED).standard_normal(clean.shape)
    seconds, _ = timed(lambda: KernelPCA(random_state=0).tune(noisy, noise=0.25, rows="clean"))
    print(f"{'x'.join(map(str, clean.shape))}: rows taken for clean {seconds:.1f} s", flush=True)
    for noise in (0.25, None):
        more, _ = timed(lambda noise=noise: KernelPCA(random_state=0).tune(noisy, noise=noise))
        print(f"noisy rows, noise={noise}: {more:.1f} s, {more / seconds:.1f} times", flush=True)


def many() -> None:
    """Sixty-four sensors of four states by the default solver, beside one fit by landmarks."""
    rng = np.random.default_rng(SEED)
    n, d = SHAPE
    state = rng.uniform(-1, 1, (n, 4))
    clean = np.tanh(2 * state @ rng.standard_normal((4, d)) + rng.standard_normal(d))
    noisy = clean + NOISE * rng.standard_normal(clean.shape)
    seconds, found = timed(lambda: KernelPCA(solver=Auto(), random_state=0).tune(noisy))
    error = ((found.denoise(noisy[:SOME]) - clean[:SOME]) ** 2).sum(axis=1).mean()
    print(f"{n} x {d}: {seconds:.1f} s; true error {error:.3g}; {found.risk_}", flush=True)
    one = KernelPCA(found.n_components, kernel=found.kernel, random_state=0)
    single, _ = timed(lambda: one.set_params(solver=Landmarks(1000)).fit(noisy))
    print(f"one fit of the choice by 1,000 landmarks {single:.1f} s: {seconds / single:.1f} times")


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and what comes of it."""
    began = time.process_time()
    found = function()
    return time.process_time() - began, found


PARTS: dict[str, Callable[[], None]] = {"circle": circle, "cost": cost, "many": many}
