"""Handwritten digits and their noise, removed by kernel PCA and others at their best settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.neighbors import KNeighborsClassifier

from mercer import KernelPCA
from mercer._base.linalg import square_sums
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator
from mercer.kernels import Gaussian
from mercer.selection import choose_by_noise, kernels_around

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


@dataclass(frozen=True)
class Digits:
    """Images as rows of ink from 0 to 1, with the digits that they show.

    Nothing is ever chosen or fitted by a look at the test images.
    """

    train: Array
    train_labels: Array
    test: Array
    test_labels: Array

    @property
    def one_of_each(self) -> Array:
        """The first test image of every digit."""
        return np.array([np.flatnonzero(self.test_labels == digit)[0] for digit in range(10)])


def load() -> Digits:
    """1,797 images of 8 × 8 pixels: 1,200 to learn from and 597 to be judged by."""
    X, y = load_digits(return_X_y=True)
    order = fixed_rng(0).permutation(len(X))
    X, y = X[order] / 16.0, y[order]
    return Digits(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])


def add_gaussian(X: Array, rng: np.random.Generator) -> Array:
    """Gaussian noise of standard deviation 0.25, as Mika et al. (1999) added to USPS digits."""
    return np.asarray(X + 0.25 * rng.standard_normal(X.shape))


def add_speckle(X: Array, rng: np.random.Generator) -> Array:
    """Each pixel becomes black or white with probability 0.2: their speckle noise."""
    hit = rng.random(X.shape) < 0.2
    return np.where(hit, rng.random(X.shape) < 0.5, X)


NOISES: Mapping[str, Noise] = {"Gaussian": add_gaussian, "speckle": add_speckle}


@dataclass(frozen=True)
class Denoised:
    """One method on one kind of noise.

    Attributes
    ----------
    method, settings : text
    images : (n, d) what it made of the noisy test images
    error : root mean square error per pixel
    read : share of the images that a nearest-neighbour reader of clean digits reads correctly
    """

    method: str
    settings: str
    images: Array
    error: float
    read: float


@dataclass(frozen=True)
class Study:
    """All methods on one kind of noise, the noisy images first and mercer last; its model."""

    noise: str
    results: list[Denoised]
    model: KernelPCA


def compare(digits: Digits) -> list[Study]:
    """Fit and judge every method on every kind of noise.

    Width, number of components and penalty of each method are those with the smallest error on
    training images that were held out and given the same kind of noise.
    """
    reader = KNeighborsClassifier(1).fit(digits.train, digits.train_labels)
    linear = _Grid([PCA(q) for q in LINEAR_COUNTS], digits.train)
    sklearn = _Grid(list(_sklearn(digits.train)), digits.train)
    studies = []
    for name, noise in NOISES.items():
        noisy = noise(digits.test, fixed_rng(2))
        model = _tuned(digits.train, noise)
        cleaned = {
            "noisy": ("", noisy),
            "linear PCA": linear.denoise(noise, noisy),
            "scikit-learn KernelPCA": sklearn.denoise(noise, noisy),
            "mercer KernelPCA": (_settings(model), model.denoise(noisy, match_noise=True)),
        }
        results = [
            Denoised(
                method,
                settings,
                images,
                float(np.sqrt(((images - digits.test) ** 2).mean())),
                float(reader.score(images, digits.test_labels)),
            )
            for method, (settings, images) in cleaned.items()
        ]
        studies.append(Study(name, results, model))
    return studies


def _tuned(train: Array, noise: Noise) -> KernelPCA:
    """mercer's own choice of width and components, as ``KernelPCA.tune`` makes it."""
    choice = choose_by_noise(
        KernelPCA(),
        train,
        noise,
        kernels=kernels_around("gaussian", train, WIDTHS),
        counts=COUNTS,
        match_noise=True,
        n_splits=2,
    )
    return KernelPCA(choice.n_components, kernel=choice.kernel, random_state=0).fit(train)


def _settings(model: Estimator) -> str:
    """Components, width and penalty in words, as far as a method has them."""
    words = [f"{model.n_components} components"]
    if isinstance(model, KernelPCA):
        words.append(f"width {getattr(model.kernel_, 'width', None) or 0.0:.2f}")
    if isinstance(model, SklearnKernelPCA):
        words += [f"width {model.gamma**-0.5:.2f}", f"alpha {model.alpha:g}"]
    return ", ".join(words)


class _Grid:
    """Candidates fitted once to a part of the rows, and judged on the rest for any noise."""

    def __init__(self, candidates: list[Any], train: Array) -> None:
        self.candidates, self.train = candidates, train
        self.fitted = []
        for i, candidate in enumerate(candidates):
            announce("rivals", i, len(candidates))
            self.fitted.append(clone(candidate).fit(train[:-HELD_OUT]))

    def denoise(self, noise: Noise, noisy: Array) -> tuple[str, Array]:
        """The best candidate's settings, and what it makes of noisy rows."""
        clean = self.train[-HELD_OUT:]
        tried = noise(clean, fixed_rng(1))
        errors = [square_sums(_there_and_back(m, tried) - clean).mean() for m in self.fitted]
        best = self.candidates[int(np.argmin(errors))]
        return _settings(best), _there_and_back(best.fit(self.train), noisy)


def _there_and_back(model: Estimator, rows: Array) -> Array:
    return np.asarray(model.inverse_transform(model.transform(rows)))


def _sklearn(train: Array) -> Iterator[SklearnKernelPCA]:
    median = Gaussian().resolve(train).length
    for factor, q, alpha in product(SKLEARN_WIDTHS, SKLEARN_COUNTS, ALPHAS):
        yield SklearnKernelPCA(
            q,
            kernel="rbf",
            gamma=1 / (factor * median) ** 2,
            alpha=alpha,
            fit_inverse_transform=True,
            eigen_solver="arpack",
            random_state=0,
        )
