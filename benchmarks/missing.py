"""Imputation beside scikit-learn's imputers and linear PCA, ``python -m benchmarks missing``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from benchmarks._measure import table
from mercer import KernelPCA, MissingKernelPCA

Method = Callable[[np.ndarray, np.ndarray], np.ndarray]


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    X = load_digits().data[np.random.default_rng(0).permutation(1797)] / 16
    print("Digits in [0, 1]: RMSE of the missing pixels (seconds). 1,200 complete images to learn,")
    print("297 new images with missing pixels.")
    # Images 1200 to 1500 served to choose the width and the number of components.
    compare(X[:1200], X[1500:], new_rows())
    print("\nThe same where the rows to learn from have the holes: 600 images, their own holes.")
    # The first 900 served to choose how the rounds go.
    compare(None, X[900:1500], own_rows())


def compare(train: np.ndarray | None, X: np.ndarray, methods: dict[str, Method]) -> None:
    """One column per pattern of holes."""
    patterns = dict(holes(X.shape, np.random.default_rng(1)))
    rows = []
    for name, method in methods.items():
        cells = []
        for missing in patterns.values():
            given = np.where(missing, np.nan, X)
            started = time.perf_counter()
            filled = method(given if train is None else train, given)
            seconds = time.perf_counter() - started
            error = np.sqrt(((filled - X)[missing] ** 2).mean())
            cells.append(f"{error:.4f} ({seconds:.1f})")
        rows.append([name, *cells])
    table(["", *patterns], rows)


def holes(shape: tuple[int, int], rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Pixels missing at random, and a block of 4 × 4 of the 8 × 8 pixels."""
    for share in (0.1, 0.3, 0.5):
        yield f"{share:.0%}", rng.random(shape) < share
    block = np.zeros((shape[0], 8, 8), dtype=bool)
    for image, (row, column) in zip(block, rng.integers(0, 5, (shape[0], 2)), strict=True):
        image[row : row + 4, column : column + 4] = True
    yield "block", block.reshape(shape)


def new_rows() -> dict[str, Method]:
    """``(complete training rows, rows with holes) -> filled``; fixed settings."""

    def fitted(imputer: SimpleImputer | KNNImputer | IterativeImputer) -> Method:
        return lambda train, X: imputer.fit(train).transform(X)

    return {
        "mean": fitted(SimpleImputer()),
        "KNNImputer(5)": fitted(KNNImputer(n_neighbors=5)),
        "IterativeImputer": fitted(IterativeImputer(random_state=0)),
        "linear PCA, 10": lambda train, X: linear(PCA(10).fit(train), X),
        "linear PCA, 20": lambda train, X: linear(PCA(20).fit(train), X),
        "KernelPCA(64).impute": lambda train, X: KernelPCA(64).fit(train).impute(X),
        "KernelPCA(256).impute": lambda train, X: KernelPCA(256).fit(train).impute(X),
    }


def own_rows() -> dict[str, Method]:
    """The rows to learn from are those to fill."""

    def transformed(imputer: SimpleImputer | KNNImputer | IterativeImputer) -> Method:
        return lambda _, X: imputer.fit_transform(X)

    def ours(q: int) -> Method:
        return lambda _, X: MissingKernelPCA(KernelPCA(q), random_state=0).fit(X).imputed_

    return {
        "mean": transformed(SimpleImputer()),
        "KNNImputer(5)": transformed(KNNImputer(n_neighbors=5)),
        "IterativeImputer": transformed(IterativeImputer(random_state=0)),
        "linear PCA, 10": lambda _, X: linear_em(X, 10),
        "linear PCA, 20": lambda _, X: linear_em(X, 20),
        "MissingKernelPCA, 64": ours(64),
        "MissingKernelPCA, 128": ours(128),
    }


def linear(pca: PCA, X: np.ndarray, rounds: int = 200) -> np.ndarray:
    """Projection onto linear components with the observed values clamped."""
    missing = np.isnan(X)
    filled = np.where(missing, pca.mean_, X)
    for _ in range(rounds):
        filled = np.where(missing, pca.inverse_transform(pca.transform(filled)), X)
    return filled


def linear_em(X: np.ndarray, q: int, rounds: int = 50) -> np.ndarray:
    """Fit, project, repeat."""
    missing = np.isnan(X)
    filled = np.where(missing, np.nanmean(X, axis=0), X)
    for _ in range(rounds):
        pca = PCA(q).fit(filled)
        filled = np.where(missing, pca.inverse_transform(pca.transform(filled)), X)
    return filled
