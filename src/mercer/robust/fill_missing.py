"""Rows to learn from that have holes: fit, fill in, repeat."""

from __future__ import annotations

import numpy as np

from mercer._held_out import deal_folds
from mercer._linalg import Array
from mercer._parallel import held
from mercer._progress import announce
from mercer.exceptions import ConvergenceWarning, Remedy, warn
from mercer.preimage import PreImageSolver
from mercer.robust.filling import Filling, Learn, Masks, choose_filling


@held
def fill_missing(
    learn: Learn,
    X: Array,
    rng: np.random.Generator,
    preimage: str | PreImageSolver = "auto",
    *,
    folds: int = 5,
    rounds: int = 20,
    tol: float = 2e-2,
) -> tuple[Array, Array, Filling]:
    """Fill the NaN of training rows: from the Gaussian's conditional means, by fits in turns.

    A model confirms the guesses it has learnt from; so each fold is filled in by a model of the
    other folds. From the second round on the answers are averaged over the rounds. How to fill in
    is chosen first, by observed values that are hidden in the patterns of the holes themselves.

    Parameters
    ----------
    learn : Learn
        ``learn(rows without NaN)`` fits, and returns the subspace and its variances.
    X : (n, d) rows with NaN
    rng : numpy.random.Generator
    preimage : str or PreImageSolver, default="auto"
    folds : int, default=5
    rounds : int, default=20
    tol : float, default=2e-2
        Stop when a round changes the missing values by less than this share of their spread.

    Returns
    -------
    filled : (n, d) array
    changes : (rounds done,) array
        The relative change in each round; empty where the linear answer is best for all rows.
    filling : Filling
    """
    missing = np.isnan(X)
    filling = choose_filling(learn, X, _masks_like(missing), preimage)
    linear, kind = filling.start(X.astype(np.float64), np.nanmean(X, axis=0))
    filled = linear.astype(X.dtype)
    if not filling.share.any():
        return filled, np.empty(0), filling
    fold_of = deal_folds(len(X), folds, rng)
    changes: list[float] = []
    for done in range(rounds):
        announce("fill missing", done, rounds)
        before = filled.copy()
        for fold in range(fold_of.max() + 1):
            rows = np.flatnonzero((fold_of == fold) & missing.any(axis=1))
            if rows.size:
                subspace, variances = learn(before[fold_of != fold])
                start = linear[rows], kind[rows]
                found = filling.fill(subspace, variances, X[rows], preimage, start).points
                # The first two rounds count in full, later ones in the mean: rows between two
                # groups of data change sides for ever.
                filled[rows] += (found - before[rows]) / max(1, done)
        changes.append(_relative_change(before, filled, missing))
        if changes[-1] < tol:
            break
    else:
        warn(
            f"missing values still changed by {changes[-1]:.2g} of their spread in the last of "
            f"{rounds} rounds ({tol:g} is asked for); "
            + Remedy(
                "raise max_iter, or use fewer components.", shell="fit with fewer --components."
            ),
            ConvergenceWarning,
        )
    return filled, np.array(changes), filling


def _masks_like(missing: Array) -> Masks:
    """Holes as the rows have them: the pattern of any row with holes."""
    patterns = missing[missing.any(axis=1)]

    def masks(rows: Array, rng: np.random.Generator) -> Array:
        return np.asarray(patterns[rng.integers(0, len(patterns), len(rows))])

    return masks


def _relative_change(before: Array, after: Array, missing: Array) -> float:
    size = float(np.std(after[missing])) or 1.0
    return float(np.sqrt(np.mean((after - before)[missing] ** 2)) / size)
