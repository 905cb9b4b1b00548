"""A walk along each component, seen in input space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError
from mercer.generative import along_component
from mercer.model import model_of
from mercer.plots._images import shape_of_rows, show_tiles
from mercer.plots._matplotlib import Display
from mercer.plots._models import check_components, require_preimages, rows_of, subspace_of


@dataclass
class TraversalDisplay(Display):
    """Images along components: what changes with each score while the others stay.

    Attributes
    ----------
    images : (p, s, d) array
        One line for each component, one column for each step.
    positions : (s,) array
        Steps from the start, in standard deviations of the component's scores.
    components : list of int
    image_shape : tuple of int
    limits : pair of float
        Values of paper and ink: the range of the model's support points.
    figure_, ax_, image_
        What was drawn; ``image_`` is one picture of p × s images.
    """

    images: Array
    positions: Array
    components: Sequence[int]
    image_shape: tuple[int, ...]
    limits: tuple[float, float]

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        components: int | Sequence[int] | None = None,
        span: float = 2.0,
        steps: int = 9,
        image_shape: tuple[int, ...] | None = None,
        cmap: object = None,
        ax: Axes = None,
    ) -> TraversalDisplay:
        """Walk along components and return to input space at every step.

        Parameters
        ----------
        estimator : KernelPCA, GenerativeKernelPCA or another model with ``inverse_transform``
            Fitted to images as rows.
        X : (n, d) the image to start from, optional
            Of several, the mean of their scores, for example of one class; of none, that of the
            model.
        y : ignored
        components : int or sequence of int, optional
            How many of the first, or which, counted from 0; five by default.
        span : float, default=2.0
            How far to go to either side, in standard deviations of the component's scores.
        steps : int, default=9
        image_shape : (h, w) or (h, w, 3), optional
            By default a square, if there are 16 columns or more with values from 0 to 255.
        cmap : matplotlib colour map, optional
            Black on white for ink, ``"gray"`` for photographs by default.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelPCA
        >>> from mercer.plots import TraversalDisplay
        >>> X = load_digits().data[:300]
        >>> display = TraversalDisplay.from_estimator(KernelPCA(10).fit(X), components=2, steps=5)
        >>> display.images.shape
        (2, 5, 64)
        """
        subspace = subspace_of(estimator)
        require_preimages(estimator)
        shown = check_components(components, subspace.n_components, default=5)
        support = rows_of(estimator, None)
        shape = shape_of_rows(support, image_shape)
        if not isinstance(span, Real) or not 0 < span < np.inf:
            raise DataError(f"span={span!r}: give a positive number of standard deviations.")
        positions = np.linspace(-float(span), float(span), check_count("steps", steps, 2))
        start, deviations = _start(estimator, X), _deviations(estimator)
        ways = [along_component(start, k, deviations, span, steps) for k in shown]
        points = np.asarray(estimator.inverse_transform(np.concatenate(ways)))
        images, limits = points.reshape(len(shown), steps, -1), (support.min(), support.max())
        return cls(images, positions, shown, shape, limits).plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: object = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        self.ax_, self.image_ = show_tiles(
            ax,
            self.images,
            self.image_shape,
            limits=self.limits,
            row_labels=[f"{k}" for k in self.components],
            column_labels=[_signed(t) for t in self.positions],
            cmap=cmap,
        )
        self.ax_.set_ylabel("component")
        self.ax_.set_xlabel("standard deviations from the start")
        return self


def _start(estimator: Estimator, X: RowsLike) -> Array:
    """Mean scores of the images given, or of the model: zero if it is centred."""
    subspace = subspace_of(estimator)
    if X is None and subspace.mean.any():
        return np.zeros_like(subspace.offset)
    return np.asarray(subspace.scores(rows_of(estimator, X)).mean(axis=0))


def _deviations(estimator: Estimator) -> Array:
    """Standard deviations of the scores: √λ, or those of the support points' scores."""
    variance = model_of(estimator).explained_variance
    if variance is not None:
        return np.asarray(np.sqrt(variance))
    subspace = subspace_of(estimator)
    return np.asarray(subspace.scores(subspace.support).std(axis=0))


def _signed(t: float) -> str:
    return f"{t:+.3g}".replace("-", "−") if abs(t) > 1e-12 else "0"
