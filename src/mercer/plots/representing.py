"""The rows that a sparse model keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, Remedy
from mercer.plots._images import look_like_images, shape_of_image, show_tiles
from mercer.plots._matplotlib import ACCENT, Display, axes_or_new, ink, legend_above, tidy
from mercer.plots._models import nameless_rows, names_of, rows_of, subspace_of
from mercer.plots.components import plane

#: Area of the largest circle, in points².
LARGEST = 320.0


@dataclass
class RepresentingVectorsDisplay(Display):
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
    ) -> RepresentingVectorsDisplay:
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
            Show at most so many images.
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
        subspace = subspace_of(estimator)
        if not hasattr(estimator, "span_error"):
            raise DataError(
                f"{type(estimator).__name__} has no representing vectors; "
                + Remedy(
                    "fit SparseKernelPCA, or compress(model, n_kernels).",
                    shell="fit one with 'mercer fit DATA --model sparse'.",
                )
            )
        rows = None if X is None else rows_of(estimator, X)
        support = rows_of(estimator, None)
        order = np.argsort(-estimator.weights_, kind="stable")
        vectors, weights = support[order], np.asarray(estimator.weights_)[order]
        d = vectors.shape[1]
        if image_shape is not None or look_like_images(vectors):
            shape = shape_of_image(d, image_shape)
            kept = check_count("limit", limit)
            sheet = cls(vectors[:kept], weights[:kept], len(weights), image_shape=shape)
            return sheet.plot(ax=ax, cmap=cmap)
        if d == 2:
            every = vectors if rows is None else np.vstack([vectors, rows])
            x, y_grid, points = plane(every, [0, 1], check_count("grid", grid, 2))
            with nameless_rows():
                distance = estimator.span_error(points).reshape(grid, grid)
            field_, names = (x, y_grid, distance), names_of(estimator, [0, 1])
            display = cls(vectors, weights, len(weights), vectors, rows, field_, names=names)
            return display.plot(ax=ax)
        # All else in the plane of two components, since the variables cannot be seen themselves.
        if subspace.n_components < 2:
            raise DataError("a plane needs 2 components, and the model has 1; fit it with more.")
        pair = subspace.leading(2)
        dots, names = None if rows is None else pair.scores(rows), ("component 0", "component 1")
        places = pair.scores(vectors)
        return cls(vectors, weights, len(weights), places, dots, names=names).plot(ax=ax)

    def plot(self, *, ax: Axes = None, cmap: Any = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        if self.image_shape is not None:
            return self._sheet(ax, self.image_shape, cmap)
        self.ax_ = ax = axes_or_new(ax, figsize=(5.6, 4.2))
        if self.grid is not None:
            # Not the darkest end of the scale: dots and circles stay in sight.
            darkest = 1.5 * float(self.grid[2].max())
            style = {"levels": 10, "cmap": "Purples", "vmin": 0, "vmax": darkest}
            self.contour_ = ax.contourf(*self.grid, **style)
            ax.figure.colorbar(self.contour_, ax=ax, label="squared distance from their span")
        if self.rows is not None:
            color = ink() if self.grid is None else "black"
            style = {"s": 7, "color": color, "linewidths": 0, "alpha": 0.7}
            self.points_ = ax.scatter(*self.rows.T, label="rows", **style)
        size = LARGEST * np.sqrt(self.weights / self.weights.max())
        label = f"{len(self.weights)} representing, by weight"
        style = {"facecolors": "none", "edgecolors": ACCENT, "linewidths": 1.8}
        self.circles_ = ax.scatter(*np.asarray(self.places).T, s=size, label=label, **style)
        handles = legend_above(ax).legend_handles
        handles[-1].set_sizes([60])
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        tidy(ax)
        return self

    def _sheet(self, ax: Axes, shape: tuple[int, ...], cmap: Any) -> Self:
        """Images in reading order."""
        m, d = self.vectors.shape
        columns = ceil(sqrt(2 * m))
        lines = ceil(m / columns)
        tiles = np.full((lines * columns, d), np.nan)
        tiles[:m] = self.vectors
        self.ax_, self.image_ = show_tiles(
            ax,
            tiles.reshape(lines, columns, d),
            shape,
            limits=(float(self.vectors.min()), float(self.vectors.max())),
            cmap=cmap,
        )
        count = f"{m}" if m == self.n_vectors else f"{m} of {self.n_vectors}"
        self.ax_.set_title(f"{count} representing rows, by decreasing weight", fontsize="small")
        return self
