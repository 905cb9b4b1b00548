"""Everything that the demo fits and measures, once: handwritten digits, and a table of wines."""

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from timeit import repeat
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor, NearestNeighbors
from sklearn.svm import SVC, OneClassSVM

from mercer import GenerativeKernelPCA, KernelNovelty, KernelPCA, SparseKernelPCA, TableModel
from mercer._base.linalg import square_sums
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator
from mercer.kernels import Gaussian
from mercer.papers import Labelled
from mercer.selection import choose_by_noise, kernels_around

#: Results of a stage, by the names that ``page.html`` uses.
Found = SimpleNamespace
#: Noisy versions of rows.
Noise = Callable[[Array, np.random.Generator], Array]

SHAPE = (8, 8)
N_TRAIN = 1200
WIDTHS = (0.5, 0.7, 1.0, 1.4)
COUNTS = (16, 32, 64, 128, 256)
LINEAR_COUNTS = (4, 6, 8, 12, 16, 20, 24, 32, 40, 48)
#: The ridge regression of scikit-learn does best with wider kernels and fewer components.
SKLEARN_WIDTHS = (1.0, 1.4, 2.0, 2.8)
SKLEARN_COUNTS = (16, 32, 64, 128)
ALPHAS = (0.01, 0.1, 1.0)
#: Training rows that the rivals' settings are compared on.
HELD_OUT = 300
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
#: Share of the values of new wines that are masked.
MASKED = 0.2


def run() -> Found:
    """Fit and measure everything; beside it ``models``, by the names of their files."""
    started, data = time.perf_counter(), load()
    results: dict[str, Any] = {}
    stages: dict[str, Callable[[], Any]] = {
        "embedding": lambda: KernelPCA(64, random_state=0).fit(data.X),
        "studies": lambda: compare(data),
        "alone": lambda: denoise_alone(data),
        "compressed": lambda: compress_model(data, results["studies"][0].model),
        "generated": lambda: generate(data),
        "found": lambda: find_new(data),
    }
    for i, (name, stage) in enumerate(stages.items()):
        announce("demo", i, len(stages))
        results[name] = stage()
    announce("demo", len(stages), len(stages))
    done = Found(digits=data, **results, seconds=time.perf_counter() - started)
    done.models = {
        "embedding": done.embedding,
        "denoiser": done.studies[0].model,
        "sparse": done.compressed.model,
        "generator": done.generated.model,
        "novelty": done.found.model,
    }
    return done


def facts_of(results: Found) -> dict[str, Any]:
    """The figures, for programs."""

    def some(part: Found, *names: str) -> dict[str, Any]:
        return {name: getattr(part, name) for name in names}

    studies = (*results.studies, results.alone)
    return {
        "denoising": {
            s.noise: {r.method: some(r, "error", "read") for r in s.results} for s in studies
        },
        "sparse": some(results.compressed, "support", "file_bytes", "error"),
        "generated": some(results.generated, "read", "distance", "real_distance"),
        "novelty": some(results.found, "false_alarms", "detected", "auc"),
        "seconds": results.seconds,
    }


def compress_model(digits: Labelled, full: KernelPCA) -> Found:
    """A sparse model with the kernel of the full one, and what it costs in accuracy.

    Pairs, of the full and of the sparse model: points kept; time to transform the test images;
    size of the model file; root mean square error per pixel after denoising Gaussian noise.
    """
    sparse = SparseKernelPCA(noise=SPARSE_NOISE, kernel=full.kernel_, random_state=0)
    noisy = NOISES["Gaussian"](digits.X_test, fixed_rng(2))
    models: list[Any] = [full, sparse.fit(digits.X)]
    restored = [model.denoise(noisy, match_noise=True) for model in models]
    return Found(
        model=sparse,
        support=[model.subspace_.n_support for model in models],
        # The shortest of a few runs.
        seconds=[min(repeat(partial(m.transform, digits.X_test), number=1)) for m in models],
        file_bytes=[_file_bytes(model) for model in models],
        error=[_error(images, digits.X_test) for images in restored],
    )


def generate(digits: Labelled) -> Found:
    """Ten new images of each digit, and how many are read as the digit asked for.

    By a classifier that is trained on the *test* images. Beside it the mean distance to the nearest
    training image, of new and of test images; much less would mean that the model copies.
    """
    model = GenerativeKernelPCA(60, random_state=0).fit(digits.X, digits.y)
    labels = np.repeat(np.arange(10), PER_DIGIT)
    images = np.asarray(model.sample(len(labels), label=labels, random_state=0))
    near = NearestNeighbors(n_neighbors=1).fit(digits.X)
    return Found(
        model=model,
        images=images,
        read=SVC(C=10.0).fit(digits.X_test, digits.y_test).score(images, labels),
        distance=float(near.kneighbors(images)[0].mean()),
        real_distance=float(near.kneighbors(digits.X_test)[0].mean()),
    )


