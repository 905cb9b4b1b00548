"""Kernel and number of components on clean rows: by held-out error, or by what exceeds chance."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from sklearn.base import clone

from mercer._base.machine import blas_limited
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announced
from mercer._base.types import Array, Estimator, RowsLike
from mercer.exceptions import DataError
from mercer.kernels import Kernel
from mercer.model import ParallelAnalysis
from mercer.points import as_points
from mercer.selection import search
from mercer.selection.noise import Noise, add_noise, typical_noise

#: Up to so many rows there are five splits instead of three.
MORE_SPLITS = 1000


@blas_limited
def choose_by_noise(
    estimator: Estimator,
    X: RowsLike,
    noise: Noise | None = None,
    *,
    kernels: Sequence[Kernel] | None = None,
    counts: Sequence[int] | None = None,
    match_noise: bool | str = "auto",
    n_splits: int | None = None,
    max_rows: int = 5000,
    exhaustive: bool = False,
) -> search.Choice:
    """Kernel and number of components with the smallest held-out error of denoising.

    Noise of the stated level is added to held-out rows; the error is the mean squared distance in
    input space between their denoised and their original versions. One fit per kernel and split
    serves every number of components.

    Parameters
    ----------
    estimator : KernelPCA, or another estimator whose components are nested
    X : (n, d) array or SparseRows, as clean as possible
    noise : float, callable or None, default=None
        See :class:`DenoisingScore`.
    kernels : sequence of Kernel, optional
        In the order of their widths. By default the estimator's own at six widths (see
        :func:`kernels_around`), and at wider or narrower ones where the last of these is the best.
    counts : sequence of int, optional
        By default powers of two, and all that the rows of a split give.
    match_noise : bool or "auto", default="auto"
        As in ``denoise``.
    n_splits : int, optional
        By default 5, and 3 for more than 1,000 rows: with few rows a model of two thirds of them
        would ask for another width.
    max_rows : int, default=5000
        If there are more rows, a sample of this many is searched, drawn with a fixed seed.
    exhaustive : bool, default=False
        Compute every cell in full, for a complete ``table``; three times the time and more.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import Gaussian
    >>> from mercer.selection import choose_by_noise
    >>> X = load_digits().data[:300] / 16
    >>> choice = choose_by_noise(KernelPCA(), X, 0.2, kernels=[Gaussian(0.05)], counts=[4, 64])
    >>> choice.n_components
    64
    """
    if n_splits is None:
        n_splits = 5 if len(X) <= MORE_SPLITS else 3
    if n_splits < 2:
        raise DataError(f"n_splits={n_splits}; give 2 or more.")
    if len(X) < 2 * n_splits:
        few = f"{len(X)} rows are too few for {n_splits} splits"
        raise DataError(f"{few}; give at least {2 * n_splits} rows.")
    X = search.sample(X, max_rows)
    from sklearn.model_selection import KFold  # brings in metrics and encoders

    splits = list(KFold(n_splits, shuffle=True, random_state=0).split(X))
    tried = search.all_counts(len(splits[0][0]) - 1) if counts is None else sorted(counts)
    noise = typical_noise(X) if noise is None else noise
    candidates = search.kernels_around(estimator.kernel, X) if kernels is None else list(kernels)
    candidates = [kernel.resolve(X) for kernel in candidates]
    own = candidates[len(candidates) // 2]
    denoisers: dict[tuple[str, int, int], search.Denoiser] = {}

    def trial(s: int, candidate: Estimator, q: int, in_full: bool) -> Array:
        """Noise is added to the rows held out, and they are compared with before."""
        train, test = splits[s]
        clean = as_points(X[test])

        def denoiser() -> search.Denoiser:
            model = search.fit_quietly(candidate, as_points(X[train]).for_user())
            return search.Denoiser.of(
                model, add_noise(clean.rows, noise, fixed_rng(s)), match_noise
            )

        denoised = search.fitted(denoisers, candidate, s, denoiser)(q, in_full)
        return np.asarray(denoised.squared_differences(clean))

    cells = search.Cells(estimator, [partial(trial, s) for s in range(n_splits)], tried, candidates)
    if exhaustive:
        cells.fill()
    else:
        cells.search(grows=kernels is None)
    # Never worse than nothing: the kernel's own width with all components is among the cells.
    return cells.choice(own if kernels is None and counts is None else None)


@blas_limited
def choose_by_parallel_analysis(
    estimator: Estimator,
    X: Array,
    *,
    kernels: Sequence[Kernel] | None = None,
    rule: ParallelAnalysis | None = None,
) -> search.Choice:
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
    candidates = (
        list(kernels) if kernels is not None else search.kernels_around(estimator.kernel, X)
    )
    most = min(rule.max_components, len(X) - 1)
    rng = fixed_rng(0)
    table: list[tuple[Kernel, int, float]] = []
    for kernel in announced("tune", candidates):
        model = clone(estimator).set_params(kernel=kernel.resolve(X), n_components=most)
        values = _padded_spectrum(search.fit_quietly(model, X), most)
        null = [
            _padded_spectrum(search.fit_quietly(model, rng.permuted(X, axis=0)), most)
            for _ in range(rule.n_permutations)
        ]
        excess = values - np.quantile(null, rule.quantile, axis=0)
        q = max(1, most if (excess > 0).all() else int((excess > 0).argmin()))
        table.append((kernel, q, float(excess[:q].sum() / len(X))))
    kernel, q, energy = max(table, key=lambda row: row[2])
    return search.Choice(kernel, q, energy, table)


def _padded_spectrum(model: Estimator, k: int) -> Array:
    return np.pad(model.eigenvalues_, (0, k - len(model.eigenvalues_)))
