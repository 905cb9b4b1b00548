"""A small normal distribution around every training row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from mercer._linalg import Array, evenly, square_sums
from mercer._parallel import blocks
from mercer.exceptions import DataError
from mercer.generative.densities.base import Density, FittedDensity
from mercer.generative.densities.local import LARGEST

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
        if len(Z) < 2:
            raise DataError(f"a spread cannot be taken from {len(Z)} row(s); give at least 2.")
        points = evenly(Z, LARGEST)
        scale = Z.std(axis=0)
        scale[scale == 0] = 1
        return FittedKDE(points, scale, self._choose(evenly(points, SAMPLE) / scale))

    def _choose(self, Z: Array) -> float:
        if self.bandwidth != "likelihood":
            if isinstance(self.bandwidth, str) or not 0 < self.bandwidth < np.inf:
                raise DataError(
                    f"bandwidth={self.bandwidth!r}: give a positive number, or 'likelihood'."
                )
            return float(self.bandwidth)
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
        found = np.empty(len(Z))
        for rows in blocks(len(Z), 256):
            A = Z[rows] / unit
            r2 = np.maximum(square_sums(A)[:, None] - 2 * (A @ P.T) + square_sums(P), 0)
            found[rows] = logsumexp(-r2 / 2, axis=1)
        return np.asarray(found - np.log(n) - np.log(unit).sum() - q * np.log(2 * np.pi) / 2)
