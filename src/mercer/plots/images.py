"""Rows that are images: denoised, rebuilt from few components, along components, and generated."""

from collections.abc import Sequence
from copy import copy
from math import ceil, sqrt
from typing import Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from mercer._base.linalg import square_sums
from mercer._base.numbers import check_count, check_positive, fixed_rng
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, argument
from mercer.generative import along_component
from mercer.plots import _base as base
from mercer.plots._tables import nameless_rows
from mercer.selection import Noise, add_noise

#: Noise that is added if none is stated, as a share of the range of the clean rows.
NOISE = 0.3


class DenoisingDisplay(base.Display):
    """A strip of images: clean, noisy, restored by linear PCA, restored by kernel PCA.

    Attributes
    ----------
    clean, noisy, linear, kernel : (c, d) arrays
        The images shown.
    errors : dict of str to float
        Mean squared distance from clean, over **all** rows, of noisy, linear and kernel.
    n_linear, n_kernel : int
        Components of each. Linear PCA gets the number that is best *for these very rows*, which
        nobody could know in advance: the comparison favours it.
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
    ) -> Self:
        """Add noise to images, or take noisy ones, and restore them.

        Parameters
        ----------
        estimator : KernelPCA or another model with ``denoise``, fitted to images as rows
        X : (n, d) clean images, optional
            Images that the model has not seen are more informative than its support points, the
            default.
        y : (n,) classes, optional
            Shows the first image of each class.
        X_noisy : (n, d) the same images with noise, optional
        noise : float or callable, optional
            If there are none: the standard deviation of Gaussian noise (by default 0.3 of the
            range of X), or ``function(rows, rng) -> noisy rows``.
        match_noise : bool or "auto", default="auto"
            Passed on to ``denoise``; for models fitted to clean rows.
        n_images : int, default=10
            Show at most this many.
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
        subspace = base.model_to_draw(estimator, "inverse_transform").subspace
        clean, shape, shown, labels = _images(estimator, X, y, n_images, image_shape)
        noisy = _noisy(estimator, clean, X_noisy, noise, random_state)
        linear, n_linear = _best_linear(np.asarray(subspace.support), clean, noisy)
        with nameless_rows():
            kernel = np.asarray(estimator.denoise(noisy, match_noise=match_noise))
        versions = {"noisy": noisy, "linear": linear, "kernel": kernel}
        errors = {name: float(square_sums(rows - clean).mean()) for name, rows in versions.items()}
        clean, noisy, linear, kernel = (rows[shown] for rows in (clean, noisy, linear, kernel))
        counts = n_linear, subspace.n_components
        display = cls(clean, noisy, linear, kernel, errors, *counts, shape, labels)
        return display.plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: Any = None) -> Self:
        tiles = np.stack([self.clean, self.noisy, self.linear, self.kernel])
        titles = ("noisy", f"linear PCA, {self.n_linear}", f"kernel PCA, {self.n_kernel}")
        pairs = zip(titles, self.errors.values(), strict=True)
        lines = ["clean", *(f"{title}\nsquared distance {error:.3g}" for title, error in pairs)]
        return self._show(ax, cmap, tiles, self.clean, row_labels=lines, column_labels=self.labels)


def _images(
    estimator: Estimator, X: RowsLike, y: Targets, n_images: int, image_shape: Any
) -> tuple[Array, tuple[int, ...], Array, Array | None]:
    """Rows that are images, their shape, which of them are shown, and the labels of these."""
    rows = base.rows_of(estimator, X)
    shape = base.shape_of_rows(rows, image_shape)
    labels = base.check_labels(y, len(rows))
    shown = base.first_of_each(labels, len(rows), check_count("n_images", n_images))
    return rows, shape, shown, None if labels is None else labels[shown]


def _noisy(
    estimator: Estimator, clean: Array, X_noisy: RowsLike, noise: Noise | None, random_state: int
) -> Array:
    if X_noisy is None:
        level: Noise = NOISE * float(np.ptp(clean)) if noise is None else noise
        return np.asarray(add_noise(clean, level, fixed_rng(random_state)), dtype=clean.dtype)
    if noise is not None:
        raise DataError("X_noisy has its noise already; give X_noisy or noise, not both.")
    noisy, n = base.rows_of(estimator, X_noisy), len(clean)
    if len(noisy) != n:
        raise DataError(f"{len(noisy)} noisy rows and {n} clean ones; give the same rows twice.")
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


