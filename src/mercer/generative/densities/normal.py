"""One normal distribution: the density of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.exceptions import DataError
from mercer.generative.densities.base import Density, FittedDensity


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
        if len(Z) < 2:
            raise DataError(f"a spread cannot be taken from {len(Z)} row(s); give at least 2.")
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
        q = len(self.mean)
        largest = self.deviations.max(initial=0.0)
        if len(self.deviations) < q or self.deviations.min() <= 1e-10 * largest:
            raise DataError(
                f"the rows span fewer than {q} directions, so that there is no density; "
                "give more rows, or use fewer components."
            )
        G = (Z - self.mean) @ self.axes.T / self.deviations
        constant = q * np.log(2 * np.pi) / 2 + np.log(self.deviations).sum()
        return np.asarray(-square_sums(G) / 2 - constant)
