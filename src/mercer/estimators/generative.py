"""Generative kernel PCA behind scikit-learn's door."""

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from mercer import generative
from mercer._base.config import with_parameters
from mercer._base.linalg import evenly
from mercer._base.numbers import check_count, check_positive, counted, fixed_rng, make_rng
from mercer._base.types import Array, ArrayLike, RowsLike, Seed, Targets
from mercer.estimators._validation import check_codes, check_rows
from mercer.estimators.base import Capabilities, Estimator
from mercer.estimators.door import verb
from mercer.estimators.learning import learn, owned, plan_of, scores_of
from mercer.estimators.subspace import SubspaceEstimator
from mercer.exceptions import DataError
from mercer.generative import RKM, Density, FittedDensity
from mercer.generative.densities import LARGEST
from mercer.kernels import Kernel, as_kernel
from mercer.model import ComponentRule, Model, as_rule, model_of
from mercer.points import Points
from mercer.preimage import PreImageSolver
from mercer.preimage.noise import MatchNoise
from mercer.solvers import Plan, Problem, Solver

#: What a file holds of a density, and of the classes that it is parted into.
OF_DENSITY = ("scores_", "density_", "classes_", "labels_")


@with_parameters
class GenerativeKernelPCA(SubspaceEstimator):
    r"""Kernel PCA that generates new points: it draws hidden units and returns to input space.

    Kernel PCA as a Restricted Kernel Machine (Schreurs & Suykens 2018): a row's hidden unit is
    :math:`h = \Lambda^{-1/2} z`, and a hidden unit generates the feature
    :math:`\varphi(x^\star) = W h^\star`, whose pre-image is the new point. The paper's generator is
    ``density="normal", preimage=KernelSmoother(S)``; the defaults draw mixtures of training rows
    and their neighbours, which return as mixtures of these rows, through the quantiles of each
    column (:class:`~mercer.generative.RowMixtures`). They cover far more of the data's variety,
    and no number leaves the range of its column.

    Parameters
    ----------
    n_components, kernel
        As for :class:`~mercer.KernelPCA`.
    eta : float, default=1.0
        η of the energy: hidden units are scaled so that ``HᵀH = η I``. Samples do not depend on it.
    density : str or Density, default="local"
        Where new hidden units come from: ``"local"``, ``"interpolate"``, ``"kde"``, ``"mixture"``,
        ``"normal"``, or an object of :mod:`mercer.generative.densities`.
    preimage : str or PreImageSolver, default="auto"
        How to get from feature space back to input space. ``"auto"``: a draw that is a mixture of
        training scores (``density="local"`` or ``"interpolate"``) returns in ``sample`` as the same
        mixture of rows. Other points that are given by their scores return by
        ``Ridge(n_neighbors=10)``; in ``denoise``, ``preimages`` and ``tune`` the
        noisy point is known, and the search starts there, as in :class:`~mercer.KernelPCA`.
        ``"ridge"`` takes the regression in all cases. See :mod:`mercer.preimage` for others, and
        :class:`~mercer.generative.KernelSmoother` for that of the paper.
    solver : str or Solver, default="auto"
        See :mod:`mercer.solvers`. For other models (sparse, incremental) see :meth:`from_fitted`.
    random_state : int, Generator, RandomState or None, default=None
        For solvers and densities, and for ``sample`` where that is given none.

    Attributes
    ----------
    hidden_ : (n, q) array
        Hidden units of the training rows.
    scores_ : (n, q) array
        The same in the units of feature space: what ``transform`` returns for them.
    density_ : FittedDensity
        Of the scores.
    classes_ : (k,) array
        Labels, if ``y`` was given as classes.
    labels_ : (n,) array of int
        For each training row the number of its class in ``classes_``.
    rows_ : (m, d) array
        Rows that draws are mixtures of, at most 20,000; only where they are not all in
        ``subspace_.support``.
    eigenvalues_, explained_variance_, explained_variance_ratio_, subspace_, kernel_, report_
        As in :class:`~mercer.KernelPCA`.
    n_components_, n_features_in_, feature_names_in_

    References
    ----------
    J. Schreurs, J. A. K. Suykens. Generative kernel PCA. ESANN 2018.

    J. A. K. Suykens. Deep restricted kernel machines using conjugate feature duality. Neural
    Computation 29, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import GenerativeKernelPCA
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GenerativeKernelPCA(40, random_state=0).fit(X / 16, y)
    >>> model.sample(5).shape
    (5, 64)
    >>> threes = model.sample(3, label=3)
    >>> model.interpolate(X[0] / 16, X[1] / 16, steps=7).shape
    (7, 64)
    """

    capabilities = Capabilities(objects=True, precomputed=True, onnx=True)

    _saved = (*SubspaceEstimator._saved, "eta_", *OF_DENSITY, "rows_")

    _reads_in_place = True

    n_components: int | float | ComponentRule | None = None
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    eta: float = 1.0
    density: str | Density = "local"
    preimage: str | PreImageSolver = "auto"
    solver: str | Solver = "auto"
    random_state: Seed = None

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:
        """Find the components, and the density of the hidden units.

        Parameters
        ----------
        X : (n, d) array or data frame; (n, n) for a precomputed kernel; a list for kernels of
        objects
        y : (n,) array of classes, optional
            For ``sample(label=...)``. Anything but classes (numbers that vary continuously, several
            columns) is ignored, as in other transformers.
        """
        check_parts(self)
        self._learn(check_rows(self, X, as_kernel(self.kernel), reset=True, stream=True), y)
        self._model_ = owned(self._model_, X)
        return self

    def _learn(self, rows: Points, y: Targets = None) -> None:
        kernel, rng = as_kernel(self.kernel), self._rng()
        plan = self._plan(kernel, rows)
        rows = kernel.points(rows.loaded().rows) if plan.loads else rows
        model = learn(Problem(kernel, rows, plan.rule, rng), plan)
        self._adopt(model, rows, np.asarray(scores_of(model, rows)), y, rng)

    def _plan(self, kernel: Kernel, rows: Points) -> Plan:
        rule = as_rule(self.n_components)
        return plan_of(Problem(kernel, rows, rule, fixed_rng(0)), self.solver)

    @classmethod
    def from_fitted(
        cls,
        model: Any,
        X: RowsLike,
        y: Targets = None,
        *,
        eta: float = 1.0,
        density: str | Density = "local",
        preimage: str | PreImageSolver = "auto",
        random_state: Seed = None,
    ) -> Self:
        """Make a generator from an existing model, such as a sparse or an incremental one.

        Parameters
        ----------
        model : estimator with ``subspace_`` and ``eigenvalues_``
        X : (n, d) rows whose hidden units give the density; the training rows, or others like them
        y, eta, density, preimage, random_state
            As in the constructor and :meth:`fit`.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from mercer import GenerativeKernelPCA, SparseKernelPCA
        >>> X = load_digits().data[:300] / 16
        >>> sparse = SparseKernelPCA(n_kernels=60, n_components=30).fit(X)
        >>> GenerativeKernelPCA.from_fitted(sparse, X, random_state=0).sample(4).shape
        (4, 64)
        """
        check_is_fitted(model, ["subspace_", "eigenvalues_"])
        q, kernel = model.subspace_.n_components, model.subspace_.kernel
        generator = cls(
            q,
            kernel=kernel,
            eta=eta,
            density=density,
            preimage=preimage,
            random_state=random_state,
        )
        check_parts(generator)
        rows = check_rows(generator, X, kernel, reset=True)
        Z = np.asarray(model.transform(X))
        return generator._adopt(model_of(model), rows, Z, y, generator._rng())

    @property
    def rkm_(self) -> RKM:
        """The Restricted Kernel Machine: hidden units, interaction matrix and energies."""
        check_is_fitted(self, "subspace_")
        return RKM(self.subspace_, self.eigenvalues_, self.eta_)

    @property
    def hidden_(self) -> Array:
        """Hidden units of the training rows, (n, q)."""
        return self.rkm_.hidden(self.scores_)

    @verb("blocks", "scores")
    def hidden_units(self, X: RowsLike) -> Array:
        """Hidden units of rows, eq. (1): (n, q)."""
        return self.rkm_.hidden(self._scores(X))

    @verb("model", "rows")
    def sample(
        self, n_samples: int = 1, *, label: ArrayLike = None, random_state: Seed = None
    ) -> Any:
        """Generate new points: draw hidden units from the density, and find their pre-images.

        By default, columns of two values and one-hot blocks are copied from one of the rows that
        are mixed, other columns keep the distribution that they have in the data, and a draw
        that nearly copies a row is drawn again.

        Parameters
        ----------
        n_samples : int, default=1
        label : class, or (n_samples,) classes, optional
            Draw from the hidden units of these classes; needs ``fit(X, y)``.
        random_state : int, Generator, RandomState or None, default=None
            None uses the seed of the model, so that a model with a seed draws the same points in
            every call.

        Returns
        -------
        (n_samples, d) array; a list of training objects; or training indices for a precomputed
        kernel
        """
        if self.preimage == "auto" and rows_to_mix(self) is not None:
            return draw(self, n_samples, label, random_state, of_rows=True)
        return self._points(draw(self, n_samples, label, random_state))

    @verb("model")
    def sample_hidden(
        self, n_samples: int = 1, *, label: ArrayLike = None, random_state: Seed = None
    ) -> Array:
        """As :meth:`sample`, but the hidden units: (n_samples, q)."""
        return self.rkm_.hidden(draw(self, n_samples, label, random_state))

    @verb("model", "rows")
    def generate(self, H_star: ArrayLike) -> Any:
        """Points of given hidden units, eq. (4) and a pre-image.

        Parameters
        ----------
        H_star : (n, q) hidden units

        Returns
        -------
        As for :meth:`sample`
        """
        return self._points(self.rkm_.scores(check_hidden(H_star, self.rkm_.eigenvalues)))

    @verb("model")
    def similarities(self, H_star: ArrayLike) -> Array:
        """Centred kernel between each training row and the point of a hidden unit, eq. (6).

        ``k(x_j, x*) = φ(x_j)ᵀ W h*``, which for the training rows' own hidden units is the denoised
        kernel matrix K̂ of eq. (7).

        Parameters
        ----------
        H_star : (n, q) hidden units

        Returns
        -------
        (n, n_train) array
        """
        H = check_hidden(H_star, self.rkm_.eigenvalues)
        # φ(x_j)ᵀ W h* = z_j · z*: both lie in the subspace, whose directions are orthonormal.
        return np.asarray(self.rkm_.scores(H) @ self.scores_.T)

    @verb("row", "rows")
    def interpolate(self, x0: RowsLike, x1: RowsLike, steps: int = 10) -> Any:
        """Points on the straight line between the hidden units of two rows, (steps, d).

        Parameters
        ----------
        x0, x1 : (d,) or (1, d) rows
        steps : int, default=10
            Number of points, the ends included.
        """
        start, end = (scores_of_one(self, x) for x in (x0, x1))
        return self._points(generative.straight_line(start, end, steps))

    @verb("row", "rows")
    def traverse(self, x: RowsLike, component: int, span: ArrayLike = 2.0, steps: int = 11) -> Any:
        """Points that differ from a row in one hidden coordinate, (steps, d).

        Parameters
        ----------
        x : (d,) or (1, d) row
        component : int
            Which coordinate, from 0.
        span : float or pair of floats, default=2.0
            How far to go, in standard deviations of the coordinate over the training rows; one
            number means (-span, span).
        steps : int, default=11
            Number of points; the middle one of an odd number is ``reconstruct(x)``.
        """
        start = scores_of_one(self, x)
        path = generative.along_component(start, component, self.scores_.std(axis=0), span, steps)
        return self._points(path)

    @verb("rows", "rows")
    def denoise(
        self,
        X: RowsLike,
        *,
        match_noise: MatchNoise = "auto",
        smoother: generative.KernelSmoother | None = None,
    ) -> Any:
        """Project the rows onto the components and return to input space by ``preimage``.

        Parameters
        ----------
        X : (n, d) array or data frame
        match_noise : bool or "auto", default="auto"
            For queries that are noisier than the training rows, see
            :meth:`mercer.KernelPCA.denoise`.
        smoother : KernelSmoother, optional
            Return by this one instead, eqs. (7) and (8) of the paper; ``KernelSmoother()`` chooses
            its number of neighbours S by hold-out.

        Returns
        -------
        As for :meth:`sample`
        """
        if smoother is None:
            return SubspaceEstimator.denoise.plain(self, X, match_noise=match_noise)  # type: ignore[attr-defined]
        if not isinstance(smoother, generative.KernelSmoother):
            raise DataError(f"smoother={smoother!r}: give a KernelSmoother of mercer.generative.")
        Z = self._projected(X, match_noise)[1]
        return self._bound("smoother", smoother, self.subspace_).solve(Z).points

    @property
    def preimage_(self) -> PreImageSolver:
        """The pre-image solver as an object; ``"auto"`` and ``"ridge"`` are the generators' own."""
        return generative.as_generator_preimage(self.preimage)

    def _adopt(
        self, model: Model, rows: Points, Z: Array, y: Targets, rng: np.random.Generator
    ) -> Self:
        self._set_model(model)
        self.eta_ = float(self.eta)
        keep_scores(self, Z, y, rng)
        _keep_rows(self, rows)
        return self

    def _scores(self, rows: Points) -> Array:
        return model_of(self).subspace.scores(rows)


