"""A sparse version of a model that is already fitted."""

from __future__ import annotations

import time
from dataclasses import replace

from sklearn.utils.validation import check_is_fitted

from mercer._base.machine import held
from mercer._base.numbers import check_count, make_rng
from mercer._base.types import Array, Seed
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.sparse import SparseKernelPCA, report_of
from mercer.exceptions import DataError, RankWarning, warn
from mercer.model import Model, Report, Subspace, model_of
from mercer.sparse import Selection, Source, SparseSolver, as_sparse_solver
from mercer.sparse.axes import project
from mercer.sparse.noise import choose_kernels


@held
def compress(
    model: KernelPCA,
    n_kernels: int,
    *,
    solver: str | SparseSolver = "auto",
    random_state: Seed = None,
) -> SparseKernelPCA:
    """Write a fitted model on a few of its support points.

    The points are chosen by likelihood (Tipping 2001). The model's mean and directions are then
    projected onto the span of their kernels: components keep their order, meaning and sign, so that
    ``transform`` of the result approximates ``transform`` of the model at the cost of ``n_kernels``
    kernels. Unlike a fresh :class:`~mercer.SparseKernelPCA`, it stays centred if the model is.

    Parameters
    ----------
    model : KernelPCA
        Fitted, with any kernel but a precomputed one.
    n_kernels : int
        Fewer than the model has support points.
    solver : str or SparseSolver, default="auto"
        See :mod:`mercer.sparse`; ``"kmeans"`` takes centres instead of rows.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    SparseKernelPCA
        Fitted; ``support_indices_`` count the support points of the model, which are the rows that
        it was fitted to unless its solver used landmarks. ``report_.unexplained`` is the share of
        the model's variance that is lost.

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
    if check_count("n_kernels", n_kernels) >= big.n_support:
        raise DataError(
            f"n_kernels={n_kernels!r}: the model has {big.n_support} support points; "
            f"ask for 1 to {big.n_support - 1}."
        )
    rows = Source(big.kernel, big.support, make_rng(random_state))
    strategy, _ = as_sparse_solver(solver).choose(rows)
    chosen, fits = choose_kernels(rows, strategy, int(n_kernels), None)
    cosines, small = project(_within(big, len(chosen)), chosen, rows.against(chosen.points).T)
    reason = f"compressed from {big.n_support} kernels"
    report = report_of(chosen, strategy, reason, rows, fits)
    report = replace(report, seconds=time.perf_counter() - started)
    return _fitted(model, chosen, small, cosines, solver, report, fits)


def _within(big: Subspace, m: int) -> Subspace:
    """As many of the directions as m kernels can express."""
    if big.n_components > m:
        warn(
            f"{m} kernels span only {m} of the {big.n_components} components; kept {m}. "
            "Ask for more kernels to keep all.",
            RankWarning,
        )
    return big.leading(min(big.n_components, m))


def _fitted(
    model: KernelPCA,
    chosen: Selection,
    small: Subspace,
    cosines: Array,
    solver: str | SparseSolver,
    report: Report,
    fits: int,
) -> SparseKernelPCA:
    """A SparseKernelPCA with everything that a fit would have left."""
    result = SparseKernelPCA(
        n_kernels=len(chosen),
        n_components=small.n_components,
        kernel=model.kernel_,
        solver=solver,
        preimage=model.preimage,
    )
    q, dtype = small.n_components, model.subspace_.coef.dtype
    # Along w' the model has the variance Σ_j λ_j (w'·w_j)²; what it had elsewhere is lost.
    big = model.eigenvalues_, model.explained_variance_, model.explained_variance_ratio_
    values, variance, share = ((cosines**2 @ part[:q]).astype(dtype) for part in big)
    lost = 1 - float(values.sum()) / float(model.eigenvalues_.sum())
    report = replace(report, unexplained=max(lost, 0.0))
    result._keep(chosen)
    result.n_fits_ = fits
    learnt = small.astype(dtype), values, variance, share, None, report
    result._model_ = Model(*learnt, model_of(model).n_rows)
    for name in ("n_features_in_", "feature_names_in_", "_data_fingerprint"):
        if hasattr(model, name):
            setattr(result, name, getattr(model, name))
    return result
