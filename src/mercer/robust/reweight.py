r"""A fit that gross outliers cannot turn: fit, look at the errors, lower the weights, repeat.

The errors are those of rows that the fit has not seen. In feature space an outlier is nearly
orthogonal to everything else; among the fitted rows it takes a component for itself, has no error
left, and would keep its weight for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._held_out import held_out_scores
from mercer._linalg import Array
from mercer._progress import announce
from mercer._random import fixed_rng
from mercer._types import RowsLike
from mercer.robust.loss import Loss
from mercer.subspace import Subspace

__all__ = ["Reweighting", "reweight"]

#: The spread counts as no less than this share of the way from the median error to that of an
#: isolated point: where the data are described closely, a little less closely is no outlier.
SMALLEST_SPREAD = 0.11


@dataclass(frozen=True)
class Reweighting:
    """Weights, and how the rounds went.

    Attributes
    ----------
    weights : (n,) array, between 0 and 1
    errors : (n,) array
        Held-out distances from the subspace in feature space; 1 for a point with nothing near it.
    changes : (rounds,) array
        The mean change of the weights in each round.
    converged : bool
    """

    weights: Array
    errors: Array
    changes: Array
    converged: bool


def reweight(
    learn: Callable[[Array, Array], Subspace],
    X: RowsLike,
    loss: Loss,
    rng: np.random.Generator,
    *,
    folds: int = 5,
    max_iter: int = 20,
    tol: float = 5e-3,
) -> Reweighting:
    """Iteratively reweighted fits under a bounded loss of the held-out feature-space error.

    Parameters
    ----------
    learn : callable
        ``learn(row numbers, their weights)`` fits and returns the subspace.
    X : (n, d) rows, or n objects
    loss : Loss
    rng : numpy.random.Generator
    folds : int, default=5
    max_iter : int, default=20
        At most ``folds · max_iter`` fits; three to five rounds are usual.
    tol : float, default=5e-3
        Stop when the weights change by less on the mean: single rows on the border may go in and
        out for ever.
    """
    weights = np.ones(len(X))
    seed = int(rng.integers(2**31))
    changes: list[float] = []
    errors, converged = weights, False
    for done in range(max_iter):
        announce("reweight", done, max_iter)
        before = weights

        def fitted(rows: Array, weights: Array = before) -> Callable[[Any], Array]:
            return _distance(learn(rows, weights[rows]))

        # The same folds in every round, so that the rounds can settle.
        errors = held_out_scores(fitted, X, folds, fixed_rng(seed))
        # Strict at first, when outliers still lend each other support: better lose good rows, which
        # return as soon as the outliers are out.
        u = 2 * excess(errors, 0.0) if done == 0 else excess(errors, SMALLEST_SPREAD)
        weights = loss.weight(u)
        changes.append(float(np.abs(weights - before).mean()))
        converged = done > 0 and changes[-1] <= tol  # the strict first round settles nothing
        if converged:
            break
    return Reweighting(weights, errors, np.array(changes), converged)


def excess(errors: Array, smallest: float) -> Array:
    """How far errors lie above their median, in units of their spread (1.4826 · MAD)."""
    middle = float(np.median(errors))
    spread = 1.4826 * float(np.median(np.abs(errors - middle)))
    spread = max(spread, smallest * (1 - middle), np.finfo(float).tiny)
    return np.asarray(np.maximum(errors - middle, 0) / spread)


def _distance(subspace: Subspace) -> Callable[[Any], Array]:
    """Distance from the subspace, relative to that of a point with k(x, S) = 0."""

    def relative(X: RowsLike) -> Array:
        # The residual k(x,x) - 2 cᵀk(S,x) + cᵀK_SS c - |z|² where k(S,x) = 0 and thus z = -b.
        mean_outside = max(subspace.mean_square - float(subspace.offset @ subspace.offset), 0.0)
        isolated = float(np.median(subspace.kernel.diag(X))) + mean_outside
        return np.asarray(np.sqrt(subspace.residual(X) / (isolated or 1.0)))

    return relative
