r"""A fit that outliers cannot turn: trust a core of rows, look at errors, lower weights, repeat.

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
from mercer._parallel import held
from mercer._progress import announce
from mercer._random import fixed_rng
from mercer._types import RowsLike
from mercer.kernels import Kernel
from mercer.robust.loss import Loss
from mercer.robust.trust import Trust, trusted_rows
from mercer.subspace import Subspace

#: The spread counts as no less than this share of the way from the median error to that of an
#: isolated point: where the data are described closely, a little less closely is no outlier.
SMALLEST_SPREAD = 0.11
#: Where fewer rows are trusted, or more form a group apart, nobody can tell which are the outliers.
FEW_TRUSTED, LARGE_GROUP = 0.65, 0.15


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
    trust : Trust
        The start.
    """

    weights: Array
    errors: Array
    changes: Array
    converged: bool
    trust: Trust

    @property
    def doubt(self) -> str | None:
        """Why outliers and data may have been confused, in words; None where they were not."""
        n, kept = len(self.weights), self.trust.trusted
        group = int(self.trust.grouped.sum())
        if group >= LARGE_GROUP * n:
            return (
                f"{group} of {n} rows lie apart from the others but close together: they may be "
                "data, not outliers. They have weight 0"
            )
        if kept.mean() < FEW_TRUSTED:
            return f"only {kept.sum()} of {n} rows belong together; the others have weight 0"
        return None


@held
def reweight(
    learn: Callable[[Array, Array], Subspace],
    X: RowsLike,
    kernel: Kernel,
    loss: Loss,
    rng: np.random.Generator,
    *,
    folds: int = 5,
    max_iter: int = 20,
    tol: float = 5e-3,
) -> Reweighting:
    """Iteratively reweighted fits under a bounded loss of the held-out feature-space error.

    Rows that are not trusted (:func:`~mercer.robust.trust.trusted_rows`) have weight 0 from the
    start to the end; the loss judges the others, beside each other.

    Parameters
    ----------
    learn : callable
        ``learn(row numbers, their weights)`` fits and returns the subspace.
    X : (n, d) rows, or n objects
    kernel : Kernel
    loss : Loss
    rng : numpy.random.Generator
    folds : int, default=5
    max_iter : int, default=20
        At most ``folds · max_iter`` fits; two to five rounds are usual.
    tol : float, default=5e-3
        Stop when the weights change by less on the mean: single rows on the border may go in and
        out for ever.
    """
    trust = trusted_rows(X, kernel)
    inside = trust.trusted
    weights = inside.astype(float)
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
        weights = np.where(inside, loss.weight(excess(errors, inside)), 0)
        changes.append(float(np.abs(weights - before).mean()))
        converged = changes[-1] <= tol
        if converged:
            break
    return Reweighting(weights, errors, np.array(changes), converged, trust)


def excess(errors: Array, among: Array) -> Array:
    """How far errors lie above the median of these rows, in units of the spread above it."""
    middle = float(np.median(errors[among]))
    above = errors[among] - middle
    spread = 1.4826 * float(np.median(above[above >= 0]))
    spread = max(spread, SMALLEST_SPREAD * (1 - middle), np.finfo(float).tiny)
    return np.asarray(np.maximum(errors - middle, 0) / spread)


def _distance(subspace: Subspace) -> Callable[[Any], Array]:
    """Distance from the subspace, relative to that of a point with k(x, S) = 0."""

    def relative(X: RowsLike) -> Array:
        # The residual k(x,x) - 2 cᵀk(S,x) + cᵀK_SS c - |z|² where k(S,x) = 0 and thus z = -b.
        mean_outside = max(subspace.mean_square - float(subspace.offset @ subspace.offset), 0.0)
        isolated = float(np.median(subspace.kernel.diag(X))) + mean_outside
        return np.asarray(np.sqrt(subspace.residual(X) / (isolated or 1.0)))

    return relative
