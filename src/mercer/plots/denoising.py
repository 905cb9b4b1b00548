"""Images before and after denoising, by linear and by kernel PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.numbers import check_count, fixed_rng
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError
from mercer.plots._images import first_of_each, shape_of_rows, show_tiles
from mercer.plots._matplotlib import Display
from mercer.plots._models import (
    check_labels,
    nameless_rows,
    require_preimages,
    rows_of,
    subspace_of,
)
from mercer.selection import Noise, add_noise

#: Noise that is added if none is stated, as a share of the range of the clean rows.
NOISE = 0.3


@dataclass
class DenoisingDisplay(Display):
    """A strip of images: clean, noisy, restored by linear PCA, restored by kernel PCA.

    Attributes
    ----------
    clean, noisy, linear, kernel : (c, d) arrays
        The images shown.
    errors : dict of str to float
        Mean squared distance from clean, over **all** rows, of noisy, linear and kernel.
    n_linear, n_kernel : int
        Components of each. Linear PCA gets the number that is best *for these very rows*, which
        no one could know in advance: the comparison leans to its side.
    image_shape : tuple of int
    labels : (c,) array or None
    figure_, ax_, image_
        What was drawn; ``image_`` is one picture of four lines.
    """

    clean: Array
    noisy: Array
    linear: Array
    kernel: Array
    errors: dict[str, float]
    n_linear: int
    n_kernel: int
    image_shape: tuple[int, ...]
    labels: Array | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        X_noisy: RowsLike = None,
        noise: Noise | None = None,
        match_noise: bool | str = "auto",
        n_images: int = 10,
        image_shape: tuple[int, ...] | None = None,
        random_state: int = 0,
        cmap: Any = None,
        ax: Axes = None,
    ) -> DenoisingDisplay:
        """Add noise to images, or take noisy ones, and restore them.

        Parameters
        ----------
        estimator : KernelPCA or another model with ``denoise``, fitted to images as rows
        X : (n, d) clean images, optional
            Those that the model has not seen tell more than its support points, the default.
        y : (n,) classes, optional
            Shows the first image of each class.
        X_noisy : (n, d) the same images with noise, optional
        noise : float or callable, optional
            If there are none: the standard deviation of Gaussian noise (by default 0.3 of the
            range of X), or ``function(rows, rng) -> noisy rows``.
        match_noise : bool or "auto", default="auto"
            Passed on to ``denoise``; for models fitted to clean rows.
        n_images : int, default=10
            Show at most so many.
        image_shape : (h, w) or (h, w, 3), optional
            By default a square, if there are 16 columns or more with values from 0 to 255.
        random_state : int, default=0
            For the noise.
        cmap : matplotlib colour map, optional
            Black on white for ink, ``"gray"`` for photographs by default.
        ax : matplotlib axes, optional

        Notes
        -----
        Linear PCA is fitted to the model's support points: of an exact model these are its
        training rows, of a sparse one only a few of them.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelPCA
        >>> from mercer.plots import DenoisingDisplay
        >>> X = load_digits().data
        >>> model = KernelPCA(100).fit(X[:900])
        >>> display = DenoisingDisplay.from_estimator(model, X[900:1100], match_noise=True)
        >>> display.errors["kernel"] < display.errors["linear"] < display.errors["noisy"]
        True
        """
        subspace = subspace_of(estimator)
        require_preimages(estimator)
        clean = rows_of(estimator, X)
        shape = shape_of_rows(clean, image_shape)
        labels = check_labels(y, len(clean))
        shown = first_of_each(labels, len(clean), check_count("n_images", n_images))
        noisy = _noisy(estimator, clean, X_noisy, noise, random_state)
        linear, n_linear = _best_linear(np.asarray(subspace.support), clean, noisy)
        with nameless_rows():
            kernel = np.asarray(estimator.denoise(noisy, match_noise=match_noise))
        versions = {"noisy": noisy, "linear": linear, "kernel": kernel}
        errors = {name: float(square_sums(rows - clean).mean()) for name, rows in versions.items()}
        display = cls(
            clean[shown],
            noisy[shown],
            linear[shown],
            kernel[shown],
            errors,
            n_linear,
            subspace.n_components,
            shape,
            None if labels is None else labels[shown],
        )
        return display.plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: Any = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        lines = [self.clean, self.noisy, self.linear, self.kernel]
        titles = ("noisy", f"linear PCA, {self.n_linear}", f"kernel PCA, {self.n_kernel}")
        labels = [
            f"{t}\nsquared distance {e:.3g}"
            for t, e in zip(titles, self.errors.values(), strict=True)
        ]
        self.ax_, self.image_ = show_tiles(
            ax,
            np.stack(lines),
            self.image_shape,
            limits=(float(self.clean.min()), float(self.clean.max())),
            row_labels=["clean", *labels],
            column_labels=[] if self.labels is None else [str(name) for name in self.labels],
            cmap=cmap,
        )
        return self


def _noisy(
    estimator: Estimator, clean: Array, X_noisy: RowsLike, noise: Noise | None, random_state: int
) -> Array:
    if X_noisy is None:
        level: Noise = NOISE * float(np.ptp(clean)) if noise is None else noise
        noisy = add_noise(clean, level, fixed_rng(random_state))
        return np.asarray(noisy.astype(clean.dtype, copy=False))
    if noise is not None:
        raise DataError("X_noisy has its noise already; give X_noisy or noise, not both.")
    noisy = rows_of(estimator, X_noisy)
    if len(noisy) != len(clean):
        raise DataError(
            f"{len(noisy)} noisy rows and {len(clean)} clean ones; give the same rows twice."
        )
    return noisy


def _best_linear(training: Array, clean: Array, noisy: Array) -> tuple[Array, int]:
    """Restored by linear PCA with the number of components that is best for these rows."""
    mean = training.mean(axis=0, dtype=np.float64)
    axes = np.linalg.svd(training - mean, full_matrices=False)[2]
    seen, true = (noisy - mean) @ axes.T, (clean - mean) @ axes.T
    # Keeping axis k puts (seen - true)² in place of true²: the gains add up over the axes.
    gains = np.cumsum(((seen - true) ** 2 - true**2).sum(axis=0))
    q = int(gains.argmin()) + 1
    return np.asarray(mean + seen[:, :q] @ axes[:q]).astype(clean.dtype), q
