"""Kernel PCA that gross outliers cannot turn."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from mercer._base.held_out import take
from mercer._base.numbers import check_count
from mercer._base.types import Array, Estimator, RowsLike, Seed, Targets
from mercer.estimators._validation import check_rows
from mercer.estimators._wrapper import WrappingEstimator
from mercer.estimators.base import Capabilities
from mercer.estimators.door import require_open, verb
from mercer.exceptions import ConvergenceWarning, MercerWarning, Remedy, warn
from mercer.kernels import as_kernel
from mercer.model import model_of
from mercer.robust import Loss, as_loss, reweight


class ReweightedKernelPCA(WrappingEstimator):
    r"""Kernel PCA that outliers do not turn: rows that do not belong lose their weight.

    First a core of rows is trusted, by distances alone: the half that has the others nearest, which
    then grows to all that lies as close to it as its rows to each other. Scattered outliers and
    small groups stay out, and cannot stretch the kernel's width. Then the wrapped estimator is
    fitted with ``sample_weight``, and a bounded loss lowers the weights of trusted rows whose
    distance from the subspace, fitted **without** them, is large beside that of the others. A
    wrapper, because weights are all that it needs: it works with every estimator that takes them,
    and :class:`~mercer.KernelPCA` keeps its short constructor.

    Parameters
    ----------
    estimator : estimator, optional
        Any with ``fit(X, sample_weight=...)`` and ``subspace_``; ``KernelPCA()`` if not given.
    loss : str or Loss, default="hampel"
        See :mod:`mercer.robust`.
    folds : int, default=5
        Rows are held out in so many groups.
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
    data, and a warning says so. A group as near as the data's own gaps counts as data.

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

    capabilities: ClassVar[Capabilities] = Capabilities(sparse=True, objects=True, onnx=True)

    def __init__(
        self,
        estimator: Estimator = None,
        *,
        loss: str | Loss = "hampel",
        folds: int = 5,
        max_iter: int = 20,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.folds = folds
        self.max_iter = max_iter
        self.random_state = random_state

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Find weights and components.

        Parameters
        ----------
        X : (n, d) array or data frame; a list for kernels of objects
        y : ignored
        """
        kernel = as_kernel(self.kernel)
        require_open(kernel, "held-out errors")
        self._learn(check_rows(self, X, kernel, reset=True))
        self._own(X)
        return self

    def _learn(self, rows: RowsLike) -> None:
        """Fit to rows that have been checked."""
        rng, kernel = self._rng(), as_kernel(self.kernel)
        seed = int(rng.integers(2**31))

        def learn(index: Array, weights: Array) -> Any:
            fitted = self._fitted(seed, take(rows, index), sample_weight=weights)
            return model_of(fitted).subspace

        loss, rounds = as_loss(self.loss), check_count("max_iter", self.max_iter)
        found = reweight(learn, rows, kernel, loss, rng, folds=self.folds, max_iter=rounds)
        if not found.converged:
            warn(
                f"weights still changed by {found.changes[-1]:.2g} on the mean after "
                f"{self.max_iter} rounds; "
                + Remedy(
                    "raise max_iter, or use fewer components.", shell="fit with fewer --components."
                ),
                ConvergenceWarning,
            )
        if found.doubt:
            warn(
                f"{found.doubt}; if they are data, fit {type(self._template()).__name__} without "
                "the wrapper, or with sample_weight.",
                MercerWarning,
            )
        self.weights_, self.errors_, self.changes_ = found.weights, found.errors, found.changes
        self.n_iter_ = len(found.changes)
        self._adopt(self._fitted(seed, rows, sample_weight=found.weights))
