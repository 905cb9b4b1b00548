"""Sparse kernel PCA behind scikit-learn's door."""

import time
from dataclasses import KW_ONLY, replace
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base import numbers
from mercer._base.config import with_parameters
from mercer._base.machine import blas_limited
from mercer._base.types import Array, RowsLike, Seed, Targets
from mercer.estimators._validation import check_rows
from mercer.estimators.base import OF_COLUMNS, Capabilities, take_over
from mercer.estimators.door import verb
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.subspace import SubspaceEstimator
from mercer.exceptions import ConvergenceWarning, DataError, RankWarning, Remedy, warn
from mercer.gram import StreamedGram
from mercer.gram.base import in_range
from mercer.kernels import Kernel, as_kernel
from mercer.model import ComponentRule, Model, Report, Subspace, as_rule, model_of
from mercer.points import Points
from mercer.preimage import PreImageSolver
from mercer.solvers import Plan
from mercer.solvers.audit import audit_rows, audited
from mercer.solvers.policy import refuse_square, warn_if_degenerate
from mercer.sparse import Auto, Centres, KernelRows, Selection, SparseSolver, as_sparse_solver
from mercer.sparse.base import data_axes, model_axes, null_spectra, project, span
from mercer.sparse.noise import (
    USUAL_KERNELS,
    choose_kernels,
    estimate_seconds,
    refuse_more_than_rows,
)


