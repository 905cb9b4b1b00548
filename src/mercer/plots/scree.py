"""How much of the variance each component holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, Remedy
from mercer.plots._matplotlib import ACCENT, PALETTE, Display, axes_or_new, ink, tidy
from mercer.plots._models import rows_of, shares_if_known, subspace_of
from mercer.relevance import Interval, Uncertainty


@dataclass
class ScreeDisplay(Display):
    """Shares of the true variance, one bar for each component, and their sum.

    The whole is the trace of the centred Gram matrix, so that the curve ends below 100 % where
    components were left out.

    Attributes
    ----------
    shares, cumulative : (q,) arrays
    new_rows : (q,) array or None
        The cumulative share of the variance of other rows around the model's mean.
    interval : Interval or None
        Of the leading shares: what another sample of rows would give.
    figure_, ax_, bars_, line_, new_line_, intervals_
        What was drawn.
    """

    shares: Array
    new_rows: Array | None = None
    interval: Interval | None = None
    new_line_ = intervals_ = None

    @property
    def cumulative(self) -> Array:
        """Share of the variance that the first k components hold."""
        return np.cumsum(self.shares)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        uncertainty: Uncertainty | None = None,
        ax: Axes = None,
    ) -> ScreeDisplay:
        """Draw the shares of a fitted model.

        Parameters
        ----------
        estimator : KernelPCA, SparseKernelPCA or another model with components, fitted
        X : (n, d) rows that the model has not seen, optional
            Adds how much of *their* variance in feature space the components hold: far less where
            the kernel is too narrow.
        y : ignored
        uncertainty : Uncertainty, optional
            As ``estimator.uncertainty()`` returns it: bars get its intervals.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from mercer import KernelPCA
        >>> from mercer.plots import ScreeDisplay
        >>> display = ScreeDisplay.from_estimator(KernelPCA(8).fit(load_iris().data))
        >>> bool(0.9 < display.cumulative[-1] < 1)
        True
        """
        subspace_of(estimator)  # or a remedy
        shares = shares_if_known(estimator)
        if shares is None:
            raise DataError(
                f"{type(estimator).__name__} does not know the variance of its components; "
                + Remedy(
                    "draw the KernelPCA of the same rows.",
                    shell="draw one of the same rows, 'mercer fit DATA'.",
                )
            )
        new = None if X is None else _shares_of_rows(estimator, rows_of(estimator, X))
        interval = None if uncertainty is None else uncertainty.shares
        return cls(shares, new, interval).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        self.ax_ = ax = axes_or_new(ax, figsize=(5.6, 3.4))
        number = np.arange(len(self.shares))
        # Gaps between very many bars would only flicker.
        many = len(number) > 40
        look = {"width": 1.0 if many else 0.8, "color": PALETTE[0], "linewidth": 0}
        self.bars_ = ax.bar(number, self.shares, label="component", **look)
        if self.interval is not None:
            self._draw_interval(ax)
        style = {"markersize": 3.5, "marker": None if many else "o"}
        (self.line_,) = ax.plot(number, self.cumulative, color=ink(), label="sum", **style)
        if self.new_rows is not None:
            (self.new_line_,) = ax.plot(
                number, self.new_rows, "--", color=ACCENT, label="sum, rows of X", **style
            )
        ax.annotate(
            f"{self.cumulative[-1]:.1%}",
            (number[-1], self.cumulative[-1]),
            (0, 5),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
        ax.set(xlabel="component", ylabel="share of the true variance", ylim=(0, 1.06))
        ax.set_xlim(-0.7, len(number) - 0.3 + 0.02 * len(number))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        ax.legend(frameon=False, fontsize="small", loc="best")
        tidy(ax)
        return self

    def _draw_interval(self, ax: Axes) -> None:
        assert self.interval is not None
        limits = np.stack([self.interval.low, self.interval.high])
        shares = self.shares[: limits.shape[1]]
        self.intervals_ = ax.errorbar(
            np.arange(len(shares)),
            shares,
            # Intervals are corrected for bias: the share itself may lie at their edge.
            yerr=np.maximum([shares - limits[0], limits[1] - shares], 0),
            fmt="none",
            ecolor=ink(),
            elinewidth=0.9,
            capsize=2,
            label="interval",
        )


def _shares_of_rows(estimator: Estimator, rows: Array) -> Array:
    """Of the squared distances to the model's mean, what the first k directions hold."""
    Z, residual = subspace_of(estimator).scores_and_residual(rows)
    Z = Z.astype(np.float64)
    return np.asarray(np.cumsum((Z**2).mean(axis=0)) / (square_sums(Z) + residual).mean())
