"""Back to input space: denoising, reconstruction and what they say about a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import eye_array
from sklearn.utils.validation import check_is_fitted

from mercer._linalg import Array
from mercer._random import fixed_rng
from mercer._types import ArrayLike, Estimator, RowsLike, Targets
from mercer.estimators._available import absent_if, needs_coordinates
from mercer.estimators._frames import framed
from mercer.estimators._learnt import LearntMixin
from mercer.estimators._validation import check_codes, check_rows
from mercer.exceptions import ConvergenceWarning, DenoisingWarning, MercerWarning, warn
from mercer.kernels import Kernel, as_kernel
from mercer.preimage import BoundPreImage, PreImages, PreImageSolver, as_preimage
from mercer.preimage.nearest import Nearest
from mercer.preimage.noise import MatchNoise, matched_scores
from mercer.selection import Choice, Noise, add_noise, choose_by_noise, typical_noise
from mercer.sparse_rows import SparseRows, dense, squared_differences

__all__ = ["PreImageMixin"]

#: A share of the variance that leaves no room for noise to be lost in.
ALL = 0.999
#: Scores of a row from which the kernel sees nothing differ from each other by less than this.
FAR = 1e-6


def _has_nothing_to_tune(model: Estimator) -> str | None:
    """A wrapper has no kernel and no number of components of its own."""
    if {"kernel", "n_components"} <= set(model.get_params(deep=False)):
        return None
    return (
        "kernel and components are those of the wrapped estimator; tune that one first: "
        f"{type(model).__name__}(KernelPCA().tune(X, noise=...))."
    )


class PreImageMixin(LearntMixin):
    """The way from feature space back to input space, for every estimator with a Subspace."""

    kernel: str | Kernel
    preimage: str | PreImageSolver
    tuning_: Choice
    #: The estimator's own check of new rows.
    _rows: Callable[..., Any]

    @property
    def preimage_(self) -> PreImageSolver:
        """The pre-image solver as an object: what every way back to input space uses."""
        return as_preimage(self.preimage)

    @framed
    def denoise(self, X: RowsLike, *, match_noise: MatchNoise = "auto") -> Any:
        """Project the rows onto the components and return to input space, starting at the rows.

        Parameters
        ----------
        X : (n, d) array, data frame, or a list of objects for kernels of objects
        match_noise : bool or "auto", default="auto"
            For a model fitted to clean rows and queries that are noisier: scale the kernel row
            k(x, ·) so that its largest entry is what a training point sees among its neighbours.
            Noise shrinks the whole row, and centring would then pull the projection to the mean.
            ``"auto"`` does so for rows that are farther from the training rows than these are from
            each other, which is the noise that a row tells of itself, and only with radial kernels.

        Returns
        -------
        (n, d) array; a list of training objects; training indices for a precomputed kernel; the
        nearest training rows as a sparse array for a model of sparse rows, or sparse means of them
        with ``preimage="combination"``

        Notes
        -----
        A model with all components keeps the noise, too, and says so in a warning; :meth:`tune`
        chooses their number and the kernel's width for a level of noise.

        See Also
        --------
        preimages : the same with a report for each point.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelPCA
        >>> X = load_digits().data / 16
        >>> noisy = X[:50] + np.random.default_rng(0).normal(scale=0.3, size=(50, 64))
        >>> clean = KernelPCA(64).fit(X[50:]).denoise(noisy)
        >>> bool(((clean - X[:50]) ** 2).mean() < 0.5 * ((noisy - X[:50]) ** 2).mean())
        True
        """
        rows, Z = self._project(X, match_noise)
        self._warn_if_all_is_kept()
        self._warn_of_far_rows(Z)
        return self._solve(Z, rows).points

    def preimages(
        self, X: RowsLike, *, match_noise: MatchNoise = "auto", report: bool = True
    ) -> PreImages:
        """As :meth:`denoise`, with what happened to each point.

        Parameters
        ----------
        X, match_noise
            See :meth:`denoise`.
        report : bool, default=True
            Also measure the objective, the distance to the projection as ``match_noise`` makes
            it, which costs one more pass. :meth:`reconstruction_error` has the one to the row.

        Returns
        -------
        PreImages
            ``points, converged, iterations, status, objective``.
        """
        rows, Z = self._project(X, match_noise)
        found = self._bind().solve(Z, rows)
        found = found.measured(self.subspace_, Z) if report else found
        points = found.points
        return replace(found, points=points.to_scipy()) if isinstance(points, SparseRows) else found

    @framed
    def inverse_transform(self, Z: ArrayLike) -> Any:
        """Points whose scores are near Z: reconstruction, without access to the original points.

        Parameters
        ----------
        Z : (n, q) scores

        Returns
        -------
        As for :meth:`denoise`, which is better wherever the points themselves are known.
        """
        check_is_fitted(self, "subspace_")
        return self._solve(self._check_scores(Z)).points

    @framed
    def reconstruct(self, X: RowsLike) -> Any:
        """What the scores alone keep of the rows: ``inverse_transform(transform(X))``."""
        return self._solve(self._project(X, False)[1]).points

    @needs_coordinates("score reconstruction_error(X) instead", fitted=False)
    def score(self, X: RowsLike, y: Targets = None) -> float:  # noqa: ARG002
        """Minus the mean squared error of denoising: what is left of noise added to the rows.

        The noise is Gaussian, of half the standard deviation of the rows, and the same in every
        call; the error is measured in input space, so that different kernels, widths and numbers
        of components compare. On held-out rows more is better, and the best is neither the widest
        kernel nor all components. This is :class:`mercer.selection.DenoisingScore` as it comes;
        give ``GridSearchCV`` one with your own noise as ``scoring``, or use :meth:`tune`. Of sparse
        rows 30 % of the entries are exchanged for those of another row instead.

        How much the scores keep of clean rows is another question, whose best answer is always
        more components and a nearly linear kernel: ``((reconstruct(X) - X) ** 2).sum(axis=1)``.
        """
        rows = self._rows(X)
        sparse = isinstance(self.subspace_.support, SparseRows)
        rows = SparseRows.of(rows) if sparse else dense(rows)
        noisy = add_noise(rows, typical_noise(rows), fixed_rng(0)).astype(rows.dtype, copy=False)
        Z = matched_scores(self.subspace_, noisy, "auto")
        points = self._bind().solve(Z, noisy).points
        return -float(squared_differences(points, rows).mean(dtype=np.float64))

    @absent_if(_has_nothing_to_tune)
    @needs_coordinates(
        "choose n_components by ParallelAnalysis or a share of the variance", fitted=False
    )
    def tune(
        self, X: RowsLike, *, noise: Noise | None = None, match_noise: MatchNoise = "auto"
    ) -> Self:
        """Choose width and number of components for denoising, and fit to all rows.

        Widths around the kernel's own and powers of two of components are tried on held-out rows
        with noise of the stated level; the error is measured in input space. The search goes from
        coarse to fine, see :func:`mercer.selection.choose_by_noise`, and takes the time of three to
        ten fits; of more than 5,000 rows it looks at a sample of so many. Progress goes to
        :func:`mercer.listen`.

        Parameters
        ----------
        X : (n, d) array, or SciPy sparse matrix
            As clean as there is.
        noise : float, callable or None, default=None
            Standard deviation of the noise to expect, or ``function(rows, rng) -> noisy rows``.
            None takes half the standard deviation of the rows. Of sparse rows it is the share of
            entries that are exchanged for those of another row, and None takes 0.3.
        match_noise : bool or "auto", default="auto"
            As ``denoise`` will be called.

        Returns
        -------
        self
            With ``kernel`` and ``n_components`` set, fitted; ``tuning_`` keeps what was compared.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelPCA
        >>> model = KernelPCA().tune(load_digits().data[:200] / 16, noise=0.2)
        >>> model.n_components_ == model.tuning_.n_components
        True
        """
        rows = check_rows(self, X, as_kernel(self.kernel), reset=True)
        if not isinstance(rows, SparseRows):
            rows = as_kernel(self.kernel).points(rows).vectors("tuning for noise")
        choice = choose_by_noise(self, rows, noise, match_noise=match_noise)
        estimator: Estimator = self
        estimator.set_params(kernel=choice.kernel, n_components=choice.n_components).fit(X)
        self.tuning_ = choice
        return self

    def component_preimages(self) -> Array:
        """Pre-images of the directions ±w_k themselves (Mika et al. 1999, Figure 2).

        Returns
        -------
        (2, q, d) array
            ``[0]`` for +w_k and ``[1]`` for -w_k: what the model takes for the two ends of each
            component, e.g. images that can be looked at.
        """
        check_is_fitted(self, "subspace_")
        q = self.subspace_.n_components
        # A direction has no mean: the expansion is B_k alone.
        zero = np.zeros_like(self.subspace_.mean), np.zeros_like(self.subspace_.offset)
        directions = replace(self.subspace_, mean=zero[0], offset=zero[1], mean_square=0.0)
        Z = np.concatenate([np.eye(q), -np.eye(q)]).astype(self.subspace_.coef.dtype)
        start = Nearest().init(directions).solve(Z).points
        found = self.preimage_.init(directions).solve(Z, start).points
        if isinstance(found, SparseRows):
            found = found.to_dense()  # 2 q rows
        return np.asarray(found).reshape(2, q, -1)

    @needs_coordinates(
        "without them there is no canonical basis; use a kernel of vectors", fitted=False
    )
    def component_images(self) -> Array:
        """Projections of the canonical basis vectors: ``w_k · phi(e_j)`` (Figure 2, last row).

        Returns
        -------
        (q, d) array
            For the linear kernel these are the principal axes.
        """
        check_is_fitted(self, "subspace_")
        support = self.subspace_.support
        d, dtype = support.shape[1], self.subspace_.coef.dtype
        sparse = isinstance(support, SparseRows)
        basis = SparseRows.of(eye_array(d, dtype=dtype)) if sparse else np.eye(d, dtype=dtype)
        return np.asarray((self.subspace_.scores(basis) + self.subspace_.offset).T)

    def _project(self, X: RowsLike, match_noise: MatchNoise) -> tuple[Any, Array]:
        rows = self._rows(X)
        Z = matched_scores(self.subspace_, rows, match_noise)
        if isinstance(rows, SparseRows) and self.subspace_.points.has_coordinates:
            rows = rows.to_dense()  # a start, of the size of the answer
        return rows, Z

    def _warn_if_all_is_kept(self) -> None:
        """A model that was not told how much to keep keeps the noise."""
        shares = self.explained_variance_ratio_
        if getattr(self, "n_components", 0) is not None:
            return
        kept = float(np.sum(shares, dtype=np.float64))
        if kept >= ALL:
            warn(
                f"the model keeps all {len(shares)} components ({kept:.1%} of the variance), and "
                "with them most of the noise; choose their number by tune(X, noise=...), or give "
                "n_components.",
                DenoisingWarning,
            )

    def _warn_of_far_rows(self, Z: Array) -> None:
        """Where k(S, x) = 0 all rows have one score, -b, and one pre-image."""
        offset = self.subspace_.offset
        if self.subspace_.kernel.radial is None or not len(offset):
            return
        far = int((np.abs(Z + offset) <= FAR * np.abs(offset).max()).all(axis=1).sum())
        if far:
            warn(
                f"{far} of {len(Z)} rows are so far from those of fit that the kernel sees nothing "
                "of them; all such rows are sent to one point. Are they in the same units?",
                MercerWarning,
            )

    def _solve(self, Z: Array, rows: RowsLike = None) -> PreImages:
        found = self._bind().solve(Z, rows)
        if missed := found.missed:  # what was stopped on purpose is not news
            words = "; ".join(f"{n} {status}: {status.remedy}" for status, n in missed.items())
            warn(
                f"{sum(missed.values())} of {len(Z)} pre-images did not converge ({words}); "
                "see preimages(X).status.",
                ConvergenceWarning,
            )
        return found

    def _bind(self) -> BoundPreImage:
        return self._bound("pre-image", self.preimage_, self.subspace_)

    def _check_scores(self, Z: ArrayLike) -> Array:
        Z = check_codes("Z", Z, self.subspace_.n_components, "scores", "transform")
        with np.errstate(over="ignore"):  # the solver refuses what overflows, and names it
            return np.asarray(Z, dtype=self.subspace_.coef.dtype)
