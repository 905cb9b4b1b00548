"""Contours of the components over a plane of input space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError
from mercer.plots._matplotlib import MARKERS, Display, panel_grid
from mercer.plots._models import (
    check_components,
    check_labels,
    classes_of,
    names_of,
    rows_of,
    shares_if_known,
    subspace_of,
)


@dataclass
class ComponentsDisplay(Display):
    """Scores of the first components as functions of two variables.

    Attributes
    ----------
    x, y : (g,) arrays
        The grid.
    values : (p, g, g) array
        Scores on the grid, one page for each component; ``values[k, i, j]`` at ``x[j], y[i]``.
    components : list of int
    rows : (n, 2) array or None
        Drawn as dots; None where they do not lie in the plane.
    labels : (n,) array or None
    shares : (p,) array or None
    names : pair of str
        Of the two variables.
    figure_, axes_, contours_, legend_
        What was drawn; one entry for each component, and a legend of the classes, if there are any.
    """

    x: Array
    y: Array
    values: Array
    components: Sequence[int]
    rows: Array | None = None
    labels: Array | None = None
    shares: Array | None = None
    names: Sequence[str] = ("first variable", "second variable")

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        components: int | Sequence[int] | None = None,
        features: tuple[int, int] = (0, 1),
        grid: int = 90,
        ax: Axes = None,
    ) -> ComponentsDisplay:
        """Draw the components of a fitted model.

        Parameters
        ----------
        estimator : KernelPCA or another model with components, fitted
        X : (n, d) rows, optional
            The plane covers them with a margin; the model's support points by default.
        y : (n,) classes, optional
            Each gets a shape of its own.
        components : int or sequence of int, optional
            How many of the first, or which, counted from 0; three by default.
        features : pair of int, default=(0, 1)
            The variables that span the plane. Of more than two, the others are held at their mean
            over the rows, and the rows are not drawn.
        grid : int, default=90
            Points per axis.
        ax : matplotlib axes, or an array of them, optional

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> from mercer.plots import ComponentsDisplay
        >>> X = np.random.default_rng(0).standard_normal((60, 2))
        >>> display = ComponentsDisplay.from_estimator(KernelPCA(3).fit(X), grid=20)
        >>> display.values.shape
        (3, 20, 20)
        """
        subspace = subspace_of(estimator)
        shown = check_components(components, subspace.n_components, default=3)
        rows = rows_of(estimator, X)
        labels = check_labels(y, len(rows))
        pair = _check_features(features, rows.shape[1])
        x, y_grid, points = plane(rows, pair, check_count("grid", grid, 2))
        values = subspace.scores(points)[:, shown].T.reshape(len(shown), grid, grid)
        known = shares_if_known(estimator)
        shares = None if known is None else known[shown]
        inside = rows[:, pair] if rows.shape[1] == 2 else None
        names = names_of(estimator, pair)
        return cls(x, y_grid, values, shown, inside, labels, shares, names).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax``, as many axes as there are components, or a new figure."""
        p = len(self.components)
        self.axes_, columns = panel_grid(
            ax, p, lambda lines, columns: (2.9 * columns + 0.3, 2.5 * lines + 0.2)
        )
        self.contours_ = [self._panel(panel, k) for k, panel in enumerate(self.axes_)]
        self.legend_ = None
        if self.rows is not None and self.labels is not None:
            handles, names = self.axes_[0].get_legend_handles_labels()
            place = {"loc": "outside right upper"} if ax is None else {"loc": "best"}
            where = self.figure_ if ax is None else self.axes_[-1]
            self.legend_ = where.legend(handles, names, frameon=False, fontsize="small", **place)
        for i, panel in enumerate(self.axes_):
            panel.tick_params(labelsize="x-small")
            if i + columns >= p:
                panel.set_xlabel(self.names[0], fontsize="small")
            if i % columns == 0:
                panel.set_ylabel(self.names[1], fontsize="small")
        return self

    def _panel(self, ax: Axes, k: int) -> Any:
        from matplotlib.ticker import MaxNLocator

        values = self.values[k]
        limit = max(float(np.abs(values).max()), np.finfo(float).tiny)
        # Levels symmetric around 0, so that white is the mean in every panel.
        levels = np.linspace(-limit, limit, 14)
        contours = ax.contourf(self.x, self.y, values, levels=levels, cmap="RdBu_r")
        ax.contour(self.x, self.y, values, levels=levels, colors="0.35", linewidths=0.4)
        if self.rows is not None:
            for g, (name, inside) in enumerate(classes_of(self.labels)):
                marker = MARKERS[g % len(MARKERS)]
                style = {"s": 7, "color": "black", "marker": marker, "linewidths": 0}
                ax.scatter(*self.rows[inside].T, label=name, **style)
        share = "" if self.shares is None else f" ({self.shares[k]:.1%})"
        ax.set_title(f"component {self.components[k]}{share}", fontsize="small")
        bar = ax.figure.colorbar(contours, ax=ax, ticks=MaxNLocator(5, symmetric=True), aspect=30)
        bar.ax.tick_params(labelsize="x-small", length=2)
        bar.outline.set_visible(False)
        if k == len(self.components) - 1:
            bar.set_label("score", fontsize="small")
        return contours


def plane(rows: Array, pair: list[int], grid: int) -> tuple[Array, Array, Array]:
    """Grid lines that cover two columns of the rows with a margin, and all points of the grid."""
    low, high = rows[:, pair].min(axis=0), rows[:, pair].max(axis=0)
    margin = 0.15 * np.where(high > low, high - low, 1)
    x, y = np.linspace(low - margin, high + margin, grid).T
    points = np.tile(rows.mean(axis=0), (grid * grid, 1))
    points[:, pair] = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return x, y, points.astype(rows.dtype)


def _check_features(features: Any, d: int) -> list[int]:
    pair = [int(i) for i in np.atleast_1d(features)]
    if d < 2 or len(pair) != 2 or pair[0] == pair[1] or not all(0 <= i < d for i in pair):
        raise DataError(
            f"features={features!r} of {d} variables span no plane; "
            f"give two different numbers from 0 to {d - 1}, of at least two variables."
        )
    return pair
