"""Pre-images of rows, against the number of components."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, argument
from mercer.plots._images import first_of_each, shape_of_rows, show_tiles
from mercer.plots._matplotlib import Display
from mercer.plots._models import check_labels, require_preimages, rows_of, subspace_of


@dataclass
class PreImageGalleryDisplay(Display):
    """What 1, 2, 4, … components keep of images.

    Attributes
    ----------
    originals : (c, d) array
    preimages : (r, c, d) array
        Reconstructions from the first ``n_components[i]`` scores alone.
    n_components : list of int
    image_shape : tuple of int
    labels : (c,) array or None
    errors : (r,) array
        Mean squared distance between reconstructions and originals.
    figure_, ax_, image_
        What was drawn; ``image_`` is one picture with the originals in its first line.
    """

    originals: Array
    preimages: Array
    n_components: Sequence[int]
    image_shape: tuple[int, ...]
    labels: Array | None = None

    @property
    def errors(self) -> Array:
        """Mean squared distance in input space, for each number of components."""
        return np.array([square_sums(line - self.originals).mean() for line in self.preimages])

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        n_components: Sequence[int] | None = None,
        n_images: int = 10,
        image_shape: tuple[int, ...] | None = None,
        cmap: object = None,
        ax: Axes = None,
    ) -> PreImageGalleryDisplay:
        """Draw reconstructions of images by a fitted model.

        Parameters
        ----------
        estimator : KernelPCA or another model with pre-images, fitted to images as rows
        X : (n, d) images, optional
            Those that the model has not seen tell more than its support points, the default.
        y : (n,) classes, optional
            Shows the first image of each class.
        n_components : sequence of int, optional
            Powers of four, and all that the model has, by default.
        n_images : int, default=10
            At most so many.
        image_shape : (h, w) or (h, w, 3), optional
            By default a square, if there are 16 columns or more with values from 0 to 255.
        cmap : matplotlib colour map, optional
            Black on white for ink, ``"gray"`` for photographs by default.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelPCA
        >>> from mercer.plots import PreImageGalleryDisplay
        >>> X, y = load_digits(return_X_y=True)
        >>> model = KernelPCA(16).fit(X[:300])
        >>> display = PreImageGalleryDisplay.from_estimator(model, X[300:], y=y[300:])
        >>> display.n_components, display.preimages.shape
        ([1, 4, 16], (3, 10, 64))
        """
        subspace = subspace_of(estimator)
        require_preimages(estimator)
        rows = rows_of(estimator, X)
        shape = shape_of_rows(rows, image_shape)
        counts = _check_counts(n_components, subspace.n_components)
        labels = check_labels(y, len(rows))
        shown = first_of_each(labels, len(rows), check_count("n_images", n_images))
        found = np.stack([_reconstruct(estimator, rows[shown], q) for q in counts])
        names = None if labels is None else labels[shown]
        return cls(rows[shown], found, counts, shape, names).plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: object = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        tiles = np.concatenate([self.originals[None], self.preimages])
        self.ax_, self.image_ = show_tiles(
            ax,
            tiles,
            self.image_shape,
            limits=(float(self.originals.min()), float(self.originals.max())),
            row_labels=["original", *(f"{q}" for q in self.n_components)],
            column_labels=[] if self.labels is None else [str(name) for name in self.labels],
            cmap=cmap,
        )
        self.ax_.set_ylabel("components")
        return self


def _check_counts(counts: Sequence[int] | None, available: int) -> list[int]:
    if counts is None:
        return sorted({4**k for k in range(8) if 4**k < available} | {available})
    checked = [check_count("n_components", q) for q in np.atleast_1d(np.asarray(counts))]
    if not checked or max(checked) > available:
        raise DataError(
            argument("n_components", counts)
            + f": the model has {available}; give numbers from 1 to that."
        )
    return checked


def _reconstruct(estimator: Estimator, rows: Array, q: int) -> Array:
    """Pre-images of the projections onto the first q components, from the scores alone."""
    small = copy(estimator)  # its own way back, on fewer components
    small._model_ = estimator._model_.leading(q)
    return np.asarray(small.inverse_transform(small.subspace_.scores(rows)))
