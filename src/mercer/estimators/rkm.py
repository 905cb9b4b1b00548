"""Restricted Kernel Machines that predict, and generate with a class (experimental)."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mercer import generative
from mercer._base import sklearn
from mercer._base.config import with_parameters
from mercer._base.numbers import check_positive, fixed_rng
from mercer._base.sklearn import ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from mercer._base.types import Array, ArrayLike, RowsLike, Seed, Targets
from mercer.estimators import generative as generators
from mercer.estimators._validation import check_codes, check_rows
from mercer.estimators.base import OF_COLUMNS, Capabilities, Estimator
from mercer.estimators.door import require_vectors, verb
from mercer.estimators.generative import GenerativeKernelPCA
from mercer.estimators.learning import learn, owned, plan_of, scores_of
from mercer.exceptions import DataError
from mercer.generative import RKM, Density, FittedDensity
from mercer.kernels import Kernel, as_kernel
from mercer.model import Subspace, as_rule
from mercer.points import Points, Vectors
from mercer.preimage import PreImageSolver
from mercer.preimage.nearest import SupportScores
from mercer.solvers import Problem, Solver


@with_parameters
class _Machine(Estimator):
    """What both have in common: the linear system, and the way back from hidden units."""

    capabilities = Capabilities(experimental=True)

    sample = GenerativeKernelPCA.sample

    _saved = ("machine_", "kernel_", "classes_", "labels_", "n_targets_", *OF_COLUMNS)

    kernel: str | Kernel = "gaussian"
    _: KW_ONLY
    lam: float = 0.1
    eta: float = 1.0
    density: str | Density = "local"
    preimage: str | PreImageSolver = "ridge"
    random_state: Seed = None

    @property
    def hidden_(self) -> Array:
        """(n, p) hidden units of the training rows: their errors over λ."""
        check_is_fitted(self, "machine_")
        return self.machine_.hidden

    @verb("model", "rows")
    def generate(self, H_star: ArrayLike) -> Any:
        """Points whose feature is ``W h*``, by the pre-image method.

        A hidden unit that predicts says in which direction to go, but not how far; with
        :class:`~mercer.generative.KernelSmoother` as the pre-image only the direction counts.

        Parameters
        ----------
        H_star : (n, p) hidden units, one coordinate for each target

        Returns
        -------
        (n, d) array
        """
        machine, subspace = self.machine_, self._subspace()
        H = generators.check_hidden(H_star, machine.hidden)
        # W h in the orthonormal directions: Bᵀ K A h with W = Φ_S A, A = H/η.
        return self._points(H @ (subspace.coef.T @ machine.products).T)

    def _solve(self, points: Points, Y: Array) -> None:
        generators.check_parts(self)
        lam = check_positive("lam", self.lam)
        rows: Array = points.rows
        Y = Y.astype(rows.dtype)
        self.kernel_ = as_kernel(self.kernel).resolve(rows)
        self.machine_ = generative.fit_least_squares(self.kernel_, rows, Y, lam=lam, eta=self.eta)

    def _rows(self, X: RowsLike, stream: bool = False) -> Points:  # noqa: ARG002  held in memory
        check_is_fitted(self, "machine_")
        points = check_rows(self, X, self.kernel_, reset=False)
        return points.cast(self.machine_.hidden.dtype)

    def _subspace(self) -> Subspace:
        return self._cached("subspace", self.machine_, None, self.machine_.subspace)

    @property
    def scores_(self) -> Array:
        """Scores of the training rows in the directions that W spans."""
        return SupportScores(self._subspace()).scores

    @property
    def density_(self) -> FittedDensity:
        """Of these scores, fitted when it is first asked for."""
        density = generative.as_density(self.density)

        def fit() -> FittedDensity:
            return density.fit(self.scores_, fixed_rng(0))

        return self._cached("density", self.machine_, repr(density), fit)

    def _points(self, Z: Array) -> Any:
        solver = generative.as_generator_preimage(self.preimage)
        return self._bound("pre-image", solver, self._subspace()).solve(Z).points


class RKMClassifier(sklearn.ClassifierMixin, _Machine):
    r"""Least-squares classification by hidden units, which can also generate (experimental).

    The Restricted Kernel Machine form of the least-squares support vector machine (Suykens 2017):
    one target of ±1 for each class, and hidden units :math:`h_i = e_i/\lambda`, the conjugate
    features of the errors. The largest of :math:`W^\top \varphi(x) + b` is the class.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        See :mod:`mercer.kernels`.
    lam : float, default=0.1
        λ, the penalty of the hidden units: larger is smoother.
    eta : float, default=1.0
        η, the weight of W. Predictions depend on λη alone.
    density : str or Density, default="local"
        For ``sample``: where new features of a class come from.
    preimage : str or PreImageSolver, default="ridge"
        For ``sample`` and ``generate``.
    random_state : int, Generator, RandomState or None, default=None
        For ``sample``.

    Attributes
    ----------
    machine_ : LeastSquaresMachine
        Kernel, training rows, hidden units and bias.
    hidden_ : (n, p) array
    classes_ : (p,) array
    labels_ : (n,) array of int
        For each training row the number of its class.
    kernel_, n_features_in_, feature_names_in_

    Notes
    -----
    Experimental: names and defaults may change. Its features separate classes and show little else,
    so that samples are typical examples of a class with little variety; for variety use
    :class:`~mercer.GenerativeKernelPCA` with ``fit(X, y)``. O(n³) time and O(n²) memory.

    References
    ----------
    J. A. K. Suykens. Deep restricted kernel machines using conjugate feature duality. Neural
    Computation 29, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import RKMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RKMClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.95)
    True
    >>> model.sample(4, label=3).shape
    (4, 64)
    """

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets) -> Self:
        """Solve for the hidden units.

        Parameters
        ----------
        X : (n, d) array or data frame
        y : (n,) array of classes
        """
        rows, y = _check_pair(self, X, y)
        check_classification_targets(y)
        self.classes_, self.labels_ = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            only = f"y has only one class, {self.classes_[0]!r}"
            raise DataError(f"{only}; give rows of at least 2 classes.")
        Y = np.where(np.arange(len(self.classes_)) == self.labels_[:, None], 1.0, -1.0)
        self._solve(rows, Y)
        return self

    @verb("rows", "numbers")
    def decision_function(self, X: RowsLike) -> Array:
        """``Wᵀφ(x) + b``, (m, p); (m,) for two classes, positive for the second."""
        scores = self.machine_.predict(X)
        return np.asarray(scores[:, 1]) if len(self.classes_) == 2 else scores

    @verb("rows", "numbers")
    def predict(self, X: RowsLike) -> Array:
        """The class of the largest decision value."""
        return np.asarray(self.classes_[self.machine_.predict(X).argmax(axis=1)])


class RKMRegressor(sklearn.MultiOutputMixin, sklearn.RegressorMixin, _Machine):
    r"""Least-squares regression by hidden units (experimental).

    The Restricted Kernel Machine form of least-squares support vector regression (Suykens 2017),
    which predicts as kernel ridge regression with a bias and the penalty λη.

    Parameters
    ----------
    kernel, lam, eta, density, preimage, random_state
        As for :class:`~mercer.RKMClassifier`.

    Attributes
    ----------
    machine_, hidden_, kernel_, n_features_in_, feature_names_in_
        As of :class:`~mercer.RKMClassifier`, with a column of hidden units for each target.
    n_targets_ : int
        Columns of y; 0 if it was one-dimensional.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import RKMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(RKMRegressor(lam=1.0).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4)
    True
    """

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets) -> Self:
        """Solve for the hidden units.

        Parameters
        ----------
        X : (n, d) array or data frame
        y : (n,) or (n, p) array of numbers
        """
        rows, y = _check_pair(self, X, y, many=True)
        self.n_targets_ = 0 if y.ndim == 1 else y.shape[1]
        self._solve(rows, y.reshape(len(rows), -1))
        return self

    @verb("rows", "numbers")
    def predict(self, X: RowsLike) -> Array:
        """``Wᵀφ(x) + b``: (m,) or (m, p) as y was."""
        targets = self.machine_.predict(X)
        return np.asarray(targets[:, 0]) if not self.n_targets_ else targets


def _check_pair(
    estimator: _Machine, X: RowsLike, y: Targets, many: bool = False
) -> tuple[Points, Array]:
    """Rows and targets; several columns of targets if ``many``."""
    kernel = as_kernel(estimator.kernel)
    if not kernel.takes_vectors:
        raise DataError(f"{kernel!r}: machines need rows with coordinates; use a vector kernel.")
    if y is None:
        name = type(estimator).__name__
        raise DataError(f"{name} requires y to be passed, but the target y is None.")
    rows = check_rows(estimator, X, kernel, reset=True)
    y = np.asarray(y, dtype=np.float64 if many else None)
    y = y if many and y.ndim == 2 else column_or_1d(y, warn=True)
    check_consistent_length(rows, y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError("Input y contains NaN or infinity; remove such rows.")
    return rows, y


@with_parameters
class DeepGenerativeKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Kernel PCA on the hidden units of kernel PCA, and generation back through the layers.

    Layer 1 learns from the rows, and each further layer from the scores (hidden units in the units
    of feature space) of the one below. A sample is drawn at the top; each layer's pre-image method
    turns it into scores of the layer below, and the last into a point. The paper leaves this
    for future work; here it is trained greedily from the bottom to the top: the layers are not
    optimised together as in Suykens 2017.

    Parameters
    ----------
    layers : sequence of int, default=(50, 20)
        Components of each layer, from the bottom to the top.
    kernel : str or Kernel, default="gaussian"
        The kernel of every layer; rules such as the median width see each layer's own input.
    eta, density, preimage, solver, random_state
        As for :class:`~mercer.GenerativeKernelPCA`: the density is that of the top layer's scores,
        and every layer returns to its input by ``preimage``.

    Attributes
    ----------
    layers_ : tuple of RKM
        From the bottom to the top.
    hidden_, scores_ : (n, q) arrays
        Of the training rows in the top layer.
    density_ : FittedDensity
    classes_, labels_
        If ``y`` was given as classes.
    n_features_in_, feature_names_in_

    Notes
    -----
    Experimental: names and defaults may change. For sampling we measured no advantage over a
    single layer (see the explanation); a further layer only makes the code smaller.

    References
    ----------
    J. A. K. Suykens. Deep restricted kernel machines using conjugate feature duality. Neural
    Computation 29, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import DeepGenerativeKernelPCA
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DeepGenerativeKernelPCA((40, 15), random_state=0).fit(X[:500] / 16, y[:500])
    >>> model.transform(X[:3] / 16).shape, model.sample(4, label=7).shape
    ((3, 15), (4, 64))
    """

    capabilities = Capabilities(experimental=True)

    _saved = ("layers_", *generators.OF_DENSITY, *OF_COLUMNS, "_sklearn_output_config")

    # At the top, and back through all layers.
    hidden_, hidden_units = GenerativeKernelPCA.hidden_, GenerativeKernelPCA.hidden_units
    generate, sample = GenerativeKernelPCA.generate, GenerativeKernelPCA.sample
    interpolate = GenerativeKernelPCA.interpolate

    layers: Sequence[int] = (50, 20)
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    eta: float = 1.0
    density: str | Density = "local"
    preimage: str | PreImageSolver = "ridge"
    solver: str | Solver = "auto"
    random_state: Seed = None

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:
        """Fit the layers from the bottom to the top, and the density of the top.

        Parameters
        ----------
        X : (n, d) array or data frame
        y : (n,) array of classes, optional
            For ``sample(label=...)``; anything but classes is ignored.
        """
        generators.check_parts(self)
        kernel, rng = as_kernel(self.kernel), self._rng()
        if np.ndim(self.layers) != 1 or not len(self.layers):
            raise DataError(f"layers={self.layers!r}: give the components of at least one layer.")
        require_vectors(kernel, "a second layer", "use a vector kernel, or GenerativeKernelPCA")
        points = check_rows(self, X, kernel, reset=True)
        machines = []
        for q in self.layers:
            problem = Problem(kernel, points, as_rule(q), rng)
            model = owned(learn(problem, plan_of(problem, self.solver)), X)
            points = Vectors(scores_of(model, points))
            machines.append(RKM(model.subspace, model.eigenvalues, float(self.eta)))
        self.layers_ = tuple(machines)
        generators.keep_scores(self, points.rows, y, rng)
        return self

    @verb("rows", "scores")
    def transform(self, X: RowsLike) -> Array:
        """Scores in the top layer, (n, q)."""
        return self._scores(X)

    @verb("model", "rows")
    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Points from scores of the top layer, back through all layers, (n, d)."""
        top = self.layers_[-1].subspace
        points = check_codes("Z", Z, top.n_components, "scores", "transform")
        return self._points(points.astype(top.coef.dtype))

    def _rows(self, X: RowsLike, stream: bool = False) -> Points:  # noqa: ARG002  held in memory
        check_is_fitted(self, "layers_")
        first = self.layers_[0].subspace
        return check_rows(self, X, first.kernel, reset=False).cast(first.coef.dtype)

    def _scores(self, points: Points) -> Array:
        for machine in self.layers_:
            points = Vectors(machine.subspace.scores(points))
        return np.asarray(points.rows)

    def _points(self, points: Array) -> Array:
        solver = generative.as_generator_preimage(self.preimage)
        for k in reversed(range(len(self.layers_))):
            bound = self._bound(f"pre-image of layer {k}", solver, self.layers_[k].subspace)
            points = np.asarray(bound.solve(points).points)
        return points

    @property
    def rkm_(self) -> RKM:
        """The machine of the top layer."""
        check_is_fitted(self, "layers_")
        return self.layers_[-1]

    @property
    def _n_features_out(self) -> int:
        return self.layers_[-1].subspace.n_components

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
