"""Bars: which variables made rows new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._linalg import Array
from mercer._types import Artist, Axes, Estimator, RowsLike
from mercer.plots._display import Display
from mercer.plots._matplotlib import ACCENT, PALETTE, ink, panels, tidy
from mercer.plots._models import names_of

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