# Hidden units from a density, of all rows or of one class.


def check_parts(model: Estimator) -> None:
    """Refuse parameters that make no sense, before anything is learnt."""
    generative.as_density(model.density)
    generative.as_generator_preimage(model.preimage)
    check_positive("eta", model.eta)


def keep_scores(model: Any, Z: Array, y: Targets, rng: np.random.Generator) -> None:
    """Remember the scores of the training rows, their density, and their classes.

    y that is not a class for each row is none of our business.
    """
    for name in ("classes_", "labels_"):
        model.__dict__.pop(name, None)
    if y is not None:
        y = np.asarray(y)
        check_consistent_length(Z, y)
        if y.dtype.kind == "f" and np.isnan(y).any():
            raise DataError("Input y contains NaN; give a class for each row, or leave y out.")
        if y.ndim == 1 and type_of_target(y) in ("binary", "multiclass"):
            model.classes_, model.labels_ = np.unique(y, return_inverse=True)
    model.scores_, model.density_ = Z, generative.as_density(model.density).fit(Z, rng)


def draw(
    model: Estimator, n: Any, label: ArrayLike, random_state: Seed, *, of_rows: bool = False
) -> Array:
    """(n, q) scores from the density, or from those of the classes in ``label``.

    Or (n, d) mixtures of rows that are drawn like these.
    """
    n = check_count("n_samples", n)
    rng = make_rng(model.random_state if random_state is None else random_state)
    if label is None:
        return np.asarray(_source(model, None, of_rows).sample(n, rng))
    classes = _class_numbers(model, label, n)
    parts = {k: np.flatnonzero(classes == k) for k in np.unique(classes).tolist()}
    parted = [_source(model, k, of_rows).sample(len(rows), rng) for k, rows in parts.items()]
    return np.concatenate(parted)[np.argsort(np.concatenate([*parts.values()]))]


