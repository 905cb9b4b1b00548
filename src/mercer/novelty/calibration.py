"""Scores of rows that the model has not seen: what a threshold can be trusted to.

Training errors are too small, the more so the more components there are; with as many components
as rows they vanish, and every new point would be called an outlier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import ceil
from numbers import Real
from typing import Any, Protocol

import numpy as np

from mercer._base import catalogue
from mercer._base.config import Config
from mercer._base.held_out import deal_folds, scores_by_fold, take
from mercer._base.numbers import fixed_rng
from mercer._base.registry import by_name
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.io.model_file.checks import check_loaded, demand, expect
from mercer.kernels import Basis, Gaussian, Kernel
from mercer.novelty.score import NoveltyScore
from mercer.points import Points

# Conformal p-values: a score beside the scores of rows that the model has not seen.
#
# If n calibration scores and a new one are exchangeable, the new one is equally likely to take any
# of the n + 1 ranks. Whatever the score and the data, therefore
#
# .. math:: p(x) = \frac{1 + \#\{i : s_i \ge s(x)\}}{n + 1}, \qquad P(p(x) \le \alpha) \le \alpha
#
# (Vovk, Gammerman & Shafer 2005; Laxhammar & Falkman 2015).


@dataclass(frozen=True)
class Conformal:
    """Scores of rows that the model has not seen, in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.novelty import Conformal
    >>> fair = Conformal.of(np.arange(99.0))
    >>> fair.p_values(np.array([-1.0, 50.0, 1000.0]))
    array([1.  , 0.5 , 0.01])
    >>> fair.threshold(0.05)  # 5 of 100 possible ranks lie above it
    94.0
    """

    scores: Array
    slack: float = 0.0

    @classmethod
    def of(cls, scores: Array, slack: float = 0.0) -> Conformal:
        """From scores in any order; differences up to ``slack`` are rounding, and no alarm."""
        if not len(scores):
            raise DataError("there are no rows to calibrate on; give at least one.")
        return cls(np.sort(scores), float(slack))

    @property
    def finest_rate(self) -> float:
        """The smallest false-alarm rate that so many scores can promise: ``1 / (n + 1)``."""
        return 1 / (len(self.scores) + 1)

    @cached_property
    def bounds(self) -> Array:
        """Scores with the slack: a new score ranks above one of them where it exceeds its bound."""
        return np.asarray(self.scores + self.slack)

    def p_values(self, scores: Array) -> Array:
        """The share of ranks at or above each score, (n,), never 0."""
        n = len(self.scores)
        return _level(n - np.searchsorted(self.bounds, scores, side="left"), n)

    def threshold(self, rate: float) -> float:
        """The score above which a point is called new: ``s > threshold`` just where ``p <= rate``.

        With m the number of p-values up to ``rate`` that n scores can give, it is the m-th largest
        score. It is infinite if ``rate`` is below :attr:`finest_rate`: no score is then large
        enough, and nothing is called new.
        """
        n = len(self.scores)
        # The very quotients that p_values gives, so that no rounding comes between the two.
        m = int(np.count_nonzero(_level(np.arange(n + 1), n) <= rate))
        if m == 0:
            return np.inf
        return float(self.bounds[n - m]) if m <= n else -np.inf


def _level(at_least: Array, n: int) -> Array:
    """The p-value where so many of n scores are at least as large."""
    return np.asarray((1 + at_least) / (n + 1))


def leave_one_out_p_values(scores: Array) -> Array:
    """p-values of the scores among each other: ranks from the top over their number."""
    ordered = np.sort(scores)
    return np.asarray((len(ordered) - np.searchsorted(ordered, scores)) / len(ordered))


def rows_needed(rate: float) -> int:
    """The fewest scores that can promise a rate: the least n with ``1 / (n + 1) <= rate``."""
    n = max(ceil(1 / Fraction(rate)) - 1, 1)
    # 1/3 as a float is a little less than 1/3, and still what 1 / (n + 1) gives.
    return n - 1 if n > 1 and 1 / n <= rate else n


#: Beyond this many rows ``"auto"`` sets rows aside instead of fitting several times.
CROSS_FIT_UP_TO = 20_000
#: Rows that are set aside at most.
MOST_ASIDE = 5_000
#: Up to this many rows ``"auto"`` takes ten folds, and five beyond.
TEN_FOLDS_UP_TO = 500


class Learner(Protocol):
    """Fits rows, and returns their score."""

    def __call__(self, rows: Array, like: NoveltyScore | None = None) -> NoveltyScore:
        """Fit the rows with these numbers.

        With ``like``, by the kernel and the number of components of that score: what a rule chooses
        anew for fewer rows makes scores that cannot be compared.
        """


@dataclass(frozen=True)
class Calibrated:
    """A score, and its values on rows that it was not fitted to.

    Attributes
    ----------
    score : NoveltyScore
    rows : (c,) int array
        The numbers of those rows.
    held_out : (c,) array
        Their scores.
    """

    score: NoveltyScore
    rows: Array
    held_out: Array


class Calibration(Config, ABC):
    """How to get scores of rows that the model has not seen."""

    @abstractmethod
    def calibrate(self, learn: Learner, X: RowsLike, rng: np.random.Generator) -> Calibrated:
        """Fit by ``learn(row numbers)``, and score rows that were held out."""


class CrossFit(Calibration):
    """Every row is scored by a model fitted to the other folds; the final model sees all rows.

    Parameters
    ----------
    folds : int, default=10
        So many more fits, which share the Gram matrix or the sums of the first where they can. The
        models of the folds see a share ``1 - 1/folds`` of the rows, so that the threshold is a
        little on the safe side.

    Notes
    -----
    A fresh row meets a model of all rows and a held-out row one of fewer: the promise is not exact.
    For the distance from the subspace it errs on the safe side: more rows bring the subspace
    nearer to a fresh row. T² errs on the other: the variances that it divides by are those of the
    rows learnt, too large for others, and the less so the more rows there are. At 200 columns and
    60 rows 27 % false alarms were measured for 5 %, so that :class:`~mercer.KernelNovelty` refuses
    to cross-fit measures with T²; see ``python -m benchmarks calibration``.
    """

    def __init__(self, folds: int = 10) -> None:
        self.folds = folds

    def calibrate(self, learn: Learner, X: RowsLike, rng: np.random.Generator) -> Calibrated:
        rows = np.arange(len(X))
        score = learn(rows)
        fold_of = deal_folds(len(X), self.folds, rng)
        # The fit of all rows may hold most of the work for the folds already.
        shortcut = getattr(learn, "held_out", None)
        held_out = None if shortcut is None else shortcut(score, fold_of)
        if held_out is None:
            held_out = scores_by_fold(partial(learn, like=score), X, fold_of)
        return Calibrated(score, rows, held_out)


class Split(Calibration):
    """Some rows are set aside: one fit, and an exact promise whatever the model.

    Parameters
    ----------
    share : float, default=0.25
        Share of the rows to set aside, at most 5,000 rows.
    """

    def __init__(self, share: float = 0.25) -> None:
        self.share = share

    def calibrate(self, learn: Learner, X: RowsLike, rng: np.random.Generator) -> Calibrated:
        n = len(X)
        aside = min(MOST_ASIDE, round(self.share * n))
        if not 1 <= aside <= n - 2:
            remedy = "leave at least 2 rows to fit and 1 to calibrate."
            raise DataError(f"share={self.share} of {n} rows sets {aside} aside; {remedy}")
        rows, others = (np.sort(part) for part in np.split(rng.permutation(n), [aside]))
        score = learn(others)
        return Calibrated(score, rows, score(take(X, rows)))


def as_calibration(calibration: str | Calibration, n: int) -> Calibration:
    """A calibration from its name, ``"auto"``, ``"cross"`` or ``"split"``, or the object itself."""
    if isinstance(calibration, str) and calibration == "auto":
        if n > CROSS_FIT_UP_TO:
            return Split()
        return CrossFit(10 if n <= TEN_FOLDS_UP_TO else 5)
    return by_name("calibration", calibration, Calibration, catalogue.CALIBRATIONS)


#: Measures with T², whose promise cross-fitting breaks.
T_SQUARED = ("hotelling", "combined")
#: Beyond this many rows ``"auto"`` sets rows aside: those of 768 columns raised 1.75 % false alarms
#: for 5 % by cross-fitting, and 5.1 % so.
SPLIT_BEYOND = 1_000


def honest_calibration(
    calibration: str | Calibration, measure: str, n: int, rate: float
) -> Calibration:
    """A calibration that keeps the promise of the rate, as nearly as n rows allow."""
    strategy = as_calibration(calibration, n)
    breaks = measure in T_SQUARED
    if not isinstance(strategy, CrossFit) or not (breaks or n > SPLIT_BEYOND):
        return strategy
    needed = rows_needed(rate)
    if calibration == "auto" and (breaks or needed <= min(n // 2, MOST_ASIDE)):
        return Split(min(n // 2, max(n / 4, needed)) / n)
    if breaks:
        raise DataError(
            f"cross-fitting cannot promise a false-alarm rate for measure={measure!r}: T² grows "
            "with the rows that a model has learnt (27 % false alarms were measured for 5 %). Use "
            "calibration='split' or 'auto', or measure='reconstruction'."
        )
    return strategy


# Normal rows among contaminated ones: those that a model of the calmest rows finds ordinary.
#
# Outliers that stand together look normal to their neighbours, so that the first look is at the
# whole: the distance from the mean in feature space, with a wide kernel, where even a tenth of the
# rows weighs little. The strangest rows are set aside, the others are fitted, all rows are scored
# by that model, and once more.


#: Share of the rows that is set aside where the contamination is unknown or small; twice it else.
ASIDE = 0.2
#: Rows that stand for all in the mean.
MEAN_OF = 1000
#: Share of normal rows that ``"auto"`` may call outliers, were their scores' tail exponential.
TAIL = 0.005


def check_share(share: Any) -> None:
    """Refuse what is neither a share of outliers, nor ``"auto"``, nor None."""
    number = isinstance(share, Real) and not isinstance(share, bool) and 0 < float(share) <= 0.5
    if share is not None and share != "auto" and not number:
        remedy = "give a number in (0, 0.5], 'auto', or None for rows that are all normal."
        raise DataError(f"contamination={share!r} is not a share of outliers; {remedy}")


def calm_rows(
    learn: Callable[[Array], NoveltyScore], kernel: Kernel | None, X: Any, share: float | str
) -> Array:
    """The numbers of the rows to learn from, in order.

    Parameters
    ----------
    learn : callable
        ``learn(row numbers)`` fits those rows, and returns their score.
    kernel : Kernel, or None for a Gaussian of twice the median width
    X : (n, d) array, or n objects
    share : float or "auto"
        Of outliers among the rows.
    """
    aside = ASIDE if isinstance(share, str) else min(0.5, max(ASIDE, 2 * share))
    keep = max(2, len(X) - int(aside * len(X)))
    kernel = Gaussian(width=2 * Gaussian().resolve(X).length) if kernel is None else kernel
    points = kernel.points(X)
    scores = _from_mean(kernel.resolve(points.rows), points)
    calmest = np.sort(np.argsort(scores, kind="stable")[:keep])
    scores = learn(calmest)(points.rows)
    return np.sort(np.argsort(scores, kind="stable")[:keep])


def outlier_threshold(score: NoveltyScore, scores: Array, share: float | str) -> float:
    """The score above which a training row is called an outlier.

    Parameters
    ----------
    score : the fitted score
    scores : (n,) what it gives to all training rows; for ``"auto"`` as if it had not learnt them
    share : float or "auto"
        The share to call; ``"auto"`` extends the tail of the normal rows, from its median and upper
        quartile (one halving) to where an exponential one would leave half a percent.
    """
    if not isinstance(share, str):
        ordered = np.sort(scores)
        return float(ordered[len(ordered) - 1 - round(share * len(ordered))])
    # The score of a bounded kernel saturates: beyond a few widths all rows are equally new.
    limit = score.at_infinity
    far = scores if np.isinf(limit) else -np.log1p(-np.minimum(scores / limit, 1 - 1e-9))
    median, upper = np.quantile(far, [0.5, 0.75])
    fence = median + np.log2(0.5 / TAIL) * (upper - median)
    return float(fence if np.isinf(limit) else -limit * np.expm1(-fence))


def _from_mean(kernel: Kernel, points: Points) -> Array:
    """Squared distance from the mean in feature space, less that mean's square."""
    some = points.sample(MEAN_OF, fixed_rng(0))
    weight = np.full((len(some), 1), 1 / len(some), dtype=some.dtype)
    products = Basis(kernel, some).matmat(points, weight)[:, 0]
    return np.asarray(kernel.diag(points.rows) - 2 * products)


@check_loaded.register
def _check_conformal(conformal: Conformal) -> None:
    expect("scores", conformal.scores, (None,))
    ordered = len(conformal.scores) and not (np.diff(conformal.scores) < 0).any()
    demand(ordered, "the calibration scores are not in order")
