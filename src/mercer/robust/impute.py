r"""Missing values, filled in by going back and forth between a point and its projection.

With the observed coordinates clamped, each round takes the projection :math:`y = P\phi(x)` and then
one step of the pre-image iteration towards :math:`y`, of which the missing coordinates are kept.
Both lower :math:`\|\phi(x) - y\|^2`, so that the rounds descend to a point whose missing
coordinates make its reconstruction error smallest (after Mika et al. 1999; Nguyen & De la Torre
2009).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array, square_sums
from mercer._progress import announce
from mercer._types import RowsLike
from mercer.exceptions import ConvergenceWarning, warn
from mercer.kernels import Kernel
from mercer.preimage import Auto, FixedPoint, PreImages, PreImageSolver, Status, as_preimage
from mercer.subspace import Subspace

__all__ = ["Imputer", "fill_missing", "impute"]


@dataclass(frozen=True)
class Imputer:
    """How far to go.

    Attributes
    ----------
    tol : float
        A row has converged when a round moves it by less than ``tol`` times the spread of the data.
    max_iter : int
    """

    tol: float = 1e-4
    max_iter: int = 300


def impute(
    subspace: Subspace,
    X: Array,
    preimage: str | PreImageSolver = "auto",
    start: Array | None = None,
    limits: Imputer | None = None,
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
        image = bound.solve(subspace.scores(at), at)
        points[running] = np.where(missing[running], image.points, at)
        rounds[running] += 1
        status[running] = np.where(image.status == Status.FAILED, Status.FAILED, Status.CONVERGED)
        step = np.sqrt(square_sums(points[running] - at))
        running = running[~(step <= smallest)]  # a step that is not a number is not small
    status[running] = Status.LIMIT
    return PreImages(points, status == Status.CONVERGED, rounds, status, subspace.residual(points))


def fill_missing(
    learn: Callable[[Array, Array], Subspace],
    X: Array,
    rng: np.random.Generator,
    preimage: str | PreImageSolver = "auto",
    *,
    folds: int = 5,
    rounds: int = 20,
    tol: float = 1e-2,
) -> tuple[Array, Array]:
    """Fill the NaN of training rows: fit, impute, repeat, in the style of expectation-maximisation.

    Two things keep a model from learning its own first guesses. Each fold is imputed by a model
    fitted to the other folds; and the rounds go from coarse to fine, with 2, 4, 8, ... directions,
    so that the artefacts of a crude start, which fill the later ones, are gone before they count.

    Parameters
    ----------
    learn : callable
        ``learn(filled rows, row numbers)`` fits and returns the subspace.
    X : (n, d) rows with NaN
    rng : numpy.random.Generator
    preimage : str or PreImageSolver, default="auto"
    folds : int, default=5
    rounds : int, default=20
    tol : float, default=1e-2
        Stop when a round with all directions changes the missing values by less than this share of
        their spread.

    Returns
    -------
    filled : (n, d) array
    changes : (rounds done,) array
        The relative change in each round.
    """
    missing = np.isnan(X)
    filled = np.where(missing, np.nanmedian(X, axis=0), X)
    fold_of = rng.permutation(len(X)) % min(folds, len(X))
    changes: list[float] = []
    for done in range(rounds):
        announce("fill missing", done, rounds)
        before, directions, all_used = filled.copy(), 2 ** (done + 1), True
        for fold in range(fold_of.max() + 1):
            rows = np.flatnonzero((fold_of == fold) & missing.any(axis=1))
            if rows.size:
                subspace = learn(before, np.flatnonzero(fold_of != fold))
                all_used &= directions >= subspace.n_components
                coarse = subspace.leading(min(directions, subspace.n_components))
                filled[rows] = impute(coarse, X[rows], preimage, start=before[rows]).points
        changes.append(_relative_change(before, filled, missing))
        if all_used and changes[-1] < tol:
            break
    else:
        warn(
            f"missing values still changed by {changes[-1]:.2g} of their spread in the last of "
            f"{rounds} rounds ({tol:g} is asked for); raise max_iter, or use fewer components.",
            ConvergenceWarning,
        )
    return filled, np.array(changes)


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


def _relative_change(before: Array, after: Array, missing: Array) -> float:
    if not missing.any():
        return 0.0
    size = float(np.std(after[missing])) or 1.0
    return float(np.sqrt(np.mean((after - before)[missing] ** 2)) / size)
