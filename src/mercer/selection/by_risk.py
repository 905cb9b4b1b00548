"""Kernel, number of components and pre-image method on noisy rows, without a clean one.

Candidates are compared by Stein's estimate of the error that they leave
(:mod:`mercer.selection.risk`), or, where the noise can be of any kind and nothing shows its level,
by entries that were hidden (:mod:`mercer.selection.blind_spot`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._base.machine import blas_limited
from mercer._base.types import Array, Estimator
from mercer.kernels import Kernel, Linear, RadialKernel
from mercer.preimage import Shrunk, Smoother, as_preimage
from mercer.selection.blind_spot import FEWEST_COLUMNS, BlindSpots, level_of
from mercer.selection.noise_level import ANY_KIND, NoiseLevel, UnseenNoiseError, noise_of
from mercer.selection.risk import POWERS, TRIALS, Probes, Risk
from mercer.selection.search import (
    Cells,
    Choice,
    Trial,
    all_counts,
    is_beyond,
    kernels_around,
    sample,
)

#: Other trials of what is chosen: the best of many was also the luckiest in those before.
FINAL = 2
#: Noise leaves few components: how many are computed first, and where these are not enough. Of
#: up to so many rows a fit of the second number costs no more than one of the first.
LEVELS, FEW_ROWS = (128, 512), 1200
#: How many widths beside the best one for scores that are shrunk most the others are tried at, and
#: how many counts below. Fewer components may ask for a wider kernel: on spectra with speckle an
#: error of 0.471 was left by narrower ones alone, and 0.397 with a wider one. Others ask for a
#: narrower one: of two widths to either side, eight draws of a circle of 500 rows were missed by
#: 0.074, and of four by 0.064, at the same cost, since widths are left where errors rise.
WIDTHS, COUNTS = 4, 3
#: How often a level that was estimated is lowered, where the error was below zero.
LOWERED = 4
#: Of more rows a sample of so many is searched; what it chose is then compared on more of them, at
#: the same width and a narrower one, since more rows show finer structure. These take more than one
#: trial where they are few numbers.
MAX_ROWS, COMPARED, NARROWER, FEW_NUMBERS = 1000, 3000, (0.7, 1.0), 40_000


@dataclass(frozen=True)
class NoisyChoice(Choice):
    """A choice on noisy rows, with the pre-image method and the estimated error.

    Attributes
    ----------
    preimage : str or PreImageSolver
    risk : Risk
    """

    preimage: Any
    risk: Risk


@blas_limited
def choose_by_risk(
    estimator: Estimator,
    X: Array,
    noise: Any = None,
    *,
    kernels: Sequence[Kernel] | None = None,
    counts: Sequence[int] | None = None,
    max_rows: int = MAX_ROWS,
) -> NoisyChoice:
    """Kernel, number of components and pre-image method with the smallest estimated error.

    A level that was estimated is uncertain. The estimate is linear in the noise's variance, so that
    its mean over that uncertainty is the estimate at the mean variance, by which cells are
    compared; the standard error of ``risk`` has it in it. An error below zero betrays a level that
    is too large: one that was estimated is then lowered, and the search is made again.

    Parameters
    ----------
    estimator : KernelPCA, or another estimator whose components are nested
    X : (n, d) array of noisy rows
    noise : float, (d,) array, str or None, default=None
        Standard deviation of the noise, or one for each column; None estimates one level of all
        columns, and ``"columns"`` one of each; ``"poisson"`` are counts, ``"speckle"`` and
        ``"speckle:0.3"`` noise that multiplies the entries, of a level that is estimated or given.
        ``"independent"`` is noise of any kind that is independent between columns: the choice is
        then made by entries that are hidden and filled in from the others, which is less sure. So
        it is, too, where nothing shows the level of four columns or more.
    kernels, counts : sequences, optional
        As in :func:`choose_by_noise`; the linear kernel is always among the candidates.
    max_rows : int, default=1000
        If there are more rows, a sample of this many is searched, drawn with a fixed seed. The
        number of components, and a narrower width, are then compared on all rows, or on 3,000 of
        more, by two fits each; ``risk`` is what a model of these would leave.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.selection import choose_by_risk
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 2 * np.pi, 300)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> choice = choose_by_risk(KernelPCA(), circle + 0.2 * rng.normal(size=(300, 2)), 0.2)
    >>> choice.risk.error < 0.75 * choice.risk.noise
    True
    """
    some, more = sample(X, max_rows), sample(X, max(max_rows, COMPARED))
    tried = all_counts(len(some) - 1) if counts is None else sorted(counts)
    candidates = kernels_around(estimator.kernel, X) if kernels is None else list(kernels)
    resolved = [kernel.resolve(X) for kernel in candidates]
    search = partial(_search, estimator, tried, resolved, len(some), grows=kernels is None)
    try:
        level = None if isinstance(noise, str) and noise == ANY_KIND else noise_of(X, noise)
    except UnseenNoiseError:
        if noise is not None or X.shape[1] < FEWEST_COLUMNS:
            raise
        level = None
    if level is None:
        return _by_blind_spots(search, more, some)

    def at(level: NoiseLevel) -> tuple[list[Cells], NoisyChoice, float]:
        """What was searched, the choice, and how far it moves a row, squared."""
        probes = Probes.of(some, level)
        ways = search(probes.trials(range(TRIALS)))
        return ways, *_final(estimator, ways, probes, level, range(TRIALS, TRIALS + FINAL))

    ways, choice, left = at(level)
    for _ in range(LOWERED):
        if choice.risk.error >= 0 or not level.uncertainty:
            break
        level = level.lowered(float(np.sqrt(left / (left - choice.risk.error))))
        ways, choice, left = at(level)
    if more is some:
        return choice
    probes, final = Probes.of(more, level), range(1 if more.size > FEW_NUMBERS else TRIALS)
    best = min(ways, key=_value)
    cells = _on_more_rows(best, probes, probes.trials(final), fixed=kernels is not None)
    return _final(estimator, [cells], probes, level, final)[0]


def _final(
    estimator: Estimator, ways: list[Cells], probes: Probes, level: NoiseLevel, trials: range
) -> tuple[NoisyChoice, float]:
    """The best of what was searched, or linear PCA, estimated on all rows in trials of its own."""
    probes, candidate = probes.on_all_rows(), _best(ways)
    linear = probes.linear()
    least = float(linear.min())
    risk, moved = probes.risk(candidate, trials, least, level)
    if least < risk.error:
        power, place = np.unravel_index(linear.argmin(), linear.shape)
        candidate = _shrinking(estimator, "auto", POWERS[power])
        candidate.set_params(kernel=Linear(), n_components=int(place) + 1)
        risk, moved = probes.risk(candidate, trials, least, level)
    return _chosen(candidate, ways, risk), moved


def _by_blind_spots(
    search: Callable[[Sequence[Trial]], list[Cells]], X: Array, some: Array
) -> NoisyChoice:
    """The choice by hidden entries; what these leave is the level by which its error is said."""
    versions = BlindSpots.of(some)
    trials = [version.errors for version in versions]
    ways = search(trials)
    flat = [q for q in ways[0].counts if q < X.shape[1]]
    for way in list(ways):
        ways.append(Cells(way.estimator, trials, flat, [Linear()]))
        ways[-1].fill()
    candidate = _best(ways)
    level = level_of(versions, candidate, candidate.n_components)
    probes = Probes.of(X, level).on_all_rows()
    risk, _ = probes.risk(candidate, range(FINAL), float(probes.linear().min()), level)
    return _chosen(candidate, ways, risk)


def _chosen(candidate: Estimator, ways: list[Cells], risk: Risk) -> NoisyChoice:
    table = [row for way in ways for row in way.table()]
    best = candidate.kernel, candidate.n_components, risk.error
    return NoisyChoice(*best, table, candidate.preimage, risk)


def _best(ways: list[Cells]) -> Estimator:
    """The candidate of the least error among what was searched."""
    best = min(ways, key=_value)
    choice = best.choice()
    return best.candidate(choice.kernel, choice.n_components)


def _value(cells: Cells) -> float:
    return cells.choice().value


def _search(
    estimator: Estimator,
    counts: list[int],
    kernels: list[Kernel],
    n: int,
    trials: Sequence[Trial],
    *,
    grows: bool,
) -> list[Cells]:
    """Widths and counts for scores that are shrunk, less so, or not, and for the smoother.

    All but the first are tried near its best width, and with hardly more components: most of their
    fits are those of the search before.
    """
    own = as_preimage(estimator.preimage)
    plain = own.preimage if isinstance(own, Shrunk) else estimator.preimage
    levels = LEVELS[n <= FEW_ROWS :]
    ways: list[Cells] = []
    near = None
    for power in POWERS:
        model = _shrinking(estimator, plain, power)
        cells = Cells(model, trials, counts, kernels, levels=levels, follows=True, near=near)
        cells.search(grows=grows and not ways)
        best = cells.choice()
        near = counts.index(best.n_components)
        if not ways:
            kernels = _near(cells.kernels, best.kernel)
            first = max(near - COUNTS, 0)
            counts, near = counts[first : near + 2], near - first
        ways.append(cells)
    return [*ways, *_smoothed(ways[-1])]


def _shrinking(estimator: Estimator, preimage: Any, power: float) -> Estimator:
    way = Shrunk(preimage, power=power) if power else preimage
    return clone(estimator).set_params(preimage=way)


def _near(kernels: list[Kernel], best: Kernel) -> list[Kernel]:
    """The best one and the next to it on either side, in the order of their widths."""
    ladder = [kernel for kernel in kernels if isinstance(kernel, RadialKernel)]
    if best not in ladder:
        return [best]
    ladder.sort(key=lambda kernel: kernel.length)
    i = ladder.index(best)
    return [*ladder[max(i - WIDTHS, 0) : i + WIDTHS + 1]]


def _smoothed(cells: Cells) -> list[Cells]:
    """The smoother at the best kernel and around its count, if it looks good there.

    Not the ridge: it chooses its penalty among powers of ten, and where that is another one for
    the rows with a probe on them, the difference says nothing (68.9 was taken for 39.1).
    """
    choice = cells.choice()
    i, j = cells.kernels.index(choice.kernel), cells.counts.index(choice.n_components)
    model = clone(cells.estimator).set_params(preimage=Smoother(10, by="nearest"))
    other = Cells(model, cells.trials, cells.counts, [choice.kernel], levels=cells.levels)
    other.look(0, [0], [j])
    if is_beyond(other.errors[0, j, 0], cells.errors[i, j, 0]):
        return []
    other.fill(range(max(j - 1, 0), min(j + 2, len(cells.counts))))
    return [other]


def _on_more_rows(cells: Cells, probes: Probes, trials: Sequence[Trial], *, fixed: bool) -> Cells:
    """What was chosen on a sample, at more components and a narrower width, on more."""
    choice = cells.choice()
    around = kernels_around(choice.kernel, probes.X[:2], (1.0,) if fixed else NARROWER)
    j = cells.counts.index(choice.n_components)
    most = int(min(LEVELS[-1], len(probes.X) - 1))
    more = [choice.n_components * factor for factor in (2, 4)]
    counts = sorted({min(q, most) for q in (*cells.counts[max(j - 1, 0) : j + 1], *more)})
    full = Cells(cells.estimator, trials, counts, around, levels=LEVELS, follows=True)
    full.near = counts.index(min(choice.n_components, most))
    full.search(grows=False)
    return full
