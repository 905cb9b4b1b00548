"""What ``tune`` on noisy rows does on a circle, what it costs, and what many rows take.

``python -m benchmarks denoise circle | cost | many``. Rows are drawn by seeds that no setting was
chosen with; seconds are of the processor, in this process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Process
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.papers.schreurs2018 import circle as scene_of
from mercer.papers.schreurs2018 import figure1

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
    ways = {
        "rows taken for clean": {"noise": 0.25, "rows": "clean"},
        "noisy rows, level given": {"noise": 0.25},
        "noisy rows, nothing set": {},
    }
    for load, others in (("quiet", 0), ("another process on each core", os.cpu_count() or 1)):
        print(f"{'x'.join(map(str, clean.shape))}, {load}; times the first", flush=True)
        first = None
        for name, how in ways.items():
            with beside(others):
                seconds, _ = timed(lambda how=how: KernelPCA(random_state=0).tune(noisy, **how))
            first = first or seconds
            ratios = ", ".join(f"{s:.1f} s {k} ({s / first[k]:.1f})" for k, s in seconds.items())
            print(f"{name:<25}{ratios}", flush=True)


@contextmanager
def beside(count: int) -> Iterator[None]:
    """Processes that multiply matrices meanwhile."""
    busy = [Process(target=_multiply, daemon=True) for _ in range(count)]
    for process in busy:
        process.start()
    yield
    for process in busy:
        process.terminate()
        process.join()


def _multiply() -> None:
    A = np.ones((500, 500))
    while True:
        A @ A


def many() -> None:
    """Sixty-four sensors of four states, nothing set, beside one fit by landmarks of the choice."""
    rng = np.random.default_rng(SEED)
    n, d = SHAPE
    state = rng.uniform(-1, 1, (n, 4))
    clean = np.tanh(2 * state @ rng.standard_normal((4, d)) + rng.standard_normal(d))
    noisy = clean + NOISE * rng.standard_normal(clean.shape)
    seconds, found = timed(lambda: KernelPCA(random_state=0).tune(noisy))
    whole = seconds["CPU"]
    error = ((found.denoise(noisy[:SOME]) - clean[:SOME]) ** 2).sum(axis=1).mean()
    print(f"{n} x {d}: {whole:.1f} s; true error {error:.3g}; {found.risk_}", flush=True)
    single = clone(found).set_params(solver="landmarks")
    alone = timed(lambda: single.fit(noisy))[0]["CPU"]
    print(f"one fit of the choice by 1,000 landmarks {alone:.1f} s: {whole / alone:.1f} times")


def timed(function: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds of the processor, in this process, and of the clock; and what comes of it."""
    began = time.process_time(), time.perf_counter()
    found = function()
    cpu, wall = time.process_time() - began[0], time.perf_counter() - began[1]
    return {"CPU": cpu, "wall": wall}, found


PARTS: dict[str, Callable[[], None]] = {"circle": circle, "cost": cost, "many": many}
