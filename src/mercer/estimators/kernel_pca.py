"""Kernel PCA behind scikit-learn's door."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer._linalg import Array
from mercer._random import fixed_rng
from mercer._registry import ours
from mercer._types import ArrayLike, RowsLike, Seed, Targets
from mercer.eigen import Plan, Problem, Solver
from mercer.estimators._base import SubspaceEstimator
from mercer.estimators._callbacks import (
    CallbackSupportMixin,
    steps_to_callbacks,
    with_callbacks,
)
from mercer.estimators._capabilities import Capabilities
from mercer.estimators._validation import check_rows, check_weight
from mercer.kernels import Kernel, as_kernel
from mercer.preimage import PreImageSolver
from mercer.relevance import spectrum_advice
from mercer.rows import MemoryRows, Rows
from mercer.solvers import as_solver
from mercer.sparse_rows import SparseRows
from mercer.subspace import ComponentRule, as_rule

__all__ = ["KernelPCA"]


class KernelPCA(CallbackSupportMixin, SubspaceEstimator):
    r"""Principal components in the feature space of a kernel.

    The mapped rows :math:`\phi(x_i)` are centred, and the directions of largest variance are found
    from the kernel alone (Schölkopf, Smola & Müller 1998). From a thousand rows to millions the
    call is the same: ``solver="auto"`` goes from exact to near-exact to landmarks, and ``report_``
    says so.

    Parameters
    ----------
    n_components : int, float, rule or None, default=None
        A count; a share of the true total variance (``0.95``); a rule such as
        :class:`~mercer.ParallelAnalysis`; or None for all components (the leading 32 where all
        would be too many, see :class:`~mercer.solvers.Auto`).
    kernel : str or Kernel, default="gaussian"
        See :mod:`mercer.kernels`. Widths such as ``gamma="median"`` become numbers in ``kernel_``.
    center : bool, default=True
        Centre in feature space.
    solver : str or Solver, default="auto"
        See :mod:`mercer.solvers`.
    preimage : str or PreImageSolver, default="auto"
        How to get from feature space back to input space, see :mod:`mercer.preimage`.
    random_state : int, Generator, RandomState or None, default=None
        For solvers that draw random numbers.

    Attributes
    ----------
    eigenvalues_ : (q,) array
        Of the centred Gram matrix, decreasing (scikit-learn's convention).
    explained_variance_ : (q,) array
        ``eigenvalues_ / n``: the variances in feature space, the papers' λ.
    explained_variance_ratio_ : (q,) array
        Shares of the true total variance (the trace), not of the computed components.
    subspace_ : Subspace
        What was learnt: ``kernel, support, coef, mean``.
    kernel_ : Kernel
        The kernel with numbers in place of rules.
    residuals_ : (q,) array
        ``|K v - λ v|`` for each eigenpair.
    report_ : Report
        Solver and reason, passes, seconds, estimated error, bytes, and which components are so
        close that the rows hardly tell them apart.
    n_components_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> X = load_digits().data
    >>> model = KernelPCA(n_components=10).fit(X)
    >>> model.transform(X[:3]).shape
    (3, 10)
    >>> bool(model.explained_variance_ratio_.sum() < 1)
    True
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        sparse=True, objects=True, precomputed=True, weights=True, onnx=True
    )

    _reads_in_place: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int | float | ComponentRule | None = None,
        *,
        kernel: str | Kernel = "gaussian",
        center: bool = True,
        solver: str | Solver = "auto",
        preimage: str | PreImageSolver = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.solver = solver
        self.preimage = preimage
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: RowsLike, y: Targets = None, sample_weight: ArrayLike = None) -> Self:  # noqa: ARG002
        """Find the components.

        Parameters
        ----------
        X : (n, d) array, data frame, or SciPy sparse matrix
            (n, n) for a precomputed kernel; a list for kernels of objects. A path, a row source
            (:func:`mercer.rows.open_rows`) or a dask collection is read in blocks, by landmarks.
        y : ignored
        sample_weight : (n,) array, optional
            Weight 2 is the row given twice; weight 0 is the row left out.
        """
        self._fit(X, sample_weight)
        return self

    @with_callbacks
    def fit_transform(
        self,
        X: RowsLike,
        y: Targets = None,  # noqa: ARG002
        sample_weight: ArrayLike = None,
    ) -> Array:
        """Fit, and project the training rows; cheaper than ``fit`` and then ``transform``."""
        scores = self._fit(X, sample_weight)
        return self.transform(X) if scores is None else scores

    def _plan(self, kernel: Kernel, rows: RowsLike) -> Plan:
        rule = as_rule(self.n_components)
        # The size decides; random numbers and the kernel's width play no part yet.
        problem = Problem(kernel, rows, rule, fixed_rng(0), center=self.center)
        return as_solver(self.solver).plan(problem)

    def _fit(self, X: RowsLike, sample_weight: ArrayLike) -> Array | None:
        """Fit; the scores of the rows as they were given, where the solver has them."""
        kernel = as_kernel(self.kernel)
        rows = check_rows(self, X, kernel, reset=True, stream=True)
        weight = check_weight(sample_weight, rows)
        plan, present = self._plan(kernel, rows), None
        own = isinstance(rows, Rows) and plan.loads
        if own:
            rows = rows[:]  # the one time that a file is read
        # In a row source rows of weight 0 stay: in sums they change nothing.
        if weight is not None and not weight.all() and not isinstance(rows, Rows):
            present = np.flatnonzero(weight)
            rows, weight = kernel.points(rows).subset(present).rows, weight[present]
            plan = self._plan(kernel, rows)
        resolved = kernel.resolve(rows, weight)
        problem = Problem(resolved, rows, plan.rule, self._rng(), weight, self.center)
        with steps_to_callbacks(self):
            fit = plan.fit(problem)
        support = fit.subspace.support
        if not own and not isinstance(rows, Rows):
            support = _own(support, X)
        if kernel.is_pairwise and present is not None:  # columns of the matrix as it was given
            support = present[support]
        advice = spectrum_advice(fit.eigenvalues, problem.total)
        report = replace(fit.report, advice=advice)
        subspace = replace(fit.subspace, support=support)
        self._model_ = replace(fit, subspace=subspace, report=report)
        return None if present is not None else fit.scores(weight)


def _own(support: RowsLike, X: RowsLike) -> Any:
    """The support points, safe from changes that the caller may make to X afterwards."""
    X = X.X if isinstance(X, MemoryRows) else X
    if isinstance(support, SparseRows):
        given = getattr(X, "data", None)
        shared = isinstance(given, np.ndarray) and np.may_share_memory(support.data, given)
        return support.copy() if shared else support
    if isinstance(support, np.ndarray) and support.flags.writeable:
        return support.copy() if np.may_share_memory(support, np.asarray(X)) else support
    return support


ours("", KernelPCA)
