"""A sheet of generated images."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, Self

import numpy as np
from sklearn.neighbors import NearestNeighbors

from mercer._base.numbers import check_count, fixed_rng
from mercer._base.types import Array, ArrayLike, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, Remedy
from mercer.plots._images import shape_of_rows, show_tiles
from mercer.plots._matplotlib import Display
from mercer.plots._models import rows_of, subspace_of


@dataclass
class SampleSheetDisplay(Display):
    """Images drawn from a generative model, and the real ones that are nearest to them.

    Attributes
    ----------
    samples : (r, c, d) array
        Line by line.
    nearest : (r, c, d) array or None
        For each sample the real row nearest to it: a model that copies shows here.
    distances : (r, c) array or None
        Between the two.
    labels : list or None
        The class that each line shows.
    image_shape : tuple of int
    limits : pair of float or None
        Values of paper and ink: the range of the model's support points, so that sheets compare;
        that of what is drawn, if None.
    figure_, ax_, image_
        What was drawn.
    """

    samples: Array
    image_shape: tuple[int, ...]
    nearest: Array | None = None
    labels: list[Any] | None = None
    limits: tuple[float, float] | None = None

    @property
    def distances(self) -> Array | None:
        """Distance of each sample from the real row nearest to it."""
        if self.nearest is None:
            return None
        return np.asarray(np.linalg.norm(self.samples - self.nearest, axis=-1))

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        n_samples: int = 40,
        image_shape: tuple[int, ...] | None = None,
        random_state: int | np.random.Generator = 0,
        cmap: Any = None,
        ax: Axes = None,
    ) -> SampleSheetDisplay:
        """Draw samples of a generative model.

        Parameters
        ----------
        estimator : GenerativeKernelPCA, fitted to images as rows
        X : (n, d) real rows, optional
            Shows beside each sample the row nearest to it; give the training rows to see whether
            the model copies them.
        y : sequence of labels, optional
            For a model fitted with labels: a line of samples for each different one.
        n_samples : int, default=40
        image_shape : (h, w) or (h, w, 3), optional
            By default a square, if there are 16 columns or more with values from 0 to 255.
        random_state : int or Generator, default=0
        cmap : matplotlib colour map, optional
            Black on white for ink, ``"gray"`` for photographs by default.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from mercer import GenerativeKernelPCA
        >>> from mercer.plots import SampleSheetDisplay
        >>> X, y = load_digits(return_X_y=True)
        >>> model = GenerativeKernelPCA(20, random_state=0).fit(X[:300], y[:300])
        >>> display = SampleSheetDisplay.from_estimator(model, y=[3, 8], n_samples=16)
        >>> display.samples.shape
        (2, 8, 64)
        """
        subspace_of(estimator)
        if not hasattr(estimator, "sample"):
            raise DataError(
                f"{type(estimator).__name__} cannot draw samples; "
                + Remedy(
                    "use GenerativeKernelPCA.",
                    shell="fit one with 'mercer fit DATA --model generative'.",
                )
            )
        support = rows_of(estimator, None)
        shape = shape_of_rows(support, image_shape)
        n = check_count("n_samples", n_samples)
        labels = None if y is None else np.unique(np.asarray(y)).tolist()
        lines = max(1, round(sqrt(n / 2))) if labels is None else len(labels)
        columns = ceil(n / lines)
        drawn = _draw(estimator, lines, columns, labels, random_state)
        nearest = None if X is None else _nearest(drawn, rows_of(estimator, X))
        limits = float(support.min()), float(support.max())
        return cls(drawn, shape, nearest, labels, limits).plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: Any = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        lines, columns, d = self.samples.shape
        tiles, names = self.samples, [""] * columns
        if self.nearest is not None:
            between = np.full((lines, 1, d), np.nan)
            tiles = np.concatenate([self.samples, between, self.nearest], axis=1)
            names = [""] * (2 * columns + 1)
            names[columns // 2], names[columns + 1 + columns // 2] = "samples", "nearest rows"
        real = self.samples if self.nearest is None else self.nearest
        self.ax_, self.image_ = show_tiles(
            ax,
            tiles,
            self.image_shape,
            limits=self.limits or (float(real.min()), float(real.max())),
            row_labels=[] if self.labels is None else [str(name) for name in self.labels],
            column_labels=names if any(names) else [],
            cmap=cmap,
        )
        if self.labels is not None:
            self.ax_.set_ylabel("class")
        return self


def _draw(
    estimator: Estimator,
    lines: int,
    columns: int,
    labels: ArrayLike,
    random_state: int | np.random.Generator,
) -> Array:
    """Samples, (lines, columns, d)."""
    rng = fixed_rng(random_state)
    if labels is None:
        drawn = np.asarray(estimator.sample(lines * columns, random_state=rng))
    else:
        drawn = np.concatenate(
            [estimator.sample(columns, label=label, random_state=rng) for label in labels]
        )
    return drawn.reshape(lines, columns, -1)


def _nearest(drawn: Array, rows: Array) -> Array:
    flat = drawn.reshape(-1, drawn.shape[-1])
    index = NearestNeighbors(n_neighbors=1).fit(rows).kneighbors(flat, return_distance=False)
    return np.asarray(rows[index[:, 0]]).reshape(drawn.shape)
