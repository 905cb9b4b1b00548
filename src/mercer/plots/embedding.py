"""Rows in the plane of two components, or of each pair of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.types import Array, Artist, Axes, Estimator, RowsLike, Targets
from mercer.plots import _base as base


@dataclass
class EmbeddingDisplay(base.Display):
    """Scores of rows, by class, with new points on top.

    Attributes
    ----------
    scores : (n, p) array
        Of the components shown.
    components : list of int
        Which these are, counted from 0.
    labels : (n,) array or None
    new_scores : (k, p) array or None
    shares : (p,) array or None
        Of the true variance.
    label_name : str
        Beside a scale of colours.
    figure_, ax_, axes_
        ``ax_`` of a single scatter plot, ``axes_`` (p, p) of a pair plot.
    points_ : list of artists
        One for each class and panel, panel by panel.
    new_points_ : list of artists
        One for each panel.
    """

    scores: Array
    components: Sequence[int]
    labels: Array | None = None
    new_scores: Array | None = None
    shares: Array | None = None
    label_name: str = "y"

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        X_new: RowsLike = None,
        components: int | Sequence[int] | None = None,
        label_name: str | None = None,
        ax: Axes = None,
    ) -> EmbeddingDisplay:
        """Draw the scores of rows.

        Parameters
        ----------
        estimator : KernelPCA or another model with components, fitted
        X : (n, d) rows, optional
            The model's support points by default: of an exact model these are its training rows.
        y : (n,) classes, or numbers for a colour scale, optional
        X_new : (k, d) further rows, drawn as crosses, optional
        components : int or sequence of int, optional
            How many of the first, or which, counted from 0. Two (the default) make a scatter plot,
            more a plot of every pair.
        label_name : str, optional
            What the numbers in ``y`` are; its name if it is a column of a data frame.
        ax : matplotlib axes, optional
            For a pair plot also an array of p × p axes.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from mercer import KernelPCA
        >>> from mercer.plots import EmbeddingDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> display = EmbeddingDisplay.from_estimator(KernelPCA(4).fit(X), X, y=y)
        >>> [artist.get_label() for artist in display.points_]
        ['0', '1', '2']
        """
        model = base.model_to_draw(estimator)
        subspace = model.subspace
        shown = base.check_components(components, subspace.n_components, default=2, at_least=2)
        rows = base.rows_of(estimator, X)
        labels = base.check_labels(y, len(rows))
        new = None if X_new is None else subspace.scores(base.rows_of(estimator, X_new))[:, shown]
        name = label_name or str(getattr(y, "name", None) or "y")
        scores = subspace.scores(rows)[:, shown]
        return cls(scores, shown, labels, new, base.shares_of(model, shown), name).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.points_: list[Artist] = []
        self.new_points_: list[Artist] = []
        names = base.component_names(self.components, self.shares)
        if len(self.components) == 2:
            self.ax_ = ax = base.axes_or_new(ax, figsize=(5.6, 4.2))
            self._scatter(ax, 0, 1, size=14)
            ax.set(xlabel=names[0], ylabel=names[1])
            self._explain(ax, ax)
        else:
            self._pairs(ax, names)
        return self

    def _pairs(self, ax: Axes, names: Sequence[str]) -> None:
        """Every pair below the diagonal, and the distribution of each component on it."""
        p = len(self.components)
        side = max(1.7, 7.2 / p)  # inches; few panels may be larger
        self.axes_ = base.panels(ax, p, p, figsize=(side * p + 0.9, 0.95 * side * p + 0.2))
        for i, line in enumerate(self.axes_):
            for j, panel in enumerate(line):
                if j > i:
                    panel.set_axis_off()
                    continue
                if i == j:
                    self._histogram(panel, j)
                else:
                    self._scatter(panel, j, i, size=3 * side)
                    panel.sharex(self.axes_[j, j])
                panel.tick_params(labelsize="x-small", labelbottom=i == p - 1)
                panel.tick_params(labelleft=j == 0 and i > 0, left=i != j)
                if i == p - 1:
                    panel.set_xlabel(names[j], fontsize="small")
                if j == 0 and i > 0:
                    panel.set_ylabel(names[i], fontsize="small")
        self._explain(self.axes_[0, -1], self.axes_[1, 0])

    def _scatter(self, ax: Axes, i: int, j: int, size: float) -> None:
        for label, rows, style in self._groups():
            where = self.scores[rows]
            arguments = {"s": size, "linewidths": 0, "alpha": 0.85, "label": label, **style}
            self.points_.append(ax.scatter(where[:, i], where[:, j], **arguments))
        if self.new_scores is not None:
            where, label = self.new_scores, "new"
            style = {"s": 3 * size, "marker": "x", "color": base.ink(), "linewidths": 1.4}
            self.new_points_.append(ax.scatter(where[:, i], where[:, j], label=label, **style))
        base.tidy(ax)

    def _histogram(self, ax: Axes, i: int) -> None:
        edges = np.histogram_bin_edges(self.scores[:, i], bins=24)
        for _, rows, style in self._groups():
            color = style.get("color", base.PALETTE[0])
            values = self.scores[rows, i]
            ax.hist(values, bins=edges, histtype="step", color=color, linewidth=1.1)
        ax.spines[["top", "right", "left"]].set_visible(False)

    def _groups(self) -> list[tuple[str, Any, dict[str, Any]]]:
        """Name, rows and look of each class; all rows at once where there are none."""
        if self.labels is None:
            return [("rows", slice(None), {"color": base.PALETTE[0]})]
        if base.is_scale(self.labels):
            return [("rows", slice(None), {"c": self.labels, "cmap": "viridis"})]
        # Another shape for each class, and other pairs of colour and shape after ten of them.
        return [
            (
                str(name),
                rows,
                {
                    "color": base.PALETTE[k % len(base.PALETTE)],
                    "marker": base.MARKERS[(k + k // len(base.PALETTE)) % len(base.MARKERS)],
                },
            )
            for k, (name, rows) in enumerate(base.classes_of(self.labels))
        ]

    def _explain(self, ax: Axes, drawn: Any) -> None:
        """In ``ax``, a legend for the classes in ``drawn``, or a bar of colours for a scale."""
        if base.is_scale(self.labels):
            ax.figure.colorbar(self.points_[0], ax=ax, label=self.label_name)
        handles, names = drawn.get_legend_handles_labels()
        shown = [k for k, name in enumerate(names) if name != "rows" or self.new_scores is not None]
        if shown:
            place = {} if ax is drawn else {"loc": "upper right", "bbox_to_anchor": None}
            pick = {"handles": [handles[k] for k in shown], "labels": [names[k] for k in shown]}
            many = len(shown) > (12 if ax is drawn else 6)
            legend = base.legend_outside(ax, markerscale=1.4, ncols=1 + many, **pick, **place)
            legend.set_in_layout(ax is drawn)  # else it would stretch the first line of panels
