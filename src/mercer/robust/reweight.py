"""A fit that outliers cannot turn: trust a core of rows, look at errors, lower weights, repeat.

The errors are those of rows that the fit has not seen. In feature space an outlier is nearly
orthogonal to everything else; among the fitted rows it takes a component for itself, has no error
left, and would keep its weight for ever.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base import catalogue
from mercer._base.config import Config
from mercer._base.held_out import held_out_scores
from mercer._base.machine import held
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.registry import by_name
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.kernels import Kernel
from mercer.model import Subspace
from mercer.robust.trust import Trust, trusted_rows

# Bounded losses: beyond some size an error no longer counts more.
#
# A loss :math:`\rho(u)` of the error in units of its own spread acts through its weight
# :math:`w(u) = \rho'(u)/u`, which goes to zero: a gross outlier has no pull at all.


class Loss(Config, ABC):
    """How much an error counts, given in units of its spread."""

    @abstractmethod
    def weight(self, u: Array) -> Array:
        """w(u) for u ≥ 0: 1 at 0, falling to 0."""


class Hampel(Loss):
    r"""Full weight up to ``full``, none beyond ``none``, and a smooth fall between them.

    With ``v = (u - full) / (none - full)`` cut to [0, 1] the weight is ``(1 - v²)²``. Rows that are
    no outliers count exactly as in a plain fit, and do not turn its components.

    Parameters
    ----------
    full, none : float, default=6.0, 8.0
        In units of the spread of the errors above their median.
    """

    def __init__(self, full: float = 6.0, none: float = 8.0) -> None:
        self.full = full
        self.none = none

    def weight(self, u: Array) -> Array:
        if not 0 <= self.full < self.none:
            raise DataError(
                f"full={self.full} and none={self.none} must be in this order and not negative; "
                "6 and 8 are usual."
            )
        v = np.clip((u - self.full) / (self.none - self.full), 0, 1)
        return np.asarray((1 - v**2) ** 2)


class Tukey(Loss):
    r"""The biweight: :math:`w(u) = (1 - (u/c)^2)^2` up to c, and exactly 0 beyond.

    Parameters
    ----------
    cutoff : float, default=4.685
        c; the default keeps 95 % efficiency on normal errors. Smaller errors lose weight, too.
    """

    def __init__(self, cutoff: float = 4.685) -> None:
        self.cutoff = cutoff

    def weight(self, u: Array) -> Array:
        if not self.cutoff > 0:
            raise DataError(f"cutoff={self.cutoff} must be positive; 4.685 is usual.")
        return np.asarray((1 - np.minimum(u / self.cutoff, 1) ** 2) ** 2)


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name, ``"hampel"`` or ``"tukey"``, or the loss itself."""
    return by_name("loss", loss, Loss, catalogue.LOSSES, DataError, "an object of mercer.robust")


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
