"""Planes of input space: contours of the components, and the rows that a sparse model keeps."""

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError
from mercer.plots import _base as base
from mercer.plots._tables import in_units, nameless_rows, units_of


class ComponentsDisplay(base.Display):
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
    units : pair of columns, optional
        Of a table: those whose values stand beside the axes.
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
    units: Sequence[Any] = ()

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
    ) -> Self:
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
        model = base.model_to_draw(estimator)
        shown = base.check_components(components, model.subspace.n_components, default=3)
        rows = base.rows_of(estimator, X)
        labels = base.check_labels(y, len(rows))
        pair, d = [int(i) for i in np.ravel(features)], rows.shape[1]
        if len(pair) != 2 or len({*pair} & {*range(d)}) != 2:
            raise DataError(
                f"features={features!r} span no plane; give two different ones from 0 to {d - 1}."
            )
        x, y_grid, points = base.plane(rows, pair, check_count("grid", grid, 2))
        values = model.subspace.scores(points)[:, shown].T.reshape(len(shown), grid, grid)
        inside, shares = rows[:, pair] if d == 2 else None, base.shares_of(model, shown)
        words = shares, base.names_of(estimator, pair), units_of(estimator, pair)
        return cls(x, y_grid, values, shown, inside, labels, *words).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax``, as many axes as there are components, or a new figure."""
        look: dict[str, Any] = {"margin": (0.3, 0.2), "fontsize": "small"}
        self.axes_ = base.panel_grid(ax, len(self.values), (2.9, 2.5), *self.names, **look)
        self.contours_ = [self._panel(panel, k) for k, panel in enumerate(self.axes_)]
        self.legend_ = None
        if self.rows is not None and self.labels is not None:
            where, place = self.axes_[-1], "best"
            if ax is None:
                where, place = self.figure_, "outside right upper"
            shapes = self.axes_[0].get_legend_handles_labels()
            self.legend_ = where.legend(*shapes, frameon=False, fontsize="small", loc=place)
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
            for g, (name, inside) in enumerate(base.classes_of(self.labels)):
                marker = base.MARKERS[g % len(base.MARKERS)]
                style = {"s": 7, "color": "black", "marker": marker, "linewidths": 0}
                ax.scatter(*self.rows[inside].T, label=name, **style)
        ax.set_title(base.component_names(self.components, self.shares)[k], fontsize="small")
        in_units(ax, self.units)
        ax.tick_params(labelsize="x-small")
        bar = ax.figure.colorbar(contours, ax=ax, ticks=MaxNLocator(5, symmetric=True), aspect=30)
        bar.ax.tick_params(labelsize="x-small", length=2)
        bar.outline.set_visible(False)
        if k == len(self.components) - 1:
            bar.set_label("score", fontsize="small")
        return contours


#: Area of the largest circle, in points².
LARGEST = 320.0


class RepresentingVectorsDisplay(base.Display):
    """Representing vectors with their weights: in the plane, or as images.

    Two variables are drawn as they are, over the distance in feature space from all that the
    vectors can express (Tipping 2001, Figure 3). Images are drawn as images, the largest weight
    first. All else is drawn in the plane of the first two components.

    Attributes
    ----------
    vectors : (m, d) array
        By decreasing weight.
    weights : (m,) array
    n_vectors : int
        Of the model, where only the first m are shown.
    places : (m, 2) array or None
        Where the vectors are drawn; None for images.
    rows : (n, 2) array or None
    grid : tuple (x, y, values) or None
        Distances over the plane.
    image_shape : tuple of int or None
    names : pair of str
        Of the axes.
    units : pair of columns, optional
        Of a table: those whose values stand beside the axes.
    figure_, ax_, circles_, points_, contour_, image_
        What was drawn; None for what was not.
    """

    vectors: Array
    weights: Array
    n_vectors: int
    places: Array | None = None
    rows: Array | None = None
    grid: tuple[Array, Array, Array] | None = None
    image_shape: tuple[int, ...] | None = None
    names: Sequence[str] = ("x0", "x1")
    units: Sequence[Any] = ()
    circles_ = points_ = contour_ = image_ = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        image_shape: tuple[int, ...] | None = None,
        limit: int = 60,
        grid: int = 90,
        cmap: Any = None,
        ax: Axes = None,
    ) -> Self:
        """Draw the vectors that a fitted sparse model keeps.

        Parameters
        ----------
        estimator : SparseKernelPCA, fitted
        X : (n, d) rows that the vectors stand for, optional
            Drawn as dots, unless the rows are images.
        y : ignored
        image_shape : (h, w) or (h, w, 3), optional
            Rows are images; by default if they have 16, 25, 36, … columns.
        limit : int, default=60
            Show at most this many images.
        grid : int, default=90
            Points per axis for the distances in a plane.
        cmap : matplotlib colour map, optional
            Black on white for ink, ``"gray"`` for photographs by default.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> from mercer import SparseKernelPCA
        >>> from mercer.papers.tipping2001 import three_clusters
        >>> from mercer.plots import RepresentingVectorsDisplay
        >>> X, _ = three_clusters(seed=1)
        >>> model = SparseKernelPCA(n_kernels=8).fit(X)
        >>> display = RepresentingVectorsDisplay.from_estimator(model, X, grid=20)
        >>> display.places.shape
        (8, 2)
        """
        subspace = base.model_to_draw(estimator, "span_error").subspace
        rows = None if X is None else base.rows_of(estimator, X)
        order = np.argsort(-estimator.weights_, kind="stable")
        vectors, weights = base.rows_of(estimator, None)[order], estimator.weights_[order]
        display = cls(vectors, np.asarray(weights), len(weights), vectors, rows)
        if image_shape is not None or base.look_like_images(vectors):
            display.image_shape = base.shape_of_image(vectors.shape[1], image_shape)
            shown = slice(check_count("limit", limit))
            display.vectors, display.weights = vectors[shown], display.weights[shown]
            display.places = display.rows = None
        elif vectors.shape[1] == 2:
            every = vectors if rows is None else np.vstack([vectors, rows])
            x, y_grid, points = base.plane(every, [0, 1], check_count("grid", grid, 2))
            with nameless_rows():
                display.grid = x, y_grid, estimator.span_error(points).reshape(grid, grid)
            display.names = base.names_of(estimator, [0, 1])
            display.units = units_of(estimator, [0, 1])
        else:  # in the plane of two components, since the variables cannot be seen themselves
            if subspace.n_components < 2:
                raise DataError("a plane needs 2 components, and the model has 1; fit more.")
            scores = subspace.leading(2).scores
            display.places, display.rows = scores(vectors), None if rows is None else scores(rows)
            display.names = ("component 0", "component 1")
        return display.plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: Any = None) -> Self:
        if self.image_shape is not None:
            m = len(self.vectors)
            self._show(ax, cmap, base.in_lines(self.vectors, ceil(sqrt(2 * m))), self.vectors)
            count = f"{m}" if m == self.n_vectors else f"{m} of {self.n_vectors}"
            self.ax_.set_title(f"{count} representing rows, by decreasing weight", fontsize="small")
            return self
        self.ax_ = ax = base.tidy(base.axes_or_new(ax, figsize=(5.6, 4.2)))
        if self.grid is not None:
            # Not the darkest end of the scale: dots and circles stay in sight.
            darkest = 1.5 * float(self.grid[2].max())
            style = {"levels": 10, "cmap": "Purples", "vmin": 0, "vmax": darkest}
            self.contour_ = ax.contourf(*self.grid, **style)
            ax.figure.colorbar(self.contour_, ax=ax, label="squared distance from their span")
        if self.rows is not None:
            color = base.ink() if self.grid is None else "black"
            style = {"s": 7, "color": color, "linewidths": 0, "alpha": 0.7}
            self.points_ = ax.scatter(*self.rows.T, label="rows", **style)
        size = LARGEST * np.sqrt(self.weights / self.weights.max())
        label = f"{len(self.weights)} representing, by weight"
        style = {"facecolors": "none", "edgecolors": base.ACCENT, "linewidths": 1.8}
        self.circles_ = ax.scatter(*np.asarray(self.places).T, s=size, label=label, **style)
        base.legend_above(ax).legend_handles[-1].set_sizes([60])
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        in_units(ax, self.units)
        return self
