"""False alarms, detection and contributions, beside PyOD and scikit-learn.

``python -m benchmarks novelty``: five minutes or so. PyOD is in the dependency group ``bench``;
without it, its published rule (a quantile of the training errors) is applied to our errors.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.svm import OneClassSVM

from benchmarks._data import folder
from benchmarks._measure import table
from mercer import KernelNovelty, KernelPCA

RATES = (0.01, 0.05, 0.10)
COMPONENTS = (5, 50, 200)
SPLITS = 10


def main() -> None:
    """Print the three tables."""
    warnings.simplefilter("ignore")
    calibration()
    detection()
    planted_faults()


def calibration() -> None:
    """Observed false alarms on fresh inliers, ours and PyOD's."""
    print(f"False-alarm rates on fresh inliers, means of {SPLITS} random splits, ours / PyOD's.")
    rows, inside, cells, single = [], 0, 0, []
    for name, (X, n_train) in inliers().items():
        for q in COMPONENTS:
            ours, theirs, n_test = false_alarms(X, n_train, q)
            row = [name, str(n_train), str(n_test), str(q)]
            for i, rate in enumerate(RATES):
                low, high = binom.interval(0.95, n_test, rate)
                good = low <= n_test * ours[:, i].mean() <= high
                inside, cells = inside + good, cells + 1
                single.append((low <= n_test * ours[:, i]) & (n_test * ours[:, i] <= high))
                mark = "" if good else "!"
                row.append(f"{ours[:, i].mean():.3f}{mark} / {theirs[:, i].mean():.3f}")
            rows.append(row)
    table(["set", "train", "test", "q", *(f"request {rate:.2f}" for rate in RATES)], rows)
    print(
        f"{inside} of {cells} cells within the binomial 95 % error of one test set; of the single "
        f"splits {np.mean(single):.1%} (threshold and test set both vary there).\n"
    )


def inliers() -> dict[str, tuple[np.ndarray, int]]:
    """Normal rows of five real sets, and how many of them are for training."""
    biopsy, benign = breast_cancer_original()
    wdbc, wdbc_benign = breast_cancer_diagnostic()
    usps = np.load(folder() / "usps.npz")
    images = np.concatenate([usps["X_train"], usps["X_test"]]) / 1000
    digits = np.concatenate([usps["y_train"], usps["y_test"]])
    cover = np.load(folder() / "odds_cover.npz")
    forest = cover["X"][cover["y"] == 0].astype(float)
    forest = forest[np.random.default_rng(0).choice(len(forest), 3000, replace=False)]
    return {
        "biopsy": (biopsy[benign], 300),
        "WDBC": (standard(wdbc[wdbc_benign]), 250),
        "USPS 3": (images[digits == 3], 500),
        "USPS 8": (images[digits == 8], 500),
        "cover": (standard(forest), 1000),
    }


def standard(X: np.ndarray) -> np.ndarray:
    """Columns in units of their spread, where they have different units."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def false_alarms(X: np.ndarray, n_train: int, q: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Rates (splits × requests), ours and theirs, and the number of test rows."""
    ours, theirs = [], []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = X[order[:n_train]], X[order[n_train:]]
        model = KernelNovelty(q, random_state=seed).fit(train)
        p = model.p_values(test)
        ours.append([(p <= rate).mean() for rate in RATES])
        training, fresh = pyod_errors(train, test, q)
        limits = np.percentile(training, [100 * (1 - rate) for rate in RATES])
        theirs.append([(fresh > limit).mean() for limit in limits])
    return np.array(ours), np.array(theirs), len(X) - n_train


