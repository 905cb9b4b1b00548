"""Kernel PCA of rows with outliers or missing values: estimators that wrap another one."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from mercer._base.config import with_parameters
from mercer._base.numbers import check_count, seeded_copy
from mercer._base.types import Array, Estimator, RowsLike, Seed, Targets
from mercer.estimators._validation import check_missing, check_rows
from mercer.estimators.base import Capabilities, take_over
from mercer.estimators.door import require_open, verb
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.learning import owned
from mercer.estimators.subspace import SubspaceEstimator
from mercer.exceptions import ConvergenceWarning, Remedy, warn
from mercer.kernels import as_kernel
from mercer.model import Subspace, model_of
from mercer.model.rank import usual_rule
from mercer.points import Points, Vectors
from mercer.points.source import check_no_empty_row
from mercer.robust import Filling, Loss, as_loss, fill_missing, reweight
from mercer.solvers import Auto


def _wrapped(estimator: Estimator) -> Any:
    """The estimator to wrap, by default kernel PCA; a number would be meant for that one."""
    if estimator is None:
        # Rows that are filled in or weighed are not worth minutes of near-exact components.
        return KernelPCA(usual_rule(), solver=Auto(seconds=30))
    able = hasattr(estimator, "fit") and hasattr(estimator, "kernel")
    if not able or isinstance(estimator, type):
        usual = f"KernelPCA({estimator if isinstance(estimator, Real) else 10!r})"
        raise TypeError(f"estimator={estimator!r} is not an estimator; wrap one, such as {usual}.")
    if not hasattr(estimator, "transform"):
        raise TypeError(
            f"estimator={estimator!r} has no scores to learn by; wrap KernelPCA(...), or give rows "
            f"with missing values to TableModel({type(estimator).__name__}(...))."
        )
    return estimator


def _of_wrapped(name: str, words: str) -> Any:
    return property(lambda self: getattr(self._template(), name), doc=words)


class WrappingEstimator(SubspaceEstimator):
    """An estimator that fits another one (``estimator``) in a better way, and then acts as it."""

    estimator: Estimator

    _by_name: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"estimator": _wrapped}
    _saved = (*SubspaceEstimator._saved, "estimator_", "n_iter_")

    #: The rows, if they can be learnt from.
    _check_fit: Callable[[RowsLike], Points]

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Fit the wrapped estimator, again and again, until nothing changes.

        Parameters
        ----------
        X : (n, d) array or data frame; a list for kernels of objects
            NaN where a value is missing, if that is what the wrapper is for.
        y : ignored
        """
        self._learn(self._check_fit(X))
        if isinstance(self.estimator_, SubspaceEstimator):  # another's does as it likes
            self.estimator_._model_ = owned(self.estimator_._model_, X)
            self._adopt(self.estimator_)
        return self

    # Read from the wrapped one, for the fit to come and for what was fitted.
    kernel = _of_wrapped("kernel", "The kernel of the wrapped estimator.")
    preimage = _of_wrapped("preimage", "How the wrapped estimator returns to input space.")
    preimage_ = _of_wrapped("preimage_", "The wrapped estimator's pre-image solver.")
    _plan = _of_wrapped("_plan", "What the wrapped estimator would do.")

    def _template(self) -> Any:
        return _wrapped(self.estimator)

    def _fitted(self, seed: int, rows: Points, **options: Any) -> Any:
        """A copy, fitted to rows that have been checked; another's estimator checks them itself."""
        copy = seeded_copy(self._template(), seed)  # so that rounds can settle
        if not isinstance(copy, SubspaceEstimator):
            return copy.fit(rows.for_user(), **options)
        take_over(copy, self, "n_features_in_", "_data_fingerprint")
        copy._learn(rows, **options)
        return copy

    def _adopt(self, fitted: Estimator) -> None:
        """Keep the fitted estimator, and show what it has learnt as our own."""
        self.estimator_ = fitted
        # Residuals are those of the rows that the wrapped one saw, and stay with it.
        self._set_model(replace(model_of(fitted), residuals=None))


