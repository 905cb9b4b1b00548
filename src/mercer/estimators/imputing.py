"""Missing values in new rows, for every estimator with a Model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._base.numbers import check_count, fixed_rng, make_rng
from mercer._base.types import Array, Estimator, RowsLike, Seed
from mercer.estimators.base import parameters_of
from mercer.estimators.door import verb
from mercer.estimators.learning import learn, plan_of
from mercer.exceptions import ConvergenceWarning, DataError, Remedy, warn
from mercer.model import Count, Subspace, model_of
from mercer.preimage import PreImages
from mercer.robust import Filling, choose_filling, mixed_masks
from mercer.robust.filling import FEWEST_ROWS
from mercer.robust.impute import MOST_COLUMNS


@verb("missing", "rows", needs="dense rows", instead="to fill in values, use a kernel of vectors")
def impute(self: Any, X: RowsLike) -> Array:
    """Fill the NaN of new rows by what the model has learnt.

    The linear answer (conditional means of a Gaussian of the support points) is the start; from
    there projection and pre-image take turns, with the observed values clamped and the scores
    shrunk by noise. The answer is a mixture of both; noise and mixture are chosen once for a
    model, by values that are hidden in support points, so that more components are no worse.

    Parameters
    ----------
    X : (n, d) array or data frame, NaN where a value is missing

    Returns
    -------
    (n, d) array; values that were there are unchanged

    See Also
    --------
    imputations : the same with a report for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> X = load_digits().data / 16
    >>> model = KernelPCA(128).fit(X[100:])
    >>> holes = np.random.default_rng(0).random((100, 64)) < 0.3
    >>> filled = model.impute(np.where(holes, np.nan, X[:100]))
    >>> error = np.sqrt(((filled - X[:100])[holes] ** 2).mean())
    >>> bool(error < 0.15)  # the column means: 0.27
    True
    """
    found = fill(self, X)
    if not found.converged.all():
        warn(
            f"{(~found.converged).sum()} of {len(found)} rows were still moving after "
            f"{found.iterations.max()} rounds of imputation; "
            + Remedy(
                "see imputations(X).converged, or use fewer components or a wider kernel.",
                shell="fit with fewer --components or a larger --width.",
            ),
            ConvergenceWarning,
        )
    return np.asarray(found.points)


@verb("missing", "points", needs="dense rows", instead="to fill in values, use a kernel of vectors")
def imputations(self: Any, X: RowsLike) -> PreImages:
    """As :meth:`impute`, with what happened to each row.

    Returns
    -------
    PreImages
        ``points`` are the filled rows, ``iterations`` the rounds, ``converged`` and ``status``
        how they ended, ``objective`` the reconstruction errors of the filled rows.
    """
    return fill(self, X)


@verb("missing", "tables", needs="dense rows", instead="to fill in values, use a kernel of vectors")
def imputation_draws(
    self: Any, X: RowsLike, n_draws: int = 5, *, random_state: Seed = None
) -> Array:
    """Several fillings of the same rows, whose spread shows how sure the values are.

    What :meth:`impute` fills in, plus draws of the Gaussian's conditional distribution whose
    width is set by the errors at values that were masked. Analyse each filling, and the
    differences between the results are what the holes cost (Rubin 1987).

    Parameters
    ----------
    X : (n, d) array or data frame, NaN where a value is missing
    n_draws : int, default=5
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    (n_draws, n, d) array; values that were there are unchanged

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) * [1, 1, 1] + rng.normal(size=(200, 3)) * [0.1, 0.1, 2]
    >>> draws = KernelPCA(10).fit(X).imputation_draws([[1.0, np.nan, np.nan]], 50, random_state=0)
    >>> spread = draws.std(axis=0)[0]
    >>> bool(spread[0] == 0 and spread[1] < 0.5 and spread[2] > 1)
    True
    """
    n_draws = check_count("n_draws", n_draws)
    rng, filling = make_rng(random_state), self._filling()
    if filling.gaussian is None:
        raise DataError(
            f"{self.subspace_.n_support} support points with {X.shape[1]} columns do not "
            f"tell how sure a value is; it takes {FEWEST_ROWS} points and at most "
            f"{MOST_COLUMNS} columns. impute(X) gives single values."
        )
    centre = np.asarray(fill(self, X).points)
    return np.stack([centre + filling.deviations(X, rng) for _ in range(n_draws)])


def fill(model: Estimator, rows: Array) -> PreImages:
    """Rows with their missing values filled in, by what the model has learnt."""
    learnt = model_of(model)
    if not np.isnan(rows).any():
        done = np.zeros(len(rows), dtype=int)
        found = PreImages.direct(rows)
        return replace(found, iterations=done, objective=learnt.subspace.residual(rows))
    variances = np.asarray(learnt.explained_variance)
    filling: Filling = model._filling()
    return filling.fill(learnt.subspace, variances, rows, model.preimage_)


def filling_of(model: Estimator) -> Filling:
    """How to fill in, chosen on the support points when it is first needed, and kept."""
    subspace, solver = model_of(model).subspace, model.preimage_
    q, center = subspace.n_components, bool(np.any(subspace.mean))

    def refit(rows: Array) -> tuple[Subspace, Array]:
        rule, kernel = Count(max(1, min(q, len(rows) - 1))), subspace.kernel
        plan = plan_of(rows, kernel, rule, "dense", center=center)
        model = learn(rows, kernel, plan, fixed_rng(0), center=center)
        return model.subspace, model.explained_variance

    def choose() -> Filling:
        support = np.asarray(subspace.points.vectors("missing data"), dtype=np.float64)
        return choose_filling(refit, support, mixed_masks, solver)

    chosen: Filling = model._cached("filling", subspace, parameters_of(solver), choose)
    return chosen
