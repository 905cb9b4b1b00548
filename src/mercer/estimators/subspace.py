"""What every estimator with a Subspace can do; a variant adds only its ``fit``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.utils import get_tags

from mercer._base.sklearn import ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from mercer._base.types import Array, RowsLike
from mercer.estimators import imputing, relevance, returning
from mercer.estimators._validation import check_rows
from mercer.estimators.base import Capabilities, Estimator, learnt, parts_in
from mercer.estimators.door import takes_sparse, verb
from mercer.estimators.imputing import filling_of
from mercer.estimators.learning import OnBlocks
from mercer.exceptions import ModelFileError
from mercer.io import Table, as_rows, write_table
from mercer.kernels import Kernel, as_kernel
from mercer.model import Model, model_of
from mercer.model.model import PARTS
from mercer.points.source import Source
from mercer.preimage import PreImageSolver, as_preimage
from mercer.robust import Filling
from mercer.selection import Choice
from mercer.solvers import Plan
from mercer.solvers.plan import stand_in


@verb("data", needs="a plan")
def plan(self: Any, X: RowsLike) -> Plan:
    """What :meth:`fit` would do with these rows, and what it would need; nothing is fitted.

    Parameters
    ----------
    X : as for :meth:`fit`
        Of a file only the size is looked at.

    Returns
    -------
    Plan
        The solver that would run, why, its memory, and whether a file would be loaded.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> plan = KernelPCA(10).plan(np.zeros((200_000, 20)))
    >>> plan.solver, plan.resumable
    (Landmarks(), True)
    """
    kernel = as_kernel("gaussian" if self.kernel is None else self.kernel)
    holes = get_tags(self).input_tags.allow_nan
    planned: Plan
    rows = check_rows(clone(self), X, kernel, reset=True, stream=True, allow_nan=holes)
    if self._reads_in_place:
        planned = self._plan(kernel, rows)
        return planned
    if not isinstance(rows, Source):
        planned = self._plan(kernel, rows)
        return replace(planned, resumable=False)
    planned = self._plan(kernel, stand_in(rows))
    size = len(rows) * rows.shape[1] * rows.dtype.itemsize
    return replace(planned, bytes=planned.bytes + size, loads=True, resumable=False)


@verb("model")
def to_html(
    self: Any, path: str | os.PathLike[str], X: Any = None, labels: Any = None, images: Any = None
) -> Path:
    """Write the model as one HTML file that is alive offline: drag a point, see its pre-image.

    Scores, errors and pre-images are computed in the browser. The file fetches nothing.

    Parameters
    ----------
    path : path
        By custom ``*.html``.
    X : (n, d) rows for the map, optional
        The model's support points if not given: of an exact model its training rows.
    labels : (n,) array, optional
        Classes or numbers by which the map is coloured.
    images : (height, width[, 3]), or an array (n, height, width[, 3]), optional
        The shape of the image that each row is; or one picture for each row.

    Returns
    -------
    Path

    See Also
    --------
    mercer.live.write_html : the same with more options.
    """
    # A layer above this one, found by name when it is needed.
    written: Path = import_module("mercer.live").write_html(self, path, X, labels, images)
    return written


#: What a file holds of a Model, and of the columns that it was learnt from.
OF_MODEL = (
    *("subspace_", "kernel_", *(f"{part}_" for part in PARTS if part != "subspace")),
    *("n_features_in_", "feature_names_in_"),
)


class SubspaceEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Projection, reconstruction error and (through ``preimage``) the way back to input space."""

    capabilities: ClassVar[Capabilities]
    #: Gives row sources to its solver as they are; others hold all rows in memory.
    _reads_in_place: ClassVar[bool] = False

    subspace_ = learnt("subspace", "What was learnt: kernel, support, coefficients and mean.")
    kernel_ = property(lambda self: self.subspace_.kernel, doc="The kernel, rules made numbers.")
    eigenvalues_ = learnt("eigenvalues", "Of the centred Gram matrix, decreasing, (q,).")
    explained_variance_ = learnt("explained_variance", "Variances in feature space, (q,).")
    explained_variance_ratio_ = learnt(
        "explained_variance_ratio", "Shares of the true total variance, (q,)."
    )
    residuals_ = learnt("residuals", "``|K v - λ v|`` of each eigenpair, (q,).")
    report_ = learnt("report", "How the fit went.")

    plan, to_html = plan, to_html
    relevance, sensitivity, uncertainty = (
        relevance.relevance,
        relevance.sensitivity,
        relevance.uncertainty,
    )

    kernel: str | Kernel
    preimage: str | PreImageSolver
    tuning_: Choice
    #: Fit to rows that have been checked.
    _learn: Callable[..., None]
    #: From a kernel and rows (perhaps a stand-in without values) to a plan.
    _plan: Callable[[Kernel, RowsLike], Plan]

    denoise, preimages = returning.denoise, returning.preimages
    inverse_transform, reconstruct = returning.inverse_transform, returning.reconstruct
    score, tune = returning.score, returning.tune
    component_preimages = returning.component_preimages
    component_images = returning.component_images
    impute, imputations = imputing.impute, imputing.imputations
    imputation_draws = imputing.imputation_draws

    _saved: ClassVar[tuple[str, ...]] = (*OF_MODEL, "_sklearn_output_config")

    @verb("blocks", "scores")
    def transform(self, X: RowsLike) -> Array:
        """Project rows onto the components: ``z(x) = Bᵀ k(S, x) - b``.

        Parameters
        ----------
        X : (n, d) array, data frame, or a list of objects for kernels of objects
            A file or row source (:mod:`mercer.io`) is read in blocks.

        Returns
        -------
        (n, q) array of scores; a lazy dask array for a dask collection
        """
        return model_of(self).subspace.scores(X)

    @verb("source")
    def transform_to(self, path: str | os.PathLike[str], X: RowsLike) -> Path:
        """Project rows and write the scores to a file, block by block.

        Nothing of the length of X is held in memory; the file appears whole or not at all.

        Parameters
        ----------
        path : where to write; the ending decides, see :func:`mercer.io.write_table`
        X : as for :meth:`transform`

        Returns
        -------
        the path
        """
        subspace, table = model_of(self).subspace, Table(as_rows(X))
        scores = OnBlocks(subspace.scores, subspace.coef.dtype)
        names = self.get_feature_names_out()
        return write_table(path, table.map(lambda block: scores(block.X), len(names), names))

    @verb("blocks", "numbers", needs="new points")
    def reconstruction_error(self, X: RowsLike) -> Array:
        """Squared distance in feature space between each point and its projection, (n,).

        Hoffmann's novelty score (2007): zero on the subspace, large far from the training data.
        """
        return model_of(self).subspace.residual(X)

    @property
    def n_components_(self) -> int:
        """Number of components that the model has."""
        return model_of(self).subspace.n_components

    @property
    def _n_features_out(self) -> int:
        return model_of(self).subspace.n_components

    @property
    def preimage_(self) -> PreImageSolver:
        """The pre-image solver as an object: what every way back to input space uses."""
        return as_preimage(self.preimage)

    def _filling(self) -> Filling:
        return filling_of(self)

    def _restore(self, state: dict[str, Any]) -> None:
        told = parts_in(state)
        super()._restore(state)
        if told["subspace"] is not None:  # else it was saved as a pattern
            lacking = [name for name, part in told.items() if part is None and name != "residuals"]
            if lacking:
                raise ModelFileError(f"there is no {lacking[0]}_")
            self._set_model(Model.known(**told))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = as_kernel(self.kernel) if isinstance(self.kernel, str | Kernel) else None
        tags.input_tags.pairwise = kernel.is_pairwise if kernel is not None else False
        tags.input_tags.sparse = type(self).capabilities.sparse and takes_sparse(self)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