def find_new(digits: Labelled) -> Found:
    """Learn nine digits, and find the tenth among the test images.

    Shares of known and of new digits that the model calls new; the mean area under the curve of
    each method with every digit left out in turn, and for how many of them it is the best; false
    alarms and detections along the threshold; test images by their scores, the strangest first.
    """
    areas: list[dict[str, float]] = []
    for digit in range(10):
        announce("novelty", digit, 10)
        scores = _novelty_scores(digits, digit)[1]
        is_new = digits.y_test == digit
        areas.append({name: float(roc_auc_score(is_new, s)) for name, s in scores.items()})
    model, scores = _novelty_scores(digits, NEW_DIGIT)
    own, is_new = scores["mercer KernelNovelty"], digits.y_test == NEW_DIGIT
    called = model.predict(digits.X_test) == -1
    return Found(
        model=model,
        digit=NEW_DIGIT,
        false_alarms=float(called[~is_new].mean()),
        detected=float(called[is_new].mean()),
        auc={name: float(np.mean([area[name] for area in areas])) for name in scores},
        best={name: sum(area[name] == max(area.values()) for area in areas) for name in scores},
        curve=np.array(roc_curve(is_new, own)[:2]),
        order=np.argsort(-own),
    )


def _novelty_scores(digits: Labelled, digit: int) -> tuple[KernelNovelty, dict[str, Array]]:
    """A detector that knows the other nine digits, and the scores that it and others give."""
    known, rows = digits.X[digits.y != digit], digits.X_test
    model = KernelNovelty(random_state=0).fit(known)
    narrow = OneClassSVM(nu=0.05, gamma=1 / (Gaussian().resolve(known).length / 4) ** 2)
    near = NearestNeighbors(n_neighbors=5).fit(known).kneighbors(rows)[0]
    others: list[Any] = [narrow, OneClassSVM(nu=0.05), LocalOutlierFactor(novelty=True)]
    others.append(IsolationForest(random_state=0))
    scores = [-other.fit(known).score_samples(rows) for other in others]
    scores = [-model.score_samples(rows), near[:, 0], near[:, 4], *scores]
    return model, dict(zip(SETTINGS, scores, strict=True))


def _file_bytes(model: Estimator) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path: Path = model.save(Path(folder) / "model.mercer")
        return path.stat().st_size


def fill_in() -> str:
    """Wines with their cultivar as a column: a fifth of the values of new ones are masked."""
    wine, rng = datasets.load_wine(), fixed_rng(0)
    order = rng.permutation(len(wine.data))
    table = dict(zip(map(str, wine.feature_names), wine.data[order].T, strict=True))
    table["cultivar"] = np.array(["Barolo", "Grignolino", "Barbera"], object)[wine.target[order]]
    known = {name: column[:100] for name, column in table.items()}
    new = {name: column[100:] for name, column in table.items()}
    missing = {name: rng.random(len(column)) < MASKED for name, column in new.items()}
    nothing: dict[str, Any] = {"cultivar": None}
    masked = {n: np.where(missing[n], nothing.get(n, np.nan), new[n]) for n in new}
    filled = TableModel(KernelPCA(16)).fit(known).impute(masked)
    hidden = missing.pop("cultivar")
    right = float((filled["cultivar"] == new["cultivar"])[hidden].mean())
    # In units of a column's own error when its mean is filled in.
    errors = [
        _error(filled[name][gone], new[name][gone]) / _error(known[name].mean(), new[name][gone])
        for name, gone in missing.items()
    ]
    return (
        f"of {len(hidden)} new wines with a fifth of their values hidden, {right:.0%} of the "
        f"{int(hidden.sum())} hidden cultivars are filled in correctly; the error of the numbers "
        f"is {float(np.median(errors)):.2f} of that of the column's mean"
    )


def load() -> Labelled:
    """1,797 images of 8 × 8 pixels, ink from 0 to 1: 1,200 to learn from, 597 to be judged by.

    Nothing is ever chosen or fitted by a look at the test images.
    """
    X, y = datasets.load_digits(return_X_y=True)
    order = fixed_rng(0).permutation(len(X))
    X, y = X[order] / 16.0, y[order]
    return Labelled("digits", X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])


#: As Mika et al. (1999) added it to USPS; speckle makes a fifth of the pixels black or white.
NOISES: Mapping[str, Noise] = {
    "Gaussian": lambda X, rng: X + 0.25 * rng.standard_normal(X.shape),
    "speckle": lambda X, rng: np.where(rng.random(X.shape) < 0.2, rng.random(X.shape) < 0.5, X),
}