class PreImageGalleryDisplay(base.Display):
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
    ) -> Self:
        """Draw reconstructions of images by a fitted model.

        Parameters
        ----------
        estimator : KernelPCA or another model with pre-images, fitted to images as rows
        X : (n, d) images, optional
            Images that the model has not seen are more informative than its support points, the
            default.
        y : (n,) classes, optional
            Shows the first image of each class.
        n_components : sequence of int, optional
            Powers of four, and all that the model has, by default.
        n_images : int, default=10
            Show at most this many.
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
        subspace = base.model_to_draw(estimator, "inverse_transform").subspace
        rows, shape, shown, labels = _images(estimator, X, y, n_images, image_shape)
        most = subspace.n_components
        if n_components is None:
            n_components = sorted({4**k for k in range(8) if 4**k < most} | {most})
        counts = [check_count("n_components", q) for q in np.ravel(n_components).tolist()]
        if not counts or max(counts) > most:
            wrong = argument("n_components", n_components)
            raise DataError(wrong + f": the model has {most}; give numbers from 1 to that.")
        preimages = np.stack([_reconstruct(estimator, rows[shown], q) for q in counts])
        return cls(rows[shown], preimages, counts, shape, labels).plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: object = None) -> Self:
        tiles = np.concatenate([self.originals[None], self.preimages])
        labels = {"row_labels": ["original", *self.n_components], "column_labels": self.labels}
        return self._show(ax, cmap, tiles, self.originals, **labels, ylabel="components")


def _reconstruct(estimator: Estimator, rows: Array, q: int) -> Array:
    """Pre-images of the projections onto the first q components, from the scores alone."""
    small = copy(estimator)  # its own way back, on fewer components
    small._model_ = estimator._model_.leading(q)
    return np.asarray(small.inverse_transform(small.subspace_.scores(rows)))


class TraversalDisplay(base.Display):
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
    ) -> Self:
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
        model = base.model_to_draw(estimator, "inverse_transform")
        shown = base.check_components(components, model.subspace.n_components, default=5)
        support = base.rows_of(estimator, None)
        shape = base.shape_of_rows(support, image_shape)
        span = check_positive("span", span, " of standard deviations")
        positions = np.linspace(-span, span, check_count("steps", steps, 2))
        scores, variance = model.subspace.scores, model.explained_variance
        if X is None and model.subspace.mean.any():  # centred: the mean scores are zero
            start = np.zeros_like(model.subspace.offset)
        else:
            start = scores(base.rows_of(estimator, X)).mean(axis=0)
        # √λ, or the standard deviations of the support points' scores.
        deviations = scores(support).std(axis=0) if variance is None else np.sqrt(variance)
        ways = [along_component(start, k, deviations, span, steps) for k in shown]
        points = np.asarray(estimator.inverse_transform(np.concatenate(ways)))
        images, limits = points.reshape(len(shown), steps, -1), (support.min(), support.max())
        return cls(images, positions, shown, shape, limits).plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: object = None) -> Self:
        steps = [f"{t:+.3g}".replace("-", "−") if abs(t) > 1e-12 else "0" for t in self.positions]
        labels = {"row_labels": self.components, "column_labels": steps}
        names = {"ylabel": "component", "xlabel": "standard deviations from the start"}
        return self._show(ax, cmap, self.images, self.limits, **labels, **names)


class SampleSheetDisplay(base.Display):
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
    ) -> Self:
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
        base.model_to_draw(estimator, "sample")
        support = base.rows_of(estimator, None)
        shape = base.shape_of_rows(support, image_shape)
        n = check_count("n_samples", n_samples)
        labels = None if y is None else np.unique(np.asarray(y)).tolist()
        lines = max(1, round(sqrt(n / 2))) if labels is None else len(labels)
        columns, rng = ceil(n / lines), fixed_rng(random_state)
        calls = [(lines * columns, None)] if labels is None else [(columns, k) for k in labels]
        parts = [estimator.sample(count, label=k, random_state=rng) for count, k in calls]
        drawn, nearest = np.concatenate(parts), None
        if X is not None:
            rows = base.rows_of(estimator, X)
            nearest = rows[pairwise_distances_argmin(drawn, rows)].reshape(lines, columns, -1)
        limits = float(support.min()), float(support.max())
        drawn = drawn.reshape(lines, columns, -1)
        return cls(drawn, shape, nearest, labels, limits).plot(ax=ax, cmap=cmap)

    def plot(self, *, ax: Axes = None, cmap: Any = None) -> Self:
        columns, tiles, names, real = self.samples.shape[1], self.samples, [], self.samples
        if self.nearest is not None:
            real, between = self.nearest, np.full_like(self.samples[:, :1], np.nan)
            tiles = np.concatenate([self.samples, between, self.nearest], axis=1)
            names = [""] * (2 * columns + 1)
            names[columns // 2], names[columns + 1 + columns // 2] = "samples", "nearest rows"
        words = {"row_labels": self.labels, "ylabel": "" if self.labels is None else "class"}
        return self._show(ax, cmap, tiles, self.limits or real, **words, column_labels=names)
