"""What every estimator with a Subspace can do; a variant adds only its ``fit``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._linalg import Array
from mercer._random import make_rng
from mercer._sklearn import BaseEstimator, ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from mercer._types import RowsLike, Seed
from mercer.estimators._available import needs_open_kernel, takes_sparse
from mercer.estimators._capabilities import Capabilities
from mercer.estimators._impute import ImputeMixin
from mercer.estimators._live import LiveMixin
from mercer.estimators._parameters import ParametersMixin
from mercer.estimators._planning import PlanMixin
from mercer.estimators._relevance import RelevanceMixin
from mercer.estimators._validation import check_rows
from mercer.kernels import Kernel, as_kernel
from mercer.rows import Rows, Table, as_rows, write_table

__all__ = ["SubspaceEstimator"]


class SubspaceEstimator(
    ParametersMixin,
    PlanMixin,
    ImputeMixin,
    RelevanceMixin,
    LiveMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Projection, reconstruction error and (through ``preimage``) the way back to input space."""

    kernel: str | Kernel
    random_state: Seed
    capabilities: ClassVar[Capabilities]

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

    def transform(self, X: RowsLike) -> Array:
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

    def transform_to(self, path: str | os.PathLike[str], X: RowsLike) -> Path:
        """Project rows and write the scores to a file, block by block.

        Nothing of the length of X is held in memory; the file appears whole or not at all.

        Parameters
        ----------
        path : where to write; the ending decides, see :func:`mercer.rows.write_table`
        X : as for :meth:`transform`

        Returns
        -------
        the path
        """
        table = Table(as_rows(self._rows(X, stream=True)))
        scores = _OnBlocks(self.subspace_.scores, self.subspace_.coef.dtype)
        names = self.get_feature_names_out()
        return write_table(path, table.map(lambda block: scores(block.X), len(names), names))

    @needs_open_kernel
    def reconstruction_error(self, X: RowsLike) -> Array:
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
        return make_rng(self.random_state)

    def _rows(self, X: RowsLike, stream: bool = False) -> Any:
        """Checked rows in the precision of the model; sources are loaded unless ``stream``."""
        check_is_fitted(self, "subspace_")
        rows = check_rows(self, X, self.subspace_.kernel, reset=False, stream=stream)
        if isinstance(rows, Rows):
            return rows
        return self.subspace_.in_precision(rows)

    def _by_blocks(self, function: Callable[[Any], Array], X: RowsLike, width: int) -> Any:
        """``function(rows)`` for rows in memory; block by block for those that are elsewhere."""
        rows, dtype = self._rows(X, stream=True), self.subspace_.coef.dtype
        if not isinstance(rows, Rows):
            return function(rows)
        return rows.apply(_OnBlocks(function, dtype), width, dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = as_kernel(self.kernel) if isinstance(self.kernel, str | Kernel) else None
        tags.input_tags.pairwise = kernel.is_pairwise if kernel is not None else False
        tags.input_tags.sparse = type(self).capabilities.sparse and takes_sparse(self)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True)
class _OnBlocks:
    """A function of rows in the model's precision; unlike a lambda it can be sent to workers."""

    function: Callable[[Any], Array]
    dtype: np.dtype

    def __call__(self, block: Array) -> Array:
        return self.function(block.astype(self.dtype, copy=False))
