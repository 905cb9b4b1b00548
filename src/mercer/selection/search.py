"""The search for kernel and number of components, from coarse to fine.

Whatever a candidate is tried on, its error is a smooth function of width and count. So widths are
compared on the first trial alone, outwards from the middle, at every second number of components
and then around the best; only those that are not clearly worse go on to the other trials. On the
way pre-images are found in float32 to a thousandth of the kernel's length. What comes close to the
best is computed again in full before the choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._base.progress import announce
from mercer._base.types import Array, Estimator, RowsLike
from mercer.exceptions import DegenerateKernelWarning, RankWarning
from mercer.kernels import Kernel, RadialKernel, as_kernel
from mercer.model import Subspace
from mercer.points import as_points
from mercer.preimage import PreImageSolver
from mercer.preimage.auto import rough_preimage
from mercer.preimage.noise import matched_scores

#: Widths that are tried, as multiples of the kernel's own.
FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
#: More components are computed only where these are not enough.
FIRST_COUNT = 512
#: Cells whose rough error is within this share of the least are computed in full.
CLOSE = 0.005
#: Widths are tried outwards from the middle until the error is so many times the least ...
RISEN = 1.1
#: ... and beyond the last one, where that is the best: how often, and by what factor.
FURTHER, STRIDE = 4, 1.5
#: Standard errors (of paired differences on the first trial) by which a width is worse for sure.
SURE = 3.0
#: Models that are cached for a second look.
CACHED = 12

#: Squared errors of the rows of a trial, (rows,), at a number of components, in full or roughly.
Errors = Callable[[int, bool], Array]
#: What a candidate is tried on, such as a split of clean rows: from the candidate to its errors.
Trial = Callable[[Estimator], Errors]


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


def all_counts(most: int) -> list[int]:
    """Powers of two up to the number of components that there are, and that number."""
    return [*(2**k for k in range(1, 40) if 2**k < most), most]


def fit_quietly(candidate: Estimator, X: RowsLike) -> Any:
    """Fit one of many: that some have too few components or an unsuitable width is no news."""
    with warnings.catch_warnings():
        for category in (RankWarning, DegenerateKernelWarning):
            warnings.simplefilter("ignore", category)
        return candidate.fit(X)


@dataclass(frozen=True)
class Denoiser:
    """A fitted model and rows to denoise by some of its components."""

    subspace: Subspace
    solver: PreImageSolver
    noisy: RowsLike
    Z: Array  # scores, for all components
    variances: Array

    @classmethod
    def of(cls, model: Estimator, noisy: RowsLike, match_noise: bool | str) -> Denoiser:
        """Project the rows."""
        subspace, solver = model.subspace_, model.preimage_
        rows = noisy.astype(subspace.coef.dtype, copy=False)
        Z = matched_scores(subspace, rows, match_noise)
        return cls(subspace, solver, rows, Z, model.explained_variance_)

    def __call__(self, q: int, in_full: bool) -> Any:
        """The rows after denoising by the first q components (or all, if fewer exist)."""
        q = min(q, self.subspace.n_components)
        factors = self.solver.shrinkage(self.variances[:q])
        leading, Z = self.subspace.leading(q), self.Z[:, :q] * factors.astype(self.Z.dtype)
        solver = self.solver.init(leading) if in_full else rough_preimage(self.solver, leading)
        return as_points(solver.solve(Z, self.noisy).points)


@dataclass
class Cells:
    """Errors by candidate, trial and number of components, computed when they are asked for."""

    estimator: Estimator
    trials: Sequence[Trial]
    counts: list[int]
    kernels: list[Kernel]
    #: (counts, rows) squared errors of a candidate in a trial; NaN where nobody has looked.
    errors: dict[tuple[int, int], Array] = field(default_factory=dict)
    models: dict[tuple[int, int, int], Errors] = field(default_factory=dict)
    fits: int = 0
    #: How many components are computed first, and where these are not enough; then all.
    levels: tuple[int, ...] = (FIRST_COUNT,)
    #: Whether a candidate is first looked at where the best one so far was good, and the place of
    #: the count where the first one is; else at every second count.
    follows: bool = False
    near: int | None = None

    def search(self, *, grows: bool) -> None:
        """Widths on one trial, the best of them on all, the closest in full.

        Where ``grows``, wider or narrower kernels than the candidates are tried, too.
        """
        order = list(range(len(self.kernels)))
        if self._is_ladder:
            order = self._from_the_middle(FURTHER if grows else 0)
        for i in order:
            self._settle(i, [0])
        best = min(order, key=lambda i: self._error(i, [0]))
        for i in [i for i in order if not self._is_beyond(self._rows_at_best(i), best)]:
            self._settle(i, self._every)
        self._finish()

    def fill(self, counts: Sequence[int] | None = None) -> None:
        """Every cell in full, or those of some counts, by their places."""
        places = list(range(len(self.counts)) if counts is None else counts)
        for i in range(len(self.kernels)):
            self._look(i, self._every, places, in_full=True)
        announce("tune", self.fits, self.fits)

    def candidate(self, kernel: Kernel, q: int) -> Estimator:
        """The estimator with this kernel and number of components, not fitted."""
        return clone(self.estimator).set_params(kernel=kernel, n_components=q)

    def is_close_to(self, errors: Array, j: int) -> bool:
        """Whether the first kernel's j-th count is not clearly worse than errors of one trial."""
        self._look(0, [0], [j])
        return not is_beyond(self.errors[0, 0][j], errors)

    def of_rows(self, kernel: Kernel, q: int) -> Array:
        """Errors of all rows in a cell that is known, (trials, rows)."""
        i, j = self.kernels.index(kernel), self.counts.index(q)
        return np.stack([self.errors[i, s][j] for s in self._every])

    def table(self) -> list[tuple[Kernel, int, float]]:
        """The cells that are known in every trial, and their mean errors."""
        rows = {s: errors.shape[1] for (_, s), errors in self.errors.items()}
        size = sum(rows.values())
        return [
            (self.kernels[i], int(q), float(error / size))
            for i in range(len(self.kernels))
            for q, error in zip(self.counts, self._total(i, self._every), strict=True)
            if not np.isnan(error)
        ]

    def choice(self, default: Kernel | None = None) -> Choice:
        """The least error; a default kernel with all components if nothing is better."""
        first = []
        if default is not None:
            i, j = self.kernels.index(default), len(self.counts) - 1
            best = min((k for k, s in self.errors if s == 0), key=lambda k: self._error(k, [0]))
            known = self.errors[i, 0]
            at_most = known[~np.isnan(known[:, 0])][-1]  # of the most components looked at
            if not self._is_beyond(at_most, best):  # else still more are worse still
                self._look(i, [0], [j])
                if not self._is_beyond(known[j], best):
                    self._look(i, self._every, [j], in_full=True)
            first = [row for row in self.table() if row[:2] == (default, self.counts[j])]
        table = self.table()
        return Choice(*min(first + table, key=lambda row: row[2]), table)

    @property
    def _every(self) -> list[int]:
        return list(range(len(self.trials)))

    def _from_the_middle(self, further: int) -> list[int]:
        """Candidates by width in the first trial, outwards both ways while errors are low."""
        one, last = [0], len(self.kernels) - 1
        middle = (last + 1) // 2
        seen = [middle]
        self._settle(middle, one)
        for direction, left in ((1, last - middle), (-1, middle)):
            at, allowed = middle, left
            for step in range(left + further):
                least = min(self._error(i, one) for i in seen)
                # Beyond the candidates only where the last of them is the best.
                if self._error(at, one) > (RISEN if step < allowed else 1.0) * least:
                    break
                at = at + direction if step < allowed else self._beyond(at, direction)
                self._settle(at, one)
                seen.append(at)
        return seen

    def _settle(self, i: int, trials: list[int]) -> None:
        """Errors of a candidate at the best number of components in trials, and beside it."""
        first = self.errors.get((i, 0))
        places = self._first_places() if first is None else self._beside(i, first.sum(axis=1))
        while places:  # at most once for each number of components
            self._look(i, trials, places)
            total = self._total(i, trials)
            places = [j for j in self._beside(i, total) if np.isnan(total[j])]

    def _first_places(self) -> list[int]:
        """Where to look first at a candidate of which nothing is known."""
        near, known = self.near, [i for i, s in self.errors if s == 0]
        if self.follows and known:
            best = min(known, key=lambda i: self._error(i, [0]))
            near = int(np.nanargmin(self.errors[best, 0].sum(axis=1)))
        if near is not None:
            return self._around(near)
        top = int(np.searchsorted(self.counts, self.levels[0], side="right")) - 1
        return list(range(max(top, 0), -1, -2))

    def _error(self, i: int, trials: list[int]) -> float:
        """The least error of a candidate over the numbers of components that were looked at."""
        return float(np.nanmin(self._total(i, trials)))

    def _rows_at_best(self, i: int) -> Array:
        """Errors in the first trial at the number of components that is best there, (rows,)."""
        errors = self.errors[i, 0]
        return np.asarray(errors[np.nanargmin(errors.sum(axis=1))])

    def _is_beyond(self, errors: Array, best: int) -> bool:
        """Whether errors in the first trial exceed those of the best candidate beyond chance."""
        return is_beyond(errors, self._rows_at_best(best))

    def _beyond(self, i: int, direction: int) -> int:
        """A new candidate, wider (1) or narrower (-1) than this one."""
        kernel = self.kernels[i]
        assert isinstance(kernel, RadialKernel)
        self.kernels.append(kernel.with_length(kernel.length * STRIDE**direction))
        return len(self.kernels) - 1

    def _finish(self) -> None:
        """Compute in full what came close to the least error."""
        totals = {i: self._total(i, self._every) for i in range(len(self.kernels))}
        least = min(np.nanmin(t) for t in totals.values() if not np.isnan(t).all())
        for i, total in totals.items():
            close = np.flatnonzero(total <= least + CLOSE * abs(least))
            if close.size:
                self._look(i, self._every, [int(j) for j in close], in_full=True)
        announce("tune", self.fits, self.fits)

    def _look(self, i: int, trials: list[int], counts: list[int], *, in_full: bool = False) -> None:
        for s in trials:
            known = self.errors.get((i, s))
            for j in counts:
                if in_full or known is None or np.isnan(known[j, 0]):
                    values = self._model(i, s, self.counts[j])(self.counts[j], in_full)
                    if known is None:
                        known = np.full((len(self.counts), len(values)), np.nan)
                        self.errors[i, s] = known
                    known[j] = values

    def _model(self, i: int, s: int, q: int) -> Errors:
        """A candidate fitted for a trial, with as many components as q asks for."""
        most = self.counts[-1]
        tops = [min(top, most) for top in self.levels if top >= q] + [most]
        # A model of more components has the first ones, too.
        key = next(((i, s, top) for top in tops if (i, s, top) in self.models), (i, s, tops[0]))
        if key not in self.models:
            announce("tune", self.fits, max(self._expected, self.fits + 1))
            candidate = self.candidate(self.kernels[i], tops[0])
            errors = self.trials[s](candidate)
            self.fits += 1
            if len(self.models) >= CACHED:
                self.models.pop(next(iter(self.models)))
            self.models[key] = errors
        return self.models[key]

    @property
    def _is_ladder(self) -> bool:
        """Whether the candidates are one kernel from narrow to wide."""
        kernels = [kernel for kernel in self.kernels if isinstance(kernel, RadialKernel)]
        lengths = [kernel.length for kernel in kernels]
        one = len({type(kernel) for kernel in kernels}) == 1
        return one and len(kernels) == len(self.kernels) and lengths == sorted(lengths)

    @property
    def _expected(self) -> int:
        """Fits in all, as a guess: most widths in one trial, two of them in the others."""
        return len(self.kernels) + min(2, len(self.kernels)) * (len(self.trials) - 1)

    def _total(self, i: int, trials: list[int]) -> Array:
        """Summed errors over trials; NaN where one of them was not looked at."""
        nothing = np.full((len(self.counts), 1), np.nan)
        return np.asarray(sum(self.errors.get((i, s), nothing).sum(axis=1) for s in trials))

    def _beside(self, i: int, total: Array) -> list[int]:
        """Places around the least error of a candidate.

        All components cost as much as the rest of the search: only where no other is better.
        """
        known = {k: self._error(k, [0]) for k, s in self.errors if s == 0}
        most = self.counts[-1] if known[i] <= min(known.values()) else self.levels[-1]
        j = int(np.nanargmin(total))
        return [k for k in self._around(j) if self.counts[k] <= most or k == j]

    def _around(self, j: int) -> list[int]:
        return [k for k in (j - 1, j, j + 1) if 0 <= k < len(self.counts)]


def is_beyond(errors: Array, others: Array, sure: float = SURE) -> bool:
    """Whether errors of the same rows are larger than others, by so many standard errors."""
    excess = errors - others
    return bool(excess.mean() > sure * excess.std() / np.sqrt(len(excess)))