@with_parameters
class SparseKernelPCA(SubspaceEstimator):
    r"""Kernel PCA on a few representing rows, chosen by maximum likelihood.

    The covariance in feature space is modelled as :math:`\sigma^2 I + \sum_i w_i
    \phi(x_i)\phi(x_i)^\top`; at the maximum of the likelihood most weights are zero (Tipping 2001).
    The rows that are left are real examples that represent the data, and predictions cost their
    number of kernels, not n. As in the paper, the data are not centred in feature space.

    Parameters
    ----------
    n_kernels : int, optional
        Number of representing rows; the noise is then found by a search on log σ². If several
        values of the noise give this number, the one with the larger likelihood at a common noise
        is taken.
    noise : float, optional
        σ itself, not σ²: the standard deviation per direction of feature space that is left to
        noise. Give this *or* ``n_kernels``. With neither, σ² is 1 % of the mean k(x, x), and the
        number of kernels follows from the data.
    n_components : int, float, rule or None, default=None
        As in :class:`~mercer.KernelPCA`; None keeps one component for each kernel.
    kernel, preimage
        As in :class:`~mercer.KernelPCA`.
    refit : bool, default=True
        Components of the *data*'s covariance within the span of the chosen kernels, which
        reconstruct better at every number of components; False for the paper's components of the
        model's own covariance, eqs. (15)–(17).
    solver : str or SparseSolver, default="auto"
        ``"greedy"``, ``"column_generation"`` (many rows), ``"em"``, ``"fast"`` and ``"mm"`` (the
        paper's iterations), ``"kmeans"`` (centres instead of rows), or an object of
        :mod:`mercer.sparse`. With a few dozen kernels, the scores from centres are more accurate
        and are found faster; rows can be inspected, and bring a likelihood.
    random_state : int, Generator, RandomState or None, default=None
        For column generation and k-means; the greedy optimiser draws no random numbers.

    Attributes
    ----------
    support_indices_ : (m,) array of int, or None
        Row numbers of the representing vectors, increasing; None for centres, which are not rows.
    weights_ : (m,) array
        w of each representing vector.
    noise_ : float
        σ.
    log_likelihood_ : float
        Eq. (5) without its constant; comparable between fits with the same kernel and noise.
    kkt_ : float
        Largest violation of the optimality conditions, which a model thinned to ``n_kernels``
        meets less closely. On more than 1,500 rows it covers the rows that were looked at exactly;
        ask for ``ColumnGeneration(sweeps=...)`` to have it cover all.
    eigenvalues_, explained_variance_, explained_variance_ratio_ : (q,) arrays
        As in :class:`~mercer.KernelPCA`, around the origin of feature space instead of the mean.
    n_fits_ : int
        Fits that the search for the noise took; 1 without a search.
    subspace_, kernel_, report_, n_components_, n_features_in_, feature_names_in_

    See Also
    --------
    mercer.compress : a sparse version of a model that is already fitted.

    References
    ----------
    M. E. Tipping, "Sparse kernel principal component analysis", NIPS 13, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SparseKernelPCA
    >>> X = load_iris().data
    >>> model = SparseKernelPCA(n_kernels=12, n_components=5).fit(X)
    >>> model.support_indices_.shape, model.transform(X).shape
    ((12,), (150, 5))
    >>> bool(SparseKernelPCA(noise=0.13, n_components=5).fit(X).kkt_ < 1e-4)
    True
    """

    capabilities = Capabilities(sparse=True, objects=True, precomputed=True, onnx=True)

    _saved = (
        *SubspaceEstimator._saved,
        *("support_indices_", "weights_", "noise_", "log_likelihood_", "kkt_", "n_fits_"),
    )

    n_kernels: int | None = None
    _: KW_ONLY
    noise: float | None = None
    n_components: int | float | ComponentRule | None = None
    kernel: str | Kernel = "gaussian"
    refit: bool = True
    solver: str | SparseSolver = "auto"
    preimage: str | PreImageSolver = "auto"
    random_state: Seed = None

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Choose the kernels, and find the components on them.

        Parameters
        ----------
        X : (n, d) array or data frame; (n, n) for a precomputed kernel; a list for kernels of
        objects
        y : ignored
        """
        as_rule(self.n_components)
        self._check_size(as_sparse_solver(self.solver))
        self._learn(check_rows(self, X, as_kernel(self.kernel), reset=True))
        return self

    def _learn(self, data: Points) -> None:
        started = time.perf_counter()
        kernel, rule = as_kernel(self.kernel).resolve(data.rows), as_rule(self.n_components)
        points = in_range(kernel, data)
        rows = KernelRows(kernel, points.rows, self._rng())
        refuse_square(kernel, points)
        solver, reason = as_sparse_solver(self.solver).choose(rows)
        chosen, fits = choose_kernels(rows, solver, self.n_kernels, self.noise)
        inside, axes = data_axes(rows.kernel, chosen)
        values, axes = (inside, axes) if self.refit else model_axes(rows.kernel, chosen)
        self._announce(chosen, inside, rows)
        q = _count(rule.bind(null_spectra(rows, chosen)), values, chosen)
        self._keep(chosen, fits)
        subspace, variance = axes.leading(q).astype(points.dtype), values[:q]
        spectrum = (variance * rows.n, variance, variance / chosen.pool.mean_diag)
        unexplained = max(1 - float(inside.sum()) / chosen.pool.mean_diag, 0.0)
        report = report_of(chosen, solver, reason, rows, fits)
        if subspace.points.is_open:  # else new rows have no definition but themselves
            report = audited(report, audit_rows(subspace, subspace.points, variance, np.zeros(q)))
        seconds = time.perf_counter() - started
        report = replace(report, unexplained=unexplained, seconds=seconds)
        values, variance, share = (part.astype(points.dtype) for part in spectrum)
        self._set_model(Model(subspace, values, variance, share, None, report, rows.n))

    @verb("blocks", "numbers", needs="new points")
    def reconstruction_error(self, X: RowsLike, *, n_components: int | None = None) -> Array:
        """Squared distance in feature space between each point and its projection, (n,).

        Parameters
        ----------
        X : (n, d) array
        n_components : int, optional
            Project onto the leading components only; all that the model has if not given.

        See Also
        --------
        span_error : the distance from the span of all kernels, eq. (18).
        """
        subspace = model_of(self).subspace
        if n_components is None:
            return subspace.residual(X)
        q = self.n_components_
        kept = numbers.check_one_of("n_components", n_components, 1, q, f"the model has {q}")
        return subspace.leading(kept).residual(X)

    @verb("rows", "numbers", needs="new points")
    def span_error(self, X: RowsLike) -> Array:
        """Eq. (18), ``k(x,x) − kᵀ K⁻¹ k``: what all kernels together still cannot express."""
        subspace = model_of(self).subspace
        return span(subspace.kernel, subspace.support).astype(subspace.coef.dtype).residual(X)

    def _plan(self, kernel: Kernel, rows: Points) -> Plan:
        data = KernelRows(kernel, rows.rows, numbers.fixed_rng(0))
        refuse_more_than_rows(self.n_kernels, data.n)
        solver, reason = as_sparse_solver(self.solver).choose(data)
        most = min(self.n_kernels or USUAL_KERNELS, data.n)
        needed = solver.estimate_bytes(data, most)
        seconds = estimate_seconds(solver, data.n, self.n_kernels)
        return Plan(solver, reason, as_rule(self.n_components), needed, False, False, seconds)

    def _check_size(self, solver: SparseSolver) -> None:
        m, noise = self.n_kernels, self.noise
        if m is not None:
            numbers.check_count("n_kernels", m, instead=", or None")
        if noise is not None:
            numbers.check_positive("noise", noise, instead=" (σ, not σ²), or None")
        if m is not None and noise is not None and not isinstance(solver, Centres):
            both = f"n_kernels={m} and noise={noise:g}"
            raise DataError(f"{both} answer the same question; give one of them.")

    def _announce(self, chosen: Selection, values: Array, rows: KernelRows) -> None:
        """Warnings about what was found; ``values`` are the variances of the data in the span."""
        if not chosen.converged:
            remedy = Remedy("use solver='greedy', or raise max_iter.", shell="use --solver greedy.")
            steps = f"the weights did not converge in {chosen.steps} steps"
            warn(f"{steps} (kkt_ {chosen.kkt:.2g}); " + remedy, ConvergenceWarning)
        operator = StreamedGram.from_rows(rows.kernel, rows.data)
        total = rows.n * chosen.pool.mean_diag
        warn_if_degenerate(rows.kernel, rows.data, rows.n * values, total, operator)

    def _keep(self, chosen: Selection, fits: int) -> None:
        self.support_indices_ = chosen.indices
        self.weights_ = chosen.weights
        self.noise_ = float(np.sqrt(chosen.variance))
        self.log_likelihood_ = chosen.log_likelihood
        self.kkt_ = chosen.kkt
        self.n_fits_ = fits


def report_of(
    chosen: Selection, solver: SparseSolver, reason: str, rows: KernelRows, fits: int
) -> Report:
    """How the kernels were chosen; seconds and what is unexplained are added in the end."""
    searched = "" if fits == 1 else f"{fits} fits to find the noise"
    return Report(
        solver=type(solver).__name__,
        reason="; ".join(filter(None, (reason, chosen.note, searched))),
        passes=chosen.steps,
        seconds=0.0,
        estimated_error=chosen.kkt,
        bytes=solver.estimate_bytes(rows, len(chosen)),
        converged=chosen.converged,
    )


def _count(rule: ComponentRule, values: Array, chosen: Selection) -> int:
    """How many components; says so if fewer exist than were asked for."""
    counted = rule.count(values, chosen.pool.mean_diag)
    but = f"{len(chosen)} kernels span only {len(values)}"
    rule.warn_if_fewer(len(values), but, "Ask for fewer, or for more kernels.")
    return len(values) if counted is None else counted


@blas_limited
def compress(
    model: KernelPCA,
    n_kernels: int,
    *,
    solver: str | SparseSolver = "auto",
    random_state: Seed = None,
) -> SparseKernelPCA:
    """Express a fitted model through a few points.

    The points are support points, chosen by likelihood (Tipping 2001), or k-means centres of these,
    which keep more of the model where kernels are few: whichever lose less. The model's mean and
    directions are then projected onto the span of their kernels: components keep their order,
    meaning and sign, so that ``transform`` of the result approximates ``transform`` of the model at
    the cost of ``n_kernels`` kernels. Unlike a fresh :class:`~mercer.SparseKernelPCA`, it stays
    centred if the model is.

    Parameters
    ----------
    model : KernelPCA
        Fitted, with any kernel but a precomputed one.
    n_kernels : int
        Fewer than the model has support points.
    solver : str or SparseSolver, default="auto"
        See :mod:`mercer.sparse`; ``"auto"`` tries both, ``"kmeans"`` takes centres and every other
        one rows.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    SparseKernelPCA
        Fitted; ``support_indices_`` count the support points of the model, which are the rows that
        it was fitted to unless its solver used landmarks, and are None for centres.
        ``report_.unexplained`` is the share of the model's variance that is lost.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA, compress
    >>> X = load_digits().data
    >>> model = KernelPCA(5).fit(X[:900])
    >>> small = compress(model, 90)
    >>> Z, z = model.transform(X[900:]), small.transform(X[900:])
    >>> [bool(np.corrcoef(Z[:, k], z[:, k])[0, 1] > 0.95) for k in range(5)]
    [True, True, True, True, True]
    """
    started = time.perf_counter()
    check_is_fitted(model, "subspace_")
    big = model.subspace_
    big.points.require_open("compress")
    there_are = f"the model has {big.n_support} support points"
    n_kernels = numbers.check_one_of("n_kernels", n_kernels, 1, big.n_support - 1, there_are)
    rows = KernelRows(big.kernel, big.support, numbers.make_rng(random_state))
    strategy, _ = as_sparse_solver(solver).choose(rows)
    ways = [strategy]
    if isinstance(as_sparse_solver(solver), Auto) and big.kernel.takes_vectors:
        ways.append(Centres())

    def kept(way: SparseSolver) -> tuple[Model, Selection, int]:
        chosen, fits = choose_kernels(rows, way, n_kernels, None)
        few = big.leading(min(big.n_components, len(chosen)))
        cosines, small = project(few, chosen, rows.against(chosen.points).T)
        report = report_of(chosen, way, f"compressed from {big.n_support} kernels", rows, fits)
        return _compressed(model_of(model), small, cosines, report, started), chosen, fits

    best, chosen, fits = max(map(kept, ways), key=lambda way: way[0].eigenvalues.sum())
    if big.n_components > (m := len(chosen)):  # they express no more directions than they are
        few = f"{m} kernels span only {m} of the {big.n_components} components; kept {m}."
        warn(f"{few} Ask for more kernels to keep all.", RankWarning)
    result = SparseKernelPCA(
        m,
        n_components=best.subspace.n_components,
        kernel=model.kernel_,
        solver=solver,
        preimage=model.preimage,
    )
    result._keep(chosen, fits)
    take_over(result, model, *OF_COLUMNS, "_data_fingerprint")
    result._set_model(best)
    return result


def _compressed(
    model: Model, small: Subspace, cosines: Array, report: Report, started: float
) -> Model:
    """What is left of a model on a smaller subspace."""
    q, dtype = small.n_components, model.subspace.coef.dtype
    # Along w' the model has the variance Σ_j λ_j (w'·w_j)²; what it had elsewhere is lost.
    big = model.eigenvalues, model.explained_variance, model.explained_variance_ratio
    values, variance, share = ((cosines**2 @ part[:q]).astype(dtype) for part in big)
    lost = max(1 - float(values.sum()) / float(model.eigenvalues.sum()), 0.0)
    report = replace(report, unexplained=lost, seconds=time.perf_counter() - started)
    return Model(small.astype(dtype), values, variance, share, None, report, model.n_rows)
