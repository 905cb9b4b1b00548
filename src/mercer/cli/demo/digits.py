"""scikit-learn's handwritten digits, parted once and for all, and what noise does to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array

#: Noisy versions of rows.
Noise = Callable[[Array, np.random.Generator], Array]

SHAPE = (8, 8)
N_TRAIN = 1200


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
    from sklearn.datasets import load_digits

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