def compare(digits: Labelled) -> list[Found]:
    """Fit and judge every method on every kind of noise.

    Width, number of components and penalty of each method are those with the smallest error on
    training images that were held out and given the same kind of noise.
    """
    rivals = {
        "linear PCA": [PCA(q) for q in LINEAR_COUNTS],
        "scikit-learn KernelPCA": _sklearn(digits.X),
    }
    fitted = {name: _fitted(models, digits.X[:-HELD_OUT]) for name, models in rivals.items()}
    studies = []
    for name, noise in NOISES.items():
        noisy = noise(digits.X_test, fixed_rng(2))
        model = _tuned(digits.X, noise)
        best = {name: _best(models, digits.X, noise) for name, models in fitted.items()}
        cleaned = {
            "noisy": ("", noisy),
            **{name: (_settings(m), _there_and_back(m, noisy)) for name, m in best.items()},
            "mercer KernelPCA": (_settings(model), model.denoise(noisy, match_noise=True)),
        }
        studies.append(_judged(name, cleaned, digits, model))
    return studies


def denoise_alone(digits: Labelled) -> Found:
    """Denoise with nothing but the noisy test images: no clean image is used to learn or choose.

    Except by linear PCA, which gets the number of components that is the best in truth.
    """
    noisy = NOISES["Gaussian"](digits.X_test, fixed_rng(2))
    linear = [(_settings(p), _there_and_back(p.fit(noisy), noisy)) for p in map(PCA, LINEAR_COUNTS)]
    model = KernelPCA(random_state=0).tune(noisy)
    cleaned = {
        "noisy": ("", noisy),
        "linear PCA at its best": min(linear, key=lambda pair: _error(pair[1], digits.X_test)),
        "mercer KernelPCA": (_settings(model), model.denoise(noisy)),
    }
    study = _judged("noisy rows", cleaned, digits, model)
    # The model's own estimate of its root mean square error per pixel.
    study.said = float(np.sqrt(max(model.risk_.error, 0.0) / np.prod(SHAPE)))
    return study


def _judged(
    noise: str, cleaned: Mapping[str, tuple[str, Array]], digits: Labelled, model: KernelPCA
) -> Found:
    """All methods on one kind of noise, the noisy images first and mercer last; its model.

    Of each the root mean square error per pixel, and the share of the images that a
    nearest-neighbour reader of clean digits reads correctly.
    """
    reader, results = KNeighborsClassifier(1).fit(digits.X, digits.y), []
    for method, (settings, images) in cleaned.items():
        figures = {
            "error": _error(images, digits.X_test),
            "read": reader.score(images, digits.y_test),
        }
        results.append(Found(method=method, settings=settings, images=images, **figures))
    return Found(noise=noise, results=results, model=model)


def _error(images: Array, clean: Array) -> float:
    """Root mean square per pixel."""
    return float(np.sqrt(((images - clean) ** 2).mean()))


def _tuned(train: Array, noise: Noise) -> KernelPCA:
    """mercer's own choice of width and components, as ``KernelPCA.tune`` makes it."""
    grid: dict[str, Any] = {"kernels": kernels_around("gaussian", train, WIDTHS), "counts": COUNTS}
    choice = choose_by_noise(KernelPCA(), train, noise, **grid, match_noise=True, n_splits=2)
    return KernelPCA(choice.n_components, kernel=choice.kernel, random_state=0).fit(train)


def _settings(model: Estimator) -> str:
    """Components, width and penalty in words, as far as a method has them."""
    words = [f"{model.n_components} components"]
    if isinstance(model, KernelPCA):
        words.append(f"width {getattr(model.kernel_, 'width', None) or 0.0:.2f}")
    if isinstance(model, SklearnKernelPCA):
        words += [f"width {model.gamma**-0.5:.2f}", f"alpha {model.alpha:g}"]
    return ", ".join(words)


def _fitted(candidates: list[Any], rows: Array) -> list[Any]:
    models = []
    for i, candidate in enumerate(candidates):
        announce("rivals", i, len(candidates))
        models.append(candidate.fit(rows))
    return models


def _best(fitted: list[Any], train: Array, noise: Noise) -> Any:
    """The best model on the rows that were held out, with this noise, fitted to all of them."""
    clean = train[-HELD_OUT:]
    tried = noise(clean, fixed_rng(1))
    errors = [square_sums(_there_and_back(model, tried) - clean).mean() for model in fitted]
    return clone(fitted[int(np.argmin(errors))]).fit(train)


def _there_and_back(model: Estimator, rows: Array) -> Array:
    return np.asarray(model.inverse_transform(model.transform(rows)))


def _sklearn(train: Array) -> list[SklearnKernelPCA]:
    median = Gaussian().resolve(train).length
    way = {"fit_inverse_transform": True, "eigen_solver": "arpack", "random_state": 0}
    return [
        SklearnKernelPCA(q, kernel="rbf", gamma=1 / (factor * median) ** 2, alpha=alpha, **way)
        for factor, q, alpha in product(SKLEARN_WIDTHS, SKLEARN_COUNTS, ALPHAS)
    ]
