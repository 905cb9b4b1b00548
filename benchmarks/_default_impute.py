"""Imputation with nothing set: ``python -m benchmarks defaults impute [--confirm]``.

Tables are standardised, images lie in [0, 1] or [-1, 1] as they come. A cell is one data set, one
pattern of holes, and either *new* rows (learnt from complete ones) or the *own* rows that are
learnt from. All methods see the same holes.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from benchmarks._data import cover, folder, mnist, usps
from benchmarks._measure import table
from mercer import KernelPCA, MissingKernelPCA

#: Name → rows, and the shape of an image.
Sets = dict[str, tuple[np.ndarray, tuple[int, int] | None]]
#: ``(rows to learn from, rows to fill) -> filled``; the first may be the second.
Method = Callable[[np.ndarray, np.ndarray], np.ndarray]

ROWS = 300
OURS = "mercer"


def main(confirm: bool = False) -> None:
    """Print one row for each cell, and how often each method is within 3 % of the best."""
    warnings.simplefilter("ignore")
    only = [word[7:] for word in sys.argv if word.startswith("--only=")]
    print(f"{'Confirmation' if confirm else 'Development'} list: RMSE of the missing values.")
    rows, cells, seconds = [], [], dict.fromkeys(methods(True), 0.0)
    for name, (X, shape) in (confirmation() if confirm else development()).items():
        if only and name not in only:
            continue
        for kind in ("10%", "30%", "50%", "block"):
            for own in (False, True):
                errors = cell(X, shape, kind, own, seconds)
                cells.append(errors)
                best = min(errors, key=errors.__getitem__)
                head = [f"{name}, {kind}, {'own' if own else 'new'}"]
                rows.append([*head, *(f"{x:.4f}" for x in errors.values()), best])
                print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    names = list(seconds)
    close = [f"{np.mean([c[m] <= 1.03 * min(c.values()) for c in cells]):.0%}" for m in names]
    won = [f"{np.mean([c[m] == min(c.values()) for c in cells]):.0%}" for m in names]
    rows.append(["best", *won, ""])
    rows.append(["best or within 3 %", *close, ""])
    rows.append(["CPU seconds, all", *(f"{seconds[m]:.0f}" for m in names), ""])
    table(["", *names, "best"], rows)
    if not confirm:
        every_component()


def cell(
    X: np.ndarray, shape: tuple[int, int] | None, kind: str, own: bool, seconds: dict[str, float]
) -> dict[str, float]:
    """The error of each method."""
    rng = np.random.default_rng(1)
    cut = 0 if own else 2 * len(X) // 3
    truth = X[cut:]
    missing = holes(truth.shape, kind, shape, rng)
    given = np.where(missing, np.nan, truth)
    errors = {}
    for name, method in methods(own).items():
        started = time.process_time()
        filled = method(given if own else X[:cut], given)
        seconds[name] += time.process_time() - started
        errors[name] = float(np.sqrt(((filled - truth)[missing] ** 2).mean()))
    return errors


def holes(
    size: tuple[int, int], kind: str, shape: tuple[int, int] | None, rng: np.random.Generator
) -> np.ndarray:
    """Values missing at random, or side by side: a quarter of an image, a third of columns."""
    n, d = size
    if kind != "block":
        missing = rng.random(size) < float(kind[:-1]) / 100
        full = np.flatnonzero(missing.all(axis=1))
        missing[full, rng.integers(0, d, len(full))] = False
        return missing
    high, wide = shape or (1, d)
    block = np.zeros((n, high, wide), dtype=bool)
    h, w = (high // 2, wide // 2) if shape else (1, max(2, d // 3))
    for image in block:
        i, j = rng.integers(0, high - h + 1), rng.integers(0, wide - w + 1)
        image[i : i + h, j : j + w] = True
    return block.reshape(n, d)


def methods(own: bool) -> dict[str, Method]:
    """Ours with nothing set, and rivals as people set them."""

    def fitted(make: Callable[[int], SimpleImputer | KNNImputer | IterativeImputer]) -> Method:
        return lambda train, X: make(X.shape[1]).fit(train).transform(X)

    def iterative(d: int) -> IterativeImputer:
        if d <= 64:
            return IterativeImputer(random_state=0)
        # With all 256 columns as regressors, ten rounds of a cell would take minutes.
        return IterativeImputer(random_state=0, n_nearest_features=20, max_iter=5)

    return {
        "mean": fitted(lambda _: SimpleImputer()),
        "KNN, 5": fitted(lambda _: KNNImputer(n_neighbors=5)),
        "KNN, 15": fitted(lambda _: KNNImputer(n_neighbors=15, weights="distance")),
        "iterative": fitted(iterative),
        "soft-impute": soft_impute,
        "Gaussian": gaussian_em if own else gaussian,
        OURS: ours_own if own else lambda train, X: KernelPCA().fit(train).impute(X),
    }


def ours_own(_: np.ndarray, X: np.ndarray) -> np.ndarray:
    """What it has filled in."""
    return MissingKernelPCA(random_state=0).fit(X).imputed_


def gaussian(train: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Conditional means under Ledoit and Wolf's covariance."""
    return conditional(train.mean(axis=0), ledoit_wolf(train)[0], X)[0]


