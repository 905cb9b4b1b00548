"""Novelty: scores over the plane, what made rows new, and how well new rows are detected."""

from collections.abc import Sequence
from copy import copy
from math import ceil
from typing import Any, Self

import numpy as np
from sklearn.metrics import auc, roc_curve

from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, Remedy
from mercer.plots import _base as base
from mercer.plots._tables import in_units, nameless_rows, units_of
from mercer.tables.frames import take_apart

#: Levels of p-values between which the plane is shaded.
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


class NoveltyDisplay(base.Display):
    """p-values over the plane, the threshold, and the rows.

    Attributes
    ----------
    x, y : (g,) arrays
        The grid.
    p_values, margin : (g, g) arrays
        p-values and ``decision_function`` on the grid; the threshold is where the margin is zero.
    rows, is_outlier : (n, 2) and (n,) arrays
    names : pair of str
        Of the variables.
    units : pair of columns, optional
        Of a table: those whose values stand beside the axes.
    figure_, ax_, contour_, threshold_
        What was drawn.
    """

    x: Array
    y: Array
    p_values: Array
    margin: Array
    rows: Array
    is_outlier: Array
    names: Sequence[str] = ("first variable", "second variable")
    units: Sequence[Any] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        grid: int = 120,
        ax: Axes = None,
    ) -> Self:
        """Draw a fitted :class:`~mercer.KernelNovelty` of two variables.

        Parameters
        ----------
        estimator : KernelNovelty, fitted
        X : (n, 2) rows to show, optional
            The grid covers them with a margin; the detector's support points by default.
        y : ignored
        grid : int, default=120
            Points per axis.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelNovelty
        >>> from mercer.plots import NoveltyDisplay
        >>> X = np.random.default_rng(0).standard_normal((100, 2))
        >>> display = NoveltyDisplay.from_estimator(KernelNovelty(5).fit(X), X, grid=20)
        >>> display.p_values.shape
        (20, 20)
        """
        base.model_to_draw(estimator, "p_values")
        rows = base.rows_of(estimator, X)
        if rows.shape[1] != 2:
            wrong = f"contours need two variables, and X has shape {rows.shape}; fit again on two, "
            raise DataError(wrong + Remedy("or see ContributionsDisplay.", shell="with --columns."))
        x, y_grid, points = base.plane(rows, [0, 1], check_count("grid", grid, 2))
        with nameless_rows():
            p_values = estimator.p_values(points).reshape(grid, grid)
            margin = estimator.decision_function(points).reshape(grid, grid)
            is_outlier = estimator.predict(rows) == -1
        names, units = base.names_of(estimator, [0, 1]), units_of(estimator, [0, 1])
        return cls(x, y_grid, p_values, margin, rows, is_outlier, names, units).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.ax_ = ax = base.axes_or_new(ax, figsize=(5.6, 4.2))
        self.contour_ = ax.contourf(self.x, self.y, self.p_values, levels=LEVELS, cmap="Blues")
        style = {"levels": [0.0], "colors": base.ACCENT, "linewidths": 1.8}
        self.threshold_ = ax.contour(self.x, self.y, self.margin, **style)
        normal, new = self.rows[~self.is_outlier], self.rows[self.is_outlier]
        ax.scatter(*normal.T, s=9, color="black", linewidths=0, label="normal")
        ax.scatter(*new.T, s=36, color=base.ACCENT, marker="x", linewidths=1.5, label="called new")
        ax.plot([], [], color=base.ACCENT, linewidth=1.8, label="threshold")
        ax.figure.colorbar(self.contour_, ax=ax, label="p-value", ticks=LEVELS)
        base.legend_above(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        in_units(ax, self.units)
        return self


class ContributionsDisplay(base.Display):
    """The largest contributions of variables to novelty scores, a chart for each row.

    Attributes
    ----------
    contributions : (d,) array, or (n, d) of several rows
    names : list of str
        Of the variables.
    titles : list of str or None
        Of the rows, where there are several.
    figure_, axes_, bars_
        What was drawn; ``ax_`` is the first of the axes, ``bars_`` a list of several rows' bars.
    """

    contributions: Array
    names: Sequence[str]
    titles: Sequence[str] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, row: RowsLike, *, limit: int = 12, ax: Axes = None
    ) -> Self:
        """Draw the contributions of rows under a fitted :class:`~mercer.KernelNovelty`.

        Parameters
        ----------
        estimator : KernelNovelty, fitted
        row : (n, d) array or data frame of one row, or of a few
            Each gets a chart, under its name in the index of a frame.
        limit : int, default=12
            How many variables to show, those of the largest contributions.
        ax : matplotlib axes, or one for each row, optional

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelNovelty
        >>> from mercer.plots import ContributionsDisplay
        >>> X = np.random.default_rng(0).standard_normal((100, 3))
        >>> display = ContributionsDisplay.from_estimator(KernelNovelty(5).fit(X), [[0, 5, 0]])
        >>> int(display.contributions.argmax())
        1
        """
        found: Any = estimator.contributions(row)
        table = take_apart(found.toarray() if hasattr(found, "toarray") else found)
        values = np.column_stack([*table.columns.values()])
        # A model of tables names the columns that it uses, which are not all that it has seen.
        names: Sequence[str] = [*table.columns]
        if table.container == "array":
            names = base.names_of(estimator, range(len(names)))
        index = getattr(row, "index", None)  # of a list, a method
        numbers = range(len(values)) if index is None or callable(index) else index
        titles = [f"row {name}" for name in numbers]
        display = cls(values[0], names) if len(values) == 1 else cls(values, names, titles)
        return display.plot(limit=limit, ax=ax)

    def plot(self, *, limit: int = 12, ax: Axes = None) -> Self:
        rows = np.atleast_2d(self.contributions)
        n, count = len(rows), min(limit, rows.shape[1])
        columns = ceil(n / ceil(n / base.COLUMNS))  # lines of equal length
        size = max(5.6 / columns, 3.6), 1.1 + 0.27 * count
        names = ("contribution to the novelty score", "")
        self.axes_ = base.panel_grid(ax, n, size, *names, columns=columns)
        self.ax_, charts = self.axes_[0], []
        titles = self.titles or [""] * len(rows)
        for panel, row, title in zip(self.axes_, rows, titles, strict=True):
            shown = np.argsort(-np.abs(row))[:count][::-1]  # the largest on top
            colors = np.where(row[shown] > 0, base.ACCENT, base.PALETTE[0])
            bars = [self.names[i] for i in shown]
            charts.append(panel.barh(bars, row[shown], color=colors, height=0.7))
            panel.axvline(0, color=base.ink(), linewidth=0.8)
            panel.set_title(title, fontsize="small")
            base.tidy(panel)
        self.bars_ = charts if self.contributions.ndim == 2 else charts[0]
        return self


