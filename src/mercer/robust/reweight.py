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

from mercer._linalg import Array
from mercer._progress import announce
from mercer.novelty import held_out_scores
from mercer.robust.loss import Loss
from mercer.subspace import Subspace

__all__ = ["Reweighting", "reweight"]

#: Spreads of the errors below this share of a point's length in feature space are taken for it.
SMALLEST_SPREAD = 0.01


@dataclass(frozen=True)
class Reweighting:
    """Weights, and how the rounds went.

    Attributes
    ----------
    weights : (n,) array, between 0 and 1
    errors : (n,) array
        Held-out distances from the subspace in feature space.
    changes : (rounds,) array
        The largest change of a weight in each round.
    converged : bool
    """

    weights: Array
    errors: Array
    changes: Array
    converged: bool


def reweight(
    learn: Callable[[Array, Array], Subspace],
    X: Any,
    loss: Loss,
    rng: np.random.Generator,
    *,
    folds: int = 5,
    max_iter: int = 10,
    tol: float = 1e-2,
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
    max_iter : int, default=10
        At most ``folds · max_iter`` fits; three to five rounds are usual.
    tol : float, default=1e-2
        Stop when no weight changes by more.
    """
    weights = np.ones(len(X))
    seed = int(rng.integers(2**31))
    changes: list[float] = []
    errors = weights
    for done in range(max_iter):
        announce("reweight", done, max_iter)
        before = weights

        def fitted(rows: Array, weights: Array = before) -> Callable[[Any], Array]:
            return _distance(learn(rows, weights[rows]))

        # The same folds in every round, so that the rounds can settle.
        errors = held_out_scores(fitted, X, folds, np.random.default_rng(seed))
        weights = loss.weight(excess(errors, SMALLEST_SPREAD))
        changes.append(float(np.abs(weights - before).max()))
        if changes[-1] <= tol:
            break
    return Reweighting(weights, errors, np.array(changes), changes[-1] <= tol)


def excess(errors: Array, smallest: float) -> Array:
    """How far errors lie above their median, in units of their spread (1.4826 · MAD)."""
    middle = np.median(errors)
    spread = 1.4826 * np.median(np.abs(errors - middle))
    return np.asarray(np.maximum(errors - middle, 0) / max(spread, smallest))


def _distance(subspace: Subspace) -> Callable[[Any], Array]:
    """Distance from the subspace, relative to the length that points have in feature space."""

    def relative(X: Any) -> Array:
        length = np.sqrt(np.median(np.abs(subspace.kernel.diag(X)))) or 1.0
        return np.asarray(np.sqrt(subspace.residual(X)) / length)

    return relative
