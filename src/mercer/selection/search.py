"""The search for kernel and number of components, from coarse to fine.

Whatever a candidate is tried on, its error is a smooth function of width and count. So widths are
compared on the first trial alone, outwards from the middle, at every second number of components
and then around the best; only those that are not clearly worse go on to the other trials. On the
way pre-images are found in float32 to a thousandth of the kernel's length. What comes close to the
best is computed again in full before the choice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._base.numbers import fixed_rng
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

#: What a candidate is tried on, such as a split of clean rows: the squared errors of its rows,
#: (rows,), by the first components of a candidate, so many of them, in full or roughly.
Trial = Callable[[Estimator, int, bool], Array]


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


def sample(X: Any, n: int) -> Any:
    """The rows, or n of more, drawn with a fixed seed."""
    return X if len(X) <= n else X[np.sort(fixed_rng(0).choice(len(X), n, replace=False))]


def fit_quietly(candidate: Estimator, X: RowsLike) -> Any:
    """Fit a copy of one of many: that it has few components or an odd width is no news."""
    with warnings.catch_warnings():
        for category in (RankWarning, DegenerateKernelWarning):
            warnings.simplefilter("ignore", category)
        return clone(candidate).fit(X)


def cached(made: dict[Any, Any], key: Hashable, make: Callable[[], Any], most: int = CACHED) -> Any:
    """What was made before, or is made now; of more than so many the oldest one goes."""
    if key not in made:
        if len(made) >= most:
            made.pop(next(iter(made)))
        made[key] = make()
    return made[key]


def fitted(
    made: dict[tuple[str, int, Any], Any],
    candidate: Estimator,
    part: Any,
    make: Callable[[], Any],
    most: int = CACHED,
) -> Any:
    """The same for models of a part of the rows: one of more components has the first ones, too."""
    kernel, q = repr(candidate.kernel), int(candidate.n_components)
    for (other, count, where), model in made.items():
        if (other, where) == (kernel, part) and count >= q:
            return model
    return cached(made, (kernel, q, part), make, most)


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
    #: How many components are computed first, and where these are not enough; then all.
    levels: tuple[int, ...] = (FIRST_COUNT,)
    #: Whether a candidate is first looked at where the best one so far was good, and the place of
    #: the count where the first one is; else at every second count.
    follows: bool = False
    near: int | None = None
    #: Squared errors, (rows,), by the places of a kernel, a count and a trial.
    errors: dict[tuple[int, int, int], Array] = field(default_factory=dict)
    #: Kernels, trials and most components that were asked for: about as many fits.
    fits: set[tuple[int, int, int]] = field(default_factory=set)

    def search(self, *, grows: bool) -> None:
        """Widths on one trial, the best of them on all, the closest in full.

        Where ``grows``, wider or narrower kernels than the candidates are tried, too.
        """
        if self._is_ladder:
            self._from_the_middle(FURTHER if grows else 0)
        else:
            for i in range(len(self.kernels)):
                self._settle(i, [0])
        at_best = self.errors[self._best, self._least(self._best), 0]
        for i in self._known:
            if not is_beyond(self.errors[i, self._least(i), 0], at_best):
                self._settle(i, self._every)
        totals = np.stack([self._total(i, self._every) for i in range(len(self.kernels))])
        least = np.nanmin(totals)
        for i, j in np.argwhere(totals <= least + CLOSE * abs(least)).tolist():
            self.look(i, self._every, [j], in_full=True)
        announce("tune", len(self.fits), len(self.fits))

    def fill(self, counts: Sequence[int] | None = None) -> None:
        """Every cell in full, or those of some counts, by their places."""
        places = range(len(self.counts)) if counts is None else counts
        for i in range(len(self.kernels)):
            self.look(i, self._every, places, in_full=True)
        announce("tune", len(self.fits), len(self.fits))

    def candidate(self, kernel: Kernel, q: int) -> Estimator:
        """The estimator with this kernel and number of components, not fitted."""
        return clone(self.estimator).set_params(kernel=kernel, n_components=q)

    def table(self) -> list[tuple[Kernel, int, float]]:
        """The cells that are known in every trial, and their mean errors."""
        table = []
        for i, j in product(range(len(self.kernels)), range(len(self.counts))):
            if all((i, j, s) in self.errors for s in self._every):
                rows = np.concatenate([self.errors[i, j, s] for s in self._every])
                table.append((self.kernels[i], int(self.counts[j]), float(rows.mean())))
        return table

    def choice(self, default: Kernel | None = None) -> Choice:
        """The least error; a default kernel with all components if nothing is better."""
        if default is not None:
            i, last = self.kernels.index(default), len(self.counts) - 1
            at_best = self.errors[self._best, self._least(self._best), 0]
            # Where many components are worse, still more are worse still.
            for j in (max(j for k, j, s in self.errors if (k, s) == (i, 0)), last):
                self.look(i, [0], [j])
                if is_beyond(self.errors[i, j, 0], at_best):
                    break
            else:
                self.look(i, self._every, [last], in_full=True)
        table, own = self.table(), (default, self.counts[-1])
        return Choice(*min(table, key=lambda row: (row[2], row[:2] != own)), table)

    def look(
        self, i: int, trials: Iterable[int], counts: Iterable[int], *, in_full: bool = False
    ) -> None:
        """Find the errors of a candidate in some trials at some counts, by their places."""
        most = self.counts[-1]
        for s, j in product(trials, counts):
            if in_full or (i, j, s) not in self.errors:
                q = self.counts[j]
                top = min([level for level in self.levels if level >= q] + [most])
                if (i, s, top) not in self.fits:
                    announce("tune", len(self.fits), max(self._expected, len(self.fits) + 1))
                    self.fits.add((i, s, top))
                candidate = self.candidate(self.kernels[i], top)
                errors = self.trials[s](candidate, q, in_full)
                self.errors[i, j, s] = np.asarray(errors, dtype=np.float64)

    @property
    def _every(self) -> range:
        return range(len(self.trials))

    @property
    def _known(self) -> list[int]:
        """The candidates that were looked at, in their order."""
        return list(dict.fromkeys(i for i, _, _ in self.errors))

    @property
    def _best(self) -> int:
        """The candidate of the least error in the first trial."""
        return min(self._known, key=self._error)

    def _from_the_middle(self, further: int) -> None:
        """Candidates by width in the first trial, outwards both ways while errors are low."""
        last = len(self.kernels) - 1
        middle = (last + 1) // 2
        self._settle(middle, [0])
        for direction, left in ((1, last - middle), (-1, middle)):
            at = middle
            for step in range(left + further):
                # Beyond the candidates only where the last of them is the best.
                if self._error(at) > (RISEN if step < left else 1.0) * self._error(self._best):
                    break
                at = at + direction if step < left else self._beyond(at, direction)
                self._settle(at, [0])

    def _settle(self, i: int, trials: Sequence[int]) -> None:
        """Errors of a candidate at the best number of components in trials, and beside it."""
        places = self._beside(i, self._total(i, [0])) if i in self._known else self._first_places()
        while places:  # at most once for each number of components
            self.look(i, trials, places)
            total = self._total(i, trials)
            places = [j for j in self._beside(i, total) if np.isnan(total[j])]

    def _first_places(self) -> list[int]:
        """Where to look first at a candidate of which nothing is known."""
        near = self._least(self._best) if self.follows and self.errors else self.near
        if near is not None:
            return self._around(near)
        top = int(np.searchsorted(self.counts, self.levels[0], side="right")) - 1
        return list(range(max(top, 0), -1, -2))

    def _least(self, i: int) -> int:
        """The place of the count that is best for a candidate in the first trial."""
        return int(np.nanargmin(self._total(i, [0])))

    def _error(self, i: int) -> float:
        """The error of a candidate there."""
        return float(np.nanmin(self._total(i, [0])))

    def _beyond(self, i: int, direction: int) -> int:
        """A new candidate, wider (1) or narrower (-1) than this one."""
        kernel = self.kernels[i]
        assert isinstance(kernel, RadialKernel)
        self.kernels.append(kernel.with_length(kernel.length * STRIDE**direction))
        return len(self.kernels) - 1

    @property
    def _is_ladder(self) -> bool:
        """Whether the candidates are one kernel from narrow to wide."""
        lengths = [kernel.length for kernel in self.kernels if isinstance(kernel, RadialKernel)]
        one = len({type(kernel) for kernel in self.kernels}) == 1
        return bool(lengths) and one and lengths == sorted(lengths)

    @property
    def _expected(self) -> int:
        """Fits in all, as a guess: most widths in one trial, two of them in the others."""
        return len(self.kernels) + min(2, len(self.kernels)) * (len(self.trials) - 1)

    def _total(self, i: int, trials: Iterable[int]) -> Array:
        """Summed errors over trials at each count; NaN where one of them was not looked at."""
        places = range(len(self.counts))
        sums = [[self.errors.get((i, j, s), _UNKNOWN).sum() for s in trials] for j in places]
        return np.asarray(np.sum(sums, axis=1))

    def _beside(self, i: int, total: Array) -> list[int]:
        """Places around the least error of a candidate.

        All components cost as much as the rest of the search: only where no other is better.
        """
        most = self.counts[-1] if i == self._best else self.levels[-1]
        j = int(np.nanargmin(total))
        return [k for k in self._around(j) if self.counts[k] <= most or k == j]

    def _around(self, j: int) -> list[int]:
        return [k for k in (j - 1, j, j + 1) if 0 <= k < len(self.counts)]


_UNKNOWN = np.array([np.nan])


def is_beyond(errors: Array, others: Array, sure: float = SURE) -> bool:
    """Whether errors of the same rows are larger than others, by so many standard errors."""
    excess = errors - others
    return bool(excess.mean() > sure * excess.std() / np.sqrt(len(excess)))
