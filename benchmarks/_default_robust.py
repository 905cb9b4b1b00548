"""Robust fits with nothing set: ``python -m benchmarks defaults robust [--confirm]``.

How far outliers turn the components: the largest angle, in degrees, between the scores of the clean
rows by a model of the clean rows and by one that saw the outliers, too (each with the width that it
found itself). Outliers are uniform in a box ten times as wide as the data's, or a ball of a tenth
of the data's radius, three radii away from their mean.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.covariance import MinCovDet
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from benchmarks import _default_impute as data
from benchmarks._measure import table
from benchmarks.robust import outliers
from mercer import KernelPCA, ReweightedKernelPCA

ROWS, COMPONENTS = 300, (4, 16)
KINDS = ("clean", "box 10 %", "box 30 %", "cluster 10 %")
#: ``(rows, share of outliers) -> which to keep``; the share is told to those that ask for it.
Trim = Callable[[np.ndarray, float], np.ndarray]


def main(confirm: bool = False) -> None:
    """Print a row for each data set, kind of outliers and number of components."""
    warnings.simplefilter("ignore")
    print(f"{'Confirmation' if confirm else 'Development'} list: largest angle in degrees.")
    heads = ["plain", *trims(), "mercer", "weight of outliers", "of clean rows"]
    table(["", *heads], [])
    for name, (X, _) in (data.confirmation() if confirm else data.development()).items():
        for kind in KINDS:
            for q, found in angles(X[:ROWS], kind).items():
                print(f"{name}, {kind}, {q}", *(f"{x:.1f}" for x in found), sep="  ", flush=True)


def angles(X: np.ndarray, kind: str) -> dict[int, list[float]]:
    """For each number of components: the angle of each method, and the weights of ours."""
    rng = np.random.default_rng(0)
    share = float(kind.split()[1]) / 100 if kind != "clean" else 0.0
    added = cluster(X, share, rng) if "cluster" in kind else outliers(X, share, rng)
    rows = np.concatenate([X, added])
    kept = [rows, *(rows[trim(rows, share)] for trim in trims().values())]
    found = {}
    for q in COMPONENTS:
        clean = KernelPCA(q).fit_transform(X)
        robust = ReweightedKernelPCA(KernelPCA(q), random_state=0).fit(rows)
        fits = [KernelPCA(q).fit(some) if len(some) else None for some in kept]
        turned = [np.nan if fit is None else turn(clean, fit, X) for fit in fits]
        weights = [robust.weights_[len(X) :].max(initial=0), robust.weights_[: len(X)].mean()]
        found[q] = [*turned, turn(clean, robust, X), *weights]
    return found


def trims() -> dict[str, Trim]:
    """Rivals that leave rows out first; two of them are told how many."""

    def forest(X: np.ndarray, _: float) -> np.ndarray:
        return IsolationForest(random_state=0).fit_predict(X) > 0

    def told(X: np.ndarray, share: float) -> np.ndarray:
        rule = IsolationForest(random_state=0, contamination=max(share, 1e-9))
        return rule.fit_predict(X) > 0 if share else np.ones(len(X), dtype=bool)

    def factor(X: np.ndarray, share: float) -> np.ndarray:
        rule = LocalOutlierFactor(n_neighbors=20, contamination=max(share, 1e-9))
        return rule.fit_predict(X) > 0 if share else np.ones(len(X), dtype=bool)

    def determinant(X: np.ndarray, share: float) -> np.ndarray:
        if X.shape[1] > 30:  # minutes, and no inverse
            return np.zeros(len(X), dtype=bool)
        if not share:
            return np.ones(len(X), dtype=bool)
        distance = MinCovDet(random_state=0, support_fraction=0.6).fit(X).mahalanobis(X)
        return distance <= np.quantile(distance, 1 - share)

    return {"forest": forest, "forest, told": told, "LOF, told": factor, "MCD, told": determinant}


def cluster(X: np.ndarray, share: float, rng: np.random.Generator, far: float = 3.0) -> np.ndarray:
    """A ball off the data."""
    d = X.shape[1]
    radius = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    direction = rng.standard_normal(d)
    centre = X.mean(axis=0) + far * radius * direction / np.linalg.norm(direction)
    n = round(share / (1 - share) * len(X))
    return centre + 0.1 * radius * rng.standard_normal((n, d)) / np.sqrt(d)


def turn(clean: np.ndarray, model: KernelPCA, X: np.ndarray) -> float:
    """The largest angle between the spans of the scores of the clean rows."""
    spans = [np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (clean, model.transform(X))]
    cosines = np.linalg.svd(spans[0].T @ spans[1], compute_uv=False)
    return float(np.degrees(np.arccos(np.clip(cosines.min(), 0, 1))))
