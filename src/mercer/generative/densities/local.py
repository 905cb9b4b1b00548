"""Draws that stay where the data are: around training rows, in the directions of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array, evenly
from mercer._numbers import check_count
from mercer.exceptions import DataError
from mercer.generative.densities.base import Density, FittedDensity

#: Rows that a local density keeps; of more, evenly spaced ones.
LARGEST = 20_000


class Local(Density):
    r"""A training row, mixed with the directions to its neighbours: the default.

    .. math:: z^\star = z_i + \frac{1}{\sqrt K} \sum_{k=1}^{K} g_k\, (z_{i_k} - z_i), \qquad
              g_k \sim N(0, 1)

    with a random training row i and its K nearest neighbours :math:`i_k`. The spread is that of
    the data around the row, and only in directions in which the data go.

    Parameters
    ----------
    n_neighbors : int, default=10
        K, at most the number of other rows.

    Notes
    -----
    Has no density: with K below the number of components the draws lie on pieces of dimension K.
    O(n² q) once for the neighbours of at most 20,000 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import Local
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 400)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> drawn = Local().fit(ring, rng).sample(100, rng)
    >>> bool(np.abs(np.hypot(*drawn.T) - 1).max() < 0.1)
    True
    """

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:  # noqa: ARG002
        points = evenly(Z, LARGEST)
        return FittedLocal(points, neighbors(points, self.n_neighbors))


class Interpolate(Density):
    r"""A random place on the line from a training row to one of its neighbours.

    .. math:: z^\star = z_i + t\,(z_{i_k} - z_i), \qquad t \sim U(0, 1)

    Parameters
    ----------
    n_neighbors : int, default=10
        The other end is one of so many nearest rows.

    Notes
    -----
    Always between two examples: the safest draws, and the nearest to copies.

    References
    ----------
    N. V. Chawla et al. SMOTE: synthetic minority over-sampling technique. JAIR 16, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import Interpolate
    >>> rng = np.random.default_rng(0)
    >>> drawn = Interpolate(1).fit(np.array([[0.0], [1.0], [5.0], [6.0]]), rng).sample(50, rng)
    >>> bool(((drawn <= 1) | (drawn >= 5)).all())
    True
    """

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:  # noqa: ARG002
        points = evenly(Z, LARGEST)
        return FittedInterpolate(points, neighbors(points, self.n_neighbors))


@dataclass(frozen=True)
class FittedLocal(FittedDensity):
    """Points (n, q) and the numbers of their neighbours (n, K)."""

    points: Array
    neighbors: Array

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        i = rng.integers(len(self.points), size=n)
        K = self.neighbors.shape[1]
        g = rng.standard_normal((n, K)) / np.sqrt(K)
        return mix(self.points, i, self.neighbors[i], g)


@dataclass(frozen=True)
class FittedInterpolate(FittedDensity):
    """Points (n, q) and the numbers of their neighbours (n, K)."""

    points: Array
    neighbors: Array

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        i = rng.integers(len(self.points), size=n)
        k = rng.integers(self.neighbors.shape[1], size=n)
        t = rng.random((n, 1))
        start, end = self.points[i], self.points[self.neighbors[i, k]]
        return np.asarray(start + t * (end - start), dtype=self.points.dtype)


def mix(points: Array, i: Array, near: Array, g: Array) -> Array:
    """``p_i + Σ_k g_k (p_k - p_i)`` for rows i with neighbours ``near``, both by number."""
    centre = points[i]
    toward = np.einsum("nk,nkq->nq", g, points[near])
    mixed = centre + toward - g.sum(axis=1, keepdims=True) * centre
    return np.asarray(mixed, dtype=points.dtype)


def neighbors(Z: Array, count: int) -> Array:
    """(n, K) numbers of the nearest other rows, the nearest first."""
    K = check_count("n_neighbors", count)
    if len(Z) < 2:
        raise DataError(f"{len(Z)} row(s) have no neighbours; give at least 2 rows.")
    K = min(K, len(Z) - 1)
    # Scores have too many columns for trees to save anything.
    from sklearn.neighbors import NearestNeighbors  # brings in a third of scikit-learn

    search = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(Z)
    return np.asarray(search.kneighbors(return_distance=False))


def unit_size(X: Array) -> Array:
    """X around its mean, over its largest entry: its squares neither over- nor underflow."""
    X = X - X.mean(axis=0)
    size = np.abs(X).max()
    return np.asarray(X / size if size > 0 else X)
