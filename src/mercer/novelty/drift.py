r"""Do two samples come from one distribution? Maximum mean discrepancy in landmark features.

In coordinates z on landmarks, whose dot product is the Nyström kernel, the MMD is the distance of
two means, and its null distribution that of a quadratic form :math:`\sum_i \lambda_i \chi^2_1`,
with λ the eigenvalues of the covariance of both samples *together*, as a permutation test would
have it. Three traces of that matrix give a Pearson type III curve for it (Kazi-Aoual et al. 1995),
so that no permutation is drawn, and of the reference only its variances are needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import pearson3

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.kernels.jacobian import weighted_gradient
from mercer.model import Subspace
from mercer.novelty.score import along_the_line
from mercer.points import Points


@dataclass(frozen=True)
class Drift:
    """How a batch differs from the reference.

    Attributes
    ----------
    statistic : float
        MMD², the squared distance of the means in feature space.
    p_value : float
        The chance of one so large if nothing has changed.
    moved : (n,) array
        How far each row lies where the batch has gained and the reference lost, in standard
        deviations of reference rows.
    """

    statistic: float
    p_value: float
    moved: Array


def compare(subspace: Subspace, variance: Array, n: int, points: Points) -> Drift:
    """A batch beside n reference rows, whose scores have mean 0 and these variances.

    O(b m (d + m)) time for b rows and m landmarks, whatever n is.
    """
    Z = subspace.scores(points).astype(np.float64)
    mean, b = Z.mean(axis=0), len(Z)
    statistic = float(mean @ mean)
    moved = Z @ mean / np.sqrt(max(float(variance @ mean**2), np.finfo(float).tiny))
    p = _p_value(statistic, _pooled(Z, mean, variance, n), 1 / n + 1 / b)
    return Drift(statistic, p, moved)


def by_column(subspace: Subspace, points: Points) -> Array:
    """The part of each column in MMD², (d,), up to the sampling of landmarks.

    Along lines to the rows from landmarks, which are reference rows, each with its own. They are
    paired so that similarities sum up to most: what has not moved need not travel.
    """
    basis, mean = subspace.basis, subspace.scores(points).mean(axis=0)
    weights = (subspace.coef @ mean).astype(subspace.coef.dtype)

    def gradient(X: Array) -> Array:
        """Of the function whose means differ most: ``f(x) = z(x) · mean``."""
        return weighted_gradient(subspace.kernel, X, subspace.points, np.tile(weights, (len(X), 1)))

    X = points.take(np.resize(fixed_rng(0).permutation(len(points)), len(basis)))
    near = linear_sum_assignment(basis.at(X), maximize=True)[1]
    known = subspace.points.take(near).to_dense()
    parts = along_the_line(gradient, X.to_dense(), known)
    return np.asarray(parts.mean(axis=0), dtype=np.float64)


def _pooled(Z: Array, mean: Array, variance: Array, n: int) -> Array:
    """The covariance of reference and batch together, around the mean of both."""
    b = len(Z)
    centred = Z - mean
    total = centred.T @ centred + n * b / (n + b) * np.outer(mean, mean)
    total[np.diag_indices_from(total)] += n * variance
    return np.asarray(total / (n + b - 1))


def _p_value(statistic: float, covariance: Array, factor: float) -> float:
    """Beyond the statistic, on the curve that has the first three moments of the null."""
    square = covariance @ covariance
    first, second = np.trace(covariance), np.trace(square)
    third = float((square * covariance).sum())
    if not second > 0:
        return 1.0
    scale = float(np.sqrt(2 * second)) * factor
    skew = 8 * factor**3 * third / scale**3
    return float(np.clip(pearson3.sf(statistic, skew, factor * first, scale), 0, 1))
