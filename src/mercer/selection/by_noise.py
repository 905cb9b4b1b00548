"""Kernel and number of components by the held-out error of denoising.

The plain search fits every width on every split and finds all pre-images of every number of
components. The same choice takes about a third of that, because the error is a smooth function of
both: widths are compared on the first split alone, outwards from the middle, at every second number
of components and then around the best; only those that are not clearly worse go on to the other
splits. On the way pre-images are found in float32 to a thousandth of the kernel's length. What
comes close to the best is computed again in full before the choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._base.machine import held
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator, RowsLike
from mercer.exceptions import DataError, DegenerateKernelWarning, RankWarning
from mercer.kernels import Kernel, RadialKernel, as_kernel
from mercer.model import ParallelAnalysis, Subspace
from mercer.points import as_points
from mercer.preimage import PreImageSolver
from mercer.preimage.auto import rough_preimage
from mercer.preimage.noise import matched_scores
from mercer.selection.noise import Noise, add_noise, typical_noise

# What is chosen from, and what was chosen.


#: Widths that are tried, as multiples of the kernel's own.
FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)


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


def fit_quietly(candidate: Estimator, X: Array) -> Any:
    """Fit one of many: that some have too few components or an unsuitable width is no news."""
    with warnings.catch_warnings():
        for category in (RankWarning, DegenerateKernelWarning):
            warnings.simplefilter("ignore", category)
        return candidate.fit(X)


LARGEST_COUNT = 512
#: Up to so many rows there are five splits instead of three.
MORE_SPLITS = 1000
#: Cells whose rough error is within this share of the least are computed in full.
CLOSE = 0.005
#: Widths are tried outwards from the middle until the error is so many times the least ...
RISEN = 1.1
#: ... and beyond the last one, where that is the best: how often, and by what factor.
FURTHER, STRIDE = 4, 1.5
#: Standard errors (of paired differences on the first split) by which a width is worse for sure.
SURE = 3.0
#: Models that are kept for a second look.
KEPT = 6


@held
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
) -> Choice:
    """Kernel and number of components with the smallest held-out error of denoising.

    Noise of the stated level is added to held-out rows; the error is the mean squared distance in
    input space between their denoised and their original versions. One fit per kernel and split
    serves every number of components.

    Parameters
    ----------
    estimator : KernelPCA, or another estimator whose components are nested
    X : (n, d) array or SparseRows, as clean as there is
    noise : float, callable or None, default=None
        See :class:`DenoisingScore`.
    kernels : sequence of Kernel, optional
        In the order of their widths. By default the estimator's own at six widths (see
        :func:`kernels_around`), and at wider or narrower ones where the last of these is the best.
    counts : sequence of int, optional
        By default powers of two up to 512, as far as the rows of a split go.
    match_noise : bool or "auto", default="auto"
        As in ``denoise``.
    n_splits : int, optional
        By default 5, and 3 for more than 1,000 rows: with few rows a model of two thirds of them
        would ask for another width.
    max_rows : int, default=5000
        Of more rows a sample of so many is searched, drawn with a fixed seed.
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
        raise DataError(
            f"{len(X)} rows are too few for {n_splits} splits; give at least {2 * n_splits} rows."
        )
    if len(X) > max_rows:
        X = X[np.sort(fixed_rng(0).choice(len(X), max_rows, replace=False))]
    grows = kernels is None
    candidates = kernels_around(estimator.kernel, X) if kernels is None else list(kernels)
    from sklearn.model_selection import KFold  # brings in metrics and encoders

    splits = list(KFold(n_splits, shuffle=True, random_state=0).split(X))
    most = min(LARGEST_COUNT, len(splits[0][0]) - 1)
    if counts is None:
        counts = [2**k for k in range(1, 20) if 2**k <= most] or [1]
    noise = typical_noise(X) if noise is None else noise
    cells = _Cells(estimator, X, noise, splits, sorted(counts), match_noise, candidates)
    if exhaustive:
        cells.fill()
    else:
        _search(cells, grows)
    table = cells.table()
    kernel, q, value = min(table, key=lambda row: row[2])
    return Choice(kernel, q, value, table)


