"""The other things that a model of the digits can do: be small, generate, and find what is new."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.svm import SVC, OneClassSVM

from mercer import GenerativeKernelPCA, KernelNovelty, KernelPCA, SparseKernelPCA
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator
from mercer.cli.demo.digits import NOISES, Digits
from mercer.kernels import Gaussian

#: σ of the sparse model; a number of points (n_kernels) could be asked for instead, and would take
#: a search over σ.
SPARSE_NOISE = 0.0741
NEW_DIGIT = 0
#: What is compared in finding new digits, and its settings: none was chosen by looking at these.
SETTINGS = {
    "mercer KernelNovelty": "nothing set",
    "nearest neighbour": "distance to it",
    "fifth neighbour": "distance to it",
    "OneClassSVM, narrow": "ν = 0.05, a quarter of the median distance as width",
    "OneClassSVM": "ν = 0.05, else scikit-learn's defaults",
    "LocalOutlierFactor": "scikit-learn's defaults",
    "IsolationForest": "scikit-learn's defaults",
}
PER_DIGIT = 10


@dataclass(frozen=True)
class Compressed:
    """A full model and a sparse one with as many components.

    Attributes
    ----------
    model : SparseKernelPCA
    support, seconds, file_bytes, error : pairs, full and sparse
        Points kept; time to transform the test images; size of the model file; root mean square
        error per pixel after denoising Gaussian noise.
    """

    model: SparseKernelPCA
    support: list[int]
    seconds: list[float]
    file_bytes: list[int]
    error: list[float]


def compress_model(digits: Digits, full: KernelPCA) -> Compressed:
    """A sparse model with the kernel of the full one, and what it costs in accuracy."""
    sparse = SparseKernelPCA(noise=SPARSE_NOISE, kernel=full.kernel_, random_state=0)
    sparse.fit(digits.train)
    noisy = NOISES["Gaussian"](digits.test, fixed_rng(2))
    models: list[Any] = [full, sparse]
    return Compressed(
        sparse,
        [model.subspace_.n_support for model in models],
        [_seconds(model, digits.test) for model in models],
        [_file_bytes(model) for model in models],
        [_error(model, noisy, digits.test) for model in models],
    )


@dataclass(frozen=True)
class Generated:
    """New images, ten of each digit.

    Attributes
    ----------
    images : (100, d)
    read : share that a classifier, trained on the *test* images, reads as the digit asked for
    distance, real_distance : mean distance to the nearest training image, of new and of test
        images; much less would mean that the model copies
    """

    model: GenerativeKernelPCA
    images: Array
    read: float
    distance: float
    real_distance: float


def generate(digits: Digits) -> Generated:
    """Fit the generative model, and draw ten of each digit."""
    model = GenerativeKernelPCA(60, random_state=0).fit(digits.train, digits.train_labels)
    wanted = np.repeat(np.arange(10), PER_DIGIT)
    images = np.asarray(model.sample(len(wanted), label=wanted, random_state=0))
    reader = SVC(C=10.0).fit(digits.test, digits.test_labels)
    near = NearestNeighbors(n_neighbors=1).fit(digits.train)
    return Generated(
        model,
        images,
        float(reader.score(images, wanted)),
        float(near.kneighbors(images)[0].mean()),
        float(near.kneighbors(digits.test)[0].mean()),
    )


@dataclass(frozen=True)
class Found:
    """A detector that has never seen one of the digits.

    Attributes
    ----------
    digit : the one that it has not seen
    asked, false_alarms : the promised and the measured share of known digits that it calls new
    detected : share of the new digits that it calls new
    auc : area under the curve by method, the mean over all ten digits, left out in turn
    best : for how many of the digits each method is the best
    curve : (2, p) false alarms and detections along the threshold
    strangest, calmest : (10, d) test images with the largest and smallest scores
    """

    model: KernelNovelty
    digit: int
    asked: float
    false_alarms: float
    detected: float
    auc: dict[str, float]
    best: dict[str, int]
    curve: Array
    strangest: Array
    strangest_labels: Array
    calmest: Array


def find_new(digits: Digits) -> Found:
    """Learn nine digits, and find the tenth among the test images."""
    areas: list[dict[str, float]] = []
    for digit in range(10):
        announce("novelty", digit, 10)
        scores = _novelty_scores(digits, digit)[1]
        is_new = digits.test_labels == digit
        areas.append({name: float(roc_auc_score(is_new, s)) for name, s in scores.items()})
    model, scores = _novelty_scores(digits, NEW_DIGIT)
    own, is_new = scores["mercer KernelNovelty"], digits.test_labels == NEW_DIGIT
    order = np.argsort(-own)
    called = model.predict(digits.test) == -1
    return Found(
        model,
        NEW_DIGIT,
        model.false_alarm_rate,
        float(called[~is_new].mean()),
        float(called[is_new].mean()),
        {name: float(np.mean([area[name] for area in areas])) for name in scores},
        {name: sum(area[name] == max(area.values()) for area in areas) for name in scores},
        np.array(roc_curve(is_new, own)[:2]),
        digits.test[order[:10]],
        digits.test_labels[order[:10]],
        digits.test[order[-10:]],
    )


def _novelty_scores(digits: Digits, digit: int) -> tuple[KernelNovelty, dict[str, Array]]:
    """A detector that knows the other nine digits, and the scores that it and others give."""
    known, rows = digits.train[digits.train_labels != digit], digits.test
    model = KernelNovelty(random_state=0).fit(known)
    median = Gaussian().resolve(known).length
    narrow = OneClassSVM(nu=0.05, gamma=1 / (median / 4) ** 2)
    near = NearestNeighbors(n_neighbors=5).fit(known).kneighbors(rows)[0]
    others: list[Any] = [
        narrow,
        OneClassSVM(nu=0.05),
        LocalOutlierFactor(novelty=True),
        IsolationForest(random_state=0),
    ]
    scores = [-other.fit(known).score_samples(rows) for other in others]
    return model, dict(
        zip(SETTINGS, [-model.score_samples(rows), near[:, 0], near[:, 4], *scores], strict=True)
    )


def _seconds(model: Estimator, rows: Array) -> float:
    """The shortest of a few runs."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        model.transform(rows)
        times.append(time.perf_counter() - started)
    return min(times)


def _file_bytes(model: Estimator) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path: Path = model.save(Path(folder) / "model.mercer")
        return path.stat().st_size


def _error(model: Estimator, noisy: Array, clean: Array) -> float:
    restored = model.denoise(noisy, match_noise=True)
    return float(np.sqrt(((restored - clean) ** 2).mean()))
