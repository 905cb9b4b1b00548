"""What every estimator with a Subspace can do; a variant adds only its ``fit``."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import eye_array
from sklearn.base import clone
from sklearn.utils import get_tags

from mercer import exceptions, selection
from mercer._base.numbers import check_choice, check_count, fixed_rng, make_rng
from mercer._base.sklearn import ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from mercer._base.types import Array, ArrayLike, RowsLike, Seed, Targets
from mercer.estimators import base
from mercer.estimators import relevance as measuring
from mercer.estimators._validation import check_rows
from mercer.estimators.base import Estimator, learnt
from mercer.estimators.door import verb
from mercer.estimators.learning import relearn
from mercer.exceptions import DataError, Remedy, warn
from mercer.io import Table, write_table
from mercer.kernels import Kernel, as_kernel
from mercer.model import model_of
from mercer.model.model import PARTS
from mercer.points import Points, as_points
from mercer.points.source import MemoryRows, as_source
from mercer.points.sparse import SparseRows
from mercer.preimage import BoundPreImage, PreImages, PreImageSolver, as_preimage
from mercer.preimage.nearest import Nearest
from mercer.preimage.noise import MatchNoise, matched_scores
from mercer.robust import Filling, choose_filling, mixed_masks
from mercer.robust.filling import FEWEST_ROWS
from mercer.robust.impute import MOST_COLUMNS
from mercer.solvers import Auto, Plan
from mercer.solvers.plan import stand_in

#: A share of the variance that leaves no room for noise to be lost in.
ALL = 0.999
#: Scores of a row from which the kernel sees nothing differ from each other by less than this.
FAR = 1e-6
#: A model that ``tune`` has chosen is fitted on landmarks where more seconds are estimated: noise
#: has hundreds of components, and a near-exact fit of many rows tells them all apart.
PATIENCE = 30.0
#: What lacks coordinates has neither values to fill in, nor variables.
TO_FILL = "to fill in values, use a kernel of vectors"
TO_CHOOSE = "choose n_components by ParallelAnalysis or a share of the variance"
TO_CONTRIBUTE = "there are no variables that could contribute; use a kernel of vectors"


@verb("data", needs="a plan")
def plan(self: Any, X: RowsLike) -> Plan:
    """What :meth:`fit` would do with these rows, and what it would need; nothing is fitted.

    Parameters
    ----------
    X : as for :meth:`fit`
        Only the size of a file is examined.

    Returns
    -------
    Plan
        The solver that would run, why, its memory and time, and whether a file would be loaded.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> plan = KernelPCA(10).plan(np.zeros((200_000, 20)))
    >>> plan.solver, plan.resumable
    (Landmarks(), True)
    """
    kernel = as_kernel("gaussian" if self.kernel is None else self.kernel)
    holes = get_tags(self).input_tags.allow_nan
    rows = check_rows(clone(self), X, kernel, reset=True, stream=True, allow_nan=holes)
    loads = not (self._reads_in_place or rows.is_here)
    planned: Plan = self._plan(kernel, stand_in(rows) if loads else rows)
    planned = loading(planned, rows) if loads else planned
    return planned if self._reads_in_place else replace(planned, resumable=False)


def loading(plan: Plan, rows: Points) -> Plan:
    """The plan for rows that are loaded first."""
    size = len(rows) * rows.width * rows.dtype.itemsize
    return replace(plan, bytes=plan.bytes + size, loads=True)


@verb("model")
def to_html(
    self: Any, path: str | os.PathLike[str], X: Any = None, labels: Any = None, images: Any = None
) -> Path:
    """Write the model as one interactive HTML file that works offline.

    Scores, errors and pre-images are computed in the browser. The file fetches nothing.

    Parameters
    ----------
    path : path
        Usually ``*.html``.
    X : (n, d) rows for the map, optional
        The model's support points if not given: of an exact model, and of a
        :class:`~mercer.MapModel`, its training rows.
    labels : (n,) array, optional
        Classes or numbers by which the map is coloured.
    images : (height, width[, 3]), or an array (n, height, width[, 3]), optional
        The shape of the image that each row is; or one picture for each row.

    Returns
    -------
    Path

    See Also
    --------
    mercer.live.write_html : the same with more options.
    """
    # A layer above this one, found by name when it is needed.
    written: Path = import_module("mercer.live").write_html(self, path, X, labels, images)
    return written


#: What a file holds of a Model, and of the columns that it was learnt from.
OF_MODEL = (
    "subspace_",
    "kernel_",
    *(f"{part}_" for part in PARTS if part != "subspace"),
    *base.OF_COLUMNS,
)


class SubspaceEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Projection, reconstruction error and (through ``preimage``) the way back to input space."""

    #: Gives row sources to its solver as they are; others hold all rows in memory.
    _reads_in_place: ClassVar[bool] = False

    subspace_ = learnt("subspace", "What was learnt: kernel, support, coefficients and mean.")
    kernel_ = property(lambda self: self.subspace_.kernel, doc="The kernel, rules made numbers.")
    eigenvalues_ = learnt("eigenvalues", "Of the centred Gram matrix, decreasing, (q,).")
    explained_variance_ = learnt("explained_variance", "Variances in feature space, (q,).")
    explained_variance_ratio_ = learnt(
        "explained_variance_ratio", "Shares of the true total variance, (q,)."
    )
    residuals_ = learnt("residuals", "``|K v - λ v|`` of each eigenpair, (q,).")
    report_ = learnt("report", "How the fit went.")

    plan, to_html = plan, to_html
    relevance = measuring.relevance
    sensitivity, uncertainty = measuring.sensitivity, measuring.uncertainty

    kernel: str | Kernel
    preimage: str | PreImageSolver
    tuning_: selection.Choice
    #: Fit to rows that have been checked.
    _learn: Callable[..., None]
    #: From a kernel and rows (perhaps a stand-in without values) to a plan.
    _plan: Callable[[Kernel, Points], Plan]

    _saved: ClassVar[tuple[str, ...]] = (*OF_MODEL, "_sklearn_output_config")

    @verb("blocks", "scores")
    def transform(self, X: RowsLike) -> Array:
        """Project rows onto the components: ``z(x) = Bᵀ k(S, x) - b``.

        Parameters
        ----------
        X : (n, d) array, data frame, or a list of objects for kernels of objects
            A file or row source (:mod:`mercer.io`) is read in blocks.

        Returns
        -------
        (n, q) array of scores; a lazy dask array for a dask collection
        """
        return model_of(self).subspace.scores(X)

    @verb("source")
    def transform_to(self, path: str | os.PathLike[str], X: RowsLike) -> Path:
        """Project rows and write the scores to a file, block by block.

        Nothing of the length of X is held in memory; the file appears whole or not at all.

        Parameters
        ----------
        path : where to write; the ending decides, see :func:`mercer.io.write_table`
        X : as for :meth:`transform`

        Returns
        -------
        the path
        """
        subspace, table = model_of(self).subspace, Table(as_source(X))
        names = self.get_feature_names_out()

        def scores(block: MemoryRows) -> Array:
            return subspace.scores(subspace.in_precision(block.X))

        return write_table(path, table.map(scores, len(names), names))

    @verb("blocks", "numbers", needs="new points")
    def reconstruction_error(self, X: RowsLike) -> Array:
        """Squared distance in feature space between each point and its projection, (n,).

        Hoffmann's novelty score (2007): zero on the subspace, large far from the training data.
        """
        return model_of(self).subspace.residual(X)

    @verb("rows", "rows")
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
        start, Z = self._projected(X, match_noise)
        _warn_if_all_is_kept(self)
        _warn_of_far_rows(self, Z)
        return self._points(self._shrunk(Z), start)

    @verb("rows", "points")
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
        start, Z = self._projected(X, match_noise)
        Z = self._shrunk(Z)
        images = self._solver().solve(Z, start)
        subspace = model_of(self).subspace
        images = images.measured(subspace, Z) if report else images
        return replace(images, points=subspace.kernel.points(images.points).for_user())

    @verb("scores", "rows")
    def inverse_transform(self, Z: ArrayLike) -> Any:
        """Points whose scores are near Z: reconstruction, without access to the original points.

        Parameters
        ----------
        Z : (n, q) scores

        Returns
        -------
        As for :meth:`denoise`, which is better wherever the points themselves are known.
        """
        return self._points(Z)

    @verb("rows", "rows")
    def reconstruct(self, X: RowsLike) -> Any:
        """What the scores alone keep of the rows: ``inverse_transform(transform(X))``."""
        return self._points(model_of(self).subspace.scores(X))

    @verb("rows", needs="coordinates", instead="score reconstruction_error(X) instead")
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
        subspace = model_of(self).subspace
        points = subspace.points.adopt(X)
        noise = selection.typical_noise(points.rows)
        noisy = as_points(selection.add_noise(points.rows, noise, fixed_rng(0)))
        start, Z = self._projected(noisy.cast(points.dtype), "auto")
        cleaned = as_points(self._solver().solve(self._shrunk(Z), start).points)
        return -float(cleaned.squared_differences(points).mean(dtype=np.float64))

    @verb("data", "self", needs=("its own kernel", "coordinates"), instead=TO_CHOOSE)
    def tune(
        self: Any,
        X: RowsLike,
        *,
        noise: Any = None,
        rows: str = "auto",
        match_noise: MatchNoise = "auto",
    ) -> Any:
        """Choose width and number of components for denoising, and fit to all rows.

        ``rows="noisy"`` says that the rows carry the noise that is to be removed from them: the
        error of denoising *them* is estimated without a clean row, see
        :func:`mercer.selection.choose_by_risk`; the pre-image method is chosen, too, with scores
        shrunk or not, and so is the linear kernel where nothing is bent. ``rows="clean"`` says that
        they are clean examples, by which other rows will be denoised: noise of the stated level is
        added to some that are held out, of a sample of 5,000 where there are more, see
        :func:`mercer.selection.choose_by_noise`. Either search goes from coarse to fine, takes the
        time of a few to twenty fits, and reports its progress to :func:`mercer.listen`.

        Parameters
        ----------
        X : (n, d) array, or SciPy sparse matrix (clean rows only)
        noise : float, (d,) array, str, callable or None, default=None
            Of noisy rows: standard deviation of the noise that they carry, (d,) for one of each
            column, ``"poisson"`` for counts, ``"speckle"`` or ``"speckle:0.3"`` for noise that
            multiplies the entries; None estimates one level of all columns from the rows, see
            :func:`mercer.selection.estimate_noise`, and ``"columns"`` one of each;
            ``"independent"`` is noise of any kind that columns do not share. Of clean rows:
            standard deviation of the noise to expect, or ``function(rows, rng) -> noisy rows``;
            None takes half the standard deviation of the rows. Of sparse rows it is the share of
            entries that are exchanged for those of another row, and None takes 0.3.
        rows : {"auto", "noisy", "clean"}, default="auto"
            ``"auto"`` takes rows for noisy ones, but for what only clean rows can be: sparse, or
            with a function that adds noise. Noisy rows taken for clean ones teach the model their
            noise.
        match_noise : bool or "auto", default="auto"
            As ``denoise`` will be called, of clean rows. Of noisy rows there is nothing to choose:
            each row of the fit is its own nearest support point, and ``"auto"`` leaves it as it is.

        Returns
        -------
        self
            With ``kernel`` and ``n_components`` (and ``preimage``, of noisy rows) set, fitted, by
            landmarks where ``solver="auto"`` would take more than half a minute;
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
        check_choice("rows", rows, ("auto", "noisy", "clean"))
        points = check_rows(self, X, as_kernel(self.kernel), reset=True)
        clean = rows == "clean" or (rows == "auto" and (callable(noise) or points.is_sparse))
        purpose = "tuning for noise" if clean else "tuning on noisy rows"
        data = points.rows if clean and points.is_sparse else points.vectors(purpose)
        choice: selection.Choice
        if clean:
            choice = selection.choose_by_noise(self, data, noise, match_noise=match_noise)
        else:
            choice = selection.choose_by_risk(self, data, noise)
        if isinstance(choice, selection.NoisyChoice):
            self.set_params(preimage=choice.preimage)
            if choice.risk.trouble:
                warn(choice.risk.trouble, exceptions.DenoisingWarning)
        self.set_params(kernel=choice.kernel, n_components=choice.n_components)
        if self.get_params().get("solver") == "auto" and self.plan(X).seconds > PATIENCE:
            self.set_params(solver=Auto(seconds=PATIENCE))
        self.fit(X)
        self.tuning_, self.risk_ = choice, getattr(choice, "risk", None)
        return self

    @verb("model", "tables")
    def component_preimages(self) -> Array:
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
        images = self.preimage_.init(directions).solve(Z, start).points
        return np.asarray(as_points(images).to_dense()).reshape(2, q, -1)

    @verb(
        "model", needs="coordinates", instead="there is no canonical basis; use a kernel of vectors"
    )
    def component_images(self) -> Array:
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

    @verb("missing", "rows", needs="dense rows", instead=TO_FILL)
    def impute(self, X: RowsLike) -> Array:
        """Fill the NaN of new rows by what the model has learnt.

        The linear answer (conditional means of a Gaussian of the support points) is the start; from
        there projection and pre-image take turns, with the observed values clamped and the scores
        shrunk by noise. The answer is a mixture of both; noise and mixture are chosen once for a
        model, by values that are hidden in support points, so that more components are no worse.

        Parameters
        ----------
        X : (n, d) array or data frame, NaN where a value is missing

        Returns
        -------
        (n, d) array; values that were there are unchanged

        See Also
        --------
        imputations : the same with a report for each row.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelPCA
        >>> X = load_digits().data / 16
        >>> model = KernelPCA(128).fit(X[100:])
        >>> hidden = np.random.default_rng(0).random((100, 64)) < 0.3
        >>> filled = model.impute(np.where(hidden, np.nan, X[:100]))
        >>> error = np.sqrt(((filled - X[:100])[hidden] ** 2).mean())
        >>> bool(error < 0.15)  # the column means: 0.27
        True
        """
        filled = self._fill(X)
        if not filled.converged.all():
            remedy = "see imputations(X).converged, or use fewer components or a wider kernel."
            shell = "fit with fewer --components or a larger --width."
            warn(
                f"{(~filled.converged).sum()} of {len(filled)} rows were still moving after "
                f"{filled.iterations.max()} rounds of imputation; " + Remedy(remedy, shell=shell),
                exceptions.ConvergenceWarning,
            )
        return np.asarray(filled.points)

    @verb("missing", "points", needs="dense rows", instead=TO_FILL)
    def imputations(self, X: RowsLike) -> PreImages:
        """As :meth:`impute`, with what happened to each row.

        Returns
        -------
        PreImages
            ``points`` are the filled rows, ``iterations`` the rounds, ``converged`` and ``status``
            how they ended, ``objective`` the reconstruction errors of the filled rows.
        """
        return self._fill(X)

    @verb("missing", "tables", needs="dense rows", instead=TO_FILL)
    def imputation_draws(
        self, X: RowsLike, n_draws: int = 5, *, random_state: Seed = None
    ) -> Array:
        """Several fillings of the same rows, whose spread shows how sure the values are.

        What :meth:`impute` fills in, plus draws of the Gaussian's conditional distribution whose
        width is set by the errors at values that were masked. Analyse each filling, and the
        differences between the results are what the missing values cost (Rubin 1987).

        Parameters
        ----------
        X : (n, d) array or data frame, NaN where a value is missing
        n_draws : int, default=5
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        (n_draws, n, d) array; values that were there are unchanged

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 1)) * [1, 1, 1] + rng.normal(size=(200, 3)) * [0.1, 0.1, 2]
        >>> draws = (
        ...     KernelPCA(10).fit(X).imputation_draws([[1.0, np.nan, np.nan]], 50, random_state=0)
        ... )
        >>> spread = draws.std(axis=0)[0]
        >>> bool(spread[0] == 0 and spread[1] < 0.5 and spread[2] > 1)
        True
        """
        n_draws = check_count("n_draws", n_draws)
        rng, filling = make_rng(random_state), self._filling()
        if filling.gaussian is None:
            points = f"{self.subspace_.n_support} support points with {X.shape[1]} columns"
            raise DataError(
                f"{points} do not show how certain a value is; that takes {FEWEST_ROWS} points and "
                f"at most {MOST_COLUMNS} columns. impute(X) gives single values."
            )
        centre = np.asarray(self._fill(X).points)
        return np.stack([centre + filling.deviations(X, rng) for _ in range(n_draws)])

    @property
    def n_components_(self) -> int:
        """Number of components that the model has."""
        return model_of(self).subspace.n_components

    _n_features_out = n_components_

    @property
    def preimage_(self) -> PreImageSolver:
        """The pre-image solver as an object: what every way back to input space uses."""
        return as_preimage(self.preimage)

    def _projected(self, points: Points, match_noise: MatchNoise) -> tuple[Any, Array]:
        subspace = model_of(self).subspace
        Z = matched_scores(subspace, points, match_noise)
        # A start has the form of the answer, which is of its size.
        return subspace.points.adopt(points).rows, Z

    def _shrunk(self, Z: Array) -> Array:
        """Scores of noisy rows as the pre-image method takes them."""
        factors = self.preimage_.shrinkage(np.asarray(model_of(self).explained_variance))
        return np.asarray(Z * factors.astype(Z.dtype))

    def _points(self, Z: Array, start: Any = None) -> Any:
        """Pre-images of scores; says which did not converge."""
        images = self._solver().solve(Z, start)
        if missed := images.missed:  # what was stopped on purpose is not news
            words: str = f"{sum(missed.values())} of {len(Z)} pre-images did not converge: "
            for status, n in missed.items():
                words += f"{n} {status}: " + status.remedy + "; "
            warn(words + "see preimages(X).status.", exceptions.ConvergenceWarning)
        return images.points

    def _solver(self) -> BoundPreImage:
        return self._bound("pre-image", self.preimage_, model_of(self).subspace)

    def _fill(self, rows: Array) -> PreImages:
        """Rows with their missing values filled in, by what the model has learnt."""
        learnt = model_of(self)
        if not np.isnan(rows).any():
            none = np.zeros(len(rows), dtype=int)
            errors = learnt.subspace.residual(rows)
            return replace(PreImages.direct(rows), iterations=none, objective=errors)
        variances = np.asarray(learnt.explained_variance)
        return self._filling().fill(learnt.subspace, variances, rows, self.preimage_)

    def _filling(self) -> Filling:
        """How to fill in, chosen on the support points when it is first needed, and kept."""
        subspace, solver = model_of(self).subspace, self.preimage_

        def choose() -> Filling:
            support = np.asarray(subspace.points.vectors("missing data"), dtype=np.float64)
            return choose_filling(partial(relearn, subspace), support, mixed_masks, solver)

        return self._cached("filling", subspace, base.parameters_of(solver), choose)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _warn_if_all_is_kept(model: Estimator) -> None:
    """A model that was not told how much to keep keeps the noise."""
    if getattr(model, "n_components", 0) is not None:
        return
    shares = model_of(model).explained_variance_ratio
    if (kept := float(np.sum(shares, dtype=np.float64))) >= ALL:
        shell = "'mercer tune DATA', or fit with --components N."
        warn(
            f"the model keeps all {len(shares)} components ({kept:.1%} of the variance), and "
            "with them most of the noise; choose their number by "
            + Remedy("tune(X, noise=...), or give n_components.", shell=shell),
            exceptions.DenoisingWarning,
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
            f"{far} of {len(Z)} rows are so far from those of the fit that the kernel is zero "
            "there; they all return to one and the same point. Are they in the same units?"
        )
