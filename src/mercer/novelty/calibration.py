"""Scores of rows that the model has not seen: what a threshold can be trusted to.

Training errors are too small, the more so the more components there are; with as many components
as rows they vanish, and every new point would be called an outlier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from mercer import catalogue
from mercer._config import Config
from mercer._held_out import deal_folds, scores_by_fold, take
from mercer._linalg import Array
from mercer._registry import by_name
from mercer._types import RowsLike
from mercer.exceptions import DataError
from mercer.novelty.score import NoveltyScore

#: Beyond this many rows ``"auto"`` sets rows aside instead of fitting several times.
CROSS_FIT_UP_TO = 20_000
#: Up to this many rows ``"auto"`` takes ten folds, and five beyond.
TEN_FOLDS_UP_TO = 500


class Learner(Protocol):
    """Fits rows, and returns their score."""

    def __call__(self, rows: Array, like: NoveltyScore | None = None) -> NoveltyScore:
        """Fit the rows with these numbers.

        With ``like``, by the kernel and the number of components of that score: what a rule chooses
        anew for fewer rows makes scores that cannot be compared.
        """


@runtime_checkable
class SharingLearner(Protocol):
    """A learner whose fit of all rows holds most of the work for the folds already."""

    def held_out(self, score: NoveltyScore, fold_of: Array) -> Array | None:
        """Each row's score under the model of the other folds; None if there is no short way."""


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
        held_out = learn.held_out(score, fold_of) if isinstance(learn, SharingLearner) else None
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
        aside = min(5_000, round(self.share * n))
        if not 1 <= aside <= n - 2:
            raise DataError(
                f"share={self.share} of {n} rows sets {aside} aside; leave at least 2 rows to fit "
                "and 1 to calibrate."
            )
        order = rng.permutation(n)
        rows, others = np.sort(order[:aside]), np.sort(order[aside:])
        score = learn(others)
        return Calibrated(score, rows, score(take(X, rows)))


def as_calibration(calibration: str | Calibration, n: int) -> Calibration:
    """A calibration from its name, ``"auto"``, ``"cross"`` or ``"split"``, or the object itself."""
    if isinstance(calibration, str) and calibration == "auto":
        if n > CROSS_FIT_UP_TO:
            return Split()
        return CrossFit(10 if n <= TEN_FOLDS_UP_TO else 5)
    others = "an object of mercer.novelty"
    names = catalogue.CALIBRATIONS
    return by_name("calibration", calibration, Calibration, names, DataError, others)
