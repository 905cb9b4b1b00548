"""A mixture of normal distributions, as many as the Bayesian information criterion wants."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from mercer._base import catalogue
from mercer._base.config import Config
from mercer._base.linalg import evenly, square_sums
from mercer._base.machine import blocks
from mercer._base.numbers import check_choice, check_count, check_positive
from mercer._base.registry import by_name
from mercer._base.types import Array
from mercer.exceptions import ConvergenceWarning, DataError, warn
from mercer.preimage.nearest import mix, neighbors

# The role of a latent density: from the scores of the training rows to scores of new points.


class FittedDensity(ABC):
    """A density that was fitted to scores; made of arrays only."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """(n, q) draws."""

    def log_density(self, Z: Array) -> Array:
        """(n,) logarithms of the density at Z, if the draws have one."""
        raise DataError(
            f"draws of {type(self).__name__} lie on pieces of fewer than {Z.shape[1]} dimensions "
            "and have no density; use Normal, Mixture or KDE."
        )


class Density(Config, ABC):
    """A strategy for drawing new scores."""

    @abstractmethod
    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:
        """Fit to the scores of the training rows, (n, q)."""


# One normal distribution: the density of the paper.


class Normal(Density):
    r"""A normal distribution through the hidden units, as in the paper.

    Notes
    -----
    Scores of kernel PCA are uncorrelated, but far from normal where the data form clusters: most
    draws then lie between the clusters, where there are no data. On digits it covers a fifth
    of their variety; prefer :class:`Local`. O(n q²).

    References
    ----------
    J. Schreurs, J. A. K. Suykens. Generative kernel PCA. ESANN 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import Normal
    >>> rng = np.random.default_rng(0)
    >>> density = Normal().fit(rng.normal(size=(500, 2)), rng)
    >>> density.sample(3, rng).shape, density.log_density(np.zeros((1, 2))).round(1)
    ((3, 2), array([-1.8]))
    """

    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:  # noqa: ARG002
        _check_spread(Z)
        mean = Z.mean(axis=0)
        # Rows of the factor R: draws are mean + g R with g standard normal.
        _, sizes, axes = np.linalg.svd(Z - mean, full_matrices=False)
        return FittedNormal(mean, sizes / np.sqrt(len(Z) - 1), axes)


@dataclass(frozen=True)
class FittedNormal(FittedDensity):
    """Mean, standard deviations along the principal axes, and the axes (rows)."""

    mean: Array
    deviations: Array
    axes: Array

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        g = rng.standard_normal((n, len(self.deviations)))
        return np.asarray(self.mean + (g * self.deviations) @ self.axes, dtype=self.mean.dtype)

    def log_density(self, Z: Array) -> Array:
        q, deviations = len(self.mean), self.deviations
        if len(deviations) < q or deviations.min() <= 1e-10 * deviations.max():
            raise DataError(
                f"rows that span fewer than {q} directions have no density; "
                "give more rows, or use fewer components."
            )
        G = (Z - self.mean) @ self.axes.T / self.deviations
        constant = q * np.log(2 * np.pi) / 2 + np.log(self.deviations).sum()
        return np.asarray(-square_sums(G) / 2 - constant)


def _check_spread(Z: Array) -> Array:
    """Standard deviations of the coordinates; 1 for those that are constant."""
    if len(Z) < 2:
        raise DataError(f"a spread cannot be estimated from {len(Z)} row(s); give at least 2.")
    spread = Z.std(axis=0)
    return np.where(spread == 0, 1, spread)


# A small normal distribution around every training row.


#: Rows for the choice of the bandwidth, and the bandwidths that are tried.
SAMPLE = 1500
BANDWIDTHS = np.geomspace(0.05, 1.5, 24)


class KDE(Density):
    r"""Kernel density estimate: a training row, and normal noise around it.

    .. math:: p(z) = \frac{1}{n} \sum_i N\bigl(z;\, z_i,\, b^2 \operatorname{diag}(s_k^2)\bigr)

    with :math:`s_k` the standard deviation of coordinate k.

    Parameters
    ----------
    bandwidth : float or "likelihood", default="likelihood"
        b; by default the one of 24 between 0.05 and 1.5 with the largest leave-one-out likelihood.

    Notes
    -----
    Noise in all directions alike: with many components most of it leaves the data, and
    :class:`Local`, which follows the neighbours' directions, is the better generator. It has a
    density. At most 20,000 evenly spaced rows are kept; O(n q) per density.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import KDE
    >>> rng = np.random.default_rng(0)
    >>> density = KDE().fit(rng.normal(size=(200, 2)), rng)
    >>> bool(0.1 < density.bandwidth < 0.8), density.log_density(np.zeros((1, 2))).shape
    (True, (1,))
    """

    def __init__(self, bandwidth: float | str = "likelihood") -> None:
        self.bandwidth = bandwidth

    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:  # noqa: ARG002
        points, scale = evenly(Z, LARGEST), _check_spread(Z)
        return FittedKDE(points, scale, self._choose(evenly(points, SAMPLE) / scale))

    def _choose(self, Z: Array) -> float:
        if self.bandwidth != "likelihood":
            return check_positive("bandwidth", self.bandwidth, ", or 'likelihood'")
        r2 = cdist(Z, Z, "sqeuclidean")
        np.fill_diagonal(r2, np.inf)  # leave one out
        q = Z.shape[1]
        fits = [logsumexp(-r2 / (2 * b * b), axis=1).mean() - q * np.log(b) for b in BANDWIDTHS]
        return float(BANDWIDTHS[int(np.argmax(fits))])


@dataclass(frozen=True)
class FittedKDE(FittedDensity):
    """Points (n, q), standard deviations of the coordinates (q,), and the bandwidth."""

    points: Array
    scale: Array
    bandwidth: float

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        centre = self.points[rng.integers(len(self.points), size=n)]
        noise = rng.standard_normal(centre.shape) * (self.bandwidth * self.scale)
        return np.asarray(centre + noise, dtype=self.points.dtype)

    def log_density(self, Z: Array) -> Array:
        unit = self.bandwidth * self.scale
        n, q = self.points.shape
        P = self.points / unit
        log_sums = np.empty(len(Z))
        for rows in blocks(len(Z), 256):
            A = Z[rows] / unit
            # As a product of matrices: much faster than one distance after the other.
            r2 = np.maximum(square_sums(A)[:, None] - 2 * (A @ P.T) + square_sums(P), 0)
            log_sums[rows] = logsumexp(-r2 / 2, axis=1)
        return np.asarray(log_sums - np.log(n) - np.log(unit).sum() - q * np.log(2 * np.pi) / 2)


# Draws that stay where the data are: around training rows, in the directions of neighbours.


#: Most rows that a local density keeps; of more rows, evenly spaced ones.
LARGEST = 20_000
#: How much of a row is replaced by noise.
BANDWIDTH = 0.85


@dataclass(frozen=True)
class FittedMixtures(FittedDensity):
    """Draws that are mixtures of training rows: points (n, q), and their neighbours (n, K).

    The weights make a row out of a draw, too: the same mixture of the training rows, see
    :class:`~mercer.generative.RowMixtures`.
    """

    points: Array
    neighbors: Array

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return mix(self.points, *self.around(self.starts(n, rng), rng))

    def starts(self, n: int, rng: np.random.Generator) -> Array:
        """(n,) indices of rows to draw around; each row as often as any other, give or take one."""
        rounds = -(-n // len(self.points))
        return np.concatenate([rng.permutation(len(self.points)) for _ in range(rounds)])[:n]

    @abstractmethod
    def around(self, i: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Rows i, other rows that they are mixed with, (n, K), and the weights of these."""


