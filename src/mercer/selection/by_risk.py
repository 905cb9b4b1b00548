r"""Kernel and number of components on noisy rows, without a clean one.

The rows are :math:`X = S + N` with noise of known variance :math:`V`, and :math:`f(X)` is "fit to X
and denoise X", one function of all rows. Its error :math:`\|f(X) - S\|^2` cannot be seen, but it
has an unbiased estimate (Stein 1981), whose divergence a random probe gives (Ramani, Blu & Unser
2008): with random signs b and a small step ε

.. math:: \|X - f(X)\|^2 - \sum V + \frac{2}{\epsilon} \sum \sqrt V \circ b \circ
          \bigl(f(X + \epsilon \sqrt V \circ b) - f(X)\bigr).

The second fit is what makes it right: with the model held fixed, nobody would notice how much it
has learnt of the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._base.machine import held
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Estimator
from mercer.kernels import Kernel, Linear
from mercer.points import Points
from mercer.selection.noise_level import NoiseLevel, noise_of
from mercer.selection.search import (
    CACHED,
    Cells,
    Choice,
    Denoiser,
    Errors,
    Trials,
    all_counts,
    fit_quietly,
    kernels_around,
)

#: The step of a probe, in standard deviations of the noise.
STEP = 0.1
#: Rows whose errors are looked at, and trials of a candidate that is not clearly worse.
ROWS, TRIALS = 1000, 2
#: The estimate is as sure as it has numbers: of few rows a trial takes more probes than one.
NUMBERS, MOST_PROBES = 20_000, 8
#: Pre-image methods that are compared at the chosen kernel.
METHODS = ("smoother", "ridge")


@dataclass(frozen=True)
class Risk:
    """What denoising leaves of the noise: mean squared errors of a row, estimated.

    Attributes
    ----------
    error : float
        Of the rows after denoising.
    deviation : float
        Standard error of the estimate.
    noise : float
        Of the rows as they are: the sum of the noise's variances.
    linear : float
        Of linear PCA with its own best number of components.
    level : NoiseLevel
        What was taken for the noise, and where it is from.
    """

    error: float
    deviation: float
    noise: float
    linear: float
    level: NoiseLevel

    def __str__(self) -> str:
        return (
            f"error {self.error:.3g} ± {self.deviation:.1g} a row, of {self.noise:.3g} before; "
            f"linear PCA {self.linear:.3g}; noise {self.level}"
        )


@dataclass(frozen=True)
class NoisyChoice(Choice):
    """A choice on noisy rows: also the pre-image method, and what it is worth.

    Attributes
    ----------
    preimage : str or PreImageSolver
    risk : Risk
    """

    preimage: Any
    risk: Risk


@held
def choose_by_risk(
    estimator: Estimator,
    X: Array,
    noise: Any = None,
    *,
    kernels: Sequence[Kernel] | None = None,
    counts: Sequence[int] | None = None,
) -> NoisyChoice:
    """Kernel, number of components and pre-image method with the smallest estimated error.

    Parameters
    ----------
    estimator : KernelPCA, or another estimator whose components are nested
    X : (n, d) array of noisy rows
    noise : float, (d,) array, "poisson" or None, default=None
        Standard deviation of the noise, one for each column, or counts; None estimates it.
    kernels, counts : sequences, optional
        As in :func:`choose_by_noise`; the linear kernel is always among the candidates.

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
    level = noise_of(X, noise)
    trials = _Probes(X, np.sqrt(level.variance(X)))
    most = len(X) - 1
    wanted = all_counts(most) if counts is None else sorted(counts)
    candidates = kernels_around(estimator.kernel, X) if kernels is None else list(kernels)
    cells = Cells(estimator, trials, wanted, [kernel.resolve(X) for kernel in candidates])
    cells.search(grows=kernels is None)
    plain = clone(estimator).set_params(preimage="auto")
    line = Cells(plain, trials, all_counts(min(most, X.shape[1])), [Linear()])
    line.search(grows=False)
    ways = [(cells, estimator.preimage), (line, "auto"), *_by_method(cells, trials)]
    best = min(ways, key=lambda way: way[0].choice().value)
    choice = best[0].choice()
    errors = best[0].of_rows(choice.kernel, choice.n_components)
    risk = Risk(
        choice.value,
        float(errors.mean(axis=0).std() / np.sqrt(errors.shape[1])),
        float(level.variance(X).sum(axis=1).mean()),
        line.choice().value,
        level,
    )
    table = [row for way, _ in ways for row in way.table()]
    return NoisyChoice(choice.kernel, choice.n_components, choice.value, table, best[1], risk)


def _by_method(cells: Cells, trials: _Probes) -> list[tuple[Cells, str]]:
    """Other pre-image methods at the best kernel, around its number of components."""
    choice = cells.choice()
    j = cells.counts.index(choice.n_components)
    counts = cells.counts[max(j - 2, 0) : j + 3]
    found = []
    for method in METHODS:
        candidate = clone(cells.estimator).set_params(preimage=method)
        other = Cells(candidate, trials, counts, [choice.kernel])
        other.fill()
        found.append((other, method))
    return found


@dataclass(frozen=True)
class _Probes(Trials):
    """Fits to the rows, and to the rows with a small random probe on them."""

    X: Array
    deviation: Array
    #: The fit without a probe, which all trials of a candidate share.
    plain: dict[str, Callable[[int, bool], Points]] = field(default_factory=dict)

    def __len__(self) -> int:
        return TRIALS

    def errors_of(self, candidate: Estimator, s: int) -> Errors:
        n = len(self.X)
        chosen = np.sort(fixed_rng(0).choice(n, min(n, ROWS), replace=False))
        x, v = self.X[chosen], self.deviation[chosen]
        here = self._plain(candidate, chosen)
        probes = []
        for number in range(min(max(NUMBERS // self.X.size, 1), MOST_PROBES)):
            signs = fixed_rng([1, s, number]).choice([-1.0, 1.0], self.X.shape)
            rows = self.X + STEP * self.deviation * signs
            along = v * signs[chosen] / STEP
            probes.append((along, _denoiser(clone(candidate), rows, chosen)))

        def errors(q: int, in_full: bool) -> Array:
            clean = here(q, in_full).rows
            slopes = [along * (there(q, in_full).rows - clean) for along, there in probes]
            slope = np.mean(slopes, axis=0).sum(axis=1)
            return np.asarray(((x - clean) ** 2 - v**2).sum(axis=1) + 2 * slope)

        return errors

    def _plain(self, candidate: Estimator, chosen: Array) -> Callable[[int, bool], Points]:
        key = f"{candidate.kernel!r} {candidate.preimage!r} {candidate.n_components}"
        if key not in self.plain:
            if len(self.plain) >= CACHED:
                self.plain.pop(next(iter(self.plain)))
            self.plain[key] = cache(_denoiser(clone(candidate), self.X, chosen))
        return self.plain[key]


def _denoiser(candidate: Estimator, rows: Array, chosen: Array) -> Denoiser:
    return Denoiser.of(fit_quietly(candidate, rows), rows[chosen], "auto")
