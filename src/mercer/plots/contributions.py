"""Bars: which variables made a row new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._linalg import Array
from mercer._types import Axes, Estimator, RowsLike
from mercer.plots._display import Display
from mercer.plots._matplotlib import ACCENT, PALETTE, axes_or_new, ink, tidy

__all__ = ["ContributionsDisplay"]


@dataclass
class ContributionsDisplay(Display):
    """The largest contributions of variables to one row's novelty score.

    Attributes
    ----------
    contributions : (d,) array
    names : list of str
        Of the variables.
    figure_, ax_, bars_
        What was drawn.
    """

    contributions: Array
    names: Sequence[str]

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, row: RowsLike, *, limit: int = 12, ax: Axes = None
    ) -> ContributionsDisplay:
        """Draw the contributions of one row under a fitted :class:`~mercer.KernelNovelty`.

        Parameters
        ----------
        estimator : KernelNovelty, fitted
        row : (1, d) array or data frame of one row
        limit : int, default=12
            How many variables to show, those of the largest contributions.
        ax : matplotlib axes, optional

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
        values = np.asarray(estimator.contributions(row))[0]
        given = getattr(estimator, "feature_names_in_", None)
        names = [f"x{i}" for i in range(len(values))] if given is None else list(given)
        return cls(values, names).plot(limit=limit, ax=ax)

    def plot(self, *, limit: int = 12, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        shown = np.argsort(-np.abs(self.contributions))[:limit][::-1]  # the largest on top
        height = 1.1 + 0.27 * len(shown)
        self.ax_ = ax = axes_or_new(ax, figsize=(5.6, height))
        values = self.contributions[shown]
        colors = np.where(values > 0, ACCENT, PALETTE[0])
        self.bars_ = ax.barh([self.names[i] for i in shown], values, color=colors, height=0.7)
        ax.axvline(0, color=ink(), linewidth=0.8)
        tidy(ax)
        ax.set(xlabel="contribution to the novelty score")
        return self