@dataclass(frozen=True)
class FittedLocal(FittedMixtures):
    """Points, and mixtures with all of their neighbours."""

    bandwidth: float = BANDWIDTH

    def around(self, i: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        count = self.neighbors.shape[1] + 1  # the row itself is one of its neighbours
        g = rng.standard_normal((len(i), count))
        g -= g.mean(axis=1, keepdims=True)  # which takes the local mean off the points
        kept = np.sqrt(1 - self.bandwidth**2)
        weights = (1 - kept) / count + self.bandwidth / np.sqrt(count) * g
        return i, self.neighbors[i], weights[:, 1:]


class FittedInterpolate(FittedMixtures):
    """Points, and lines to their neighbours."""

    def around(self, i: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        k = rng.integers(self.neighbors.shape[1], size=len(i))
        return i, self.neighbors[i, k][:, None], rng.random((len(i), 1))


class Local(Density):
    r"""A training row, drawn towards its neighbours and spread as they are: the default.

    .. math:: z^\star = m_i + \sqrt{1 - h^2}\,(z_i - m_i)
              + \frac{h}{\sqrt{K + 1}} \sum_{k=0}^{K} g_k\, (z_{i_k} - m_i), \qquad
              g_k \sim N(0, 1)

    with a random training row i, its K nearest neighbours :math:`i_1, \dots, i_K`,
    :math:`i_0 = i`, and the mean :math:`m_i` of these K + 1. It is a smoothed bootstrap whose
    spread is corrected: noise alone would add to the variance of the data, and the step towards
    the local mean takes off as much. It goes only in directions in which the data go.

    Parameters
    ----------
    n_neighbors : int, default=15
        K, at most the number of other rows.
    bandwidth : float, default=0.85
        h, above 0 and at most 1: how much of the row is replaced by noise. Near 0 draws are copies
        of rows; with 1 only their neighbourhood is left.

    Notes
    -----
    Has no density: with K below the number of components the draws lie on pieces of dimension K.
    O(n² q) once for the neighbours of at most 20,000 rows.

    References
    ----------
    B. W. Silverman, G. A. Young. The bootstrap: to smooth or not to smooth? Biometrika 74, 1987.

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

    def __init__(self, n_neighbors: int = 15, bandwidth: float = BANDWIDTH) -> None:
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth

    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:  # noqa: ARG002
        if isinstance(self.bandwidth, str) or not 0 < self.bandwidth <= 1:
            raise DataError(f"bandwidth={self.bandwidth!r}: give a number above 0 and at most 1.")
        points = evenly(Z, LARGEST)
        return FittedLocal(points, neighbors(points, self.n_neighbors), float(self.bandwidth))


class Interpolate(Density):
    r"""A random place on the line from a training row to one of its neighbours.

    .. math:: z^\star = z_i + t\,(z_{i_k} - z_i), \qquad t \sim U(0, 1)

    Parameters
    ----------
    n_neighbors : int, default=10
        The other end is one of this many nearest rows.

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


#: Numbers of parts that are tried for ``"bic"``.
CANDIDATES = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40)


class Mixture(Density):
    r"""Several normal distributions, fitted by scikit-learn's ``GaussianMixture``.

    Parameters
    ----------
    n_parts : int or "bic", default="bic"
        How many; ``"bic"`` takes the number among 1, 2, 3, 5, 7, 10, 14, 20, 28, 40 with the best
        Bayesian information criterion.
    covariance : {"diag", "full"}, default="diag"
        Each part has its own variances, or its own covariance matrix. With many components there
        are rarely rows enough for the latter.

    Notes
    -----
    O(n k q) per iteration (q² for ``"full"``). A little blurred beside :class:`Local`, but it has
    a density, and its size does not grow with the rows.

    References
    ----------
    G. Schwarz. Estimating the dimension of a model. Annals of Statistics 6, 1978.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import Mixture
    >>> rng = np.random.default_rng(0)
    >>> Z = np.concatenate([rng.normal(m, 0.2, (100, 2)) for m in (-1, 1)])
    >>> density = Mixture().fit(Z, rng)
    >>> density.n_parts, density.sample(5, rng).shape
    (2, (5, 2))
    """

    def __init__(self, n_parts: int | str = "bic", covariance: str = "diag") -> None:
        self.n_parts = n_parts
        self.covariance = covariance

    def fit(self, Z: Array, rng: np.random.Generator) -> FittedDensity:
        from sklearn.mixture import GaussianMixture  # imports a third of scikit-learn

        check_choice("covariance", self.covariance, ("diag", "full"))
        unit = _check_spread(Z)
        # In units of each coordinate's spread, so that the floor of the variances means the same
        # in all of them.
        scaled = np.asarray(Z / unit, dtype=np.float64)
        look = {"covariance_type": self.covariance, "reg_covar": 1e-4, "max_iter": 200}
        models = []
        # Warn once, for the best one.
        with warnings.catch_warnings(action="ignore", category=SklearnConvergenceWarning):
            for k in self._counts(len(Z)):
                seed = int(rng.integers(2**31))
                models.append(GaussianMixture(k, **look, random_state=seed).fit(scaled))
        best = min(models, key=lambda model: model.bic(scaled))
        if not best.converged_:
            unsettled = f"{best.n_components} parts did not converge in {best.n_iter_} steps"
            warn(f"{unsettled}; ask for fewer parts.", ConvergenceWarning)
        if self.covariance == "full":
            factors = np.linalg.cholesky(best.covariances_)
        else:
            factors = np.sqrt(best.covariances_)[:, :, None] * np.eye(Z.shape[1])
        parts = (best.means_ * unit).astype(Z.dtype), (factors * unit[:, None]).astype(Z.dtype)
        return FittedMixture(best.weights_ / best.weights_.sum(), *parts)

    def _counts(self, n: int) -> list[int]:
        if self.n_parts == "bic":
            return [k for k in CANDIDATES if k == 1 or 5 * k <= n]
        k = check_count("n_parts", self.n_parts)
        if k > n:
            raise DataError(f"n_parts={k}, but there are {n} rows; ask for at most {n}.")
        return [k]


@dataclass(frozen=True)
class FittedMixture(FittedDensity):
    """Weights (k,), means (k, q) and lower factors of the covariances (k, q, q)."""

    weights: Array
    means: Array
    factors: Array

    @property
    def n_parts(self) -> int:
        """The number of normal distributions."""
        return len(self.weights)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        part = rng.choice(self.n_parts, size=n, p=self.weights)
        g = rng.standard_normal((n, self.means.shape[1]))
        drawn = np.empty_like(g)
        for k in np.unique(part):
            drawn[part == k] = self.means[k] + g[part == k] @ self.factors[k].T
        return drawn.astype(self.means.dtype, copy=False)

    def log_density(self, Z: Array) -> Array:
        q, logs = self.means.shape[1], []
        for mean, L in zip(self.means, self.factors, strict=True):
            G = np.linalg.solve(L, (Z - mean).T)
            size = np.log(np.diagonal(L)).sum() + q * np.log(2 * np.pi) / 2
            logs.append(-(G * G).sum(axis=0) / 2 - size)
        return np.asarray(logsumexp(logs, axis=0, b=self.weights[:, None]))


# Latent densities: where new hidden units come from; the names in lower case work as strings.
#
# They work on scores, that is on hidden units in units of feature space (√λ · u), so that distances
# between neighbours are those that the kernel sees.


def as_density(density: str | Density) -> Density:
    """A latent density from its name (with default parameters), or the density itself."""
    return by_name("density", density, Density, catalogue.DENSITIES)
