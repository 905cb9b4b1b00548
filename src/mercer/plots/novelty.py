"""Contours of a novelty score in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, Artist, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, Remedy
from mercer.plots._matplotlib import (
    ACCENT,
    PALETTE,
    Display,
    axes_or_new,
    ink,
    legend_above,
    panels,
    tidy,
)
from mercer.plots._models import A_DETECTOR, nameless_rows, names_of, rows_of
from mercer.plots.components import plane

#: Levels of p-values between which the plane is shaded.
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass
class NoveltyDisplay(Display):
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        grid: int = 120,
        ax: Axes = None,
    ) -> NoveltyDisplay:
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
        if not hasattr(estimator, "p_values"):
            raise DataError(f"{type(estimator).__name__} has no threshold; " + A_DETECTOR)
        rows = rows_of(estimator, X)
        if rows.shape[1] != 2:
            raise DataError(
                f"contours need two variables, and X has shape {rows.shape}; "
                "choose two columns and fit again, "
                + Remedy("or see ContributionsDisplay.", shell="with --columns.")
            )
        x, y_grid, points = plane(rows, [0, 1], check_count("grid", grid, 2))
        with nameless_rows():
            p_values = estimator.p_values(points).reshape(grid, grid)
            margin = estimator.decision_function(points).reshape(grid, grid)
            is_outlier = estimator.predict(rows) == -1
        names = names_of(estimator, [0, 1])
        return cls(x, y_grid, p_values, margin, rows, is_outlier, names).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        self.ax_ = ax = axes_or_new(ax, figsize=(5.6, 4.2))
        self.contour_ = ax.contourf(self.x, self.y, self.p_values, levels=LEVELS, cmap="Blues")
        self.threshold_ = ax.contour(
            self.x, self.y, self.margin, levels=[0.0], colors=ACCENT, linewidths=1.8
        )
        normal, new = self.rows[~self.is_outlier], self.rows[self.is_outlier]
        ax.scatter(*normal.T, s=9, color="black", linewidths=0, label="normal")
        ax.scatter(*new.T, s=36, color=ACCENT, marker="x", linewidths=1.5, label="called new")
        ax.plot([], [], color=ACCENT, linewidth=1.8, label="threshold")
        ax.figure.colorbar(self.contour_, ax=ax, label="p-value", ticks=LEVELS)
        legend_above(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        return self


# Bars: which variables made rows new.


#: Charts beside each other before a new line begins.
COLUMNS = 3


@dataclass
class ContributionsDisplay(Display):
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
    ) -> ContributionsDisplay:
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
        values = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
        names = list(names_of(estimator, range(values.shape[1])))
        if len(values) == 1:
            return cls(values[0], names).plot(limit=limit, ax=ax)
        titles = [f"row {name}" for name in getattr(row, "index", range(len(values)))]
        return cls(values, names, titles).plot(limit=limit, ax=ax)

    def plot(self, *, limit: int = 12, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        rows = np.atleast_2d(self.contributions)
        n, count = len(rows), min(limit, rows.shape[1])
        lines = -(-n // COLUMNS)
        columns = -(-n // lines)
        size = (max(5.6, 3.6 * columns), lines * (1.1 + 0.27 * count))
        self.axes_ = panels(ax, lines, columns, figsize=size).ravel()
        for spare in self.axes_[n:]:
            spare.set_axis_off()
        self.axes_ = self.axes_[:n]
        self.ax_ = self.axes_[0]
        bars = [self._chart(*pair, count) for pair in zip(self.axes_, rows, strict=True)]
        self.bars_ = bars if self.contributions.ndim == 2 else bars[0]
        for panel, title in zip(self.axes_, self.titles or [], strict=bool(self.titles)):
            panel.set_title(title, fontsize="small")
        for panel in self.axes_[-columns:]:
            panel.set_xlabel("contribution to the novelty score")
        return self

    def _chart(self, ax: Axes, row: Array, count: int) -> Artist:
        shown = np.argsort(-np.abs(row))[:count][::-1]  # the largest on top
        colors = np.where(row[shown] > 0, ACCENT, PALETTE[0])
        bars = ax.barh([self.names[i] for i in shown], row[shown], color=colors, height=0.7)
        ax.axvline(0, color=ink(), linewidth=0.8)
        tidy(ax)
        return bars
