"""Landmarks on ordinary tables, beside scikit-learn's ``Nystroem`` + ``PCA``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem

from benchmarks._data import cover, mnist, usps
from benchmarks._practice import Row, Seconds, interleaved
from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.kernels.width import median_length
from mercer.solvers import Davidson, Landmarks

__all__ = ["landmarks"]

COMPONENTS = 20
M = (300, 1_000)
#: Rows of each table.
SIZES = (("USPS", 5_000), ("MNIST", 5_000), ("cover", 5_000), ("MNIST", 20_000), ("cover", 20_000))


def landmarks() -> Iterator[Row]:
    """Time and eigenvalue error at equal m, and the peer's error in equal time."""
    for name, n in SIZES:
        X = {"USPS": lambda n: usps()[:n], "MNIST": mnist, "cover": cover}[name](n)
        kernel = Gaussian(gamma=1 / median_length(X) ** 2)
        exact = KernelPCA(COMPONENTS, kernel=kernel, solver=Davidson(), random_state=0).fit(X)
        for m in M:
            yield one(f"{name}, {n:,} × {X.shape[1]}, m = {m:,}", X, kernel, m, exact.eigenvalues_)


def one(label: str, X: np.ndarray, kernel: Gaussian, m: int, exact: np.ndarray) -> Row:
    """One table and number of landmarks."""

    def ours() -> Any:
        model = KernelPCA(COMPONENTS, kernel=kernel, solver=Landmarks(m), random_state=0)
        return model.fit(X).eigenvalues_

    repeats = 5 if len(X) * m <= 1_500_000 else 2
    calls = {"ours": ours, "theirs": lambda: nystroem(X, kernel, m)}
    seconds, values = interleaved(calls, repeats)
    error, peer = (worst(values[name], exact) for name in calls)
    affords, in_time = equal_time(X, kernel, m, seconds, exact, peer)
    also = (
        f"error {error:.1e}, theirs {peer:.1e}: {peer / error:.1f} times; "
        f"in our time (m = {affords:,}) {in_time:.1e}: {in_time / error:.1f} times"
    )
    theirs = "Nystroem + PCA"
    return Row(f"landmarks, {label}", seconds["ours"], theirs, seconds["theirs"], "≤ 1.5", also)


def equal_time(
    X: np.ndarray,
    kernel: Gaussian,
    m: int,
    seconds: dict[str, Seconds],
    exact: np.ndarray,
    error: float,
) -> tuple[int, float]:
    """The first m for which the peer takes as long as we do (CPU), and its error there."""
    ours, theirs = seconds["ours"].cpu, seconds["theirs"].cpu
    while theirs < ours:
        m = int(m * max(np.sqrt(ours / theirs), 1.05))
        taken, values = interleaved({"theirs": lambda m=m: nystroem(X, kernel, m)}, repeats=2)
        theirs, error = taken["theirs"].cpu, worst(values["theirs"], exact)
    return m, error


def nystroem(X: np.ndarray, kernel: Gaussian, m: int) -> np.ndarray:
    """Eigenvalues by what one does with scikit-learn."""
    gamma = 1 / kernel.length**2
    features = Nystroem(gamma=gamma, n_components=m, random_state=0).fit_transform(X)
    pca = PCA(COMPONENTS, random_state=0).fit(features)
    return np.asarray(pca.explained_variance_ * (len(X) - 1))


def worst(values: Any, exact: np.ndarray) -> float:
    """Largest relative error."""
    return float(np.abs(values / exact - 1).max())
