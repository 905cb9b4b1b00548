"""Restricted Kernel Machines that predict, and generate with a class (experimental)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from mercer._base.numbers import check_positive, fixed_rng
from mercer._base.sklearn import ClassifierMixin, RegressorMixin, Tags
from mercer._base.types import Array, ArrayLike, RowsLike, Seed, Targets
from mercer.estimators._sampling import check_hidden, draw
from mercer.estimators._validation import check_rows
from mercer.estimators.base import Capabilities, Estimator
from mercer.estimators.door import verb
from mercer.exceptions import DataError
from mercer.generative import (
    Density,
    LeastSquaresMachine,
    as_density,
    as_generator_preimage,
    fit_least_squares,
)
from mercer.kernels import Kernel, as_kernel
from mercer.model import Subspace
from mercer.preimage import PreImageSolver
from mercer.preimage.nearest import SupportScores


class _Machine(Estimator):
    """What both have in common: the linear system, and the way back from hidden units."""

    capabilities: ClassVar[Capabilities] = Capabilities(experimental=True)
    machine_: LeastSquaresMachine
    classes_: Array
    labels_: Array

    _saved: ClassVar[tuple[str, ...]] = (
        "machine_",
        "kernel_",
        "classes_",
        "labels_",
        "n_targets_",
        "n_features_in_",
        "feature_names_in_",
    )

    def __init__(
        self,
        kernel: str | Kernel = "gaussian",
        *,
        lam: float = 0.1,
        eta: float = 1.0,
        density: str | Density = "local",
        preimage: str | PreImageSolver = "ridge",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.eta = eta
        self.density = density
        self.preimage = preimage
        self.random_state = random_state

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
        H = check_hidden(H_star, machine.hidden.shape[1], machine.hidden.dtype)
        # W h in the orthonormal directions: Bᵀ K A h with W = Φ_S A, A = H/η.
        return self._points(H @ (subspace.coef.T @ machine.products).T)

    @verb("model", "rows")
    def sample(
        self, n_samples: int = 1, *, label: ArrayLike = None, random_state: Seed = None
    ) -> Any:
        """Draw new points from the features that the machine keeps.

        Parameters
        ----------
        n_samples : int, default=1
        label : class, or (n_samples,) classes, optional
            For classifiers: draw from the features of these classes.
        random_state : int, Generator, RandomState or None, default=None
            None takes that of the estimator.

        Returns
        -------
        (n_samples, d) array
        """
        if label is None and not hasattr(self, "density_"):
            self.density_ = as_density(self.density).fit(self.scores_, fixed_rng(0))
        return self._points(draw(self, n_samples, label, random_state))

    def _solve(self, X: RowsLike, Y: Array) -> None:
        """Check rows and parameters, and solve for all targets at once."""
        lam, eta = check_positive("lam", self.lam), check_positive("eta", self.eta)
        as_density(self.density)
        as_generator_preimage(self.preimage)
        self.__dict__.pop("density_", None)
        self.kernel_ = as_kernel(self.kernel).resolve(X)
        self.machine_ = fit_least_squares(self.kernel_, X, Y.astype(X.dtype), lam=lam, eta=eta)

    def _rows(self, X: RowsLike, stream: bool = False) -> Any:  # noqa: ARG002  held in memory
        check_is_fitted(self, "machine_")
        rows = check_rows(self, X, self.kernel_, reset=False)
        return rows.astype(self.machine_.hidden.dtype, copy=False)

    def _subspace(self) -> Subspace:
        return self._kept("subspace", self.machine_, None, self.machine_.subspace)

    @property
    def scores_(self) -> Array:
        """Scores of the training rows in the directions that W spans."""
        return SupportScores(self._subspace()).scores

    def _points(self, Z: Array) -> Any:
        solver = as_generator_preimage(self.preimage)
        return self._bound("pre-image", solver, self._subspace()).solve(Z).points


class RKMClassifier(ClassifierMixin, _Machine):
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
    Experimental: names and defaults may change. Its features tell classes apart and hardly more, so
    that samples are typical examples of a class with little variety; for variety use
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
            raise DataError(
                f"y has only one class, {self.classes_[0]!r}; give rows of at least 2 classes."
            )
        Y = np.where(np.arange(len(self.classes_)) == self.labels_[:, None], 1.0, -1.0)
        self._solve(rows, Y)
        return self

    @verb("rows", "numbers")
    def decision_function(self, X: RowsLike) -> Array:
        """``Wᵀφ(x) + b``, (m, p); (m,) for two classes, positive for the second."""
        found = self.machine_.predict(X)
        return np.asarray(found[:, 1]) if len(self.classes_) == 2 else found

    @verb("rows", "numbers")
    def predict(self, X: RowsLike) -> Array:
        """The class of the largest decision value."""
        found = self.machine_.predict(X)
        return np.asarray(self.classes_[found.argmax(axis=1)])


class RKMRegressor(RegressorMixin, _Machine):
    r"""Least-squares regression by hidden units (experimental).

    The Restricted Kernel Machine form of least-squares support vector regression (Suykens 2017),
    which predicts as kernel ridge regression with a bias and the penalty λη.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        See :mod:`mercer.kernels`.
    lam : float, default=0.1
        λ, the penalty of the hidden units: larger is smoother.
    eta : float, default=1.0
        η, the weight of W. Predictions depend on λη alone.
    density, preimage, random_state
        For ``sample`` and ``generate``, as in :class:`~mercer.RKMClassifier`.

    Attributes
    ----------
    machine_ : LeastSquaresMachine
        Kernel, training rows, hidden units and bias.
    hidden_ : (n, p) array
        One column for each target.
    n_targets_ : int
        Columns of y; 0 if it was one-dimensional.
    kernel_, n_features_in_, feature_names_in_

    Notes
    -----
    Experimental: names and defaults may change. O(n³) time and O(n²) memory.

    References
    ----------
    J. A. K. Suykens. Deep restricted kernel machines using conjugate feature duality. Neural
    Computation 29, 2017.

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
        found = self.machine_.predict(X)
        return np.asarray(found[:, 0]) if not self.n_targets_ else found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _check_pair(
    estimator: _Machine, X: RowsLike, y: Targets, many: bool = False
) -> tuple[Array, Array]:
    """Rows and targets; several columns of targets if ``many``."""
    kernel = as_kernel(estimator.kernel)
    if not kernel.takes_vectors:
        raise DataError(f"{kernel!r}: machines need rows with coordinates; use a vector kernel.")
    if y is None:
        raise DataError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    rows = check_rows(estimator, X, kernel, reset=True)
    y = np.asarray(y)
    if many and y.ndim == 2:
        y = y.astype(np.float64)
    else:
        y = column_or_1d(y, warn=True)
        y = y.astype(np.float64) if many else y
    check_consistent_length(rows, y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError("Input y contains NaN or infinity; remove such rows.")
    return rows, y
