"""What a fit has found, kept as one Model; the attributes that users know are its fields."""

from __future__ import annotations

from typing import Any

from mercer._linalg import Array
from mercer.eigen import Model, Report
from mercer.eigen.result import PARTS
from mercer.estimators._saving import SaveMixin
from mercer.exceptions import ModelFileError
from mercer.kernels import Kernel
from mercer.subspace import Subspace

__all__ = ["LearntMixin"]


class LearntMixin(SaveMixin):
    """The attributes of every estimator with a Subspace."""

    _model_: Model

    @property
    def subspace_(self) -> Subspace:
        """What was learnt: kernel, support, coefficients and mean."""
        part: Subspace = self._told("subspace")
        return part

    @property
    def kernel_(self) -> Kernel:
        """The kernel with numbers in place of rules."""
        return self.subspace_.kernel

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the centred Gram matrix, decreasing, (q,)."""
        part: Array = self._told("eigenvalues")
        return part

    @property
    def explained_variance_(self) -> Array:
        """Variances in feature space, (q,)."""
        part: Array = self._told("explained_variance")
        return part

    @property
    def explained_variance_ratio_(self) -> Array:
        """Shares of the true total variance, (q,)."""
        part: Array = self._told("explained_variance_ratio")
        return part

    @property
    def residuals_(self) -> Array:
        """``|K v - λ v|`` of each eigenpair, (q,)."""
        part: Array = self._told("residuals")
        return part

    @property
    def report_(self) -> Report:
        """How the fit went."""
        part: Report = self._told("report")
        return part

    def _told(self, name: str) -> Any:
        if "_model_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first.")
        part = getattr(self._model_, name)
        if part is None:
            remedy = "see report_.estimated_error." if name == "residuals" else "fit it again."
            raise AttributeError(f"{type(self).__name__} has no {name}_; {remedy}")
        return part

    def _restore(self, state: dict[str, Any]) -> None:
        told = {name: state.pop(f"{name}_", None) for name in PARTS}
        state.pop("kernel_", None)  # the subspace has it
        if told["subspace"] is not None:  # else it was saved as a pattern
            lacking = [name for name, part in told.items() if part is None and name != "residuals"]
            if lacking:
                raise ModelFileError(f"there is no {lacking[0]}_")
            self._model_ = Model.known(**told)
        super()._restore(state)