class NoveltyRocDisplay(base.Display):
    """The receiver operating characteristic of a detector, and the point where it works.

    Attributes
    ----------
    false_alarms, detections : (t,) arrays
        Rates over all thresholds.
    area : float
        Under the curve: the chance that a new row scores above a normal one.
    working_point : pair of float, or None
        False-alarm and detection rate of ``predict``.
    name : str
    figure_, ax_, line_, point_
        What was drawn.
    """

    false_alarms: Array
    detections: Array
    area: float
    working_point: tuple[float, float] | None = None
    name: str = ""
    point_ = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        positive: object = None,
        name: str | None = None,
        ax: Axes = None,
    ) -> Self:
        """Draw the curve of a detector on rows that are known to be new or normal.

        Parameters
        ----------
        estimator : KernelNovelty, fitted
            Or any detector with ``score_samples``, or a model with ``reconstruction_error``; draw
            several into the same axes to compare them.
        X : (n, d) rows
        y : (n,) array
            -1 for new and 1 for normal rows, as ``predict`` has it; or true and false (1 and 0),
            true for new; or classes, of which ``positive`` is new.
        positive : class, optional
        name : str, optional
            For the legend; the class of the estimator by default.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelNovelty
        >>> from mercer.plots import NoveltyRocDisplay
        >>> rng = np.random.default_rng(0)
        >>> normal, new = rng.standard_normal((200, 2)), rng.normal(4, 1, (50, 2))
        >>> model = KernelNovelty(5, random_state=0).fit(normal[:100])
        >>> X, y = np.vstack([normal[100:], new]), np.repeat([1, -1], [100, 50])
        >>> bool(NoveltyRocDisplay.from_estimator(model, X, y=y).area > 0.95)
        True
        """
        if X is None or y is None:
            raise DataError(
                "a ROC curve needs rows X and the truth y; give both, y -1 for new, 1 for normal."
            )
        decides, point = hasattr(estimator, "score_samples"), None
        if not decides:
            base.require_method(estimator, "reconstruction_error")
        novelty = -estimator.score_samples(X) if decides else estimator.reconstruction_error(X)
        is_new = _truth(y, len(novelty), positive)
        false_alarms, detections, _ = roc_curve(is_new, novelty, drop_intermediate=False)
        if decides:
            called_new = np.asarray(estimator.predict(X)) == -1
            point = float(called_new[~is_new].mean()), float(called_new[is_new].mean())
        label = type(estimator).__name__ if name is None else name
        area = float(auc(false_alarms, detections))
        return cls(false_alarms, detections, area, point, label).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure; another curve in the same axes gets another colour."""
        self.ax_ = ax = base.tidy(base.axes_or_new(ax, figsize=(4.4, 4.0)))
        before = sum(line.get_gid() == "roc" for line in ax.lines)
        if not before:
            ax.plot([0, 1], [0, 1], ":", color=base.ink(), alpha=0.5, linewidth=1)
        color = base.PALETTE[before % len(base.PALETTE)]
        style = {"color": color, "label": f"{self.name}: area {self.area:.3f}", "gid": "roc"}
        (self.line_,) = ax.plot(self.false_alarms, self.detections, **style)
        if self.working_point is not None:
            alarms, detected = self.working_point
            text = f"threshold: {detected:.0%} found, {alarms:.1%} false alarms"
            look = {"color": color, "markeredgecolor": base.ink(), "markersize": 7}
            (self.point_,) = ax.plot([alarms], [detected], "o", label=text, zorder=3, **look)
        ax.set(xlabel="false alarms", ylabel="new rows found", xlim=(-0.02, 1), ylim=(0, 1.02))
        ax.set_aspect("equal")
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.yaxis.set_major_formatter("{x:.0%}")
        ax.legend(loc="lower right", frameon=False, fontsize="small")
        return self


def _truth(y: Targets, n: int, positive: object) -> Array:
    """Which rows are new, from -1 and 1, from true and false, or from the class that is new."""
    labels = np.asarray(base.check_labels(y, n))
    values = set(np.unique(labels).tolist())
    if positive is not None and len(values) > 1 and str(positive) in map(str, values):
        return np.asarray(labels.astype(str) == str(positive))
    if values in ({-1, 1}, {0, 1}):
        return np.asarray(labels == (-1 if -1 in values else 1))
    python = "positive=, or give -1 for new and 1 for normal rows (or 1 and 0), and some of each."
    held = f"y holds {', '.join(map(str, sorted(values)[:20]))}; say which class is new by "
    raise DataError(held + Remedy(python, shell="--positive."))


class MonitorDisplay(base.Display):
    """The evidence of a stream against its alarm level, and the p-values of its rows.

    Attributes
    ----------
    rows, log_martingale, p_values : (n,) arrays
        Numbers of the rows, the evidence after each, and how rare each is.
    level : float
        The chance of a false alarm.
    alarm_at, since : int or None
        The row of the alarm, and the one at which the change began.
    statistic : str
        What has changed most.
    figure_, axes_
        What was drawn.
    """

    rows: Array
    log_martingale: Array
    p_values: Array
    level: float
    alarm_at: int | None
    since: int | None
    statistic: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        ax: Axes = None,
    ) -> Self:
        """Feed the rows to a copy of the monitor, and draw the result.

        Parameters
        ----------
        estimator : Monitor
            From :meth:`mercer.KernelNovelty.monitor`.
        X : (n, d) rows of the stream
        y : ignored
        ax : matplotlib axes, optional
            One, or two.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelNovelty
        >>> from mercer.plots import MonitorDisplay
        >>> rng = np.random.default_rng(0)
        >>> monitor = KernelNovelty(5).fit(rng.standard_normal((100, 2))).monitor()
        >>> MonitorDisplay.from_estimator(monitor, rng.standard_normal((80, 2))).alarm_at
        """
        base.require_method(estimator, "update")
        if X is None:
            raise DataError("a stream is its rows, and none were given; give them as X.")
        played = copy(estimator)
        start, update = played.state_.rows, played.update(X)
        rows, alarm = start + np.arange(len(update.alarm)), played.alarm_at_
        what = alarm, None if alarm is None else played.since_, played.statistic_
        display = cls(rows, update.log_martingale, update.p_values, played.level, *what)
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.axes_ = base.panels(ax, 2, 1, figsize=(6.4, 4.2))
        above, below = self.axes_[:, 0]
        above.plot(self.rows, self.log_martingale / np.log(10), color=base.ink(), linewidth=1.2)
        style = {"color": base.ACCENT, "linewidth": 1.2, "linestyle": "--"}
        above.axhline(-np.log10(self.level), label=f"level {self.level:g}", **style)
        if self.alarm_at is not None:
            above.axvline(self.alarm_at, color=base.ACCENT, label=f"alarm at row {self.alarm_at:,}")
            text = f"{self.statistic}, since row {self.since:,}"
            above.axvline(self.since, color=base.PALETTE[0], linestyle=":", label=text)
        base.legend_above(above)
        above.set(ylabel="log₁₀ martingale")
        below.scatter(self.rows, self.p_values, s=5, color=base.ink(), linewidths=0)
        below.set(xlabel="row of the stream", ylabel="p-value", ylim=(0, 1))
        return self
