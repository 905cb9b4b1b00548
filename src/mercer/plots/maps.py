"""Rows in the plane of two components, or of each pair, and what variables do there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count, fixed_rng
from mercer._base.types import Array, Artist, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError
from mercer.plots import _base as base
from mercer.plots._tables import nameless_rows
from mercer.relevance import sensitivity


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

    See Also
    --------
    mercer.MapModel : two components keep few neighbours together; a map by UMAP or t-SNE keeps
        more, and this model leads from it to the rows and back.
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
        for (i, j), panel in np.ndenumerate(self.axes_):
            if j > i:
                panel.set_axis_off()
                continue
            if i == j:
                self._histogram(panel, j)
            else:
                self._scatter(panel, j, i, size=3 * side)
                panel.sharex(self.axes_[j, j])
            below, beside = i == p - 1, j == 0 and i > 0
            panel.tick_params(labelsize="x-small", labelbottom=below, labelleft=beside, left=i != j)
            panel.set_xlabel(names[j] if below else "", fontsize="small")
            panel.set_ylabel(names[i] if beside else "", fontsize="small")
        self._explain(self.axes_[0, -1], self.axes_[1, 0])

    def _scatter(self, ax: Axes, i: int, j: int, size: float) -> None:
        look = {"s": size, "linewidths": 0, "alpha": 0.85}
        for name, rows, style in base.groups_of(self.labels, base.PALETTE, "viridis"):
            # Rows without classes need a name only beside new ones; others are not in the legend.
            style["label"] = "rows" if name is None and self.new_scores is not None else name
            self.points_.append(ax.scatter(*self.scores[rows][:, [i, j]].T, **look, **style))
        if self.new_scores is not None:
            style = {"s": 3 * size, "marker": "x", "color": base.ink(), "linewidths": 1.4}
            new = ax.scatter(*self.new_scores[:, [i, j]].T, label="new", **style)
            self.new_points_.append(new)
        base.tidy(ax)

    def _histogram(self, ax: Axes, i: int) -> None:
        edges = np.histogram_bin_edges(self.scores[:, i], bins=24)
        for _, rows, style in base.groups_of(self.labels, base.PALETTE, "viridis"):
            color = style.get("color", base.PALETTE[0])
            values = self.scores[rows, i]
            ax.hist(values, bins=edges, histtype="step", color=color, linewidth=1.1)
        ax.spines[["top", "right", "left"]].set_visible(False)

    def _explain(self, ax: Axes, drawn: Any) -> None:
        """In ``ax``, a legend for the classes in ``drawn``, or a bar of colours for a scale."""
        if base.is_scale(self.labels):
            ax.figure.colorbar(self.points_[0], ax=ax, label=self.label_name)
        handles, names = drawn.get_legend_handles_labels()
        if handles:
            place: dict[str, Any] = {"ncols": 1 + (len(names) > (12 if ax is drawn else 6))}
            if ax is not drawn:
                place |= {"loc": "upper right", "bbox_to_anchor": None}
            place |= {"handles": handles, "labels": names, "markerscale": 1.4}
            legend = base.legend_outside(ax, **place)
            legend.set_in_layout(ax is drawn)  # else it would stretch the first line of panels


#: Rows that the arrows are averaged over.
ROWS = 2000
#: Colours of variables; grey is for the rows.
COLORS = tuple(color for color in base.PALETTE if color not in ("#94a4a2", "#717581"))
#: A cell of the map with fewer rows than this share gets no arrows.
FEWEST = 0.01


class BiplotDisplay(base.Display):
    """Scores of rows, and arrows that say what the variables do *there*.

    Kernel components bend: a variable may push to the right in one place and to the left in
    another, so that one arrow for the whole map would be misleading. An arrow is the mean change of
    the two scores near its foot when the variable grows by one standard deviation; all arrows have
    one scale.

    Attributes
    ----------
    scores : (n, 2) array
    feet : (p, 2) array
        Where arrows start.
    arrows : (p, v, 2) array
        Changes of the scores per standard deviation of each variable shown.
    names : list of str
        Of the variables shown, the strongest first.
    labels : (n,) array or None
    titles : pair of str
    figure_, ax_, points_, arrows_, texts_
        What was drawn.
    """

    scores: Array
    feet: Array
    arrows: Array
    names: Sequence[str]
    labels: Array | None = None
    titles: Sequence[str] = ("component 0", "component 1")

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        components: Sequence[int] = (0, 1),
        at: Any = None,
        grid: int = 4,
        variables: int = 4,
        ax: Axes = None,
    ) -> BiplotDisplay:
        """Draw the map of a fitted model with local arrows.

        Parameters
        ----------
        estimator : KernelPCA or another model of vectors, fitted
        X : (n, d) rows, optional
            The model's support points by default.
        y : (n,) classes, optional
        components : pair of int, default=(0, 1)
            Counted from 0.
        at : (p, d) points, optional
            Arrows at these; else in the cells of a grid over the map, averaged over their rows.
        grid : int, default=4
            Cells per axis.
        variables : int, default=4
            How many variables to show, those with the strongest arrows.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from mercer import KernelPCA
        >>> from mercer.plots import BiplotDisplay
        >>> data, y = load_iris(return_X_y=True, as_frame=True)
        >>> display = BiplotDisplay.from_estimator(KernelPCA(2).fit(data), data, y=y)
        >>> display.arrows.shape[1:]
        (4, 2)
        """
        model = base.model_to_draw(estimator)
        subspace = model.subspace
        pair = base.check_components(list(components), subspace.n_components, default=2, at_least=2)
        if len(pair) != 2:
            raise DataError(f"components={components!r}: a map has two; give two numbers.")
        count = check_count("variables", variables)
        rows = base.rows_of(estimator, X)
        labels = base.check_labels(y, len(rows))
        Z = subspace.scores(rows)[:, pair]
        if at is None:
            feet, J = _on_grid(subspace, rows, Z, pair, check_count("grid", grid))
        else:
            with nameless_rows():
                points = base.rows_of(estimator, at)
            feet, J = subspace.scores(points)[:, pair], sensitivity(subspace, points)[:, pair]
        arrows = np.moveaxis(J * rows.std(axis=0, dtype=np.float64), 1, 2)  # (points, variables, 2)
        best = np.argsort(-(arrows**2).sum(axis=(0, 2)), kind="stable")[:count]
        names = list(base.names_of(estimator, best))
        titles = base.component_names(pair, base.shares_of(model, pair))
        return cls(Z, feet, arrows[:, best], names, labels, titles).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.ax_ = ax = base.tidy(base.axes_or_new(ax, figsize=(6.4, 4.6)))
        classes = len(base.classes_of(self.labels))
        grays = np.linspace(0.45, 0.82, classes) if classes > 1 else [0.7]
        look: dict[str, Any] = {"s": 13, "linewidths": 0, "zorder": 1}
        self.points_ = [
            ax.scatter(*self.scores[rows].T, label=name, **look, **style)
            for name, rows, style in base.groups_of(self.labels, [*map(str, grays)], "Greys")
        ]
        ax.set(xlabel=self.titles[0], ylabel=self.titles[1])
        # The longest arrow takes a sixth of the map.
        size, longest = np.ptp(self.scores, axis=0).max(), np.linalg.norm(self.arrows, axis=2).max()
        scaled = self.arrows * (0.17 * float(size) / float(longest) if longest > 0 else 1.0)
        colors = [COLORS[k % len(COLORS)] for k in range(len(self.names))]
        look = {"angles": "xy", "scale_units": "xy", "scale": 1, "edgecolor": "white", "zorder": 3}
        look |= {"width": 0.0055, "headwidth": 4, "headlength": 4.5, "headaxislength": 4}
        look["linewidth"] = 0.4
        self.arrows_ = [
            ax.quiver(*self.feet.T, *scaled[:, k].T, color=colors[k], label=name, **look)
            for k, name in enumerate(self.names)
        ]
        tips = self.feet[:, None] + scaled
        ax.update_datalim(np.concatenate([self.scores, tips.reshape(-1, 2)]))
        ax.margins(0.08)
        ax.autoscale_view()
        self._explain(ax)
        self._name_tips(ax, tips, colors)
        return self

    def _explain(self, ax: Axes) -> None:
        """A legend of the arrows, and below it one of the classes."""
        title = {"title": "one standard\ndeviation of", "title_fontsize": "small"}
        legend = base.legend_outside(ax, handles=self.arrows_, **title)
        if base.is_scale(self.labels):
            ax.figure.colorbar(self.points_[0], ax=ax, label="y", location="left")
        elif self.labels is not None:
            ax.add_artist(legend)
            legend.set_clip_on(False)  # else the layout leaves no room for it
            place = {"loc": "lower left", "bbox_to_anchor": (1.0, 0.0)}
            base.legend_outside(ax, handles=self.points_, markerscale=1.4, **place)

    def _name_tips(self, ax: Axes, tips: Array, colors: Sequence[str]) -> None:
        """The longest arrow of each variable carries its name, unless no place near it is free.

        The axes have their final limits, the strongest variables come first, and no name covers an
        arrow.
        """
        from matplotlib.transforms import Bbox

        ax.figure.draw_without_rendering()  # the layout settles, with it the size of the letters
        along = np.linspace(0, 1, 9)[:, None, None, None]
        arrows = (self.feet[:, None] + along * (tips - self.feet[:, None])).reshape(-1, 2)
        taken: list[Any] = [Bbox([at - 2, at + 2]) for at in ax.transData.transform(arrows)]
        look = {"fontsize": "x-small", "fontweight": "bold", "zorder": 5}
        self.texts_: list[Any] = []
        for k, longest in enumerate((self.arrows**2).sum(axis=2).argmax(axis=0)):
            tip, place = tips[longest, k], {"xytext": (0, 0), "textcoords": "offset points"}
            text = ax.annotate(self.names[k], tuple(tip), **place, color=colors[k], **look)
            if _find_place(ax, text, tip - self.feet[longest], taken):
                self.texts_.append(text)
            else:
                text.remove()
                self.texts_.append(None)


def _on_grid(subspace: Any, rows: Array, Z: Array, pair: list[int], grid: int) -> tuple[Array, ...]:
    """Mean scores and mean derivatives of the rows in each cell of the map that holds enough."""
    if len(rows) > ROWS:
        index = np.sort(fixed_rng(0).choice(len(rows), ROWS, replace=False))
        rows, Z = rows[index], Z[index]
    J = sensitivity(subspace, rows)[:, pair]
    width = np.where(np.ptp(Z, axis=0) > 0, np.ptp(Z, axis=0), 1)
    cell = np.minimum(((Z - Z.min(axis=0)) / width * grid).astype(int), grid - 1)
    number = cell @ [grid, 1]
    fewest = max(2, FEWEST * len(rows))
    full = [number == c for c in np.unique(number) if (number == c).sum() >= fewest]
    if not full:
        raise DataError(f"no cell of a {grid} × {grid} grid holds {fewest:.0f} rows; use fewer.")
    return tuple(np.array([values[inside].mean(axis=0) for inside in full]) for values in (Z, J))


#: Where a place for a name is looked for: points of type from the tip, and turns in radians.
DISTANCES = (3, 9, 16, 26)
TURNS = (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, 3.1)


def _find_place(ax: Axes, text: Any, outwards: Array, taken: list[Any]) -> bool:
    """Move the text to the first place, outwards or around, that is free and inside the axes."""
    frame, angle = ax.get_window_extent(), float(np.arctan2(outwards[1], outwards[0]))
    for distance, turn in product(DISTANCES, TURNS):
        x, y = np.cos(angle + turn), np.sin(angle + turn)
        text.set_position((distance * x, distance * y))
        text.set_horizontalalignment("left" if x > 0.3 else "right" if x < -0.3 else "center")
        text.set_verticalalignment("bottom" if y > 0.3 else "top" if y < -0.3 else "center")
        box = text.get_window_extent().padded(1)
        inside = frame.contains(*box.min) and frame.contains(*box.max)
        if inside and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return True
    return False