def _search(cells: _Cells, grows: bool) -> None:
    """From coarse to fine: widths on one split, the best of them on all, the closest in full."""
    one, every = [0], list(range(len(cells.splits)))
    order = list(range(len(cells.kernels)))
    if cells.is_ladder:
        order = _from_the_middle(cells, FURTHER if grows else 0)
    for i in order:
        cells.settle(i, one)
    best = min(order, key=lambda i: cells.error(i, one))
    for i in [i for i in order if not cells.is_worse(i, best)]:
        cells.settle(i, every)
    cells.finish()


def _from_the_middle(cells: _Cells, further: int) -> list[int]:
    """Candidates by width on the first split, outwards in both directions while errors are low."""
    one, last = [0], len(cells.kernels) - 1
    middle = (last + 1) // 2
    seen = [middle]
    cells.settle(middle, one)
    for direction, left in ((1, last - middle), (-1, middle)):
        at, allowed = middle, left
        for step in range(left + further):
            least = min(cells.error(i, one) for i in seen)
            # Beyond the candidates only where the last of them is the best.
            if cells.error(at, one) > (RISEN if step < allowed else 1.0) * least:
                break
            at = at + direction if step < allowed else cells.beyond(at, direction)
            cells.settle(at, one)
            seen.append(at)
    return seen


