"""What every estimator with a Subspace can do; a variant adds only its ``fit``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._linalg import Array
from mercer.estimators._preimage import PreImageMixin
from mercer.estimators._validation import check_rows
from mercer.kernels import Kernel, as_kernel
from mercer.subspace import Subspace

__all__ = ["SubspaceEstimator"]


class SubspaceEstimator(  # type: ignore[misc]  # scikit-learn ships no types
    PreImageMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Projection, reconstruction error and (through ``preimage``) the way back to input space."""

    kernel: str | Kernel
    random_state: Any
    subspace_: Subspace

    def transform(self, X: Any) -> Array:
        """Project rows onto the components: ``z(x) = Bᵀ k(S, x) - b``.

        Parameters
        ----------
        X : (n, d) array, data frame, or a list of objects for kernels of objects

        Returns
        -------
        (n, q) array of scores
        """
        return self.subspace_.scores(self._rows(X))

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance in feature space between each point and its projection, (n,).

        Hoffmann's novelty score (2007): zero on the subspace, large far from the training data.
        """
        return self.subspace_.residual(self._rows(X))

    @property
    def n_components_(self) -> int:
        """Number of components that the model has."""
        return self.subspace_.n_components

    @property
    def _n_features_out(self) -> int:
        return self.subspace_.n_components

    def _rng(self) -> np.random.Generator:
        """The random numbers of one fit, from whatever scikit-learn accepts as ``random_state``."""
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _rows(self, X: Any) -> Any:
        """Checked rows in the precision of the model."""
        check_is_fitted(self, "subspace_")
        rows = check_rows(self, X, self.subspace_.kernel, reset=False)
        if isinstance(rows, np.ndarray):
            rows = rows.astype(self.subspace_.coef.dtype, copy=False)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = as_kernel(self.kernel) if isinstance(self.kernel, str | Kernel) else None
        tags.input_tags.pairwise = kernel.is_pairwise if kernel is not None else False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
