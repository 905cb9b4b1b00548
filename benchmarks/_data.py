"""The tables that the benchmarks fit."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

__all__ = ["WIDTH", "clusters", "cover", "folder", "mnist", "usps", "write_clusters"]

ROOT = Path(__file__).resolve().parents[1]
#: Spread of a cluster; the Gaussian's width is chosen to match it.
WIDTH = 0.6


def clusters(n: int, d: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Thirty round clusters in d dimensions: a spectrum without a sudden end, so none is easy."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((30, d))
    X = centres[rng.integers(0, 30, n)] + WIDTH * rng.standard_normal((n, d))
    return X.astype(dtype)


def gamma_of(d: int) -> float:
    """The Gaussian's gamma that suits :func:`clusters`."""
    return 1 / (2 * d * WIDTH**2)


def write_clusters(path: Path, n: int, d: int, dtype: str) -> Path:
    """The same in an .npy file, written block by block; kept for the next run."""
    if not path.exists():
        step, part = 100_000, path.with_suffix(".part")
        rows = np.lib.format.open_memmap(part, "w+", np.dtype(dtype), (n, d))
        for seed, i in enumerate(range(0, n, step)):
            rows[i : i + step] = clusters(min(step, n - i), d, dtype, seed=seed)
        rows.flush()
        part.replace(path)
    return path


def folder() -> Path:
    """Where the real data are (MERCER_DATA)."""
    return ROOT / os.environ.get("MERCER_DATA", "../shared/data")


def usps() -> np.ndarray:
    """All 9,298 digits, in [-1, 1]."""
    data = np.load(folder() / "usps.npz")
    return np.concatenate([data["X_train"], data["X_test"]]) / 1000.0


def mnist(n: int) -> np.ndarray:
    """The first n training digits, in [0, 1]."""
    return np.load(folder() / "mnist.npz")["X_train"][:n] / 255.0


def cover(n: int) -> np.ndarray:
    """n rows of the forest cover data, standardised."""
    X = np.load(folder() / "odds_cover.npz")["X"].astype(np.float64)
    X = X[np.random.default_rng(0).choice(len(X), n, replace=False)]
    return (X - X.mean(axis=0)) / X.std(axis=0)
