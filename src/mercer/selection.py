"""Choose a kernel's width and the number of components for a purpose.

Errors in feature space do not compare across kernels. Here models are compared by what they do in
input space to rows with synthetic noise, or by how far their spectrum exceeds that of chance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from mercer._config import Config
from mercer._linalg import Array, square_sums
from mercer._progress import announce
from mercer._random import fixed_rng
from mercer._types import Estimator, RowsLike, Targets
from mercer.exceptions import DataError, DegenerateKernelWarning, RankWarning
from mercer.kernels import Kernel, RadialKernel, as_kernel
from mercer.preimage.noise import match_noise as match_rows
from mercer.subspace import ParallelAnalysis

__all__ = [
    "Choice",
    "DenoisingScore",
    "choose_by_noise",
    "choose_by_parallel_analysis",
    "kernels_around",
]

#: A level of Gaussian noise, or ``function(rows, rng) -> noisy rows``.
Noise = float | Callable[[Array, np.random.Generator], Array]

FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
LARGEST_COUNT = 512


class DenoisingScore(Config):
    """A scorer for ``GridSearchCV``: minus the error left after denoising rows with added noise.

    Parameters
    ----------
    noise : float, callable or None, default=None
        Standard deviation of Gaussian noise, or ``function(rows, rng)`` that returns noisy rows.
        None takes half the standard deviation of the scored rows, the root mean square over their
        columns: without noise the best width is always the widest, which is linear PCA.
    match_noise : bool, default=False
        Passed on to ``denoise``.
    random_state : int, default=0
        The same noise for every candidate: differences between them are then theirs.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import Gaussian
    >>> from mercer.selection import DenoisingScore
    >>> X = load_digits().data[:300] / 16
    >>> grid = {"n_components": [2, 32], "kernel__gamma": [0.05]}
    >>> search = GridSearchCV(
    ...     KernelPCA(kernel=Gaussian(0.05)), grid, scoring=DenoisingScore(noise=0.2), cv=2
    ... )
    >>> search.fit(X).best_params_["n_components"]
    32
    """

    def __init__(
        self, noise: Noise | None = None, *, match_noise: bool = False, random_state: int = 0
    ) -> None:
        self.noise = noise
        self.match_noise = match_noise
        self.random_state = random_state

    def __call__(self, estimator: Estimator, X: RowsLike, y: Targets = None) -> float:  # noqa: ARG002
        """Minus the mean squared distance between rows and their denoised noisy versions."""
        rows = np.asarray(X, dtype=np.float64)
        noise = self.noise
        if noise is None:
            noise = 0.5 * float(np.sqrt(rows.var(axis=0).mean()))
        noisy = add_noise(rows, noise, fixed_rng(self.random_state))
        cleaned = np.asarray(estimator.denoise(noisy, match_noise=self.match_noise))
        return -float(square_sums(cleaned - rows).mean())


@dataclass(frozen=True)
class Choice:
    """What was chosen, and what it was chosen from.

    Attributes
    ----------
    kernel : Kernel
    n_components : int
    value : float
        The criterion at the choice: smallest error, or largest energy.
    table : list of (kernel, n_components, value)
        Every candidate.
    """

    kernel: Kernel
    n_components: int
    value: float
    table: list[tuple[Kernel, int, float]]


def choose_by_noise(
    estimator: Estimator,
    X: Array,
    noise: Noise,
    *,
    kernels: Sequence[Kernel] | None = None,
    counts: Sequence[int] | None = None,
    match_noise: bool = False,
    n_splits: int = 3,
) -> Choice:
    """Kernel and number of components with the smallest held-out error of denoising.

    Noise of the stated level is added to held-out rows; the error is the mean squared distance in
    input space between their denoised and their original versions. One fit per kernel and split
    serves every number of components.

    Parameters
    ----------
    estimator : KernelPCA, or another estimator whose components are nested
    X : (n, d) array, as clean as there is
    noise : float or callable
        See :class:`DenoisingScore`.
    kernels : sequence of Kernel, optional
        By default the estimator's own at six widths, see :func:`kernels_around`.
    counts : sequence of int, optional
        By default powers of two up to half the rows, at most 512.
    match_noise : bool, default=False
    n_splits : int, default=3

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
    if n_splits < 2 or len(X) < 2 * n_splits:
        raise DataError(
            f"{n_splits} splits of {len(X)} rows; give 2 splits or more, and more rows."
        )
    candidates = list(kernels) if kernels is not None else kernels_around(estimator.kernel, X)
    splits = list(KFold(n_splits, shuffle=True, random_state=0).split(X))
    most = min(LARGEST_COUNT, len(splits[0][0]) // 2)
    counts = sorted(counts) if counts is not None else _powers_of_two(most)
    errors = np.zeros((len(candidates), len(counts)))
    for i, kernel in enumerate(candidates):
        for s, (train, test) in enumerate(splits):
            announce("tune", i * n_splits + s, len(candidates) * n_splits)
            noisy = add_noise(X[test], noise, fixed_rng(s))
            model = clone(estimator).set_params(kernel=kernel, n_components=counts[-1])
            errors[i] += _errors(_fit(model, X[train]), X[test], noisy, counts, match_noise)
    announce("tune", len(candidates) * n_splits, len(candidates) * n_splits)
    return _best(candidates, counts, errors / len(X), np.argmin)


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
        values = _padded_spectrum(_fit(model, X), most)
        null = [
            _padded_spectrum(_fit(clone(model), rng.permuted(X, axis=0)), most)
            for _ in range(rule.n_permutations)
        ]
        excess = values - np.quantile(null, rule.quantile, axis=0)
        q = max(1, most if (excess > 0).all() else int((excess > 0).argmin()))
        table.append((kernel, q, float(excess[:q].sum() / len(X))))
    announce("tune", len(candidates), len(candidates))
    kernel, q, energy = max(table, key=lambda row: row[2])
    return Choice(kernel, q, energy, table)


def kernels_around(
    kernel: str | Kernel, X: Array, factors: Sequence[float] = FACTORS
) -> list[Kernel]:
    """The same kernel at multiples of the width that it has on these rows, 0.35 to 2 by default.

    A kernel without a width is returned alone.
    """
    resolved = as_kernel(kernel).resolve(X)
    if isinstance(resolved, RadialKernel):
        return [resolved.with_length(resolved.length * factor) for factor in factors]
    return [resolved]


def add_noise(X: Array, noise: Noise, rng: np.random.Generator) -> Array:
    """Rows with Gaussian noise of a given level, or with the caller's own."""
    if callable(noise):
        return np.asarray(noise(X, rng))
    if not noise > 0:
        raise DataError(f"noise={noise} must be above zero; give the level that you expect.")
    return np.asarray(X + noise * rng.standard_normal(X.shape))


def _fit(candidate: Estimator, X: Array) -> Any:
    """Fit one of many: that some have too few components or an unsuitable width is no news."""
    with warnings.catch_warnings():
        for category in (RankWarning, DegenerateKernelWarning):
            warnings.simplefilter("ignore", category)
        return candidate.fit(X)


def _errors(
    model: Estimator, clean: Array, noisy: Array, counts: Sequence[int], match_noise: bool
) -> Array:
    """Summed squared errors of denoising with the first q components, for every q of ``counts``."""
    solver = model.preimage_
    errors = []
    for q in counts:
        subspace = model.subspace_.leading(min(q, model.n_components_))
        Z = subspace.scores(noisy)
        Z = match_rows(subspace, noisy, Z) if match_noise else Z
        points = solver.init(subspace).solve(Z, noisy).points
        errors.append(square_sums(points - clean).sum())
    return np.array(errors)


def _best(
    kernels: list[Kernel], counts: Sequence[int], values: Array, pick: Callable[[Array], Any]
) -> Choice:
    table = [
        (kernel, int(q), float(values[i, j]))
        for i, kernel in enumerate(kernels)
        for j, q in enumerate(counts)
    ]
    kernel, q, value = table[int(pick(values))]
    return Choice(kernel, q, value, table)


def _powers_of_two(most: int) -> list[int]:
    return [2**k for k in range(1, 20) if 2**k <= most] or [1]


def _padded_spectrum(model: Estimator, k: int) -> Array:
    return np.pad(model.eigenvalues_, (0, k - len(model.eigenvalues_)))
