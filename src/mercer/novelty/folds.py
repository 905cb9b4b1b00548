r"""Scores of held-out rows from what the fit of all rows has computed already.

A fold's model needs no kernel value that the whole matrix does not hold, and no sum over rows that
is not the sum over all of them less that over the fold. What is left for each fold is its own small
eigenproblem: the models, and so the scores, are those of separate fits, to rounding.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from mercer import gram
from mercer._base.machine import lapack_threads, ordered_map
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.kernels import Basis
from mercer.model import from_gram
from mercer.novelty.score import NoveltyScore, novelty_score
from mercer.solvers import Dense, EigenSolver
from mercer.solvers.landmark_model import LandmarkModel
from mercer.solvers.policy import rank_floor


def gram_folds(
    score: NoveltyScore, measure: str, solver: EigenSolver, fold_of: Array, rng: np.random.Generator
) -> Array:
    """Each row's score under the model of the other folds, (n,), from one Gram matrix.

    Parameters
    ----------
    score : of a model that was fitted to all rows, by a solver that works on their Gram matrix
    measure : name of the score, see :func:`novelty_score`
    solver : for the folds' eigenpairs; exact ones
    fold_of : (n,) int array
        The fold of each row.
    rng : numpy.random.Generator

    Notes
    -----
    O(n² d) time for the matrix and n² numbers of memory, beside what the solver takes for each
    fold.
    """
    subspace = score.subspace
    kernel, q = subspace.kernel, subspace.n_components
    K = Basis(kernel, subspace.points, np.float64).gram()
    seeds = rng.integers(2**63, size=int(fold_of.max()) + 1)

    def held_out(fold: int) -> Array:
        rows, others = _parted(fold_of, fold)
        n = len(others)
        among = gram.MatrixOperator(_block(K, others, others))
        operator = gram.CenteredGram(among, np.full(n, 1 / np.sqrt(n)))
        values, vectors = _leading(solver, operator, min(q, n - 1), fixed_rng(seeds[fold]))
        kept = values > rank_floor(operator, float(values[0]))
        values, points = values[kept], subspace.points.take(others)
        model = from_gram(kernel, points, operator, values, vectors[:, kept])
        products = _block(K, rows, others) @ np.column_stack([model.coef, model.mean])
        fitted = novelty_score(measure, model, values / n)
        return fitted.combined(*model.of_products(products, K[rows, rows]))

    with lapack_threads(len(K)):
        return _collect(ordered_map(held_out, range(len(seeds))), fold_of)


def landmark_folds(
    score: NoveltyScore, measure: str, X: Any, landmark_fold: Array, fold_of: Array
) -> Array | None:
    """The same for a model on landmarks, from sums over all rows less those over the fold.

    Landmarks that are rows of the fold are left out of its model: it must not know them.

    Parameters
    ----------
    score : of a model that was fitted to all rows, by landmarks
    measure : name of the score
    X : the n rows
    landmark_fold : (m,) int array
        The fold of the row that a landmark is, in their order in the model; -1 if it is none.
    fold_of : (n,) int array

    Returns
    -------
    (n,) array, or None where such sums would lose digits: then fit each fold anew.
    """
    subspace = score.subspace
    kernel, q, dtype = subspace.kernel, subspace.n_components, subspace.coef.dtype
    features = gram.LandmarkFeatures(kernel, subspace.support, dtype, q)
    points, scores = kernel.points(X), []
    if features.whitens_first:
        return None
    parted = [_parted(fold_of, fold) for fold in range(int(fold_of.max()) + 1)]
    parts = [gram.sum_features(features, points.take(rows)) for rows, _ in parted]
    total = sum(parts, gram.FeatureSums.zero(features.size))
    for fold, (part, (rows, others)) in enumerate(zip(parts, parted, strict=True)):
        known = np.flatnonzero(landmark_fold != fold)
        features = gram.LandmarkFeatures(kernel, subspace.points.take(known).rows, dtype, q)
        if features.whitens_first:
            return None
        sums = total + part * -1.0
        square = sums.square[np.ix_(known, known)]
        sums = replace(sums, linear=sums.linear[known], square=square)
        model = LandmarkModel.of(features, sums, True, len(others)).leading(q)
        held_out = novelty_score(measure, model.subspace(), model.values / model.weight)
        scores.append(held_out(points.take(rows)))
    return _collect(scores, fold_of)


def _parted(fold_of: Array, fold: int) -> tuple[Array, Array]:
    return np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)


def _block(K: Array, rows: Array, columns: Array) -> Array:
    """``K[np.ix_(rows, columns)]``, in a third of its time."""
    return np.asarray(K.take(rows, axis=0).take(columns, axis=1))


def _leading(
    solver: EigenSolver, operator: gram.GramOperator, q: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The q leading eigenpairs, without the residuals that nobody will ask for."""
    if not isinstance(solver, Dense):
        spectrum = solver.solve(operator, q, rng)
        if spectrum.converged:
            return spectrum.values, spectrum.vectors
    values, vectors = np.linalg.eigh(operator.to_dense())
    return values[: -q - 1 : -1], vectors[:, : -q - 1 : -1]


def _collect(parts: Any, fold_of: Array) -> Array:
    scores, folds = np.empty(len(fold_of)), int(fold_of.max()) + 1
    for fold, part in enumerate(parts):
        announce("held-out scores", fold, folds)
        scores[fold_of == fold] = part
    return scores