@with_parameters
class ReweightedKernelPCA(WrappingEstimator):
    r"""Kernel PCA that outliers do not disturb: rows that do not belong lose their weight.

    It starts from a core of rows that is found by distances alone: the half of the rows with the
    nearest neighbours, extended by all rows that are as close to it as its rows are to each other.
    Scattered outliers and small groups stay out, and cannot stretch the kernel's width. Then the
    wrapped estimator is fitted with ``sample_weight``, and a bounded loss lowers the weights of
    trusted rows whose distance from the subspace, fitted **without** them, is large compared with
    that of the others. It is a wrapper, and works with every estimator that accepts sample weights.

    Parameters
    ----------
    estimator : estimator, optional
        Any with ``fit(X, sample_weight=...)`` and ``subspace_``; if not given, kernel PCA of 95 %
        of the variance, in at most 64 components.
    loss : str or Loss, default="hampel"
        See :mod:`mercer.robust`.
    folds : int, default=5
        Number of groups in which rows are held out.
    max_iter : int, default=20
        Rounds; each costs ``folds`` fits.
    random_state : int, Generator, RandomState or None, default=None
        For the folds.

    Attributes
    ----------
    weights_ : (n,) array
        Of the training rows, between 0 (an outlier, without any influence) and 1.
    errors_ : (n,) array
        Their held-out distances from the subspace; 1 for a point with nothing near it.
    changes_ : array
        The mean change of the weights in each round.
    n_iter_ : int
        Rounds.
    estimator_ : the wrapped estimator, fitted with ``weights_``
    subspace_, kernel_, eigenvalues_, explained_variance_, explained_variance_ratio_, report_
        As of ``estimator_``.

    Notes
    -----
    Fewer than half of the rows may be scattered outliers. A group apart is left out, too, where it
    is tighter than its distance from the rest; if it is more than 15 % of the rows it may well be
    data, and a warning says so. A group as near as the data's own gaps counts as data; if it is
    much denser than the others, a warning says so, too. Of more than 3,000 rows as many are drawn
    for the rounds, and a model of these weighs the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA, ReweightedKernelPCA
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, np.pi, 100)
    >>> curve = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> gross = rng.uniform(-10, 10, (20, 2))
    >>> model = ReweightedKernelPCA(KernelPCA(4), random_state=0).fit(np.vstack([curve, gross]))
    >>> bool(model.weights_[100:].max() < 0.01 < 0.9 < model.weights_[:100].mean())
    True
    """

    capabilities = Capabilities(sparse=True, objects=True, onnx=True)

    estimator: Estimator = None
    _: KW_ONLY
    loss: str | Loss = "hampel"
    folds: int = 5
    max_iter: int = 20
    random_state: Seed = None

    def _check_fit(self, X: RowsLike) -> Points:
        kernel = as_kernel(self.kernel)
        require_open(kernel, "held-out errors")
        return check_rows(self, X, kernel, reset=True)

    def _learn(self, rows: Points) -> None:
        rng, kernel = self._rng(), as_kernel(self.kernel)
        seed = int(rng.integers(2**31))
        loss, rounds = as_loss(self.loss), check_count("max_iter", self.max_iter)

        def learn(index: Array, weights: Array) -> Any:
            fitted = self._fitted(seed, rows.take(index), sample_weight=weights)
            return model_of(fitted).subspace

        outcome = reweight(learn, rows, kernel, loss, rng, folds=self.folds, max_iter=rounds)
        self.weights_, self.errors_ = outcome.weights, outcome.errors
        self.changes_, self.n_iter_ = outcome.changes, len(outcome.changes)
        if not outcome.converged:
            moved = f"weights still changed by {self.changes_[-1]:.2g} on average after"
            shell = "fit with fewer --components."
            remedy = Remedy("raise max_iter, or use fewer components.", shell=shell)
            warn(f"{moved} {rounds} rounds; " + remedy, ConvergenceWarning)
        if outcome.doubt:
            plain = f"fit {type(self._template()).__name__} without the wrapper"
            warn(f"{outcome.doubt}; if they are data, {plain}, or with sample_weight.")
        self._adopt(self._fitted(seed, rows, sample_weight=outcome.weights))


