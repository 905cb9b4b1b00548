"""Rows of which there are as many fresh ones as anybody wants: tables, and embeddings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

Draw = Callable[[int, np.random.Generator], np.ndarray]
#: Columns of an embedding.
WIDE = 768


def normal(n: int, rng: np.random.Generator) -> np.ndarray:
    """Eight columns of three factors and noise."""
    factors = np.random.default_rng(5).standard_normal((3, 8))
    X = rng.standard_normal((n, 3)) @ factors + rng.standard_normal((n, 8))
    return X / np.sqrt((factors**2).sum(axis=0) + 1)


def independent(n: int, rng: np.random.Generator) -> np.ndarray:
    """Eight independent columns."""
    return rng.standard_normal((n, 8))


def heavy(n: int, rng: np.random.Generator) -> np.ndarray:
    """Twenty columns with long tails (Student's t, three degrees of freedom)."""
    return rng.standard_t(3, (n, 20))


def sheet(n: int, rng: np.random.Generator) -> np.ndarray:
    """A curved sheet in 30 columns, with noise."""
    waves = np.random.default_rng(6).standard_normal((2, 30))
    return np.sin(rng.uniform(-2, 2, (n, 2)) @ waves) + 0.1 * rng.standard_normal((n, 30))


def whole(n: int, rng: np.random.Generator) -> np.ndarray:
    """Twelve columns of counts, with many ties."""
    return rng.poisson(np.linspace(0.5, 6, 12), (n, 12)).astype(float)


def uniform(n: int, rng: np.random.Generator) -> np.ndarray:
    """Four columns between 0 and 1."""
    return rng.uniform(size=(n, 4))


def wide(n: int, rng: np.random.Generator) -> np.ndarray:
    """A hundred independent columns."""
    return rng.standard_normal((n, 100))


def sphere(n: int, rng: np.random.Generator) -> np.ndarray:
    """Embeddings of length 1: forty groups of different sizes around a common direction."""
    fixed = np.random.default_rng(7)
    centres = fixed.standard_normal((40, WIDE)) + 1.0
    X = centres[rng.choice(40, n, p=fixed.dirichlet(np.ones(40)))]
    return _unit(X + 0.7 * rng.standard_normal((n, WIDE)))


def manifold(n: int, rng: np.random.Generator) -> np.ndarray:
    """Embeddings of length 1 on a curved sheet of eight dimensions in three groups."""
    fixed = np.random.default_rng(8)
    waves, shift = fixed.standard_normal((8, WIDE)), fixed.uniform(0, 6, (3, WIDE))
    X = np.sin(rng.standard_normal((n, 8)) @ waves / 2 + shift[rng.integers(3, size=n)])
    return _unit(X + 0.1 * rng.standard_normal((n, WIDE)))


def network(n: int, rng: np.random.Generator) -> np.ndarray:
    """What the last layer but one of a small network makes of rows of a curved sheet, float32."""
    model = _network()
    hidden = sheet(n, rng)
    for weight, shift in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        hidden = np.maximum(hidden @ weight + shift, 0)
    return hidden.astype(np.float32)


@cache
def _network() -> MLPClassifier:
    rng = np.random.default_rng(9)
    X = sheet(4_000, rng)
    kind = 2 * (X[:, 0] > X[:, 1]).astype(int) + (X[:, 2] > X[:, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ten rounds are enough for features
        return MLPClassifier((64, WIDE), max_iter=10, random_state=0).fit(X, kind)


def _unit(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


EMBEDDINGS: dict[str, Draw] = {
    f"{kind.__name__}, {WIDE} columns": kind for kind in (sphere, manifold, network)
}
TABLES: dict[str, Draw] = {
    kind.__name__: kind for kind in (normal, independent, heavy, sheet, whole, uniform, wide)
}
