"""The role of a latent density: from the scores of the training rows to scores of new points."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from mercer._config import Config
from mercer._linalg import Array
from mercer.exceptions import DataError


class FittedDensity(ABC):
    """A density that has seen its scores; made of arrays only."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """(n, q) draws."""

    def log_density(self, Z: Array) -> Array:
        """(n,) logarithms of the density at Z, where there is one."""
        raise DataError(
            f"{type(self).__name__}, shape of Z {Z.shape}: these draws lie on pieces of lower "
            "dimension and have no density; use Normal, Mixture or KDE."
        )


class Density(Config, ABC):
    """A strategy for drawing new scores."""

    @abstractmethod
    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:
        """Look at the scores of the training rows, (n, q)."""