@with_parameters
class MissingKernelPCA(WrappingEstimator):
    """Fit where values are missing: impute, fit, repeat, in the style of expectation-maximisation.

    Starts from the conditional means of a Gaussian, found by expectation-maximisation. In every
    round each fold of the rows is filled in by a model fitted to the other folds, because a model
    that has seen a guess would confirm it. The weight of the model's
    answer beside the linear one, and the noise of its components, are chosen by hiding observed
    values. All methods then accept rows with NaN, too, and fill them in first.

    Parameters
    ----------
    estimator : estimator, optional
        Any with ``fit(X)`` and ``subspace_``; if not given, kernel PCA of 95 % of the variance,
        in at most 64 components. Others, such as :class:`~mercer.KernelNovelty`, learn from rows
        with missing values by :class:`~mercer.TableModel`.
    folds, max_iter, random_state
        As for :class:`~mercer.ReweightedKernelPCA`.
    tol : float, default=2e-2
        Stop when a round changes the missing values by less than this share of their spread.

    Attributes
    ----------
    imputed_ : (n, d) array
        The training rows, filled in; observed values unchanged.
    changes_ : array
        The relative change of the missing values in each round; empty if nothing was missing, or if
        the linear answer is best.
    n_iter_ : int
        Rounds, at least 1.
    filling_ : mercer.robust.Filling or None
        What was chosen by hidden values, and their errors; None where nothing was missing.
    estimator_ : the wrapped estimator, fitted to ``imputed_``
    subspace_, kernel_, eigenvalues_, explained_variance_, explained_variance_ratio_, report_
        As of ``estimator_``.

    Notes
    -----
    Filled-in values carry no noise, so that variances come out a little too small. With more than
    3,000 rows, a sample of 2,000 takes part in the rounds, and its model fills in the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA, MissingKernelPCA
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, np.pi, 150)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle), angle])
    >>> hidden = rng.random(X.shape) < 0.2
    >>> hidden[:, 2] = False
    >>> model = MissingKernelPCA(KernelPCA(8), random_state=0).fit(np.where(hidden, np.nan, X))
    >>> bool(np.abs(model.imputed_ - X)[hidden].mean() < 0.05)
    True
    """

    _saved = (*WrappingEstimator._saved, "filling_")

    capabilities = Capabilities(missing=True, onnx=True)

    estimator: Estimator = None
    _: KW_ONLY
    folds: int = 5
    max_iter: int = 20
    tol: float = 2e-2
    random_state: Seed = None

    def _learn(self, points: Points) -> None:
        rows = points.vectors("missing data")
        rng, rounds = self._rng(), check_count("max_iter", self.max_iter)
        seed = int(rng.integers(2**31))

        def learn(filled: Array) -> tuple[Subspace, Array]:
            model = model_of(self._fitted(seed, Vectors(filled)))
            return model.subspace, np.asarray(model.explained_variance)

        self.imputed_, self.changes_, self.filling_ = rows, np.empty(0), None
        if np.isnan(rows).any():
            self.imputed_, self.changes_, self.filling_ = fill_missing(
                learn, rows, rng, self.preimage, folds=self.folds, rounds=rounds, tol=self.tol
            )
        self.n_iter_ = max(1, len(self.changes_))
        self._adopt(self._fitted(seed, Vectors(self.imputed_)))

    def _check_fit(self, X: RowsLike) -> Points:
        points = check_rows(self, X, as_kernel(self.kernel), reset=True, allow_nan=True)
        rows = points.vectors("missing data")
        check_no_empty_row(rows)
        check_no_empty_row(rows.T, "column {}".format)
        return points

    def _filling(self) -> Filling:
        chosen: Filling | None = vars(self).get("filling_")  # older files have none
        return super()._filling() if chosen is None else chosen

    def _rows(self, X: RowsLike, stream: bool = False) -> Points:  # noqa: ARG002  filled in memory
        return Vectors(np.asarray(self._fill(check_missing(self, X)).points))