def _class_numbers(model: Estimator, label: ArrayLike, n: int) -> Array:
    if "classes_" not in vars(model):
        without = "the model was fitted without classes; give them as y: fit(X, y)"
        raise DataError(f"label={label!r}, but {without}.")
    labels = np.atleast_1d(np.asarray(label))
    if labels.ndim != 1 or len(labels) not in (1, n):
        shape = f"label has shape {np.shape(label)}"
        raise DataError(f"{shape} for {n} samples; give one class, or {n}.")
    known = model.classes_.tolist()
    for one in labels.tolist():
        if one not in known:
            shown = ", ".join(map(repr, known[:20]))
            raise DataError(f"label {one!r} is not among the classes; give one of {shown}.")
    return np.broadcast_to([known.index(one) for one in labels.tolist()], (n,))


def _source(model: Estimator, number: int | None, of_rows: bool) -> Any:
    """What draws, of all rows or of one class, made when it is first asked for."""
    if number is None and not of_rows:
        return model.density_

    def make() -> Any:
        rows: Any = rows_to_mix(model) if of_rows else None
        if number is None:
            return generative.RowMixtures.of(model.density_, rows)
        if not of_rows:
            return _fit_to_class(model, model.scores_[model.labels_ == number], number)
        some = evenly(model.labels_, LARGEST) == number
        density: Any = _fit_to_class(model, evenly(model.scores_, LARGEST)[some], number)
        return generative.RowMixtures.of(density, rows[some])

    owner = model.scores_ if number is None else model.labels_
    return model._cached(f"{number}, {of_rows}", owner, repr(model.density), make)


