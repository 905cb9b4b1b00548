"""What the estimators that wrap another one have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.utils import get_tags

from mercer._base.sklearn import Tags
from mercer._base.types import Estimator, RowsLike
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.learning import owned
from mercer.estimators.subspace import SubspaceEstimator
from mercer.kernels import Kernel
from mercer.model import model_of
from mercer.preimage import PreImageSolver
from mercer.solvers import Plan


def _wrapped(estimator: Estimator) -> Any:
    """The estimator to wrap, by default kernel PCA; a number would be meant for that one."""
    if estimator is None:
        return KernelPCA()
    if not hasattr(estimator, "fit") or not hasattr(estimator, "kernel"):
        raise TypeError(
            f"estimator={estimator!r} is no estimator; wrap one, for example "
            f"KernelPCA({estimator if isinstance(estimator, Real) else 10!r})."
        )
    return estimator


class WrappingEstimator(SubspaceEstimator):
    """An estimator that fits another one (``estimator``) in a better way, and then acts as it."""

    estimator: Estimator

    _by_name: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"estimator": _wrapped}
    _saved: ClassVar[tuple[str, ...]] = (*SubspaceEstimator._saved, "estimator_", "n_iter_")

    @property
    def kernel(self) -> str | Kernel:  # type: ignore[override]  # read from the wrapped one
        """The kernel of the wrapped estimator."""
        kernel: str | Kernel = self._template().kernel
        return kernel

    @property
    def preimage(self) -> str | PreImageSolver:  # type: ignore[override]
        """How the wrapped estimator returns to input space."""
        preimage: str | PreImageSolver = self._template().preimage
        return preimage

    @property
    def preimage_(self) -> PreImageSolver:
        """The wrapped estimator's pre-image solver."""
        solver: PreImageSolver = self._template().preimage_
        return solver

    @property
    def _plan(self) -> Callable[[Kernel, RowsLike], Plan]:  # type: ignore[override]
        plan: Callable[[Kernel, RowsLike], Plan] = self._template()._plan
        return plan

    def _template(self) -> Any:
        return _wrapped(self.estimator)

    def _fresh(self, seed: int) -> Any:
        """A copy that draws the same random numbers every time, so that rounds can settle."""
        copy = clone(self._template())
        if "random_state" in copy.get_params(deep=False) and copy.random_state is None:
            copy.set_params(random_state=seed)
        return copy

    def _fitted(self, seed: int, rows: RowsLike, **options: Any) -> Any:
        """A copy, fitted to rows that have been checked; another's estimator checks them itself."""
        copy = self._fresh(seed)
        if not isinstance(copy, SubspaceEstimator):
            return copy.fit(rows, **options)
        copy._learn(rows, **options)
        for name in {"n_features_in_", "_data_fingerprint"} & set(vars(self)):
            setattr(copy, name, getattr(self, name))
        return copy

    def _adopt(self, fitted: Estimator) -> None:
        """Keep the fitted estimator, and show what it has learnt as our own."""
        self.estimator_ = fitted
        # Residuals are those of the rows that the wrapped one saw, and stay with it.
        self._model_ = replace(model_of(fitted), residuals=None)

    def _own(self, X: RowsLike) -> None:
        """Be safe from changes that the caller may make to X afterwards."""
        if isinstance(self.estimator_, SubspaceEstimator):  # another's does as it likes
            self.estimator_._model_ = owned(self.estimator_._model_, X)
            self._adopt(self.estimator_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self._template()).input_tags.pairwise
        return tags
