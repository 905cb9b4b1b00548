"""How much of the variance components hold, and how that depends on the width of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.estimators import KernelPCA
from mercer.exceptions import DataError, KernelError, Remedy
from mercer.kernels import Kernel, RadialKernel
from mercer.model import Subspace
from mercer.plots import _base as base
from mercer.relevance import Interval, Uncertainty
from mercer.selection import kernels_around
from mercer.selection.search import fit_quietly


@dataclass
class ScreeDisplay(base.Display):
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
        model = base.model_to_draw(estimator)
        shares = model.explained_variance_ratio
        if shares is None:
            raise DataError(
                f"{type(estimator).__name__} does not know the variance of its components; "
                + Remedy(
                    "draw the KernelPCA of the same rows.",
                    shell="draw one of the same rows, 'mercer fit DATA'.",
                )
            )
        new = None if X is None else _shares_of_rows(model.subspace, base.rows_of(estimator, X))
        interval = None if uncertainty is None else uncertainty.shares
        return cls(shares, new, interval).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.ax_ = ax = base.axes_or_new(ax, figsize=(5.6, 3.4))
        number = np.arange(len(self.shares))
        # Gaps between very many bars would only flicker.
        many = len(number) > 40
        look = {"width": 1.0 if many else 0.8, "color": base.PALETTE[0], "linewidth": 0}
        self.bars_ = ax.bar(number, self.shares, label="component", **look)
        if self.interval is not None:
            self._draw_interval(ax)
        style = {"markersize": 3.5, "marker": None if many else "o"}
        (self.line_,) = ax.plot(number, self.cumulative, color=base.ink(), label="sum", **style)
        if self.new_rows is not None:
            (self.new_line_,) = ax.plot(
                number, self.new_rows, "--", color=base.ACCENT, label="sum, rows of X", **style
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
        base.tidy(ax)
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
            ecolor=base.ink(),
            elinewidth=0.9,
            capsize=2,
            label="interval",
        )


def _shares_of_rows(subspace: Subspace, rows: Array) -> Array:
    """Of the squared distances to the model's mean, what the first k directions hold."""
    Z, residual = subspace.scores_and_residual(rows)
    Z = Z.astype(np.float64)
    return np.asarray(np.cumsum((Z**2).mean(axis=0)) / (square_sums(Z) + residual).mean())


#: Widths that are tried, in units of the model's own.
FACTORS = tuple(2.0 ** (k / 2) for k in range(-6, 7))


@dataclass
class WidthSpectrumDisplay(base.Display):
    """Shares of the true variance that the first components hold, for a range of widths.

    A narrow kernel makes all rows equally far from each other: the variance spreads over as many
    components as there are rows. A wide one is almost linear: a few components hold everything.

    Attributes
    ----------
    lengths : (g,) array
        ℓ of the kernel f(r²/ℓ²); a Gaussian's is ``width``.
    shares : (g, q) array
    length : float
        That of the model.
    figure_, ax_, areas_, mark_
        What was drawn; one area for each component.
    """

    lengths: Array
    shares: Array
    length: float

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        factors: Sequence[float] = FACTORS,
        n_components: int = 8,
        ax: Axes = None,
    ) -> WidthSpectrumDisplay:
        """Fit kernel PCA once for each width, and draw the spectra.

        Parameters
        ----------
        estimator : a fitted model with a radial kernel
        X : (n, d) rows, optional
            The model's support points by default.
        y : ignored
        factors : sequence of float
            Widths, in units of the model's own; an eighth to eight by default.
        n_components : int, default=8
        ax : matplotlib axes, optional

        Notes
        -----
        It costs as many fits as there are widths; for a large model give a part of the rows as X.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from mercer import KernelPCA
        >>> from mercer.plots import WidthSpectrumDisplay
        >>> model = KernelPCA(4).fit(load_iris().data)
        >>> display = WidthSpectrumDisplay.from_estimator(model, factors=[0.1, 1, 10])
        >>> display.shares[:, 0].argmax()  # the widest kernel needs the fewest components
        np.int64(2)
        """
        subspace = base.model_to_draw(estimator).subspace
        rows = base.rows_of(estimator, X)
        kernel = subspace.kernel
        if not isinstance(kernel, RadialKernel):
            radial = "use a radial kernel such as Gaussian()."
            remedy = Remedy(radial, shell="fit with --kernel gaussian.")
            raise KernelError(f"{kernel!r} has no width; " + remedy)
        given = np.asarray(factors, dtype=float)
        if given.ndim != 1 or len(given) < 2 or not (np.isfinite(given) & (given > 0)).all():
            raise DataError(f"factors={factors!r}: give two positive numbers or more.")
        kernels: list[Any] = list(kernels_around(kernel, rows, given.tolist()))
        q = min(check_count("n_components", n_components), len(rows) - 1)
        solver = estimator.solver if isinstance(estimator, KernelPCA) else "auto"
        center = bool(subspace.mean.any())
        shares = np.stack([_spectrum(kernel, rows, q, center, solver) for kernel in kernels])
        lengths = np.array([kernel.length for kernel in kernels])
        order = np.argsort(lengths)
        return cls(lengths[order], shares[order], kernel.length).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        from matplotlib import colormaps

        self.ax_ = ax = base.axes_or_new(ax, figsize=(5.6, 3.6))
        q = self.shares.shape[1]
        # From dark to light along one scale, so that the order shows without colour.
        colors = colormaps["viridis"](np.linspace(0.1, 0.95, q))
        paper = ax.get_facecolor()
        self.areas_ = ax.stackplot(
            self.lengths, self.shares.T, colors=colors, edgecolor=paper, linewidth=0.6
        )
        ax.axvline(self.length, color=paper, linewidth=3)  # so that the mark shows on dark areas
        self.mark_ = ax.axvline(self.length, color=base.ink(), linewidth=1.2, linestyle="--")
        ax.annotate(
            "the model",
            (self.length, 1.0),
            (0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
        )
        ax.set_xscale("log")
        ax.set(xlabel="width of the kernel", ylabel="share of the true variance", ylim=(0, 1))
        ax.set_xlim(self.lengths[0], self.lengths[-1])
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        names = [f"{k}" for k in range(q)]
        style = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "fontsize": "small"}
        ax.legend(self.areas_[::-1], names[::-1], title="component", frameon=False, **style)
        base.tidy(ax)
        return self


def _spectrum(kernel: Kernel, rows: Array, q: int, center: bool, solver: Any) -> Array:
    """Shares of q components, zero for those that do not exist."""
    model = KernelPCA(q, kernel=kernel, center=center, solver=solver, random_state=0)
    shares = np.asarray(fit_quietly(model, rows).explained_variance_ratio_)
    return np.pad(shares, (0, q - len(shares)))
