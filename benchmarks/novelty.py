"""False alarms beside PyOD's, and contributions; ``defaults novelty`` compares the detection.

``python -m benchmarks novelty``: five minutes or so. PyOD is in the dependency group ``bench``;
without it, its published rule (a quantile of the training errors) is applied to our errors.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy.stats import binom

from benchmarks._data import folder
from benchmarks._measure import table
from benchmarks._novelty_data import breast_cancer_diagnostic, breast_cancer_original
from mercer import KernelNovelty, KernelPCA
from mercer.novelty import ShareUpTo

RATES = (0.01, 0.05, 0.10)
COMPONENTS = (5, 50, 200)
SPLITS = 10


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    calibration()
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
    biopsy, malignant = breast_cancer_original()
    wdbc, wdbc_malignant = breast_cancer_diagnostic()
    usps = np.load(folder() / "usps.npz")
    images = np.concatenate([usps["X_train"], usps["X_test"]]) / 1000
    digits = np.concatenate([usps["y_train"], usps["y_test"]])
    cover = np.load(folder() / "odds_cover.npz")
    forest = cover["X"][cover["y"] == 0].astype(float)
    forest = forest[np.random.default_rng(0).choice(len(forest), 3000, replace=False)]
    return {
        "biopsy": (biopsy[~malignant], 300),
        "WDBC": (standard(wdbc[~wdbc_malignant]), 250),
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
        # The width and the folds with which the table in the docs was made.
        model = KernelNovelty(q, kernel="gaussian", calibration="cross", random_state=seed)
        model.fit(train)
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


def planted_faults() -> None:
    """One faulty variable among fifty, and the time for many rows."""
    rng = np.random.default_rng(0)
    frame = rng.standard_normal((3, 50))

    def sensors(n: int) -> np.ndarray:
        clean = np.tanh(rng.standard_normal((n, 3)) @ frame)
        return clean + 0.1 * rng.standard_normal((n, 50))

    model = KernelNovelty(ShareUpTo(), kernel="gaussian", random_state=0).fit(sensors(2000))
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
