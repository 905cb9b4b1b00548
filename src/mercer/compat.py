"""The drop-in for ``sklearn.decomposition.KernelPCA``: its arguments and attributes, our engine.

Code written for scikit-learn changes one import. New code is better served by
:class:`mercer.KernelPCA`, where each parameter lives with the object that uses it.
"""

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from scipy import linalg
from sklearn import decomposition
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from mercer import kernels
from mercer._base.linalg import fix_signs
from mercer._base.numbers import fixed_rng, make_rng
from mercer._base.types import Array, RowsLike, Targets
from mercer.estimators.base import OF_COLUMNS, Estimator
from mercer.estimators.door import verb
from mercer.exceptions import ConvergenceWarning, DegenerateKernelWarning, KernelError, warn
from mercer.gram import CenteredGram, GramOperator, MatrixOperator
from mercer.kernels import Basis, Kernel
from mercer.kernels.base import full_precision
from mercer.model import Count
from mercer.points import as_points
from mercer.solvers import Davidson, Dense, EigenSolver, Lanczos, Problem
from mercer.solvers.policy import rank_floor, smallest_eigenvalue

__all__ = ["KernelPCA"]


class KernelPCA(decomposition.KernelPCA, Estimator):  # type: ignore[misc]
    """``sklearn.decomposition.KernelPCA`` with mercer's solvers.

    Scikit-learn's documentation describes what is not described here.

    Parameters
    ----------
    n_components : int or None, default=None
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"} or callable
    gamma, degree, coef0, kernel_params : of the kernel; ``gamma=None`` is ``1 / n_features``
    alpha : float, default=1.0, the ridge penalty of the inverse transform
    fit_inverse_transform : bool, default=False
        Learn ``inverse_transform`` by kernel ridge regression from scores to rows.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        ``"dense"`` is :class:`~mercer.solvers.Dense`, ``"arpack"``
        :class:`~mercer.solvers.Lanczos`, ``"randomized"`` :class:`~mercer.solvers.Davidson` to
        1e-10, and ``"auto"`` one of the first two by size.
    tol, max_iter : of ``"arpack"``
    iterated_power : checked, and without effect: our start is improved until it is right
    remove_zero_eig : bool, default=False
        Drop components whose eigenvalue is zero; always done if ``n_components`` is None.
    random_state, copy_X, n_jobs : number of threads; None leaves the choice to the library

    Attributes
    ----------
    eigenvalues_, eigenvectors_, explained_variance_ratio_, X_fit_, gamma_, n_features_in_
    dual_coef_, X_transformed_fit_
        Of the inverse transform, if it was asked for.

    Notes
    -----
    It differs where scikit-learn returns numbers in silence that mean nothing: a precomputed matrix
    that is not symmetric even after centring is refused; eigenvalues below the rounding of the
    kernel's entries are zero; data far from the origin keep their digits with ``kernel="rbf"``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.compat import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> KernelPCA(n_components=7, kernel="linear").fit_transform(X).shape
    (1797, 7)
    """

    _foreign: ClassVar[Mapping[str, str]] = {}
    _elsewhere: ClassVar[Mapping[str, str]] = {}
    _saved = (
        *("eigenvalues_", "explained_variance_ratio_", "eigenvectors_", "X_fit_", "gamma_"),
        *("dual_coef_", "X_transformed_fit_", *OF_COLUMNS, "_scaled", "_offset"),
        "_sklearn_output_config",
    )

    # Written again for the answers that our constructors give to arguments they do not have.
    __init__ = decomposition.KernelPCA.__init__

    @verb()
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Find the components of X, (n, d) dense or sparse; (n, n) for a precomputed kernel."""
        self._validate_params()
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise KernelError("Cannot fit_inverse_transform with a precomputed kernel; give rows.")
        X = validate_data(self, X, accept_sparse="csr", copy=self.copy_X)
        n, d = X.shape
        if self.kernel == "precomputed" and n != d:
            square = f"must be a square matrix. Input is a {n}x{d} matrix"
            raise KernelError(f"Precomputed matrix {square}; give k(train, train).")
        self.gamma_ = 1 / d if self.gamma is None else self.gamma
        rows = full_precision(X)
        with self._threads():
            operator, kernel_means = self._gram(rows)
            self._solve(operator, kernel_means.dtype)
            # v / √λ, and zero for directions of no variance
            V, root = self.eigenvectors_, np.sqrt(self.eigenvalues_)
            self._scaled = np.divide(V, root, out=0 * V, where=root > 0)
            self._offset = kernel_means @ self._scaled
            self.X_fit_ = X
            if self.fit_inverse_transform:
                self._fit_ridge(rows)
        return self

    @verb()
    def fit_transform(self, X: RowsLike, y: Targets = None, **params: Any) -> Array:  # noqa: ARG002
        """Fit, and the scores of the training rows: ``√λ v``."""
        self.fit(X, **params)
        return np.asarray(self.eigenvectors_ * np.sqrt(self.eigenvalues_))

    @verb()
    def transform(self, X: RowsLike) -> Array:
        """Scores of rows (n, d); k(new, train) for a precomputed kernel."""
        check_is_fitted(self)
        rows = full_precision(validate_data(self, X, accept_sparse="csr", reset=False))
        with self._threads():
            # The coefficients sum to zero, so that only the training means have to be taken off.
            return np.asarray(self._products(rows, self.X_fit_, self._scaled) - self._offset)

    @verb()
    def inverse_transform(self, X: RowsLike) -> Array:
        """Rows for scores (n, q), by kernel ridge regression (Bakır, Weston & Schölkopf 2004)."""
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and "
                "hence the inverse transform is not available; set it and fit again."
            )
        check_is_fitted(self, "dual_coef_")
        with self._threads():
            return self._products(full_precision(X), self.X_transformed_fit_, self.dual_coef_)

    @verb(
        needs=lambda m, _: None if m.fit_inverse_transform else "give fit_inverse_transform=True."
    )
    def denoise(self, X: RowsLike) -> Array:
        """``inverse_transform(transform(X))``; :class:`mercer.KernelPCA` starts at the rows."""
        return self.inverse_transform(self.transform(X))

    def _gram(self, rows: RowsLike) -> tuple[GramOperator, Array]:
        """The centred kernel matrix, and the means of the columns of the matrix itself."""
        kernel = self._own_kernel()
        if kernel is None:
            return _centred(self._foreign_kernel(rows))
        problem = Problem(kernel, rows, Count(self._count(n := len(rows))), fixed_rng(0))
        direction = np.full(n, 1 / np.sqrt(n), dtype=problem.dtype)
        operator = CenteredGram(self._solver(n).bind(problem), direction)
        means = operator.mean_product * float(direction[0])
        return operator, means.astype(problem.dtype, copy=False)

    def _own_kernel(self) -> Kernel | None:
        """The kernel as one of ours; None where only scikit-learn's function knows it."""
        if callable(self.kernel) or self.kernel == "precomputed":
            return None
        kernel = kernels.as_kernel(self.kernel)
        numbers = {"gamma": float(self.gamma_), "coef0": float(self.coef0), "degree": self.degree}
        own = kernel.get_params(deep=False).keys() & numbers
        kernel.set_params(**{name: numbers[name] for name in own})
        try:
            with warnings.catch_warnings(action="error", category=DegenerateKernelWarning):
                kernel.check()
        except (KernelError, DegenerateKernelWarning):  # gamma=0, a degree of 2.5, a negative coef0
            return None
        return kernel

    def _foreign_kernel(self, X: RowsLike, Y: RowsLike = None) -> Array:
        """By scikit-learn's own functions."""
        return np.asarray(self._get_kernel(*(as_points(part).for_user() for part in (X, Y))))

    def _products(self, rows: RowsLike, support: RowsLike, W: Array) -> Array:
        """``k(rows, support) @ W``, in tiles where the kernel is ours."""
        kernel = self._own_kernel()
        if kernel is None:
            return np.asarray(self._foreign_kernel(rows, support) @ W)
        rows, support = (full_precision(X).astype(W.dtype, copy=False) for X in (rows, support))
        return Basis(kernel, support).matmat(rows, W)

    def _solve(self, operator: GramOperator, dtype: np.dtype) -> None:
        k = self._count(operator.n)
        rng = make_rng(self.random_state)
        spectrum = self._solver(operator.n).solve(operator, k, rng)
        values = spectrum.values
        floor = rank_floor(operator, float(values[0]))
        smallest = float(values.min())
        indefinite = callable(self.kernel) or self.kernel in ("precomputed", "sigmoid")
        if self.eigen_solver == "randomized" and indefinite:
            # scikit-learn takes the largest moduli there, and so must notice negative ones.
            beyond = smallest_eigenvalue(operator)
            smallest = beyond if -beyond > smallest else smallest
        _refuse_negative(smallest, float(values[0]), floor, values.dtype)
        values = np.where(values <= floor, 0, values)
        if not spectrum.converged:
            at = f"{self.eigen_solver} stopped at a relative error of {spectrum.errors.max():.2g}"
            warn(f"{at}; raise max_iter, or use eigen_solver='dense'.", ConvergenceWarning)
        vectors = spectrum.vectors * fix_signs(spectrum.vectors)
        if self.remove_zero_eig or self.n_components is None:
            values, vectors = values[values > 0], vectors[:, values > 0]
        self.eigenvalues_ = values.astype(dtype, copy=False)
        trace = operator.trace()  # 0 for a constant kernel, which has no shares either
        self.explained_variance_ratio_ = self.eigenvalues_ / (trace if trace > 0 else np.inf)
        self.eigenvectors_ = vectors.astype(dtype, copy=False)

    def _fit_ridge(self, rows: RowsLike) -> None:
        if as_points(rows).is_sparse:
            text = "Inverse transform not implemented for sparse matrices; give X.toarray()."
            raise NotImplementedError(text)
        try:
            self._fit_inverse_transform(self.eigenvectors_ * np.sqrt(self.eigenvalues_), rows)
        except linalg.LinAlgError as error:
            text = f"the ridge system with alpha={self.alpha} is singular; raise alpha."
            raise KernelError(text) from error

    def _count(self, n: int) -> int:
        return n if self.n_components is None else min(n, self.n_components)

    def _solver(self, n: int) -> EigenSolver:
        if self.eigen_solver == "arpack":
            return Lanczos(self.tol, max_iter=self.max_iter)
        if self.eigen_solver == "randomized":
            return Davidson(tol=1e-10)
        few = self._count(n) <= n / 10 and n > 500
        return Lanczos() if self.eigen_solver == "auto" and few else Dense()

    def _threads(self) -> AbstractContextManager[Any]:
        if self.n_jobs is None:
            return nullcontext()
        return threadpool_limits(limits=effective_n_jobs(self.n_jobs), user_api="blas")  # type: ignore[no-any-return]


def _centred(K: Array) -> tuple[GramOperator, Array]:
    """H K H of a matrix, which has to be symmetric after the centring, not before."""
    means = K.mean(axis=0)
    C = K - means - K.mean(axis=1, keepdims=True) + means.mean()
    size, skew = np.abs(K).max(), np.abs(C - C.T).max()
    if skew > max(1e-10, 64 * np.finfo(K.dtype).eps) * size:
        raise KernelError(
            f"the kernel matrix is not symmetric: centred, |K - Kᵀ| reaches {skew:.3g} where "
            f"|K| reaches {size:.3g}; give (K + K.T) / 2 if that is what you mean."
        )
    return MatrixOperator((C + C.T) / 2), means


def _refuse_negative(smallest: float, largest: float, floor: float, dtype: np.dtype) -> None:
    limit = 1e-5 if dtype == np.float64 else 5e-3  # scikit-learn's
    if smallest < -limit * max(largest, 0.0) - floor:
        raise KernelError(
            f"There are significant negative eigenvalues ({-smallest / max(largest, floor):g} of "
            "the maximum positive). Ask for fewer components, or use another kernel."
        )
