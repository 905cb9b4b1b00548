"""The map of two components with local arrows: where a variable pushes, and how hard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count, fixed_rng
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError
from mercer.plots import _base as base
from mercer.relevance import sensitivity

#: Distances from the point at which a place for the name is looked for, in points of type.
DISTANCES = (3, 9, 16, 26)


def place_labels(
    ax: Axes,
    tips: Array,
    outwards: Array,
    names: Sequence[str],
    colors: Sequence[str],
    avoid: Array,
) -> list[Any]:
    """A text near each tip, first outwards, then around it; None where there is no free place.

    The axes have their final limits, the most important tips come first, and no name covers one of
    the (p, 2) points to ``avoid``.
    """
    from matplotlib.transforms import Bbox

    figure = ax.figure
    figure.draw_without_rendering()  # the layout settles, and with it the size of the letters
    taken: list[Any] = [Bbox([at - 2, at + 2]) for at in ax.transData.transform(avoid)]
    placed = []
    for tip, direction, name, color in zip(tips, outwards, names, colors, strict=True):
        angle = float(np.arctan2(direction[1], direction[0]))
        text = ax.annotate(
            name,
            tuple(tip),
            (0, 0),
            textcoords="offset points",
            color=color,
            fontsize="x-small",
            fontweight="bold",
            zorder=5,
        )
        placed.append(text if _find_place(ax, text, angle, taken) else None)
        if placed[-1] is None:
            text.remove()
    return placed


def _find_place(ax: Axes, text: Any, angle: float, taken: list[Any]) -> bool:
    """Move the text to the first place that is free and inside the axes."""
    frame = ax.get_window_extent()
    for distance in DISTANCES:
        for turn in (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, 3.1):
            x, y = np.cos(angle + turn), np.sin(angle + turn)
            text.set_position((distance * x, distance * y))
            text.set_horizontalalignment("left" if x > 0.3 else "right" if x < -0.3 else "center")
            text.set_verticalalignment("bottom" if y > 0.3 else "top" if y < -0.3 else "center")
            box = text.get_window_extent().padded(1)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            inside &= frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                return True
    return False


#: Rows that the arrows are averaged over.
ROWS = 2000
#: Colours of variables; grey is for the rows.
COLORS = tuple(color for color in base.PALETTE if color not in ("#94a4a2", "#717581"))
#: A cell of the map with fewer rows than this share gets no arrows.
FEWEST = 0.01


@dataclass
class BiplotDisplay(base.Display):
    """Scores of rows, and arrows that say what the variables do *there*.

    Kernel components bend: a variable may push to the right in one place and to the left in
    another, so that one arrow for the whole map would lie. An arrow is the mean change of the two
    scores near its foot when the variable grows by one standard deviation; all arrows have one
    scale.

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
        std = rows.std(axis=0, dtype=np.float64)
        with base.nameless_rows():
            if at is None:
                feet, J = _on_grid(subspace, rows, Z, pair, check_count("grid", grid))
            else:
                points = base.rows_of(estimator, at)
                feet = subspace.scores(points)[:, pair]
                J = sensitivity(subspace, points)[:, pair]
        arrows = np.moveaxis(J * std, 1, 2)  # (points, variables, 2)
        best = np.argsort(-(arrows**2).sum(axis=(0, 2)), kind="stable")[:count]
        names = list(base.names_of(estimator, best))
        titles = base.component_names(pair, base.shares_of(model, pair))
        return cls(Z, feet, arrows[:, best], names, labels, titles).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.ax_ = ax = base.axes_or_new(ax, figsize=(6.4, 4.6))
        self._scatter(ax)
        ax.set(xlabel=self.titles[0], ylabel=self.titles[1])
        base.tidy(ax)
        scaled = self.arrows * self._scale()
        colors = [COLORS[k % len(COLORS)] for k in range(len(self.names))]
        self.arrows_ = [
            ax.quiver(
                *self.feet.T,
                *scaled[:, k].T,
                angles="xy",
                scale_units="xy",
                scale=1,
                width=0.0055,
                headwidth=4,
                headlength=4.5,
                headaxislength=4,
                color=colors[k],
                edgecolor="white",
                linewidth=0.4,
                zorder=3,
                label=self.names[k],
            )
            for k in range(len(self.names))
        ]
        tips = self.feet[:, None] + scaled
        ends = np.concatenate([self.scores, tips.reshape(-1, 2)])
        ax.update_datalim(ends)
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

    def _scatter(self, ax: Axes) -> None:
        if base.is_scale(self.labels):
            shade = {"s": 13, "c": self.labels, "cmap": "Greys", "linewidths": 0, "zorder": 1}
            self.points_ = [ax.scatter(*self.scores.T, **shade)]
            return
        groups = base.classes_of(self.labels)
        grays = np.linspace(0.45, 0.82, len(groups)) if len(groups) > 1 else [0.7]
        self.points_ = []
        for g, (label, rows) in enumerate(groups):
            style = {"s": 13, "color": str(grays[g]), "linewidths": 0, "zorder": 1}
            mark = base.MARKERS[g % len(base.MARKERS)]
            self.points_.append(ax.scatter(*self.scores[rows].T, marker=mark, label=label, **style))

    def _scale(self) -> float:
        """The longest arrow takes a sixth of the map."""
        size = float(np.ptp(self.scores, axis=0).max())
        longest = float(np.sqrt((self.arrows**2).sum(axis=2)).max())
        return 0.17 * size / longest if longest > 0 else 1.0

    def _name_tips(self, ax: Axes, tips: Array, colors: Sequence[str]) -> None:
        """The longest arrow of each variable carries its name."""
        longest = (self.arrows**2).sum(axis=2).argmax(axis=0)
        index = np.arange(len(self.names))
        where, foot = tips[longest, index], self.feet[longest]
        along = np.linspace(0, 1, 9)[:, None, None, None]
        arrows = (self.feet[:, None] + along * (tips - self.feet[:, None])).reshape(-1, 2)
        names = list(self.names)
        self.texts_ = place_labels(ax, where, where - foot, names, colors, arrows)


def _on_grid(
    subspace: Any, rows: Array, Z: Array, pair: list[int], grid: int
) -> tuple[Array, Array]:
    """Mean scores and mean derivatives of the rows in each cell of the map that holds enough."""
    index = np.arange(len(rows))
    if len(rows) > ROWS:
        index = np.sort(fixed_rng(0).choice(len(rows), ROWS, replace=False))
    rows, Z = rows[index], Z[index]
    J = sensitivity(subspace, rows)[:, pair]
    low, high = Z.min(axis=0), Z.max(axis=0)
    width = np.where(high > low, high - low, 1)
    cell = np.minimum(((Z - low) / width * grid).astype(int), grid - 1)
    number = cell[:, 0] * grid + cell[:, 1]
    fewest = max(2, FEWEST * len(rows))
    full = [c for c in range(grid * grid) if (number == c).sum() >= fewest]
    if not full:
        raise DataError(f"no cell of a {grid} × {grid} grid holds {fewest:.0f} rows; use fewer.")
    feet = np.array([Z[number == c].mean(axis=0) for c in full])
    return feet, np.array([J[number == c].mean(axis=0) for c in full])
