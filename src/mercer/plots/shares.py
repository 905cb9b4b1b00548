"""Shares of components and variables: of the variance, for widths of the kernel, of relevance."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.numbers import check_choice, check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.estimators import KernelPCA
from mercer.estimators.relevance import relevance_of
from mercer.exceptions import DataError, KernelError, Remedy
from mercer.kernels import RadialKernel
from mercer.model import Subspace
from mercer.plots import _base as base
from mercer.plots._tables import by_column
from mercer.relevance import Interval, Uncertainty
from mercer.selection.search import fit_quietly


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
        """Share of the variance that the first k components explain."""
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
    ) -> Self:
        """Draw the shares of a fitted model.

        Parameters
        ----------
        estimator : KernelPCA, SparseKernelPCA or another model with components, fitted
        X : (n, d) rows that the model has not seen, optional
            Adds how much of *their* variance in feature space the components explain: far less if
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
            unknown = f"{type(estimator).__name__} does not know the variance of its components; "
            shell = "draw one of the same rows, 'mercer fit DATA'."
            raise DataError(unknown + Remedy("draw the KernelPCA of the same rows.", shell=shell))
        new = None if X is None else _shares_of_rows(model.subspace, base.rows_of(estimator, X))
        interval = None if uncertainty is None else uncertainty.shares
        return cls(shares, new, interval).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.ax_ = ax = base.tidy(base.axes_or_new(ax, figsize=(5.6, 3.4)))
        number = np.arange(len(self.shares))
        # Gaps between very many bars would only flicker.
        many = len(number) > 40
        look = {"width": 1.0 if many else 0.8, "color": base.PALETTE[0], "linewidth": 0}
        self.bars_ = ax.bar(number, self.shares, label="component", **look)
        if self.interval is not None:
            low, high = self.interval.low, self.interval.high
            at, shares = number[: len(low)], self.shares[: len(low)]
            # Intervals are corrected for bias: the share itself may lie at their edge.
            error = np.maximum([shares - low, high - shares], 0)
            look = {"fmt": "none", "ecolor": base.ink(), "elinewidth": 0.9, "capsize": 2}
            self.intervals_ = ax.errorbar(at, shares, error, label="interval", **look)
        style = {"markersize": 3.5, "marker": None if many else "o"}
        (self.line_,) = ax.plot(number, self.cumulative, color=base.ink(), label="sum", **style)
        if self.new_rows is not None:
            style |= {"color": base.ACCENT, "label": "sum, rows of X"}
            (self.new_line_,) = ax.plot(number, self.new_rows, "--", **style)
        place = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
        whole = self.cumulative[-1]
        ax.annotate(f"{whole:.1%}", (number[-1], whole), (0, 5), **place)
        ax.set(xlabel="component", ylabel="share of the true variance", ylim=(0, 1.06))
        ax.set_xlim(-0.7, len(number) - 0.3 + 0.02 * len(number))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.yaxis.set_major_formatter("{x:.0%}")
        ax.legend(frameon=False, fontsize="small", loc="best")
        return self


def _shares_of_rows(subspace: Subspace, rows: Array) -> Array:
    """Of the squared distances to the model's mean, what the first k directions hold."""
    Z, residual = subspace.scores_and_residual(rows)
    Z = Z.astype(np.float64)
    return np.asarray(np.cumsum((Z**2).mean(axis=0)) / (square_sums(Z) + residual).mean())


#: Widths that are tried, in units of the model's own.
FACTORS = tuple(2.0 ** (k / 2) for k in range(-6, 7))


