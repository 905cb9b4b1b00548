"""Kernel PCA behind scikit-learn's door."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, replace
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from mercer._base.config import with_parameters
from mercer._base.numbers import fixed_rng
from mercer._base.progress import current_listener, listen
from mercer._base.types import Array, ArrayLike, Estimator, RowsLike, Seed, Targets
from mercer.estimators._validation import check_rows, check_weight
from mercer.estimators.base import Capabilities
from mercer.estimators.door import verb
from mercer.estimators.learning import learn, owned, plan_of, scores_of
from mercer.estimators.subspace import SubspaceEstimator
from mercer.kernels import Kernel, as_kernel
from mercer.model import ComponentRule, as_rule
from mercer.points import Points
from mercer.preimage import PreImageSolver
from mercer.solvers import Plan, Problem, Solver

# Progress for the callbacks of scikit-learn 1.9 and later, which older versions do not have.


Method = TypeVar("Method")


class CallbackSupportMixin:
    """Without callbacks."""


def with_callbacks(method: Method) -> Method:
    """Leave the method as it is."""
    return method


if not TYPE_CHECKING:  # scikit-learn ships no types
    with suppress(ImportError):  # before 1.9
        from sklearn.callback import CallbackSupportMixin, with_callbacks


@contextmanager
def steps_to_callbacks(estimator: Estimator) -> Iterator[None]:
    """Tell the estimator's callbacks of every step that is announced inside the block.

    Each step is one task of unknown total. A callback that raises cancels the fit, as a listener
    does; a request to stop early is not granted, because half a spectrum is not a result.
    """
    watched = hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")
    if not watched:
        yield
        return
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator)
    outer = current_listener()

    def step(stage: str, done: int, total: int) -> None:
        if outer is not None:
            outer(stage, done, total)
        task = root.subcontext(task_name=stage)
        task.call_on_fit_task_begin(estimator=estimator)
        task.call_on_fit_task_end(estimator=estimator)

    with listen(step):
        yield
    root.call_on_fit_task_end(estimator=estimator)


@with_parameters
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

    capabilities = Capabilities(
        sparse=True, objects=True, precomputed=True, weights=True, onnx=True
    )

    _reads_in_place = True

    n_components: int | float | ComponentRule | None = None
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    center: bool = True
    solver: str | Solver = "auto"
    preimage: str | PreImageSolver = "auto"
    random_state: Seed = None

    @with_callbacks
    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None, sample_weight: ArrayLike = None) -> Self:  # noqa: ARG002
        """Find the components.

        Parameters
        ----------
        X : (n, d) array, data frame, or SciPy sparse matrix
            (n, n) for a precomputed kernel; a list for kernels of objects. A path, a row source
            (:func:`mercer.io.open_rows`) or a dask collection is read in blocks, by landmarks.
        y : ignored
        sample_weight : (n,) array, optional
            Weight 2 is the row given twice; weight 0 is the row left out.
        """
        self._fit(X, sample_weight)
        return self

    @with_callbacks
    @verb("data", "scores")
    def fit_transform(
        self,
        X: RowsLike,
        y: Targets = None,  # noqa: ARG002
        sample_weight: ArrayLike = None,
    ) -> Array:
        """Fit, and project the training rows; cheaper than ``fit`` followed by ``transform``."""
        rows, weight = self._fit(X, sample_weight)
        return scores_of(self._model_, rows, weight)

    def _plan(self, kernel: Kernel, rows: Points) -> Plan:
        rule = as_rule(self.n_components)
        return plan_of(Problem(kernel, rows, rule, fixed_rng(0), center=self.center), self.solver)

    def _fit(self, X: RowsLike, sample_weight: ArrayLike) -> tuple[Points, Array | None]:
        """Check, learn, and return what was learnt from: rows and weights."""
        rows = check_rows(self, X, as_kernel(self.kernel), reset=True, stream=True)
        weight = check_weight(sample_weight, rows)
        self._learn(rows, weight)
        self._model_ = owned(self._model_, X)
        return rows, weight

    def _learn(self, rows: Points, sample_weight: Array | None = None) -> None:
        kernel = as_kernel(self.kernel)
        present, rows, weight = _present(rows, sample_weight)
        plan, crew = self._plan(kernel, rows), rows.crew()
        if plan.loads:
            rows = kernel.points(rows.loaded().rows)  # read this once
            present, rows, weight = _present(rows, weight)
            plan = plan if present is None else self._plan(kernel, rows)
        with steps_to_callbacks(self):
            problem = Problem(kernel, rows, plan.rule, self._rng(), weight, self.center, crew)
            model = learn(problem, plan)
        if present is not None:
            model = replace(model, of_gram=False)  # not of all rows
            if kernel.is_pairwise:  # columns of the matrix as it was given
                columns = present[model.subspace.support]
                model = replace(model, subspace=replace(model.subspace, support=columns))
        self._set_model(model)


def _present(rows: Points, weight: Array | None) -> tuple[Array | None, Points, Array | None]:
    """The numbers of the rows with a weight, if others have none; these rows, and their weights.

    In a row source rows of weight 0 stay: in sums they change nothing.
    """
    if weight is None or weight.all() or not rows.is_here:
        return None, rows, weight
    present = np.flatnonzero(weight)
    return present, rows.subset(present), weight[present]
