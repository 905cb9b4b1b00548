"""How to fill in missing values, chosen by values that were masked for the purpose.

Two answers are mixed: the conditional mean of a Gaussian (linear), and the shrunk projection in
feature space (see :mod:`mercer.robust.impute`), which starts from it. How noisy the components are
taken to be, and how much the second answer counts, is chosen where the truth is known: on held-out
rows, for rows of which the observed values say much, some or little.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from mercer._base import held_out, linalg, machine, numbers, progress
from mercer._base.types import Array
from mercer.exceptions import ConvergenceWarning, MercerWarning, ModelFileError, Remedy, warn
from mercer.io.model_file.checks import check_loaded, expect
from mercer.model import Subspace
from mercer.preimage import PreImages, PreImageSolver
from mercer.robust.impute import (
    MOST_COLUMNS,
    GaussianRows,
    Imputer,
    fit_gaussian,
    impute,
    shrinkage,
)

#: Fits rows without NaN: the subspace, and its variances (q,).
Learn = Callable[[Array], tuple[Subspace, Array]]
#: ``masks(rows with NaN, rng)``: which observed values to mask, (n, d) bool.
Masks = Callable[[Array, np.random.Generator], Array]

#: Noise of the components, in shares of the variance of all: from few components to nearly all.
NOISE = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
#: Strengths of the Gaussian's shrinkage, in units of Ledoit & Wolf's.
STRENGTHS = (0.1, 0.3, 1.0)
#: Rows to learn from, and rows to mask values in, while choosing.
LEARN_ROWS, MASK_ROWS = 500, 150
#: With fewer rows than the first, every row is held out once; with fewer than the second,
#: nothing is chosen.
FEW_ROWS, FEWEST_ROWS = 300, 30
#: Masked values for each class of rows.
VALUES = 60
#: If there are more rows than this, only so many take part in the rounds; the others are filled
#: in by the model that they lead to.
#: On digits with 20 % missing, 3,000 rows are no better than 2,000 (errors of .1470 and .1472).
ALL_ROWS, ROUND_ROWS = 3000, 2000
#: Used where nothing can be chosen.
USUAL_NOISE = 1e-4
#: A few rounds are enough to compare settings.
LIMITS = Imputer(tol=3e-3, max_iter=40)


@dataclass(frozen=True)
class Filling:
    """What was chosen, for each class of rows.

    Attributes
    ----------
    gaussian : GaussianRows or None
        None where there are too few rows or too many columns; the columns' means take its place.
    by_count : bool
        Rows are classed by their share of missing values, or else by how much of these values'
        variance the linear answer leaves: whichever serves the masked values better.
    edges : (classes - 1,) array
        Of that number.
    noise : (classes,) array
        Of the components, in shares of the variance of all.
    share : (classes,) array, between 0 and 1
        Of the kernel's answer in the mixture.
    spread : (classes,) array
        By how much draws are wider than the Gaussian's.
    errors : (classes, 2) array
        Root mean squared errors of the masked values, in the Gaussian's units: the linear
        answer's and the mixture's. (0, 2) where nothing was masked.
    """

    gaussian: GaussianRows | None
    by_count: bool = False
    edges: Array = field(default_factory=lambda: np.empty(0))
    noise: Array = field(default_factory=lambda: np.array([USUAL_NOISE]))
    share: Array = field(default_factory=lambda: np.ones(1))
    spread: Array = field(default_factory=lambda: np.ones(1))
    errors: Array = field(default_factory=lambda: np.empty((0, 2)))

    def start(self, X: Array, mean: Array) -> tuple[Array, Array]:
        """The linear answer, and the class of each row."""
        if self.gaussian is None:
            return np.where(np.isnan(X), mean, X), np.zeros(len(X), dtype=int)
        filled, left = self.gaussian.fill_and_left(X)
        return filled, np.searchsorted(self.edges, _count(X) if self.by_count else left)

    def fill(
        self,
        subspace: Subspace,
        variances: Array,
        X: Array,
        preimage: str | PreImageSolver = "auto",
        start: tuple[Array, Array] | None = None,
    ) -> PreImages:
        """Rows with their NaN filled in; each row's answer depends on nothing but the row.

        ``start`` is what :meth:`start` gives, where it is known already.
        """
        if start is None:
            start = self.start(X.astype(np.float64), subspace.support.mean(axis=0))
        linear, kind = start
        points = linear.astype(subspace.coef.dtype)
        missing = np.isnan(X)
        rounds, status = np.zeros(len(X), dtype=int), np.full(len(X), "converged", dtype="U15")
        for k in range(len(self.noise)):
            rows = np.flatnonzero((kind == k) & missing.any(axis=1))
            if not rows.size or not self.share[k]:
                continue
            factors = shrinkage(variances, self.noise[k])
            filled = impute(subspace, X[rows], preimage, points[rows], None, factors)
            points[rows] += self.share[k] * (filled.points - points[rows])
            rounds[rows], status[rows] = filled.iterations, filled.status
        points = np.where(missing, points, X).astype(subspace.coef.dtype)
        return PreImages(points, status == "converged", rounds, status, subspace.residual(points))

    def deviations(self, X: Array, rng: np.random.Generator) -> Array:
        """How far draws of the missing values lie from what was filled in; 0 elsewhere."""
        assert self.gaussian is not None  # otherwise no spread is known, and none is needed
        X = X.astype(np.float64)
        linear, kind = self.start(X, X[0])
        return np.asarray((self.gaussian.draw(X, rng) - linear) * self.spread[kind][:, None])


@machine.blas_limited
def choose_filling(
    learn: Learn, X: Array, masks: Masks, preimage: str | PreImageSolver = "auto"
) -> Filling:
    """Choose by masked values, and fit the Gaussian to all rows.

    Parameters
    ----------
    learn : Learn
    X : (n, d) rows, with NaN or without
    masks : Masks
    preimage : str or PreImageSolver, default="auto"

    Notes
    -----
    The same random numbers for the same rows: one fit to at most 500 rows, or three fits where
    there are fewer than 300; then five times 40 rounds at most for at most 150 rows, each twice.
    """
    n, d = X.shape
    if n < FEWEST_ROWS or d > MOST_COLUMNS:
        return Filling(None)
    trials = [_trial(learn, *split, preimage) for split in _splits(X, masks)]
    if not trials:
        return Filling(fit_gaussian(X))
    joined = (np.concatenate(parts, axis=-1) for parts in zip(*trials, strict=True))
    truth, answers, kernel, around, left, count = joined
    best = int(((answers - truth) ** 2).sum(axis=1).argmin())
    gaussian, linear = fit_gaussian(X, STRENGTHS[best]), answers[best]
    if len(truth) < VALUES // 3:
        return Filling(gaussian)

    def classed(number: Array, by_count: bool) -> tuple[float, Filling]:
        """The squared error of all masked values, and what to do with classes by this number."""
        classes = int(np.clip(len(number) // VALUES, 1, 3))
        edges = np.unique(np.quantile(number, np.arange(1, classes) / classes, method="lower"))
        edges = edges[edges < number.max()]  # no class without a value
        kind = np.searchsorted(edges, number)
        rows = [kind == k for k in range(len(edges) + 1)]
        choices = [_best(truth[r], linear[r], kernel[:, r], around[r]) for r in rows]
        noise, share, spread, before, after = np.array(choices).T
        total = float(sum(r.sum() * error**2 for r, error in zip(rows, after, strict=True)))
        errors = np.column_stack([before, after])
        return total, Filling(gaussian, by_count, edges, noise, share, spread, errors)

    ways = classed(left, False), classed(count, True)
    return min(ways, key=itemgetter(0))[1]


def mixed_masks(X: Array, rng: np.random.Generator) -> Array:
    """A tenth, three tenths, half of the columns, or a third of them side by side; row by row.

    The slots of a category are masked together: one that stays visible would reveal the others.
    """
    groups = linalg.one_hot_groups(X)
    n, d = len(X), int(groups.max()) + 1
    share = rng.choice([0.1, 0.3, 0.5], n)[:, None]
    masks = rng.random((n, d)) < share
    length = max(1, d // 3)
    start = rng.integers(0, d - length + 1, n)[:, None]
    block = (np.arange(d) >= start) & (np.arange(d) < start + length)
    masks = np.where(rng.random((n, 1)) < 0.25, block, masks)
    lone = np.flatnonzero(~masks.any(axis=1))
    masks[lone, rng.integers(0, d, len(lone))] = True
    return np.asarray(masks[:, groups])


def _trial(
    learn: Learn, known: Array, rows: Array, masked: Array, preimage: str | PreImageSolver
) -> tuple[Array, ...]:
    """Masked values, in the Gaussian's units, and what each setting predicts for them.

    Returns the truth (v,); the linear answers (strengths, v) and those of the kernel (noises, v); a
    draw's deviation from the mean (v,); and of the row of each, (v,), what the linear answer leaves
    of its variance, and its share of missing values.
    """
    base = fit_gaussian(known)
    incomplete = np.where(masked, np.nan, rows)
    row, column = np.nonzero(masked)

    def values(filled: Array) -> Array:
        return np.asarray(filled[row, column] / base.scale[column])

    linear = [base.shrunk(factor).fill_and_left(incomplete) for factor in STRENGTHS]
    start, left = min(linear, key=lambda answer: np.sum(values(answer[0] - rows) ** 2))
    # The fit to all rows warns, once.
    with warnings.catch_warnings(action="ignore", category=MercerWarning):
        subspace, variances = learn(base.fill(known))
    kernel = []
    for noise in progress.announced("choose by masked values", NOISE):
        factors = shrinkage(variances, noise)
        by_kernel = impute(subspace, incomplete, preimage, start, LIMITS, factors)
        kernel.append(values(np.asarray(by_kernel.points, dtype=float)))
    around = values(base.draw(incomplete, numbers.fixed_rng(0)) - base.fill(incomplete))
    answers = np.array([values(filled) for filled, _ in linear])
    return values(rows), answers, np.array(kernel), around, left[row], _count(incomplete)[row]


def _splits(X: Array, masks: Masks) -> Iterator[tuple[Array, Array, Array]]:
    """Rows to learn from, rows held out, and which values to mask in the latter."""
    rng = numbers.fixed_rng(0)
    n = len(X)
    order = rng.permutation(n)
    folds = 3 if n < FEW_ROWS else 1
    size = min(n // 3, MASK_ROWS)
    for fold in range(folds):
        aside = order[fold * size : (fold + 1) * size]
        rest = np.delete(order, np.s_[fold * size : (fold + 1) * size])
        known = X[rest[:LEARN_ROWS]]
        # A column without any observed value teaches nothing; its values stay visible.
        seen = ~np.isnan(known).all(axis=0)
        rows = np.concatenate([X[aside], X[aside]])
        masked = masks(rows, rng) & ~np.isnan(rows) & seen
        # Something must be left to see.
        bare = (masked | np.isnan(rows)).all(axis=1)
        masked[bare] = False
        use = masked.any(axis=1)
        if use.any() and seen.all():
            yield known, rows[use], masked[use]


def _best(truth: Array, linear: Array, kernel: Array, around: Array) -> tuple[float, ...]:
    """Noise, share, spread, and the errors before and after, for one class."""
    away = kernel - linear
    size = (away**2).sum(axis=1)
    share = np.clip((away @ (truth - linear)) / np.where(size > 0, size, 1), 0, 1)
    off = truth - linear - share[:, None] * away
    errors = np.sqrt((off**2).mean(axis=1))
    k = int(errors.argmin())
    spread = errors[k] / (np.sqrt((around**2).mean()) or 1.0)
    return NOISE[k], share[k], spread, np.sqrt(((truth - linear) ** 2).mean()), errors[k]


def _count(X: Array) -> Array:
    """The share of missing values in each row."""
    return np.asarray(np.isnan(X).mean(axis=1))


# Training rows with missing values: fit, fill in, repeat.


@machine.blas_limited
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
    is chosen first, by observed values that are masked in the patterns of the missing ones. Of more
    than 3,000 rows, 2,000 drawn ones take part in the rounds, and a model of these fills in the
    others.

    Parameters
    ----------
    learn : Learn
    X : (n, d) rows with NaN
    rng : numpy.random.Generator
    preimage, folds, rounds, tol
        As for :class:`~mercer.MissingKernelPCA`, where rounds are called ``max_iter``.

    Returns
    -------
    filled : (n, d) array
    changes : (rounds done,) array
        The relative change in each round; empty where the linear answer is best for all rows.
    filling : Filling
    """
    missing = np.isnan(X)
    patterns = missing[missing.any(axis=1)]

    def masks(rows: Array, rng: np.random.Generator) -> Array:
        """Each is the pattern of some row with missing values."""
        return np.asarray(patterns[rng.integers(0, len(patterns), len(rows))])

    filling = choose_filling(learn, X, masks, preimage)
    linear, kind = filling.start(X.astype(np.float64), np.nanmean(X, axis=0))
    filled = linear.astype(X.dtype)
    if not filling.share.any():
        return filled, np.empty(0), filling
    n = len(X)
    seen = np.arange(n) if n <= ALL_ROWS else np.sort(rng.permutation(n)[:ROUND_ROWS])
    fold_of = held_out.deal_folds(len(seen), folds, rng)

    def fill(rows: Array, known: Array) -> Array:
        """Fill in rows by a model that has not seen them."""
        subspace, variances = learn(known)
        start = linear[rows], kind[rows]
        return np.asarray(filling.fill(subspace, variances, X[rows], preimage, start).points)

    changes: list[float] = []
    for done in progress.announced("fill missing", range(rounds)):
        before = filled[seen]
        for fold in range(fold_of.max() + 1):
            rows = seen[(fold_of == fold) & missing[seen].any(axis=1)]
            if rows.size:
                again = fill(rows, before[fold_of != fold])
                # The first two rounds count in full, later ones in the mean: rows between two
                # groups of data would change sides for ever.
                filled[rows] += (again - filled[rows]) / max(1, done)
        values = filled[seen][missing[seen]]
        moved, spread = values - before[missing[seen]], float(np.std(values)) or 1.0
        changes.append(float(np.sqrt(np.mean(moved**2)) / spread))
        if changes[-1] < tol:
            break
    else:
        still = f"missing values still changed by {changes[-1]:.2g} of their spread after {rounds}"
        remedy = Remedy("raise max_iter, or use fewer components", shell="use fewer --components")
        warn(f"{still} rounds (tol={tol:g}); " + remedy + ".", ConvergenceWarning)
    others = np.setdiff1d(np.flatnonzero(missing.any(axis=1)), seen)
    if others.size:
        filled[others] = fill(others, filled[seen])
    return filled, np.array(changes), filling


@check_loaded.register
def _check_filling(filling: Filling) -> None:
    expect("noise", filling.noise, (None,))
    classes = len(filling.noise)
    expect("edges", filling.edges, (classes - 1,))
    masked = np.shape(filling.errors) != (0, 2)
    expect("errors", filling.errors, (classes if masked else 0, 2))
    for name in ("share", "spread"):
        expect(name, getattr(filling, name), (classes,))
    known = filling.gaussian is None or isinstance(filling.gaussian, GaussianRows)
    if not known or not isinstance(filling.by_count, bool):
        raise ModelFileError("what was chosen for missing values is not readable")