@dataclass
class _Cells:
    """Errors by candidate, split and number of components, computed when they are asked for."""

    estimator: Estimator
    X: RowsLike
    noise: Noise
    splits: list[tuple[Array, Array]]
    counts: list[int]
    match_noise: bool | str
    kernels: list[Kernel]
    #: (counts, rows) squared errors of a candidate on a split; NaN where nobody has looked.
    errors: dict[tuple[int, int], Array] = field(default_factory=dict)
    models: dict[tuple[int, int], _Model] = field(default_factory=dict)
    fits: int = 0

    def settle(self, i: int, splits: list[int]) -> None:
        """Errors of a candidate at the best number of components on these splits, and beside it."""
        first = self.errors.get((i, 0))
        if first is None:
            wanted = list(range(len(self.counts) - 1, -1, -2))
        else:
            wanted = self._beside(int(np.nanargmin(first.sum(axis=1))))
        while wanted:  # at most once for each number of components
            self._look(i, splits, wanted)
            total = self._total(i, splits)
            wanted = [j for j in self._beside(int(np.nanargmin(total))) if np.isnan(total[j])]

    def error(self, i: int, splits: list[int]) -> float:
        """The least error of a candidate over the numbers of components that were looked at."""
        return float(np.nanmin(self._total(i, splits)))

    def is_worse(self, i: int, best: int) -> bool:
        """Whether a candidate's errors on the first split exceed the best one's beyond chance."""
        own, other = self.errors[i, 0], self.errors[best, 0]
        excess = own[np.nanargmin(own.sum(axis=1))] - other[np.nanargmin(other.sum(axis=1))]
        return bool(excess.mean() > SURE * excess.std() / np.sqrt(len(excess)))

    def beyond(self, i: int, direction: int) -> int:
        """A new candidate, wider (1) or narrower (-1) than this one."""
        kernel = self.kernels[i]
        assert isinstance(kernel, RadialKernel)
        self.kernels.append(kernel.with_length(kernel.length * STRIDE**direction))
        return len(self.kernels) - 1

    def finish(self) -> None:
        """Compute in full what came close to the least error."""
        every = list(range(len(self.splits)))
        totals = {i: self._total(i, every) for i in range(len(self.kernels))}
        least = min(np.nanmin(t) for t in totals.values() if not np.isnan(t).all())
        for i, total in totals.items():
            close = np.flatnonzero(total <= (1 + CLOSE) * least)
            if close.size:
                self._look(i, every, [int(j) for j in close], in_full=True)
        announce("tune", self.fits, self.fits)

    def fill(self) -> None:
        """Every cell in full."""
        every, counts = list(range(len(self.splits))), list(range(len(self.counts)))
        for i in range(len(self.kernels)):
            self._look(i, every, counts, in_full=True)
        announce("tune", self.fits, self.fits)

    def table(self) -> list[tuple[Kernel, int, float]]:
        """The cells that are known on every split."""
        every = list(range(len(self.splits)))
        return [
            (self.kernels[i], int(q), float(error / len(self.X)))
            for i in range(len(self.kernels))
            for q, error in zip(self.counts, self._total(i, every), strict=True)
            if not np.isnan(error)
        ]

    def _look(self, i: int, splits: list[int], counts: list[int], *, in_full: bool = False) -> None:
        for s in splits:
            test = self.splits[s][1]
            errors = self.errors.setdefault((i, s), np.full((len(self.counts), len(test)), np.nan))
            todo = [j for j in counts if in_full or np.isnan(errors[j, 0])]
            if todo:
                model = self._model(i, s)
                for j in todo:
                    points = model.denoised(self.counts[j], in_full)
                    errors[j] = points.squared_differences(as_points(self.X[test]))

    def _model(self, i: int, s: int) -> _Model:
        """A candidate fitted to a split; the last few are kept."""
        if (i, s) not in self.models:
            announce("tune", self.fits, max(self._expected, self.fits + 1))
            train, test = self.splits[s]
            model = clone(self.estimator)
            model.set_params(kernel=self.kernels[i], n_components=self.counts[-1])
            fitted = fit_quietly(model, as_points(self.X[train]).for_user())
            self.fits += 1
            noisy = add_noise(self.X[test], self.noise, fixed_rng(s))
            if len(self.models) >= KEPT:
                self.models.pop(next(iter(self.models)))
            self.models[i, s] = _Model.of(fitted, noisy, self.match_noise)
        return self.models[i, s]

    @property
    def is_ladder(self) -> bool:
        """Whether the candidates are one kernel from narrow to wide."""
        if not all(isinstance(kernel, RadialKernel) for kernel in self.kernels):
            return False
        lengths = [kernel.resolve(self.X).length for kernel in self.kernels]
        return len({type(kernel) for kernel in self.kernels}) == 1 and lengths == sorted(lengths)

    @property
    def _expected(self) -> int:
        """Fits in all, as a guess: most widths on one split, two of them on the others."""
        return len(self.kernels) + min(2, len(self.kernels)) * (len(self.splits) - 1)

    def _total(self, i: int, splits: list[int]) -> Array:
        """Summed errors over splits; NaN where one of them was not looked at."""
        nothing = np.full((len(self.counts), 1), np.nan)
        return np.asarray(sum(self.errors.get((i, s), nothing).sum(axis=1) for s in splits))

    def _beside(self, j: int) -> list[int]:
        return [k for k in (j - 1, j, j + 1) if 0 <= k < len(self.counts)]


@dataclass(frozen=True)
class _Model:
    """A fitted model and the noisy rows of its split."""

    subspace: Subspace
    solver: PreImageSolver
    noisy: RowsLike
    Z: Array  # scores, for all components

    @classmethod
    def of(cls, model: Estimator, noisy: RowsLike, match_noise: bool | str) -> _Model:
        subspace, solver = model.subspace_, model.preimage_
        rows = noisy.astype(subspace.coef.dtype, copy=False)
        return cls(subspace, solver, rows, matched_scores(subspace, rows, match_noise))

    def denoised(self, q: int, in_full: bool) -> Any:
        """The noisy rows after denoising by the first q components (or all, if fewer exist)."""
        q = min(q, self.subspace.n_components)
        leading, Z = self.subspace.leading(q), self.Z[:, :q]
        solver = self.solver.init(leading) if in_full else rough_preimage(self.solver, leading)
        return as_points(solver.solve(Z, self.noisy).points)


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
