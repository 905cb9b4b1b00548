"""Which variables matter: bars for each component, a heat map of all, or images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, Artist, Axes, Estimator, RowsLike, Targets
from mercer.estimators.relevance import relevance_of
from mercer.exceptions import DataError
from mercer.plots import _base as base
from mercer.relevance import Interval, Uncertainty

KINDS = ("bars", "heatmap", "images")


@dataclass
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
    ) -> RelevanceDisplay:
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
        if kind not in KINDS:
            raise DataError(
                f"kind={kind!r} is not known; give one of {', '.join(map(repr, KINDS))}."
            )
        available = base.model_to_draw(estimator).subspace.n_components
        shown = base.check_components(components, available, default=3 if kind == "bars" else 10)
        if X is not None:
            X = base.rows_of(estimator, X)
        found = relevance_of(estimator, X, "share")
        interval = None
        if uncertainty is not None:
            given = uncertainty.relevance
            if max(shown) >= len(given.low):
                raise DataError(
                    f"the intervals are of {len(given.low)} components; draw fewer of them."
                )
            interval = Interval(given.estimate[shown], given.low[shown], given.high[shown])
        look = {"kind": kind, "limit": check_count("limit", limit), "image_shape": image_shape}
        values = found.components[shown]
        return cls(values, found.overall, found.names, shown, interval, **look).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.artists_: list[Artist] = []
        if self.kind == "bars":
            self._bars(ax)
        elif self.kind == "heatmap":
            self._heatmap(ax)
        else:
            self._images(ax)
        return self

    def _bars(self, ax: Axes) -> None:
        p, count = len(self.components), min(self.limit, len(self.names))
        letters = min(max(len(_short(name)) for name in self.names), 24)
        width, height = 1.7 + 0.075 * letters, 0.75 + 0.2 * count
        self.axes_, columns = base.panel_grid(
            ax, p, lambda lines, columns: (columns * width, lines * height)
        )
        for i, panel in enumerate(self.axes_):
            best = np.argsort(-self.values[i], kind="stable")[:count][::-1]
            error, top = None, self.values[i].max()
            if self.interval is not None:
                limits = (self.interval.low[i], self.interval.high[i])
                error = np.abs(np.stack(limits)[:, best] - self.values[i][best])
                top = max(top, limits[1][best].max())
            self.artists_.append(
                panel.barh(
                    np.arange(count),
                    self.values[i][best],
                    xerr=error,
                    color=base.PALETTE[0],
                    height=0.72,
                    error_kw={"ecolor": base.ink(), "elinewidth": 0.9, "capsize": 1.8},
                )
            )
            panel.set_yticks(np.arange(count), [_short(self.names[j]) for j in best])
            panel.set_ylim(-0.6, count - 0.4)
            panel.set_xlim(0, 1.05 * top)
            panel.set_title(f"component {self.components[i]}", fontsize="small")
            panel.tick_params(labelsize="x-small")
            panel.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
            panel.xaxis.get_major_locator().set_params(nbins=4)
            panel.tick_params(axis="y", length=0)
            base.tidy(panel)
            if i + columns >= p:
                panel.set_xlabel("share of relevance", fontsize="x-small")

    def _heatmap(self, ax: Axes) -> None:
        # The most relevant variables, in the order of the table.
        best = np.sort(np.argsort(-self.overall, kind="stable")[: self.limit])
        table = np.vstack([self.values, self.overall])[:, best]
        letters = max(len(_short(self.names[j])) for j in best)
        size = (min(1.6 + 0.42 * len(best), 10), 0.8 + 0.07 * letters + 0.3 * len(table))
        ax = base.axes_or_new(ax, figsize=size)
        self.axes_ = np.array([ax], dtype=object)
        image = ax.imshow(table, cmap="Blues", vmin=0, aspect="auto", interpolation="nearest")
        self.artists_.append(image)
        rows = [f"component {k}" for k in self.components]
        ax.set_yticks(np.arange(len(table)), [*rows, "all"], fontsize="x-small")
        names = [_short(self.names[j]) for j in best]
        ax.set_xticks(np.arange(len(best)), names, rotation=90, fontsize="x-small")
        ax.axhline(len(table) - 1.5, color=base.ink(), linewidth=0.8)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        bar = ax.figure.colorbar(image, ax=ax, format=lambda value, _: f"{value:.0%}")
        bar.set_label("share of relevance", fontsize="x-small")
        bar.ax.tick_params(labelsize="x-small")
        bar.outline.set_visible(False)

    def _images(self, ax: Axes) -> None:
        shape = base.shape_of_image(len(self.names), self.image_shape)
        # Each component on its own scale: shares of many pixels are small.
        tiles = self.values / np.maximum(self.values.max(axis=1, keepdims=True), 1e-300)
        overall = self.overall / max(self.overall.max(), 1e-300)
        tiles = np.vstack([tiles, overall])[None]
        labels = [*self.components, "all"]
        ax, image = base.show_tiles(ax, tiles, shape, limits=(0, 1), column_labels=labels)
        self.axes_ = np.array([ax], dtype=object)
        self.artists_.append(image)


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
