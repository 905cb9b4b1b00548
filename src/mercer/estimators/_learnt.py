"""What a fit has found, kept as one frozen value; the attributes that users know are its fields."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from mercer._linalg import Array
from mercer._types import Estimator
from mercer.eigen import Fit, Report
from mercer.estimators._saving import SaveMixin
from mercer.exceptions import ModelFileError
from mercer.kernels import Kernel
from mercer.subspace import Subspace

__all__ = ["LearntMixin", "fit_of"]


class LearntMixin(SaveMixin):
    """The attributes of every estimator with a Subspace."""

    _fit_: Fit

    @property
    def subspace_(self) -> Subspace:
        """What was learnt: kernel, support, coefficients and mean."""
        return self._learnt.subspace

    @property
    def kernel_(self) -> Kernel:
        """The kernel with numbers in place of rules."""
        return self._learnt.subspace.kernel

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the centred Gram matrix, decreasing, (q,)."""
        return self._learnt.eigenvalues

    @property
    def explained_variance_(self) -> Array:
        """Variances in feature space, (q,)."""
        return self._learnt.explained_variance

    @property
    def explained_variance_ratio_(self) -> Array:
        """Shares of the true total variance, (q,)."""
        return self._learnt.explained_variance_ratio

    @property
    def residuals_(self) -> Array:
        """``|K v - λ v|`` of each eigenpair, (q,)."""
        if self._learnt.residuals is None:
            raise AttributeError(
                f"{type(self).__name__} has no residuals_; see report_.estimated_error."
            )
        return self._learnt.residuals

    @property
    def report_(self) -> Report:
        """How the fit went."""
        return self._learnt.report

    @property
    def _learnt(self) -> Fit:
        if "_fit_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first.")
        return self._fit_

    def _restore(self, state: dict[str, Any]) -> None:
        given = {name: state.pop(f"{name}_", None) for name in _SAVED}
        state.pop("kernel_", None)  # the subspace has it
        if given["subspace"] is not None:  # else it was saved as a pattern
            lacking = [name for name, part in given.items() if part is None and name != "residuals"]
            if lacking:
                raise ModelFileError(f"there is no {lacking[0]}_")
            self._fit_ = Fit(**given)
        super()._restore(state)


def fit_of(model: Estimator) -> Fit:
    """What a fitted model has learnt, be it ours or another's with our attributes."""
    if isinstance(model, LearntMixin):
        return model._fit_
    given: dict[str, Any] = {name: getattr(model, f"{name}_", None) for name in _SAVED}
    return Fit(**given)


#: What models keep of a fit: all that cannot be left out.
_SAVED = tuple(field.name for field in fields(Fit) if field.default is MISSING)
