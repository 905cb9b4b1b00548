r"""Missing values, filled in by going back and forth between a point and its projection.

With the observed coordinates clamped, each round takes the projection :math:`y = P\phi(x)` and then
one step of the pre-image iteration towards :math:`y`, of which the missing coordinates are kept.
Both lower :math:`\|\phi(x) - y\|^2`, so that the rounds descend to a point whose missing
coordinates make its reconstruction error smallest (after Mika et al. 1999; Nguyen & De la Torre
2009).

With all components nothing is left to descend on: every point lies in the subspace. So the scores
are shrunk by :math:`\lambda_k / (\lambda_k + \tau)`, as if the components carried noise of variance
:math:`\tau`. For the linear kernel the rounds then end at
:math:`[\tau (C + \tau)^{-1} x]_m = 0`, the conditional mean of a Gaussian with covariance
:math:`C + \tau`; a number of components is a matter of :math:`\tau`, and more are never worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.machine import held
from mercer._base.progress import announce
from mercer._base.types import Array, RowsLike
from mercer.kernels import Kernel
from mercer.model import Subspace
from mercer.preimage import Auto, FixedPoint, PreImages, PreImageSolver, Status, as_preimage

# Columns that are slots of one category: they are missing together, or not at all.


def one_hot_groups(X: Array) -> Array:
    """A number for each column, (d,); neighbouring columns that make up a category share theirs.

    Such columns hold 0 or one height, and exactly one of them has it in each row, as
    ``OneHotEncoder`` and :class:`~mercer.tables.TableEncoder` write them.

    Parameters
    ----------
    X : (n, d) array, NaN where a value is missing

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.robust import one_hot_groups
    >>> one_hot_groups(np.array([[0.3, 0, 2, 0], [0.4, 2, 0, 0], [0.1, 0, 0, 2]]))
    array([0, 1, 1, 1])
    """
    heights = np.array([_height(column) for column in X.T])
    numbers, at = np.empty(X.shape[1], dtype=int), 0
    for number in range(X.shape[1]):
        width = _width(X, heights, at)
        numbers[at : at + width] = number
        at += width
        if at >= X.shape[1]:
            break
    return numbers


def _height(column: Array) -> float:
    """Of a column of nothing but 0 and one positive number; 0 for any other."""
    seen = column[~np.isnan(column)]
    height = float(seen.max(initial=0))
    return height if ((seen == 0) | (seen == height)).all() else 0.0


def _width(X: Array, heights: Array, first: int) -> int:
    """Columns of the category that begins here; 1 if none does."""
    height, total = heights[first], np.zeros(len(X))
    for stop in range(first, X.shape[1]):
        total = total + X[:, stop]
        if heights[stop] != height or not height or np.nanmax(total, initial=0) > height:
            return 1
        if (np.isnan(total) | (total == height)).all():
            return stop + 1 - first
    return 1


#: A score that is shrunk by more than this is left out.
SMALLEST_FACTOR = 1e-3


@dataclass(frozen=True)
class Imputer:
    """How far to go.

    Attributes
    ----------
    tol : float
        A row has converged when a round moves it by less than ``tol`` times the spread of the data.
    max_iter : int
    """

    tol: float = 2e-3
    max_iter: int = 300


@held
def impute(
    subspace: Subspace,
    X: Array,
    preimage: str | PreImageSolver = "auto",
    start: Array | None = None,
    limits: Imputer | None = None,
    shrink: Array | None = None,
) -> PreImages:
    """Fill the NaN of X so that the rows lie close to the subspace.

    Parameters
    ----------
    subspace : Subspace
    X : (n, d) rows with NaN where values are missing
    preimage : str or PreImageSolver, default="auto"
        How to step back to input space. :class:`~mercer.preimage.FixedPoint` takes one step per
        round; other solvers a whole solution.
    start : (d,) or (n, d) array, optional
        First guess of the missing values; the mean of the support points if not given.
    limits : Imputer, optional
    shrink : (q,) array, optional
        Factors of the scores, see :func:`shrinkage`; directions with a factor of nearly zero cost
        nothing. A plain projection if not given.

    Returns
    -------
    PreImages
        ``points`` are the filled rows, observed values unchanged; ``iterations`` counts rounds;
        ``status`` is ``"failed"`` for a row at rest because the pre-image solver gave up on it;
        ``objective`` is the reconstruction error of the filled row.

    Notes
    -----
    O(rounds · n m (d + q)) time. Rows that have converged, and rows without NaN, drop out.
    """
    limits = limits or Imputer()
    missing = np.isnan(X)
    guess = subspace.support.mean(axis=0) if start is None else start
    points = np.where(missing, guess, X).astype(subspace.coef.dtype)
    factors = np.ones(subspace.n_components) if shrink is None else shrink
    kept = max(1, int((factors > SMALLEST_FACTOR).sum()))
    whole, subspace = subspace, subspace.leading(kept)
    factors = factors[:kept].astype(subspace.coef.dtype)
    bound = _step_solver(preimage, subspace.kernel).init(subspace)
    rounds = np.zeros(len(X), dtype=int)
    status = np.full(len(X), Status.CONVERGED, dtype="U15")
    running = np.flatnonzero(missing.any(axis=1))
    smallest = limits.tol * _spread(subspace.support)
    for done in range(limits.max_iter):
        if not running.size:
            break
        announce("impute", done, limits.max_iter)
        at = points[running]
        image = bound.solve(subspace.scores(at) * factors, at)
        points[running] = np.where(missing[running], image.points, at)
        rounds[running] += 1
        status[running] = np.where(image.status == Status.FAILED, Status.FAILED, Status.CONVERGED)
        step = np.sqrt(square_sums(points[running] - at))
        running = running[~(step <= smallest)]  # a step that is not a number is not small
    status[running] = Status.LIMIT
    return PreImages(points, status == Status.CONVERGED, rounds, status, whole.residual(points))


def shrinkage(variances: Array, noise: float) -> Array:
    """``λ_k / (λ_k + τ)``, with τ as a share of the variance of all components."""
    return np.asarray(variances / (variances + max(noise * float(variances.sum()), 1e-300)))


def _step_solver(preimage: str | PreImageSolver, kernel: Kernel) -> PreImageSolver:
    """One step of the fixed point, which descends surely, where it applies; else as asked."""
    solver = as_preimage(preimage)
    if isinstance(solver, FixedPoint):
        return FixedPoint(**{**solver.get_params(), "early_stop": 1})
    if isinstance(solver, Auto) and kernel.radial is not None:
        return FixedPoint(early_stop=1)
    return solver


def _spread(S: RowsLike) -> float:
    """Root mean squared distance from the mean."""
    return float(np.sqrt(square_sums(S - S.mean(axis=0)).mean())) or 1.0
