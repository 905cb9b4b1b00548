"""Back to input space: denoising, reconstruction and what they say about a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import eye_array

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, ArrayLike, Estimator, RowsLike, Targets
from mercer.estimators._validation import check_rows
from mercer.estimators.door import verb
from mercer.exceptions import (
    ConvergenceWarning,
    DataError,
    DenoisingWarning,
    MercerWarning,
    Remedy,
    argument,
    warn,
)
from mercer.kernels import as_kernel
from mercer.model import model_of
from mercer.points import as_points
from mercer.points.sparse import SparseRows
from mercer.preimage import BoundPreImage, PreImages
from mercer.preimage.nearest import Nearest
from mercer.preimage.noise import MatchNoise, matched_scores
from mercer.selection import (
    Choice,
    NoisyChoice,
    Risk,
    add_noise,
    choose_by_noise,
    choose_by_risk,
    typical_noise,
)

#: A share of the variance that leaves no room for noise to be lost in.
ALL = 0.999
#: Scores of a row from which the kernel sees nothing differ from each other by less than this.
FAR = 1e-6


@verb("rows", "rows")
def denoise(self: Any, X: RowsLike, *, match_noise: MatchNoise = "auto") -> Any:
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
    start, Z = projected(self, X, match_noise)
    _warn_if_all_is_kept(self)
    _warn_of_far_rows(self, Z)
    return points_of(self, Z, start)


@verb("rows", "points")
def preimages(
    self: Any, X: RowsLike, *, match_noise: MatchNoise = "auto", report: bool = True
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
    start, Z = projected(self, X, match_noise)
    found = _bind(self).solve(Z, start)
    subspace = model_of(self).subspace
    found = found.measured(subspace, Z) if report else found
    return replace(found, points=subspace.kernel.points(found.points).for_user())


@verb("scores", "rows")
def inverse_transform(self: Any, Z: ArrayLike) -> Any:
    """Points whose scores are near Z: reconstruction, without access to the original points.

    Parameters
    ----------
    Z : (n, q) scores

    Returns
    -------
    As for :meth:`denoise`, which is better wherever the points themselves are known.
    """
    return points_of(self, Z)


@verb("rows", "rows")
def reconstruct(self: Any, X: RowsLike) -> Any:
    """What the scores alone keep of the rows: ``inverse_transform(transform(X))``."""
    return points_of(self, projected(self, X, False)[1])


@verb("rows", needs="coordinates", instead="score reconstruction_error(X) instead")
def score(self: Any, X: RowsLike, y: Targets = None) -> float:  # noqa: ARG001
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
    subspace = model_of(self).subspace
    points = subspace.points.adopt(as_points(X))
    rows = points.rows
    noisy = add_noise(rows, typical_noise(rows), fixed_rng(0)).astype(rows.dtype, copy=False)
    Z = matched_scores(subspace, noisy, "auto")
    found = as_points(_bind(self).solve(Z, noisy).points)
    return -float(found.squared_differences(points).mean(dtype=np.float64))


@verb(
    "data",
    "self",
    needs=("its own kernel", "coordinates"),
    instead="choose n_components by ParallelAnalysis or a share of the variance",
)
def tune(
    self: Any,
    X: RowsLike,
    *,
    noise: Any = None,
    rows: str = "auto",
    match_noise: MatchNoise = "auto",
) -> Any:
    """Choose width and number of components for denoising, and fit to all rows.

    ``rows="noisy"`` says that the rows carry the noise that is to be removed from them: the error
    of denoising *them* is estimated without a clean row, see
    :func:`mercer.selection.choose_by_risk`; the pre-image method is chosen, too, and so is the
    linear kernel where nothing is bent. ``rows="clean"`` says that they are clean examples, by
    which other rows will be denoised: noise of the stated level is added to some that are held out,
    of a sample of 5,000 where there are more, see :func:`mercer.selection.choose_by_noise`. Either
    search goes from coarse to fine, takes the time of a few to twenty fits, and tells its progress
    to :func:`mercer.listen`.

    Parameters
    ----------
    X : (n, d) array, or SciPy sparse matrix (clean rows only)
    noise : float, (d,) array, str, callable or None, default=None
        Of noisy rows: standard deviation of the noise that they carry, (d,) for one of each column,
        ``"poisson"`` for counts, ``"speckle"`` or ``"speckle:0.3"`` for noise that multiplies the
        entries; None estimates it from the rows, see :func:`mercer.selection.estimate_noise`.
        Of clean rows: standard deviation of the noise to expect, or ``function(rows, rng) -> noisy
        rows``; None takes half the standard deviation of the rows. Of sparse rows it is the share
        of entries that are exchanged for those of another row, and None takes 0.3.
    rows : {"auto", "noisy", "clean"}, default="auto"
        ``"auto"`` takes rows for noisy ones, but for what only clean rows can be: sparse, or with
        a function that adds noise. Noisy rows taken for clean ones teach the model their noise.
    match_noise : bool or "auto", default="auto"
        As ``denoise`` will be called, of clean rows.

    Returns
    -------
    self
        With ``kernel`` and ``n_components`` (and ``preimage``, of noisy rows) set, fitted;
        ``tuning_`` keeps what was compared, and ``risk_``, of noisy rows, what is left of the
        noise, how sure that is, and what linear PCA would leave; it is None of clean rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> digits = load_digits().data[:200] / 16
    >>> model = KernelPCA().tune(digits, noise=0.2, rows="clean")
    >>> model.n_components_ == model.tuning_.n_components
    True
    >>> noisy = digits + np.random.default_rng(0).normal(scale=0.3, size=digits.shape)
    >>> model = KernelPCA().tune(noisy)
    >>> model.risk_.error < model.risk_.linear < model.risk_.noise
    True
    """
    kernel = as_kernel(self.kernel)
    checked = check_rows(self, X, kernel, reset=True)
    if rows == "auto":
        rows = "clean" if callable(noise) or kernel.points(checked).is_sparse else "noisy"
    if rows == "noisy":
        vectors = kernel.points(checked).vectors("tuning on noisy rows")
        choice: Choice = choose_by_risk(self, vectors, noise)
    elif rows == "clean":
        points = kernel.points(checked)
        if not points.is_sparse:
            points.vectors("tuning for noise")
        choice = choose_by_noise(self, checked, noise, match_noise=match_noise)
    else:
        raise DataError(f"rows={rows!r}; give 'auto', 'noisy' or 'clean'.")
    self.risk_ = None
    if isinstance(choice, NoisyChoice):
        self.set_params(preimage=choice.preimage)
        self.risk_ = choice.risk
        _warn_if_no_help(choice.risk)
    self.set_params(kernel=choice.kernel, n_components=choice.n_components).fit(X)
    self.tuning_ = choice
    return self


#: Denoising that leaves more than this share of the noise is not worth its risk.
HELPS = 0.95


def _warn_if_no_help(risk: Risk) -> None:
    if risk.error < 0:
        what = "the estimated error is below zero, so the rows carry less noise than was assumed"
        remedy = "if they are clean examples, say rows='clean'; else give a smaller "
    elif risk.error + 2 * risk.deviation >= HELPS * risk.noise:
        what = "denoising does not help these rows"
        remedy = "leave them as they are, or give the larger "
    else:
        return
    warn(f"{what}: {risk}; {remedy}" + argument("noise", "LEVEL") + ".", DenoisingWarning)


@verb("model", "tables")
def component_preimages(self: Any) -> Array:
    """Pre-images of the directions ±w_k themselves (Mika et al. 1999, Figure 2).

    Returns
    -------
    (2, q, d) array
        ``[0]`` for +w_k and ``[1]`` for -w_k: what the model takes for the two ends of each
        component, e.g. images that can be looked at.
    """
    subspace = model_of(self).subspace
    q = subspace.n_components
    # A direction has no mean: the expansion is B_k alone.
    zero = np.zeros_like(subspace.mean), np.zeros_like(subspace.offset)
    directions = replace(subspace, mean=zero[0], offset=zero[1], mean_square=0.0)
    Z = np.concatenate([np.eye(q), -np.eye(q)]).astype(subspace.coef.dtype)
    start = Nearest().init(directions).solve(Z).points
    found = self.preimage_.init(directions).solve(Z, start).points
    return np.asarray(as_points(found).to_dense()).reshape(2, q, -1)


@verb(
    "model",
    needs="coordinates",
    instead="without them there is no canonical basis; use a kernel of vectors",
)
def component_images(self: Any) -> Array:
    """Projections of the canonical basis vectors: ``w_k · phi(e_j)`` (Figure 2, last row).

    Returns
    -------
    (q, d) array
        For the linear kernel these are the principal axes.
    """
    subspace = model_of(self).subspace
    d, dtype = subspace.points.width, subspace.coef.dtype
    sparse = subspace.points.is_sparse
    basis = SparseRows.of(eye_array(d, dtype=dtype)) if sparse else np.eye(d, dtype=dtype)
    return np.asarray((subspace.scores(basis) + subspace.offset).T)


def projected(model: Estimator, rows: Any, match_noise: MatchNoise) -> tuple[Any, Array]:
    """Where to start from, and the scores."""
    subspace = model_of(model).subspace
    Z = matched_scores(subspace, rows, match_noise)
    # A start has the form of the answer, which is of its size.
    return subspace.points.adopt(subspace.kernel.points(rows)).rows, Z


def points_of(model: Estimator, Z: Array, start: Any = None) -> Any:
    """Pre-images of scores; says which did not converge."""
    found = _bind(model).solve(Z, start)
    if missed := found.missed:  # what was stopped on purpose is not news
        words: str = Remedy("")
        for status, n in missed.items():
            words += ("; " if words else "") + f"{n} {status}: " + status.remedy
        warn(
            f"{sum(missed.values())} of {len(Z)} pre-images did not converge (" + words + "); "
            "see preimages(X).status.",
            ConvergenceWarning,
        )
    return found.points


def _bind(model: Estimator) -> BoundPreImage:
    bound: BoundPreImage = model._bound("pre-image", model.preimage_, model_of(model).subspace)
    return bound


def _warn_if_all_is_kept(model: Estimator) -> None:
    """A model that was not told how much to keep keeps the noise."""
    if getattr(model, "n_components", 0) is not None:
        return
    shares = model_of(model).explained_variance_ratio
    kept = float(np.sum(shares, dtype=np.float64))
    if kept >= ALL:
        warn(
            f"the model keeps all {len(shares)} components ({kept:.1%} of the variance), and "
            "with them most of the noise; choose their number by "
            + Remedy(
                "tune(X, noise=...), or give n_components.",
                shell="'mercer tune DATA', or fit with --components N.",
            ),
            DenoisingWarning,
        )


def _warn_of_far_rows(model: Estimator, Z: Array) -> None:
    """Where k(S, x) = 0 all rows have one score, -b, and one pre-image."""
    subspace = model_of(model).subspace
    offset = subspace.offset
    if subspace.kernel.radial is None or not len(offset):
        return
    far = int((np.abs(Z + offset) <= FAR * np.abs(offset).max()).all(axis=1).sum())
    if far:
        warn(
            f"{far} of {len(Z)} rows are so far from those of fit that the kernel sees nothing "
            "of them; all such rows are sent to one point. Are they in the same units?",
            MercerWarning,
        )