def pyod_errors(train: np.ndarray, test: np.ndarray, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors on training and fresh rows; PyOD's threshold is a percentile of the first."""
    try:
        from pyod.models.kpca import KPCA
    except ImportError:
        model = KernelPCA(q).fit(train)
        return model.reconstruction_error(train), model.reconstruction_error(test)
    detector = KPCA(n_components=q).fit(train)
    return detector.decision_scores_, detector.decision_function(test)


def detection() -> None:
    """Area under the curve at fixed settings, means over five seeds."""
    print("ROC AUC at fixed settings, means of 5 random training sets; widths by the median rule,")
    print("ours 40 components, OneClassSVM nu=.1 same width, linear PCA 95 % of the variance.")
    names = [name for name, _ in detectors()]
    rows, digits = [], []
    for name, X, normal, n_train in labelled():
        scores = np.array([areas(X, normal, n_train, seed) for seed in range(5)]).mean(axis=0)
        rows.append([name, *(f"{value:.4f}" for value in scores)])
        if name.startswith("digit"):
            digits.append(scores)
    rows.append(["mean of digits", *(f"{value:.4f}" for value in np.mean(digits, axis=0))])
    table(["set", *names], rows)
    print()


def labelled() -> list[tuple[str, np.ndarray, np.ndarray, int]]:
    """Rows, which of them are normal, and how many normal ones to train on."""
    wdbc, biopsy = breast_cancer_diagnostic(), breast_cancer_original()
    X, y = load_digits(return_X_y=True)
    digits = [(f"digit {digit}", X / 16, y == digit, 120) for digit in (0, 1, 3, 8)]
    return [("WDBC", *wdbc, 200), ("biopsy", *biopsy, 200), *digits]


def areas(X: np.ndarray, normal: np.ndarray, n_train: int, seed: int) -> list[float]:
    """One area per detector."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(normal))
    train = X[order[:n_train]]
    test = np.concatenate([X[order[n_train:]], X[~normal]])
    is_new = np.repeat([0, 1], [len(order) - n_train, (~normal).sum()])
    if X.max() > 20:  # WDBC: columns in different units
        mean, scale = train.mean(axis=0), train.std(axis=0)
        train, test = (train - mean) / scale, (test - mean) / scale
    return [roc_auc_score(is_new, novelty(train, test)) for _, novelty in detectors()]


def detectors() -> list[tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]]:
    """Name and ``(train, test) -> larger is newer``."""

    def svm(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        gamma = 1 / np.median(euclidean_distances(train)[np.triu_indices(len(train), 1)]) ** 2
        return -OneClassSVM(nu=0.1, gamma=gamma).fit(train).decision_function(test)

    def nearest(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        return NearestNeighbors(n_neighbors=1).fit(train).kneighbors(test)[0].ravel()

    def linear(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        pca = PCA(0.95).fit(train)
        return ((test - pca.inverse_transform(pca.transform(test))) ** 2).sum(axis=1)

    forest = IsolationForest(random_state=0)
    local = LocalOutlierFactor(novelty=True)
    return [
        ("ours", lambda a, b: -KernelNovelty(40, random_state=0).fit(a).score_samples(b)),
        ("ours, default", lambda a, b: -KernelNovelty(random_state=0).fit(a).score_samples(b)),
        ("OneClassSVM", svm),
        ("IsolationForest", lambda a, b: -forest.fit(a).decision_function(b)),
        ("LOF", lambda a, b: -local.fit(a).decision_function(b)),
        ("1-NN", nearest),
        ("linear PCA", linear),
    ]


def planted_faults() -> None:
    """One faulty variable among fifty, and the time for many rows."""
    rng = np.random.default_rng(0)
    frame = rng.standard_normal((3, 50))

    def sensors(n: int) -> np.ndarray:
        clean = np.tanh(rng.standard_normal((n, 3)) @ frame)
        return clean + 0.1 * rng.standard_normal((n, 50))

    model = KernelNovelty(random_state=0).fit(sensors(2000))
    rows = []
    for size in (0.75, 1.5, 3.0):
        faulty, variable = sensors(2000), rng.integers(0, 50, 2000)
        faulty[np.arange(2000), variable] += size * rng.choice([-1, 1], 2000)
        first = model.contributions(faulty).argmax(axis=1) == variable
        alarm = model.predict(faulty) == -1
        rows.append([f"{size}", f"{alarm.mean():.1%}", f"{first.mean():.1%}"])
    print("One of 50 correlated variables is shifted (their spread is about 0.8); 2,000 rows each.")
    table(["shift", "alarms", "faulty variable ranked first"], rows)
    many = sensors(10_000)
    started = time.perf_counter()
    model.contributions(many)
    seconds = time.perf_counter() - started
    print(f"contributions of 10,000 rows × 50 variables, 2,000 support points: {seconds:.1f} s")


def breast_cancer_original() -> tuple[np.ndarray, np.ndarray]:
    """Complete rows (683 × 9), and which are benign."""
    path = folder() / "breast_cancer_biopsy.csv"
    fields = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    complete = ~np.isin(fields[:, 1:10], ["NA", ""]).any(axis=1)
    benign = np.char.strip(fields[complete, 10], '"') == "benign"
    return fields[complete, 1:10].astype(float), benign


def breast_cancer_diagnostic() -> tuple[np.ndarray, np.ndarray]:
    """WDBC, 569 × 30, and which are benign."""
    data = load_breast_cancer()
    return data.data, data.target == 1