def _fit_to_class(model: Estimator, Z: Array, number: int) -> FittedDensity:
    if len(Z) < 2:
        name, rows = model.classes_.tolist()[number], counted(len(Z), "training row")
        raise DataError(f"class {name!r} has {rows}, too few for a spread; give at least 2 rows.")
    return generative.as_density(model.density).fit(Z, fixed_rng(number))


def _keep_rows(model: Any, rows: Points) -> None:
    """Keep the rows that draws are mixtures of, unless they are the support already."""
    vars(model).pop("rows_", None)
    if _mixes_vectors(model):
        points = model.subspace_.points
        kept = rows.take(evenly(np.arange(len(rows)), LARGEST)).cast(points.dtype).rows
        if not np.array_equal(kept, points.rows):
            model.rows_ = kept


def rows_to_mix(model: object) -> Array | None:
    """Training rows in the order of the density's points; None if there are none to be mixed."""
    if not isinstance(model, GenerativeKernelPCA) or not _mixes_vectors(model):
        return None
    rows = vars(model).get("rows_", model.subspace_.support)
    # Files of version 0.1 have no rows beside the support.
    return rows if len(rows) == len(model.density_.points) else None


def _mixes_vectors(model: GenerativeKernelPCA) -> bool:
    points = model.subspace_.points
    dense = points.has_coordinates and points.is_open and not points.is_sparse
    return isinstance(model.density_, generative.FittedMixtures) and dense


def check_hidden(H: ArrayLike, like: Array) -> Array:
    """Finite hidden units with as many columns as ``like`` has, and in its precision."""
    checked = check_codes("H_star", H, like.shape[-1], "hidden units", "hidden_units")
    return checked.astype(like.dtype)


def scores_of_one(model: Estimator, x: RowsLike) -> Array:
    """Scores, (q,), of a row, of a table with one row, or of an object."""
    is_table = not isinstance(x, str) and (hasattr(x, "columns") or np.ndim(x) == 2)
    rows = x if is_table else [x]
    if len(rows) != 1:
        raise DataError(f"got {len(rows)} rows where one is needed; give a single row.")
    return np.asarray(model._scores(model._rows(rows))[0])
