"""A mixture of normal distributions, as many as the Bayesian information criterion wants."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from mercer._linalg import Array
from mercer._numbers import check_count
from mercer.exceptions import ConvergenceWarning, DataError, warn
from mercer.generative.densities.base import Density, FittedDensity

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

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
        if self.covariance not in ("diag", "full"):
            raise DataError(f"covariance={self.covariance!r} is not known; give 'diag' or 'full'.")
        if len(Z) < 2:
            raise DataError(f"a spread cannot be taken from {len(Z)} row(s); give at least 2.")
        unit = Z.std(axis=0)
        unit[unit == 0] = 1
        # In units of each coordinate's spread, so that the floor of the variances means the same
        # in all of them.
        scaled = np.asarray(Z / unit, dtype=np.float64)
        models = [self._fit_one(scaled, k, rng) for k in self._counts(len(Z))]
        best = min(models, key=lambda model: model.bic(scaled))
        if not best.converged_:
            warn(
                f"the mixture of {best.n_components} did not converge in {best.n_iter_} steps; "
                "ask for fewer parts.",
                ConvergenceWarning,
            )
        return _keep(best, unit.astype(np.float64), Z.dtype)

    def _counts(self, n: int) -> list[int]:
        if self.n_parts == "bic":
            return [k for k in CANDIDATES if k == 1 or 5 * k <= n]
        k = check_count("n_parts", self.n_parts)
        if k > n:
            raise DataError(f"n_parts={k}, but there are {n} rows; ask for at most {n}.")
        return [k]

    def _fit_one(self, Z: Array, k: int, rng: np.random.Generator) -> GaussianMixture:
        seed = int(rng.integers(2**31))
        from sklearn.mixture import GaussianMixture  # brings in a third of scikit-learn

        model = GaussianMixture(
            k, covariance_type=self.covariance, reg_covar=1e-4, max_iter=200, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SklearnConvergenceWarning)  # said once, for the best
            return model.fit(Z)


@dataclass(frozen=True)
class FittedMixture(FittedDensity):
    """Weights (k,), means (k, q) and lower factors of the covariances (k, q, q)."""

    weights: Array
    means: Array
    factors: Array

    @property
    def n_parts(self) -> int:
        """How many normal distributions."""
        return len(self.weights)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        part = rng.choice(self.n_parts, size=n, p=self.weights)
        g = rng.standard_normal((n, self.means.shape[1]))
        drawn = np.empty_like(g)
        for k in np.unique(part):
            drawn[part == k] = self.means[k] + g[part == k] @ self.factors[k].T
        return drawn.astype(self.means.dtype, copy=False)

    def log_density(self, Z: Array) -> Array:
        q = self.means.shape[1]
        logs = np.empty((len(Z), self.n_parts))
        for k, (mean, L) in enumerate(zip(self.means, self.factors, strict=True)):
            G = np.linalg.solve(L, (Z - mean).T)
            logs[:, k] = -(G * G).sum(axis=0) / 2 - np.log(np.diagonal(L)).sum()
        return np.asarray(logsumexp(logs, axis=1, b=self.weights) - q * np.log(2 * np.pi) / 2)


def _keep(model: GaussianMixture, unit: Array, dtype: np.dtype) -> FittedMixture:
    covariances = np.asarray(model.covariances_)
    if covariances.ndim == 2:
        factors = np.stack([np.diag(np.sqrt(row)) for row in covariances])
    else:
        factors = np.linalg.cholesky(covariances)
    return FittedMixture(
        np.asarray(model.weights_) / np.sum(model.weights_),
        np.asarray(model.means_ * unit).astype(dtype),
        (factors * unit[:, None]).astype(dtype),
    )
