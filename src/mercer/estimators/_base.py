"""What every estimator with a Subspace can do; a variant adds only its ``fit``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._linalg import Array
from mercer._parallel import blocks
from mercer.estimators._impute import ImputeMixin
from mercer.estimators._live import LiveMixin
from mercer.estimators._preimage import PreImageMixin
from mercer.estimators._saving import SaveMixin
from mercer.estimators._validation import check_rows
from mercer.kernels import Kernel, as_kernel
from mercer.rows import CHUNK, Rows, as_rows, write_npy
from mercer.subspace import Subspace

__all__ = ["SubspaceEstimator"]


class SubspaceEstimator(
    ImputeMixin,
    PreImageMixin,
    LiveMixin,
    SaveMixin,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn ships no types
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Projection, reconstruction error and (through ``preimage``) the way back to input space."""

    kernel: str | Kernel
    random_state: Any
    subspace_: Subspace

    _saved: ClassVar[tuple[str, ...]] = (
        "subspace_",
        "kernel_",
        "eigenvalues_",
        "explained_variance_",
        "explained_variance_ratio_",
        "residuals_",
        "report_",
        "n_features_in_",
        "feature_names_in_",
        "_sklearn_output_config",
    )

    def transform(self, X: Any) -> Array:
        """Project rows onto the components: ``z(x) = Bᵀ k(S, x) - b``.

        Parameters
        ----------
        X : (n, d) array, data frame, or a list of objects for kernels of objects
            A file or row source (:mod:`mercer.rows`) is read in blocks.

        Returns
        -------
        (n, q) array of scores; a lazy dask array for a dask collection
        """
        check_is_fitted(self, "subspace_")
        scores: Array = self._by_blocks(self.subspace_.scores, X, self.n_components_)
        return scores

    def transform_to(self, path: str | os.PathLike[str], X: Any) -> Path:
        """Project rows and write the scores to an .npy file, block by block.

        Nothing of the length of X is held in memory; the file appears whole or not at all.

        Parameters
        ----------
        path : where to write
        X : as for :meth:`transform`

        Returns
        -------
        the path
        """
        rows = as_rows(self._rows(X, stream=True))
        dtype = self.subspace_.coef.dtype
        chunks = blocks(len(rows), CHUNK)
        parts = (self.subspace_.scores(_cast(block, dtype)) for _, block in rows.stream(chunks))
        return write_npy(path, parts, (len(rows), self.n_components_), dtype)

    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance in feature space between each point and its projection, (n,).

        Hoffmann's novelty score (2007): zero on the subspace, large far from the training data.
        """
        check_is_fitted(self, "subspace_")
        errors: Array = self._by_blocks(self.subspace_.residual, X, 0)
        return errors

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

    def _rows(self, X: Any, stream: bool = False) -> Any:
        """Checked rows in the precision of the model; sources are loaded unless ``stream``."""
        check_is_fitted(self, "subspace_")
        rows = check_rows(self, X, self.subspace_.kernel, reset=False, stream=stream)
        return _cast(rows, self.subspace_.coef.dtype)

    def _by_blocks(self, function: Callable[[Any], Array], X: Any, width: int) -> Any:
        """``function(rows)`` for rows in memory; block by block for those that are elsewhere."""
        rows, dtype = self._rows(X, stream=True), self.subspace_.coef.dtype
        if not isinstance(rows, Rows):
            return function(rows)
        return rows.apply(_OnBlocks(function, dtype), width, dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = as_kernel(self.kernel) if isinstance(self.kernel, str | Kernel) else None
        tags.input_tags.pairwise = kernel.is_pairwise if kernel is not None else False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True)
class _OnBlocks:
    """A function of rows in the model's precision; unlike a lambda it can be sent to workers."""

    function: Callable[[Any], Array]
    dtype: np.dtype

    def __call__(self, block: Array) -> Array:
        return self.function(_cast(block, self.dtype))


def _cast(rows: Any, dtype: np.dtype) -> Any:
    return rows.astype(dtype, copy=False) if isinstance(rows, np.ndarray) else rows
