"""``python -m benchmarks defaults novelty [--confirm]``: detection with nothing set.

Area under the curve, means over the cases of each set and then over sets. First novelty (learnt on
normal rows, asked about others), then outliers among the rows that are learnt. All methods get the
same rows, scaled by the same rule (see :mod:`benchmarks._novelty_data`). The last lines give the
share of sets in which each method is best, or within .005 of the best.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.svm import OneClassSVM

from benchmarks._measure import table
from benchmarks._novelty_data import Case, confirmation, development, with_outliers
from mercer import KernelNovelty

#: (rows to learn, rows to judge) → larger is newer
Detector = Callable[[np.ndarray, np.ndarray], np.ndarray]

SHARES = (0.02, 0.05, 0.10)


def main(confirm: bool = False) -> None:
    """Print both tables, for one of the lists."""
    warnings.simplefilter("ignore")
    cases = list(confirmation() if confirm else development())
    name = "confirmation" if confirm else "development"
    print(f"\nNovelty, ROC AUC, {name} list; every method with the same rows and scaling.")
    compare(detectors(), ((case.set, case.train, case.test, case.is_new) for case in cases))
    print(f"\nOutliers among the training rows, ROC AUC of these, {name} list;")
    print(f"means over {', '.join(f'{share:.0%}' for share in SHARES)} of outliers.")
    compare(finders(), contaminated(cases))


def contaminated(cases: list[Case]) -> Iterable[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """The first case of each set, with three shares of outliers."""
    for case in {case.set: case for case in reversed(cases)}.values():
        for share in SHARES:
            rows, is_new = with_outliers(case, share)
            yield case.set, rows, rows, is_new


def compare(
    methods: dict[str, Detector],
    cases: Iterable[tuple[str, np.ndarray, np.ndarray, np.ndarray]],
) -> None:
    """A line for each set, and means."""
    areas: dict[str, list[list[float]]] = defaultdict(list)
    for name, train, test, is_new in cases:
        areas[name].append([_area(is_new, method, train, test) for method in methods.values()])
    means = np.array([np.mean(rows, axis=0) for rows in areas.values()])
    lines = [[name, *(f"{a:.4f}" for a in row)] for name, row in zip(areas, means, strict=True)]
    near = means >= means.max(axis=1, keepdims=True) - 0.005
    lines.append(["mean", *(f"{a:.4f}" for a in means.mean(axis=0))])
    lines.append(["within .005 of the best", *(f"{a:.0%}" for a in near.mean(axis=0))])
    table(["set", *methods], lines)
    sys.stdout.flush()


def _area(is_new: np.ndarray, method: Detector, train: np.ndarray, test: np.ndarray) -> float:
    scores = method(train, test)
    return float(
        roc_auc_score(is_new, np.where(np.isfinite(scores), scores, np.inf).clip(max=1e300))
    )


def detectors() -> dict[str, Detector]:
    """Novelty: ours with nothing set, and others at several settings."""
    methods: dict[str, Detector] = {
        "mercer": lambda a, b: -KernelNovelty(random_state=0).fit(a).score_samples(b),
        "1-NN": nearest(1),
        "5-NN": nearest(5),
        "SVM .25": one_class(0.25),
        "SVM .5": one_class(0.5),
        "SVM scale": lambda a, b: -OneClassSVM(nu=0.05).fit(a).score_samples(b),
        "LOF": lambda a, b: -LocalOutlierFactor(novelty=True).fit(a).score_samples(b),
        "IForest": lambda a, b: -IsolationForest(random_state=0).fit(a).score_samples(b),
    }
    kpca = _pyod_kpca()
    return methods if kpca is None else methods | {"PyOD KPCA": kpca}


def finders() -> dict[str, Detector]:
    """Outliers in the rows themselves (the second argument is the first)."""

    def ours(share: float | str | None) -> Detector:
        return lambda a, _: (
            -KernelNovelty(contamination=share, random_state=0).fit(a).score_samples(a)
        )

    def neighbours(k: int) -> Detector:
        return lambda a, _: NearestNeighbors(n_neighbors=k + 1).fit(a).kneighbors(a)[0][:, -1]

    methods = {
        "mercer auto": ours("auto"),
        "mercer None": ours(None),
        "1-NN": neighbours(1),
        "5-NN": neighbours(5),
        "LOF": lambda a, _: -LocalOutlierFactor().fit(a).negative_outlier_factor_,
        "IForest": lambda a, _: -IsolationForest(random_state=0).fit(a).score_samples(a),
    }
    kpca = _pyod_kpca()
    return methods if kpca is None else methods | {"PyOD KPCA": kpca}


def nearest(k: int) -> Detector:
    """Distance to the k-th neighbour."""
    return lambda a, b: NearestNeighbors(n_neighbors=k).fit(a).kneighbors(b)[0][:, -1]


def one_class(share: float) -> Detector:
    """OneClassSVM with a share of the median distance as width, exp(-r²/width²)."""

    def method(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        median = np.median(euclidean_distances(train)[np.triu_indices(len(train), 1)])
        gamma = 1 / (share * median) ** 2
        return -OneClassSVM(nu=0.05, gamma=gamma).fit(train).score_samples(test)

    return method


def _pyod_kpca() -> Detector | None:
    try:
        from pyod.models.kpca import KPCA
    except ImportError:
        print("no PyOD: uv sync --group bench")
        return None
    return lambda a, b: KPCA(random_state=0).fit(a).decision_function(b)
