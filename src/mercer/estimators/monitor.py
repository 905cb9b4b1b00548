"""A detector that watches a stream, with a false-alarm rate for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base.config import with_parameters
from mercer._base.numbers import check_rate, counted
from mercer._base.small_table import SmallTable
from mercer._base.types import Array, RowsLike
from mercer.estimators.base import Capabilities, Estimator, take_over
from mercer.estimators.door import verb
from mercer.exceptions import DataError, UnavailableError
from mercer.model import model_of, names_of
from mercer.novelty.martingale import Martingale, Statistics
from mercer.points import Points


@dataclass(frozen=True)
class Watched:
    """What a monitor says of some rows.

    Attributes
    ----------
    p_values : (n,) array
        How rare each row's novelty score is among all rows before it.
    log_martingale : (n,) array
        Natural logarithm of the evidence for a change after each row; an alarm from
        ``log(1 / level)`` on.
    alarm : (n,) bool array
        Whether that was reached at this row or before.
    """

    p_values: Array
    log_martingale: Array
    alarm: Array


@with_parameters
class Monitor(Estimator):
    r"""Has the stream changed? A conformal test martingale over rows as they come.

    Made by :meth:`mercer.KernelNovelty.monitor`. While rows are exchangeable with those before, the
    chance that there is *ever* an alarm is at most ``level``, however long the stream (Ville's
    inequality), whatever the data and the model: see :mod:`mercer.novelty.martingale`. Rows that
    depend on each other, as those of a slow sensor, are not exchangeable: take every tenth, or
    residuals of a forecast.

    Parameters
    ----------
    level : float, default=0.01
        The chance of a false alarm, once for the whole stream.
    random_state : int, default=0
        Breaks ties.

    Attributes
    ----------
    detector_ : KernelNovelty
    statistics_ : Statistics
        What of a row is watched.
    state_ : Martingale
    alarm_at_ : int or None
        The row of the stream at which there was an alarm, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelNovelty
    >>> rng = np.random.default_rng(0)
    >>> model = KernelNovelty(random_state=0).fit(rng.standard_normal((300, 3)))
    >>> monitor = model.monitor(rng.standard_normal((300, 3)))
    >>> bool(monitor.update(rng.standard_normal((200, 3))).alarm.any())
    False
    >>> bool(monitor.update(rng.standard_normal((100, 3)) + [0, 1, 0]).alarm.any())
    True
    >>> monitor.statistic_, bool(195 <= monitor.since_ <= 210)
    ('x1', True)
    """

    capabilities = Capabilities(sparse=True, objects=True)
    _saved = ("state_", "statistics_", "detector_", "alarm_at_", "n_features_in_")

    level: float = 0.01
    random_state: int = 0

    def _watch(self, detector: Any, points: Points | None) -> Self:
        check_rate("level", self.level, 0.01)
        if points is not None and model_of(detector).was_fitted_to(points, points.rows):
            raise DataError(
                f"these {len(points)} rows are those that the model was fitted to: there would be "
                "false alarms. Give other normal rows, or none."
            )
        take_over(self, detector, "n_features_in_")  # objects have none
        self.detector_ = detector
        self.statistics_ = Statistics.of(detector.score_)
        count = len(self.statistics_.names())
        values = np.empty((0, count)) if points is None else self.statistics_(points)
        self.state_ = Martingale.start(values, int(self.random_state), self.statistics_.slack)
        self.alarm_at_: int | None = None
        return self

    @verb("rows")
    def update(self, X: RowsLike) -> Watched:
        """Look at the next rows of the stream, one or many.

        O(n m (d + q)) time for n rows, and some 20 µs for each beside that, which grow slowly with
        the rows before; each of these takes 8 bytes for every statistic.
        """
        start = self.state_.rows
        self.state_, p, capitals = self.state_.play(self.statistics_(X))
        evidence = capitals.max(axis=1) - np.log(p.shape[1])
        above = evidence >= np.log(1 / self.level)
        alarm = np.logical_or.accumulate(above) | (self.alarm_at_ is not None)
        if self.alarm_at_ is None and above.any():
            self.alarm_at_ = start + int(above.argmax())
        return Watched(p[:, 0], evidence, alarm)

    @property
    def evidence_(self) -> dict[str, float]:
        """Log-martingale of ``"score"``, ``"T²"``, each column and each ``"axis"``, largest first.

        The axes are principal ones, numbered from the longest.
        """
        names = self.statistics_.names(names_of(self.detector_))
        capitals = zip(names, (self.state_.capital - np.log(len(names))).tolist(), strict=True)
        return dict(sorted(capitals, key=lambda pair: -pair[1]))

    @property
    def statistic_(self) -> str:
        """What has changed most."""
        return next(iter(self.evidence_))

    @property
    def since_(self) -> int:
        """The row of the stream at which that change most likely began."""
        k = int(self.state_.capital.argmax())
        return int(self.state_.since[k, self.state_.run[k].argmax()])

    @verb("rows")
    def explain(self, X: RowsLike) -> tuple[Array, Array]:
        """Which columns make these rows new, (d,), and the support point most like each, (n,).

        Give the rows since ``since_``. The first are means of
        :meth:`~mercer.KernelNovelty.contributions`; the second are numbers of rows of
        ``detector_.subspace_.support``.
        """
        parts = self.detector_.contributions(X.for_user())
        near = self.detector_.subspace_.basis.at(X).argmax(axis=1)
        return np.asarray(parts.mean(axis=0)), near

    @verb("model")
    def reset(self) -> Self:
        """Begin anew after an alarm, with a new chance of a false one.

        All rows so far stay what the next are compared with: after a lasting change, make a new
        monitor from rows that are normal now.
        """
        self.state_, self.alarm_at_ = self.state_.restart(), None
        return self

    def _rows(self, X: RowsLike, stream: bool = False) -> Points:
        check_is_fitted(self, "state_")
        return self.detector_._rows(X, stream)  # type: ignore[no-any-return]

    def fit(self, X: RowsLike, y: Any = None) -> Self:  # noqa: ARG002
        """Not here: a monitor begins with a fitted detector."""
        raise UnavailableError("a Monitor is made by a fitted detector: KernelNovelty().monitor().")

    def _table(self) -> SmallTable | None:
        if "state_" not in vars(self):
            return None
        state, alarm = self.state_, "none"
        if self.alarm_at_ is not None:
            alarm = f"at row {self.alarm_at_:,}: {self.statistic_}, since row {self.since_:,}"
        known = state.ordered.shape[1] + state.recent.shape[1]
        evidence = self.evidence_[self.statistic_]
        lines = [
            ("rows", f"{state.rows:,}, compared with {known:,} before"),
            ("watched", counted(len(state.capital), "statistic")),
            ("log martingale", f"{evidence:.2f}; alarm from {np.log(1 / self.level):.2f} on"),
            ("alarm", alarm),
        ]
        return SmallTable("", lines)
