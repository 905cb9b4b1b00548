"""Images and tables for the choice of denoising settings: some to look at, some to confirm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_sample_image,
    load_wine,
)

from benchmarks._data import cover, folder, mnist, usps

__all__ = ["CONFIRMATION", "DEVELOPMENT", "IMAGES", "TABLES", "rows_of"]

ROWS = 600


def rows_of(name: str, n: int = ROWS) -> np.ndarray:
    """At most n rows of a data set, in a fixed random order."""
    X = _SETS[name]()
    return X[np.random.default_rng(0).permutation(len(X))[:n]].astype(np.float64)


def _standardised(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _csv(name: str, columns: range) -> np.ndarray:
    X = np.genfromtxt(folder() / name, delimiter=",", skip_header=1, usecols=columns)
    return _standardised(X[np.isfinite(X).all(axis=1)])


def _patches(name: str) -> np.ndarray:
    """Grey patches of 8 x 8 pixels, side by side."""
    grey = load_sample_image(name).mean(axis=2) / 255
    h, w = (size // 8 * 8 for size in grey.shape)
    return grey[:h, :w].reshape(h // 8, 8, w // 8, 8).swapaxes(1, 2).reshape(-1, 64)


def _faces() -> np.ndarray:
    """Olivetti faces, halved twice to 16 x 16 pixels."""
    X = np.load(folder() / "olivetti_faces.npz")["X"] / 242.0
    return X.reshape(-1, 16, 4, 16, 4).mean(axis=(2, 4)).reshape(len(X), -1)


def _ecg() -> np.ndarray:
    """Windows of 64 samples, a fifth of a second."""
    signal = (np.load(folder() / "ecg_mitbih208.npz")["ecg_raw"].astype(float) - 1024) / 200
    return np.lib.stride_tricks.sliding_window_view(signal, 64)[::37]


_SETS: dict[str, Callable[[], np.ndarray]] = {
    "digits": lambda: load_digits().data / 16,
    "USPS": usps,
    "patches (china)": lambda: _patches("china.jpg"),
    "wine": lambda: _standardised(load_wine().data),
    "breast cancer": lambda: _standardised(load_breast_cancer().data),
    "forest cover": lambda: cover(2000),
    "MNIST": lambda: mnist(2000),
    "faces": _faces,
    "patches (flower)": lambda: _patches("flower.jpg"),
    "ECG windows": _ecg,
    "Pima": lambda: _csv("Pima.te.csv", range(7)),
    "biopsy": lambda: _csv("breast_cancer_biopsy.csv", range(1, 10)),
    "diabetes": lambda: _standardised(load_diabetes().data),
}
#: Settings are chosen on the first list; the second is looked at when they are.
DEVELOPMENT = ("digits", "USPS", "patches (china)", "wine", "breast cancer", "forest cover")
CONFIRMATION = tuple(name for name in _SETS if name not in DEVELOPMENT)
IMAGES = ("digits", "USPS", "MNIST", "faces", "patches (china)", "patches (flower)")
TABLES = tuple(name for name in _SETS if name not in IMAGES)
