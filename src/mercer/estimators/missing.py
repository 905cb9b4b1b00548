"""Kernel PCA fitted to rows with missing values."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.sklearn import Tags
from mercer._base.types import Array, Estimator, RowsLike, Seed, Targets
from mercer.estimators._validation import check_missing, check_no_empty_row, check_rows
from mercer.estimators._wrapper import WrappingEstimator
from mercer.estimators.base import Capabilities
from mercer.estimators.door import verb
from mercer.estimators.imputing import fill
from mercer.exceptions import DataError
from mercer.kernels import as_kernel
from mercer.model import Subspace, model_of
from mercer.robust import Filling, fill_missing


class MissingKernelPCA(WrappingEstimator):
    """Fit where values are missing: impute, fit, repeat, in the style of expectation-maximisation.

    Starts from the conditional means of a Gaussian, found by expectation-maximisation. In every
    round each fold of the rows is filled in by a model fitted to the other folds, because a model
    that has seen a guess would confirm it. How much the model's answer counts beside the linear
    one, and how noisy its components are taken to be, is chosen by observed values that are hidden
    for the purpose. All methods then take rows with NaN, too, and fill them in first.

    Parameters
    ----------
    estimator : estimator, optional
        Any with ``fit(X)`` and ``subspace_``; ``KernelPCA()`` if not given.
    folds : int, default=5
    max_iter : int, default=20
        Rounds; each costs ``folds`` fits.
    tol : float, default=2e-2
        Stop when a round changes the missing values by less than this share of their spread.
    random_state : int, Generator, RandomState or None, default=None
        For the folds.

    Attributes
    ----------
    imputed_ : (n, d) array
        The training rows, filled in; observed values unchanged.
    changes_ : array
        The relative change of the missing values in each round; empty where nothing was missing,
        or where the linear answer is best.
    n_iter_ : int
        Rounds, at least 1.
    filling_ : mercer.robust.Filling or None
        What was chosen by hidden values, and their errors; None where nothing was missing.
    estimator_ : the wrapped estimator, fitted to ``imputed_``
    subspace_, kernel_, eigenvalues_, explained_variance_, explained_variance_ratio_, report_
        As of ``estimator_``.

    Notes
    -----
    Filled-in values carry no noise, so that variances come out a little too small.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA, MissingKernelPCA
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, np.pi, 150)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle), angle])
    >>> holes = rng.random(X.shape) < 0.2
    >>> holes[:, 2] = False
    >>> model = MissingKernelPCA(KernelPCA(8), random_state=0).fit(np.where(holes, np.nan, X))
    >>> bool(np.abs(model.imputed_ - X)[holes].mean() < 0.05)
    True
    """

    _saved: ClassVar[tuple[str, ...]] = (*WrappingEstimator._saved, "filling_")

    capabilities: ClassVar[Capabilities] = Capabilities(missing=True, onnx=True)

    def __init__(
        self,
        estimator: Estimator = None,
        *,
        folds: int = 5,
        max_iter: int = 20,
        tol: float = 2e-2,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.folds = folds
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Fill in and fit.

        Parameters
        ----------
        X : (n, d) array or data frame, NaN where a value is missing
        y : ignored
        """
        self._learn(self._check_fit(X))
        self._own(X)
        return self

    def _learn(self, rows: RowsLike) -> None:
        """Fit to rows that have been checked."""
        rng, rounds = self._rng(), check_count("max_iter", self.max_iter)
        seed = int(rng.integers(2**31))

        def learn(filled: Array) -> tuple[Subspace, Array]:
            model = model_of(self._fitted(seed, filled))
            return model.subspace, np.asarray(model.explained_variance)

        self.imputed_, self.changes_, self.filling_ = rows, np.empty(0), None
        if np.isnan(rows).any():
            self.imputed_, self.changes_, self.filling_ = fill_missing(
                learn,
                rows,
                rng,
                self.preimage,
                folds=self.folds,
                rounds=rounds,
                tol=self.tol,
            )
        self.n_iter_ = max(1, len(self.changes_))
        self._adopt(self._fitted(seed, self.imputed_))

    def _check_fit(self, X: RowsLike) -> Array:
        kernel = as_kernel(self.kernel)
        rows = check_rows(self, X, kernel, reset=True, allow_nan=True)
        rows = kernel.points(rows).vectors("missing data")
        check_no_empty_row(rows)
        empty = np.flatnonzero(np.isnan(rows).all(axis=0))
        if empty.size:
            raise DataError(
                f"{empty.size} columns have no observed value at all, the first is column "
                f"{empty[0]}; remove them."
            )
        return rows

    def _filling(self) -> Filling:
        chosen: Filling | None = vars(self).get("filling_")  # older files have none
        return super()._filling() if chosen is None else chosen

    def _rows(self, X: RowsLike, stream: bool = False) -> Any:  # noqa: ARG002  filled in memory
        return np.asarray(fill(self, check_missing(self, X)).points)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