class WidthSpectrumDisplay(base.Display):
    """Shares of the true variance that the first components hold, for a range of widths.

    A narrow kernel makes all rows equally far from each other: the variance spreads over as many
    components as there are rows. A wide one is almost linear: a few components explain everything.

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
    ) -> Self:
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
            remedy = Remedy("use one such as Gaussian().", shell="fit with --kernel gaussian.")
            raise KernelError(f"{kernel!r} has no width; " + remedy)
        multiples = np.sort(np.ravel(factors).astype(float))
        if len(multiples) < 2 or not 0 < multiples[0] <= multiples[-1] < np.inf:
            raise DataError(f"factors={factors!r}: give two positive numbers or more.")
        q = min(check_count("n_components", n_components), len(rows) - 1)
        solver = estimator.solver if isinstance(estimator, KernelPCA) else "auto"
        same: dict[str, Any] = {"center": bool(subspace.mean.any()), "solver": solver}
        lengths, shares = kernel.length * multiples, np.zeros((len(multiples), q))
        for length, line in zip(lengths.tolist(), shares, strict=True):
            model = KernelPCA(q, kernel=kernel.with_length(length), random_state=0, **same)
            held = fit_quietly(model, rows).explained_variance_ratio_
            line[: len(held)] = held  # zero for components that do not exist
        return cls(lengths, shares, kernel.length).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        from matplotlib import colormaps

        self.ax_ = ax = base.tidy(base.axes_or_new(ax, figsize=(5.6, 3.6)))
        q = self.shares.shape[1]
        # From dark to light along one scale, so that the order shows without colour.
        colors = colormaps["viridis"](np.linspace(0.1, 0.95, q))
        paper = ax.get_facecolor()
        style = {"colors": colors, "edgecolor": paper, "linewidth": 0.6}
        self.areas_ = ax.stackplot(self.lengths, self.shares.T, **style)
        ax.axvline(self.length, color=paper, linewidth=3)  # so that the mark shows on dark areas
        self.mark_ = ax.axvline(self.length, color=base.ink(), linewidth=1.2, linestyle="--")
        coordinates = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        place = {"ha": "center", "va": "bottom", "fontsize": "small"}
        ax.annotate("the model", (self.length, 1.0), (0, 3), **coordinates, **place)
        ax.set(xlabel="width of the kernel", ylabel="share of the true variance")
        ax.set(xscale="log", xlim=(self.lengths[0], self.lengths[-1]), ylim=(0, 1))
        ax.yaxis.set_major_formatter("{x:.0%}")
        areas = {"handles": self.areas_[::-1], "labels": [*reversed(range(q))]}
        base.legend_outside(ax, **areas, title="component", handletextpad=None)
        return self


class RelevanceDisplay(base.Display):
    """Relevance of the variables in the components, as shares that sum to 1 in each.

    Attributes
    ----------
    values : (p, d) array
        Shares in the components shown; a last line ``overall`` follows in a heat map.
    overall : (d,) array
    names : sequence of str
    components : list of int
    interval : Interval or None
        Of ``values``.
    kind, limit, image_shape
        As in :meth:`from_estimator`.
    figure_, axes_, artists_
        What was drawn: bars, an image.
    """

    values: Array
    overall: Array
    names: Sequence[str]
    components: Sequence[int]
    interval: Interval | None = None
    kind: str = "bars"
    limit: int = 12
    image_shape: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        kind: str = "bars",
        components: int | Sequence[int] | None = None,
        limit: int = 12,
        image_shape: Any = None,
        uncertainty: Uncertainty | None = None,
        ax: Axes = None,
    ) -> Self:
        """Draw the relevance of a fitted model.

        Parameters
        ----------
        estimator : KernelPCA or another model of vectors, fitted
        X : (n, d) rows, optional
            To average over; the model's support points by default.
        y : ignored
        kind : {"bars", "heatmap", "images"}, default="bars"
            A panel of bars for each component; components × variables; or, for rows that are
            images, the relevance of every pixel.
        components : int or sequence of int, optional
            How many of the first, or which, counted from 0; three by default, ten in a heat map.
        limit : int, default=12
            How many variables to show, the most relevant ones.
        image_shape : (height, width), optional
            For ``"images"``; square by default.
        uncertainty : Uncertainty, optional
            As ``estimator.uncertainty()`` returns it: bars get its intervals.
        ax : matplotlib axes, or an array of them, optional

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from mercer import KernelPCA
        >>> from mercer.plots import RelevanceDisplay
        >>> data = load_iris(as_frame=True).data
        >>> display = RelevanceDisplay.from_estimator(KernelPCA(4).fit(data), data)
        >>> display.values.shape
        (3, 4)
        """
        check_choice("kind", kind, ("bars", "heatmap", "images"))
        available = base.model_to_draw(estimator).subspace.n_components
        shown = base.check_components(components, available, default=3 if kind == "bars" else 10)
        rows, interval = None if X is None else base.rows_of(estimator, X), None
        relevance = relevance_of(estimator, rows, "share")
        if uncertainty is None:
            relevance = by_column(estimator, relevance)
        else:
            whole = uncertainty.relevance
            if max(shown) >= (known := len(whole.low)):
                raise DataError(f"the intervals are of {known} components; draw fewer of them.")
            interval = Interval(whole.estimate[shown], whole.low[shown], whole.high[shown])
        look = {"kind": kind, "limit": check_count("limit", limit), "image_shape": image_shape}
        values = relevance.components[shown]
        return cls(values, relevance.overall, relevance.names, shown, interval, **look).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        {"bars": self._bars, "heatmap": self._heatmap, "images": self._images}[self.kind](ax)
        return self

    def _bars(self, ax: Axes) -> None:
        count = min(self.limit, len(self.names))
        letters = max(len(_short(name)) for name in self.names)
        size, names = (1.7 + 0.075 * letters, 0.75 + 0.2 * count), ("share of relevance", "")
        self.axes_ = base.panel_grid(ax, len(self.components), size, *names, fontsize="x-small")
        look, self.artists_ = {"color": base.PALETTE[0], "height": 0.72}, []
        look["error_kw"] = {"ecolor": base.ink(), "elinewidth": 0.9, "capsize": 1.8}
        for i, panel in enumerate(self.axes_):
            best = np.argsort(-self.values[i], kind="stable")[:count][::-1]
            values, error, top = self.values[i][best], None, self.values[i].max()
            if self.interval is not None:
                limits = np.stack([self.interval.low[i], self.interval.high[i]])[:, best]
                error, top = np.abs(limits - values), max(top, limits[1].max())
            self.artists_.append(panel.barh(np.arange(count), values, xerr=error, **look))
            panel.set_yticks(np.arange(count), [_short(self.names[j]) for j in best])
            panel.set(xlim=(0, 1.05 * top), ylim=(-0.6, count - 0.4))
            panel.set_title(f"component {self.components[i]}", fontsize="small")
            panel.tick_params(labelsize="x-small")
            panel.xaxis.set_major_formatter("{x:.0%}")
            panel.xaxis.get_major_locator().set_params(nbins=4)
            panel.tick_params(axis="y", length=0)
            base.tidy(panel)

    def _heatmap(self, ax: Axes) -> None:
        # The most relevant variables, in the order of the table.
        best = np.sort(np.argsort(-self.overall, kind="stable")[: self.limit])
        table = np.vstack([self.values, self.overall])[:, best]
        names = [_short(self.names[j]) for j in best]
        width, height = min(1.6 + 0.42 * len(best), 10), 0.8 + 0.3 * len(table)
        ax = base.axes_or_new(ax, figsize=(width, height + 0.07 * len(max(names, key=len))))
        self.axes_ = np.array([ax], dtype=object)
        image = ax.imshow(table, cmap="Blues", vmin=0, aspect="auto", interpolation="nearest")
        self.artists_ = [image]
        rows = [*(f"component {k}" for k in self.components), "all"]
        ax.set_yticks(np.arange(len(table)), rows, fontsize="x-small")
        ax.set_xticks(np.arange(len(best)), names, rotation=90, fontsize="x-small")
        ax.axhline(len(table) - 1.5, color=base.ink(), linewidth=0.8)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        bar = ax.figure.colorbar(image, ax=ax, format="{x:.0%}")
        bar.set_label("share of relevance", fontsize="x-small")
        bar.ax.tick_params(labelsize="x-small")
        bar.outline.set_visible(False)

    def _images(self, ax: Axes) -> None:
        shape = base.shape_of_image(len(self.names), self.image_shape)
        # Each component on its own scale: shares of many pixels are small.
        shares = np.vstack([self.values, self.overall])
        tiles = (shares / np.maximum(shares.max(axis=1, keepdims=True), 1e-300))[None]
        labels = [*self.components, "all"]
        ax, image = base.show_tiles(ax, tiles, shape, limits=(0, 1), column_labels=labels)
        self.axes_ = np.array([ax], dtype=object)
        self.artists_ = [image]


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
