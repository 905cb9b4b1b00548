"""Scores of rows by models that have not seen them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.progress import announced
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError, MercerWarning

#: Fits the rows with these numbers, and returns what scores others.
Learn = Callable[[Array], Callable[[Any], Array]]


def deal_folds(n: int, folds: int, rng: np.random.Generator) -> Array:
    """The fold of each of n rows, (n,), at random; folds differ by one row at most."""
    folds = min(check_count("folds", folds), n)
    if folds < 2:
        raise DataError(f"folds={folds} of {n} rows cannot hold a row out; give at least 2.")
    return np.asarray(rng.permutation(n) % folds)


def held_out_scores(learn: Learn, X: RowsLike, folds: int, rng: np.random.Generator) -> Array:
    """Each row's score under the model of the other folds, (n,); ``folds`` fits."""
    return scores_by_fold(learn, X, deal_folds(len(X), folds, rng))


def scores_by_fold(learn: Learn, X: RowsLike, fold_of: Array) -> Array:
    """The same for folds that are dealt already."""
    scores = np.empty(len(X))
    for fold in announced("held-out scores", range(int(fold_of.max()) + 1)):
        rows, others = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
        # The fit on all rows has said it already, once.
        with warnings.catch_warnings(action="ignore", category=MercerWarning):
            scores[rows] = learn(others)(take(X, rows))
    return scores


def take(X: RowsLike, rows: Array) -> Any:
    """Rows of an array, of sparse rows, or of a list of objects."""
    return X[rows] if hasattr(X, "dtype") else [X[i] for i in rows]
