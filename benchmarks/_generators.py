"""Generators side by side: the paper's, ours, and others, by the same measures on MNIST.

What ``python -m benchmarks generative`` prints, and a slow test holds to bars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.neural_network import MLPClassifier

from mercer import GenerativeKernelPCA
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.generative import SampleReport, judge
from mercer.papers.schreurs2018 import MNIST_KERNEL, mnist_digits, paper_generator
from mercer.papers.sources import read_mnist


@dataclass(frozen=True)
class Network:
    """A small network that judges images: its classes, and the hidden layer as coordinates."""

    model: MLPClassifier

    def predict(self, X: Array) -> Array:
        """(n,) digits."""
        return np.asarray(self.model.predict(X))

    def confidence(self, X: Array) -> float:
        """Mean probability of the most likely digit: worthless as a measure of samples."""
        return float(self.model.predict_proba(X).max(axis=1).mean())

    def features(self, X: Array) -> Array:
        """(n, 64) activations of the hidden layer."""
        return np.asarray(np.maximum(X @ self.model.coefs_[0] + self.model.intercepts_[0], 0))


#: Name → function (training images, q, number of samples, seed) → samples.
GENERATORS: Mapping[str, Callable[[Array, int, int, int], Array]] = {
    "paper: normal + smoother S=100": lambda X, q, n, seed: _draw(
        paper_generator(q, 100, seed), X, n
    ),
    "normal + smoother S=10": lambda X, q, n, seed: _draw(paper_generator(q, 10, seed), X, n),
    "normal + ridge": lambda X, q, n, seed: _ours("normal", X, q, n, seed),
    "mixture (BIC) + ridge": lambda X, q, n, seed: _ours("mixture", X, q, n, seed),
    "kde + ridge": lambda X, q, n, seed: _ours("kde", X, q, n, seed),
    "interpolate": lambda X, q, n, seed: _ours("interpolate", X, q, n, seed),
    "local + ridge": lambda X, q, n, seed: _ours("local", X, q, n, seed, preimage="ridge"),
    "default: local": lambda X, q, n, seed: _ours("local", X, q, n, seed),
    "linear PCA + mixture 10": lambda X, q, n, seed: _linear(X, q, n, seed),
    "training images, drawn again": lambda X, q, n, seed: X[  # noqa: ARG005
        fixed_rng(seed).integers(len(X), size=n)
    ],
}


@dataclass(frozen=True)
class Judged:
    """Measures of samples as they are, and with pixels clipped to [0, 1]; and confidence in them.

    Values outside [0, 1] are noise to the network: they enlarge the balls around samples, and with
    them the recall.
    """

    raw: SampleReport
    clipped: SampleReport
    confidence: float


def compare_generators(
    source: str | Path,
    network: Network,
    *,
    per_digit: int = 50,
    q: int = 50,
    n: int = 1000,
    seed: int = 0,
    names: Sequence[str] = tuple(GENERATORS),
) -> dict[str, Judged]:
    """Each generator's measures against ``n`` test images, and the network's confidence in it.

    Neighbours are counted in the network's hidden layer; mean discrepancy and distances to the
    training images are those of pixels.
    """
    rng = fixed_rng(seed)
    train, _ = mnist_digits(source, rng, per_digit)
    X_test = read_mnist(source).X_test / 255.0
    real = X_test[rng.choice(len(X_test), n, replace=False)]
    reports = {}
    for i, name in enumerate(names):
        announce("generators", i, len(names))
        samples = GENERATORS[name](train, q, n, seed)
        raw, clipped = (
            judge(images, real, train=train, features=network.features)
            for images in (samples, np.clip(samples, 0, 1))
        )
        reports[name] = Judged(raw, clipped, network.confidence(samples))
    return reports


def _draw(model: GenerativeKernelPCA, X: Array, n: int) -> Array:
    return np.asarray(model.fit(X).sample(n))


def _ours(density: str, X: Array, q: int, n: int, seed: int, preimage: str = "auto") -> Array:
    model = GenerativeKernelPCA(
        q, kernel=MNIST_KERNEL, density=density, preimage=preimage, random_state=seed
    )
    return _draw(model, X, n)


def _linear(X: Array, q: int, n: int, seed: int) -> Array:
    """Linear PCA with a mixture of ten normals on its scores."""
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean, full_matrices=False)[2][:q]
    mixture = GaussianMixture(10, covariance_type="diag", random_state=seed)
    scores = mixture.fit((X - mean) @ axes.T).sample(n)[0]
    return np.asarray(scores @ axes + mean)
