"""Clean rows and the noise that is put on them, for the choice on noisy rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks._denoise_data import rows_of

__all__ = ["CONFIRMATION", "DEVELOPMENT", "Cell", "cells_of", "wrong_cells"]

#: Clean rows, so many.
Rows = Callable[[np.random.Generator, int], np.ndarray]
#: Noise as a share of the rows' standard deviation (root mean square over the columns).
LEVELS, LOW_LEVELS = (0.3, 0.6, 1.2), (0.15, 0.3, 0.45)


@dataclass(frozen=True)
class Cell:
    """Clean and noisy rows, and what ``noise=`` is told where it is told the truth."""

    name: str
    kind: str
    level: float
    clean: np.ndarray
    noisy: np.ndarray
    noise: Any
    is_bent: bool

    @property
    def unknown(self) -> Any:
        """What ``noise=`` is told where the level is estimated; False where it cannot be."""
        positive = bool(self.noisy.min() > 0)
        words = {"gaussian": None, "column": "columns", "poisson": "poisson"}
        return words.get(self.kind, positive and "speckle")


def _sensors(rng: np.random.Generator, n: int) -> np.ndarray:
    """Sixteen sensors with bent answers to three states."""
    state = rng.uniform(-1, 1, (n, 3))
    return np.tanh(2 * state @ rng.standard_normal((3, 16)) + rng.standard_normal(16))


def _spectra(rng: np.random.Generator, n: int) -> np.ndarray:
    """A peak that moves and one that stays."""
    t = np.linspace(0, 1, 100)
    place, width = rng.uniform(0.2, 0.8, (n, 1)), rng.uniform(0.05, 0.2, (n, 1))
    share = rng.uniform(0, 1, (n, 1))
    return 0.1 + np.exp(-(((t - place) / width) ** 2)) + share * np.exp(-(((t - 0.3) / 0.05) ** 2))


def _chirps(rng: np.random.Generator, n: int) -> np.ndarray:
    """Waves of different frequency and phase, about two."""
    t = np.linspace(0, 1, 80)
    speed, phase = rng.uniform(3, 9, (n, 1)), rng.uniform(0, 2 * np.pi, (n, 1))
    return 2 + np.sin(speed * t * (1 + t) + phase)


def _plane(rank: int, d: int) -> Rows:
    def rows(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))

    return rows


def _circle(rng: np.random.Generator, n: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _roll(rng: np.random.Generator, n: int) -> np.ndarray:
    """A rolled sheet in space."""
    turn = rng.uniform(1.5 * np.pi, 4.5 * np.pi, n)
    return np.column_stack([turn * np.cos(turn), rng.uniform(0, 20, n), turn * np.sin(turn)]) / 5


def _real(name: str) -> Rows:
    return lambda rng, n: rng.permutation(rows_of(name, 3 * n))[:n]


_SETS: dict[str, tuple[Rows, str]] = {
    "digits": (_real("digits"), "gaussian column poisson"),
    "USPS": (_real("USPS"), "gaussian"),
    "spectra": (_spectra, "gaussian poisson speckle"),
    "sensors": (_sensors, "gaussian column"),
    "circle": (_circle, "gaussian"),
    "plane": (_plane(3, 20), "gaussian column"),
    "MNIST": (_real("MNIST"), "gaussian poisson"),
    "faces": (_real("faces"), "gaussian speckle"),
    "ECG windows": (_real("ECG windows"), "gaussian column"),
    "chirps": (_chirps, "gaussian poisson speckle"),
    "roll": (_roll, "gaussian"),
    "wide plane": (_plane(6, 60), "gaussian"),
}
#: Settings are chosen on the first list; the second is looked at when they are.
DEVELOPMENT = ("digits", "USPS", "spectra", "sensors", "circle", "plane")
CONFIRMATION = tuple(name for name in _SETS if name not in DEVELOPMENT)


def cells_of(name: str, seed: int, n: int) -> list[Cell]:
    """Every kind of noise that a set can have, at three levels."""
    rows, kinds = _SETS[name]
    clean = rows(np.random.default_rng([seed, 0]), n)
    levels = LOW_LEVELS if clean.shape[1] < 4 else LEVELS
    found = []
    for kind in kinds.split():
        for k, level in enumerate(levels):
            rng = np.random.default_rng([seed, 1, k])
            found.append(Cell(name, kind, level, *_noisy(clean, kind, level, rng), _bent(name)))
    return found


def _bent(name: str) -> bool:
    return "plane" not in name


def _noisy(
    clean: np.ndarray, kind: str, level: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Clean rows (counts on their scale), noisy rows, and the noise in words of ``tune``."""
    spread = float(np.sqrt(clean.var(axis=0).mean()))
    added = rng.standard_normal(clean.shape)
    if kind == "gaussian":
        return clean, clean + level * spread * added, level * spread
    if kind == "column":
        each = level * spread * rng.uniform(0.4, 1.6, clean.shape[1])
        return clean, clean + each * added, each
    if kind == "poisson":
        mean = clean * clean.mean() / (level * spread) ** 2
        return mean, rng.poisson(mean).astype(float), "poisson"
    share = min(level * spread / float(np.sqrt((clean**2).mean())), 0.9)
    # Of mean one and above zero, as speckle is.
    factor = rng.gamma(1 / share**2, share**2, clean.shape)
    return clean, clean * factor, f"speckle:{share}"


def wrong_cells(name: str, seed: int, n: int) -> list[Cell]:
    """The same noise as it is not supposed to be: of another level, correlated, with long tails."""
    clean = _SETS[name][0](np.random.default_rng([seed, 0]), n)
    rng = np.random.default_rng([seed, 2])
    sigma = 0.6 * float(np.sqrt(clean.var(axis=0).mean()))
    added = rng.standard_normal(clean.shape)
    beside = (added + np.roll(added, 1, axis=1) + np.roll(added, 2, axis=1)) / np.sqrt(3)
    tails = rng.standard_t(3, clean.shape) / np.sqrt(3)
    kinds = [
        ("as given", added, sigma),
        ("σ / 1.5", added, sigma / 1.5),
        ("σ × 1.5", added, sigma * 1.5),
        ("correlated", beside, sigma),
        ("t, 3 degrees", tails, sigma),
    ]
    return [
        Cell(name, kind, 0.6, clean, clean + sigma * noise, said, is_bent=True)
        for kind, noise, said in kinds
    ]
