"""Kernel and number of components by parallel analysis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from mercer._base.machine import held
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator
from mercer.kernels import Kernel
from mercer.model import ParallelAnalysis
from mercer.selection.by_noise import Choice, fit_quietly, kernels_around


@held
def choose_by_parallel_analysis(
    estimator: Estimator,
    X: Array,
    *,
    kernels: Sequence[Kernel] | None = None,
    rule: ParallelAnalysis | None = None,
) -> Choice:
    """Kernel and number of components whose spectrum exceeds chance by most.

    For each kernel the components above those of independent columns count as signal; the kernel
    is the one with the largest energy ``sum_k (λ_k - λ_k of chance) / n`` over them (Jorgensen &
    Hansen 2011). No noise level is needed.

    Parameters
    ----------
    estimator : KernelPCA
    X : (n, d) array
    kernels : sequence of Kernel, optional
        By default the estimator's own at six widths.
    rule : ParallelAnalysis, optional
        How many components to look at, permutations and quantile.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> from mercer.selection import choose_by_parallel_analysis
    >>> choose_by_parallel_analysis(KernelPCA(random_state=0), load_iris().data).n_components
    7
    """
    rule = rule if rule is not None else ParallelAnalysis()
    candidates = list(kernels) if kernels is not None else kernels_around(estimator.kernel, X)
    most = min(rule.max_components, len(X) - 1)
    rng = fixed_rng(0)
    table: list[tuple[Kernel, int, float]] = []
    for i, kernel in enumerate(candidates):
        announce("tune", i, len(candidates))
        model = clone(estimator).set_params(kernel=kernel.resolve(X), n_components=most)
        values = _padded_spectrum(fit_quietly(model, X), most)
        null = [
            _padded_spectrum(fit_quietly(clone(model), rng.permuted(X, axis=0)), most)
            for _ in range(rule.n_permutations)
        ]
        excess = values - np.quantile(null, rule.quantile, axis=0)
        q = max(1, most if (excess > 0).all() else int((excess > 0).argmin()))
        table.append((kernel, q, float(excess[:q].sum() / len(X))))
    announce("tune", len(candidates), len(candidates))
    kernel, q, energy = max(table, key=lambda row: row[2])
    return Choice(kernel, q, energy, table)


def _padded_spectrum(model: Estimator, k: int) -> Array:
    return np.pad(model.eigenvalues_, (0, k - len(model.eigenvalues_)))