def gaussian_em(_: np.ndarray, X: np.ndarray, rounds: int = 10) -> np.ndarray:
    """The same by expectation-maximisation."""
    missing = np.isnan(X)
    filled = np.where(missing, np.nanmean(X, axis=0), X)
    extra = np.diag((missing * np.nanvar(X, axis=0)).sum(axis=0))
    for _ in range(rounds):
        mean, (covariance, shrinkage) = filled.mean(axis=0), ledoit_wolf(filled)
        covariance = covariance + (1 - shrinkage) * extra / len(X)
        before = filled
        filled, extra = conditional(mean, covariance, X)
        if np.std((filled - before)[missing]) < 0.01 * np.std(filled[missing]):
            break
    return filled


def conditional(
    mean: np.ndarray, covariance: np.ndarray, X: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Row by row; and the sum of the covariances."""
    Q, filled, extra = np.linalg.inv(covariance), X - mean, np.zeros_like(covariance)
    for row in filled:
        m = np.flatnonzero(np.isnan(row))
        o = np.flatnonzero(~np.isnan(row))
        if len(m):
            inverse = np.linalg.inv(Q[np.ix_(m, m)])
            row[m] = -inverse @ (Q[np.ix_(m, o)] @ row[o])
            extra[np.ix_(m, m)] += inverse
    return filled + mean, extra


def soft_impute(train: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Mazumder, Hastie & Tibshirani 2010: the threshold by a tenth of the observed values.

    New rows are completed together with those that are learnt from.
    """
    rows = X if train is X else np.concatenate([train, X])
    mean = np.nanmean(rows, axis=0)
    Y = rows - mean
    missing = np.isnan(Y)
    asked = missing.any(axis=1)[:, None]
    held = ~missing & asked & (np.random.default_rng(0).random(Y.shape) < 0.1)
    first = np.linalg.svd(np.where(missing, 0, Y), compute_uv=False)[0]
    thresholds = 0.9 * first * np.logspace(0, -2.5, 12)
    errors = []
    for _, low_rank in soft_path(Y, missing | held, thresholds):
        errors.append(float(((low_rank - Y)[held] ** 2).mean()))
        if errors[-1] > 1.1 * min(errors):
            break
    best = int(np.argmin(errors))
    for _, low_rank in soft_path(Y, missing, thresholds[: best + 1]):
        last = low_rank
    return np.where(missing, last + mean, rows)[-len(X) :]


def soft_path(
    Y: np.ndarray, missing: np.ndarray, thresholds: np.ndarray
) -> Iterator[tuple[float, np.ndarray]]:
    """Solutions for falling thresholds, each from the one before."""
    filled = np.where(missing, 0, Y)
    for threshold in thresholds:
        for _ in range(50):
            U, s, V = np.linalg.svd(filled, full_matrices=False)
            low_rank = (U * np.maximum(s - threshold, 0)) @ V
            before, filled = filled, np.where(missing, low_rank, filled)
            if ((filled - before) ** 2).sum() < 1e-6 * (before**2).sum():
                break
        yield threshold, low_rank


def every_component() -> None:
    """Smooth spectra, half of the bands missing: all components beside 64."""
    X = spectra(600, np.random.default_rng(0))
    missing = np.random.default_rng(1).random((200, X.shape[1])) < 0.5
    given = np.where(missing, np.nan, X[400:])

    def error(filled: np.ndarray) -> str:
        return f"{np.sqrt(((filled - X[400:])[missing] ** 2).mean()):.5f}"

    counts: list[int | None] = [16, 64, None]
    rows = [
        [f"KernelPCA({q or ''})", error(KernelPCA(q).fit(X[:400]).impute(given))] for q in counts
    ]
    print("\nSmooth spectra (100 bands), half missing, new rows: RMSE.")
    table(["", "RMSE"], [*rows, ["Gaussian", error(gaussian(X[:400], given))]])


def spectra(n: int, rng: np.random.Generator) -> np.ndarray:
    """Mixtures of four smooth materials under a changing light, with a little noise."""
    band = np.linspace(0, 1, 100)
    bumps = np.exp(-((band - rng.random((4, 6, 1))) ** 2) / (0.002 + 0.05 * rng.random((4, 6, 1))))
    materials = (rng.random((4, 6, 1)) * bumps).sum(axis=1)
    amount = rng.dirichlet(np.ones(4), n)
    light = rng.uniform(0.6, 1.4, (n, 1)) * band ** rng.uniform(-0.2, 0.4, (n, 1)).clip(0)
    return amount @ materials / 4 * light + 0.005 * rng.standard_normal((n, 100))


def development() -> Sets:
    """What settings were chosen on."""
    faces = np.load(folder() / "olivetti_faces.npz")["X"].reshape(400, 16, 4, 16, 4)
    return {
        "digits": (some(load_digits().data / 16), (8, 8)),
        "usps": (some(usps()), (16, 16)),
        "olivetti": (some(faces.mean(axis=(2, 4)).reshape(400, 256) / 255), (16, 16)),
        "wine": (some(scaled(load_wine().data)), None),
        "breast cancer": (some(scaled(load_breast_cancer().data)), None),
        "cover": (some(cover(5000)), None),
        "ecg": (ecg(ROWS), None),
    }


def confirmation() -> Sets:
    """Looked at once."""
    pima = pd.concat([pd.read_csv(folder() / f"Pima.{part}.csv") for part in ("tr", "te")])
    auto = pd.read_csv(folder() / "tables" / "Auto.csv").select_dtypes("number")
    angle = np.random.default_rng(3).uniform(0, 2 * np.pi, (ROWS, 1))
    waves = np.cos(angle * np.arange(1, 4)), np.sin(angle * np.arange(1, 4))
    curve = np.hstack(waves) + 0.05 * np.random.default_rng(4).standard_normal((ROWS, 6))
    digits = mnist(5000).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
    return {
        "Pima": (some(scaled(pima.select_dtypes("number").to_numpy(float))), None),
        "iris": (some(scaled(load_iris().data)), None),
        "diabetes": (some(scaled(load_diabetes().data)), None),
        "Auto": (some(scaled(auto.to_numpy(float))), None),
        "curve": (curve, None),
        "MNIST": (some(digits), (14, 14)),
    }


def ecg(n: int, width: int = 64) -> np.ndarray:
    """Windows of the electrocardiogram, every fourth sample, in millivolt."""
    signal = (np.load(folder() / "ecg_mitbih208.npz")["ecg_raw"].astype(float) - 1024) / 200
    starts = np.random.default_rng(0).choice(len(signal) - 4 * width, n, replace=False)
    return np.stack([signal[i : i + 4 * width : 4] for i in starts])


def some(X: np.ndarray) -> np.ndarray:
    """At most ROWS rows in random order."""
    return X[np.random.default_rng(0).permutation(len(X))[:ROWS]]


def scaled(X: np.ndarray) -> np.ndarray:
    """Standardised."""
    return (X - X.mean(axis=0)) / X.std(axis=0)
