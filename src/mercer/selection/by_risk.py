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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import hadamard
from sklearn.base import clone

from mercer._base.machine import held
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Estimator
from mercer.exceptions import Remedy
from mercer.kernels import Kernel, Linear, RadialKernel
from mercer.preimage import Shrunk, as_preimage
from mercer.selection.noise_level import FEW_COLUMNS, NoiseLevel, noise_of
from mercer.selection.search import (
    CACHED,
    Cells,
    Choice,
    Denoiser,
    Errors,
    Trial,
    all_counts,
    fit_quietly,
    kernels_around,
)

#: The step of a probe, in standard deviations of the noise, where rounding allows it. It adds noise
#: of its square, by which shrunk scores seem better than they are: by up to 6 % at 0.3. Of few
#: columns it must see the jumps that there are between the pre-images of narrow kernels: on a
#: circle an error of 0.131 was taken for 0.106 at 0.1, and for 0.135 at 0.3.
STEP, FEW_COLUMNS_STEP = 0.1, 0.3
#: Rows whose errors are looked at, and trials of a candidate that is not clearly worse; of few
#: columns more rows, up to so many numbers.
ROWS, TRIALS, ROW_NUMBERS = 600, 2, 40_000
#: Other trials of what is chosen: the best of many was also the luckiest in those before.
FINAL = 2
#: How scores are shrunk (see :class:`~mercer.preimage.Shrunk`; 0 leaves them as they are), and how
#: many widths and counts below the best ones for the first the others are tried at.
POWERS, WIDTHS, COUNTS = (1.0, 0.5, 0.0), 2, 3
#: Linear PCA costs so little that it takes more probes of few numbers: its error on rows of a plane
#: was 8 % unsure by two of them.
LINEAR_NUMBERS, MOST_LINEAR = 200_000, 16
#: The estimate is as sure as it has numbers: of few rows a trial takes more probes than one.
NUMBERS, MOST_PROBES = 4_000, 4
#: Seed of the signs: none that rows are drawn by, since signs must not know anything of the noise
#: (a list that ends with zeros would be the stream of its first number).
SIGNS = 19_812_008
#: Noise leaves few components: how many are computed first, and where these are not enough. Of
#: up to so many rows a fit of the second number costs no more than one of the first.
LEVELS, FEW_ROWS = (128, 512), 1200
#: Of more rows a sample of so many is searched; what it chose is then compared on all of them at
#: the same width and a narrower one, since more rows show finer structure.
MAX_ROWS, NARROWER = 2000, (1.0, 0.7)
#: Denoising that leaves more than this share of the noise is not worth its risk.
HELPS = 0.95


@dataclass(frozen=True)
class Risk:
    """What denoising leaves of the noise: mean squared errors of a row, estimated.

    Attributes
    ----------
    error : float
        Of the rows after denoising.
    deviation : float
        Standard error of the estimate, with that of the noise level in it.
    noise : float
        Of the rows as they are: the sum of the noise's variances.
    linear : float
        Of linear PCA with its own best number of components, scores shrunk or not.
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
            f"squared error of a row {self.noise:.3g} before and {self.error:.3g} ± "
            f"{self.deviation:.1g} after denoising; linear PCA {self.linear:.3g}; noise "
            f"{self.level}"
        )

    @property
    def trouble(self) -> str:
        """That the level cannot be right, or that nothing is gained; empty where all is well."""
        if self.error < 0:
            what = (
                "the estimated error is below zero, so the rows carry less noise than was assumed"
            )
            remedy = Remedy(
                "if they are clean examples, say rows='clean'; else give a smaller noise=, or one "
                "for each column.",
                shell="give a smaller --noise, or one for each column; clean examples are for "
                "'mercer tune --rows clean'.",
            )
        elif self.error + 2 * self.deviation >= HELPS * self.noise:
            what = "denoising does not help these rows"
            remedy = Remedy(
                "leave them as they are, or give noise=, if it is larger.",
                shell="leave them as they are, or give --noise, if it is larger.",
            )
        else:
            return ""
        return f"{what}: {self}; " + remedy


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
    max_rows: int = MAX_ROWS,
) -> NoisyChoice:
    """Kernel, number of components and pre-image method with the smallest estimated error.

    A level that was estimated is uncertain. The estimate is linear in the noise's variance, so that
    its mean over that uncertainty is the estimate at the mean variance, by which cells are
    compared; the standard error of ``risk`` has it in it. An error below zero betrays a level that
    is too large: one that was estimated is then lowered once, and the search is made again.

    Parameters
    ----------
    estimator : KernelPCA, or another estimator whose components are nested
    X : (n, d) array of noisy rows
    noise : float, (d,) array, "columns", "poisson", "speckle", "speckle:0.3" or None, default=None
        Standard deviation of the noise, or one for each column; counts; noise that multiplies the
        entries, of a level that is given or estimated; None estimates one level of all columns, and
        ``"columns"`` one of each.
    kernels, counts : sequences, optional
        As in :func:`choose_by_noise`; the linear kernel is always among the candidates.
    max_rows : int, default=2000
        If there are more rows, a sample of this many is searched, drawn with a fixed seed. The
        number of components, and a narrower width, are then compared on all rows, by two fits each.

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
    some = X
    if len(X) > max_rows:
        some = X[np.sort(fixed_rng(0).choice(len(X), max_rows, replace=False))]
    probes, final = Probes.of(some, level), range(TRIALS, TRIALS + FINAL)
    wanted = all_counts(len(some) - 1) if counts is None else sorted(counts)
    candidates = kernels_around(estimator.kernel, X) if kernels is None else list(kernels)
    resolved = [kernel.resolve(X) for kernel in candidates]
    ways = _search(estimator, probes, wanted, resolved, grows=kernels is None)
    if some is not X:
        probes, final = Probes.of(X, level), range(1)
        ways = [_on_all_rows(min(ways, key=_value), probes, fixed=kernels is not None)]
    table = [row for way in ways for row in way.table()]
    best = min(ways, key=_value)
    choice = best.choice()
    found = _again(best.estimator, probes.trials(final), choice.kernel, choice.n_components)
    linear = probes.linear()
    if linear.min() < _value(found):
        power, place = np.unravel_index(linear.argmin(), linear.shape)
        model = _shrinking(estimator, "auto", POWERS[power])
        found = _again(model, probes.trials(final), Linear(), int(place) + 1)
    risk = probes.risk(found, float(linear.min()), level)
    if risk.error < 0 and level.uncertainty:
        left = probes.residual(found)
        lower = level.times(
            float(np.sqrt(left / (left - risk.error))), "lowered since an error was below zero"
        )
        return choose_by_risk(
            estimator,
            X,
            replace(lower, uncertainty=0.0),
            kernels=kernels,
            counts=counts,
            max_rows=max_rows,
        )
    return NoisyChoice(*found.table()[0], table, found.estimator.preimage, risk)


def _value(cells: Cells) -> float:
    return cells.choice().value


def _search(
    estimator: Estimator, probes: Probes, counts: list[int], kernels: list[Kernel], *, grows: bool
) -> list[Cells]:
    """Widths and counts for scores that are shrunk, less so, or not, and for the smoother.

    All but the first ask for its best width or a narrower one, and for hardly more components:
    most of their fits are those of the search before.
    """
    own = as_preimage(estimator.preimage)
    plain = own.preimage if isinstance(own, Shrunk) else estimator.preimage
    levels = LEVELS[len(probes.X) <= FEW_ROWS :]
    ways: list[Cells] = []
    for power in POWERS:
        model = _shrinking(estimator, plain, power)
        cells = Cells(model, probes.trials(range(TRIALS)), counts, kernels, levels=levels)
        cells.search(grows=grows and not ways)
        if not ways:
            best = cells.choice()
            kernels = _narrower(cells.kernels, best.kernel)
            j = counts.index(best.n_components)
            counts = counts[max(j - COUNTS, 0) : j + 2]
        ways.append(cells)
    return [*ways, *_smoothed(ways[-1])]


def _shrinking(estimator: Estimator, preimage: Any, power: float) -> Estimator:
    way = Shrunk(preimage, power=power) if power else preimage
    return clone(estimator).set_params(preimage=way)


def _narrower(kernels: list[Kernel], best: Kernel) -> list[Kernel]:
    """The best one and the next narrower ones, in the order of their widths."""
    if not isinstance(best, RadialKernel):
        return [best]
    lengths: dict[float, Kernel] = {
        kernel.length: kernel for kernel in kernels if isinstance(kernel, RadialKernel)
    }
    return [lengths[x] for x in sorted(lengths) if x <= best.length][-1 - WIDTHS :]


def _smoothed(cells: Cells) -> list[Cells]:
    """The smoother at the best kernel and around its count, if it looks good there.

    Not the ridge: it chooses its penalty among powers of ten, and where that is another one for
    the rows with a probe on them, the difference says nothing (68.9 was taken for 39.1).
    """
    choice = cells.choice()
    j = cells.counts.index(choice.n_components)
    model = clone(cells.estimator).set_params(preimage="smoother")
    other = Cells(model, cells.trials, cells.counts, [choice.kernel], levels=cells.levels)
    if not other.is_close_to(cells.of_rows(choice.kernel, choice.n_components)[0], j):
        return []
    other.fill(range(max(j - 1, 0), min(j + 2, len(cells.counts))))
    return [other]


def _again(model: Estimator, trials: Sequence[Trial], kernel: Kernel, q: int) -> Cells:
    """One candidate alone, in all trials."""
    found = Cells(model, trials, [q], [kernel])
    found.fill()
    return found


def _on_all_rows(cells: Cells, probes: Probes, *, fixed: bool) -> Cells:
    """What was chosen on a sample, at more components and a narrower width, on all rows."""
    choice = cells.choice()
    factors = (1.0,) if fixed else NARROWER
    around = kernels_around(choice.kernel, probes.X[:2], factors)
    j = cells.counts.index(choice.n_components)
    most = int(min(LEVELS[-1], len(probes.X) - 1))
    more = [choice.n_components * factor for factor in (2, 4)]
    counts = sorted({min(q, most) for q in (*cells.counts[max(j - 1, 0) : j + 1], *more)})
    found = Cells(cells.estimator, probes.trials(range(1)), counts, around, levels=LEVELS)
    found.fill()
    return found


@dataclass(frozen=True)
class Probes:
    """Fits to the rows, and to the rows with a small random probe on them."""

    X: Array
    deviation: Array
    chosen: Array  # rows whose errors are looked at
    step: float
    #: Denoisers by kernel, number of components and probe, which all pre-image methods share.
    fits: dict[tuple[str, int, tuple[int, int]], Denoiser] = field(default_factory=dict)
    #: Denoised rows without a probe, which all trials share, by candidate.
    denoised: dict[tuple[str, str, int, bool], Array] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Array, level: NoiseLevel) -> Probes:
        """Probes of rows with this noise."""
        deviation = np.sqrt(level.variance(X))
        some = min(len(X), max(ROWS, min(ROW_NUMBERS // X.shape[1], MAX_ROWS)))
        chosen = np.sort(fixed_rng(0).choice(len(X), some, replace=False))
        # A step must be more than what rounding leaves of rows that are far from zero.
        far = np.abs(X - X.mean(axis=0)).max() / max(np.sqrt((deviation**2).mean()), 1e-300)
        step = FEW_COLUMNS_STEP if X.shape[1] <= FEW_COLUMNS else STEP
        return cls(X, deviation, chosen, max(step, np.sqrt(np.finfo(X.dtype).eps) * float(far)))

    def trials(self, numbers: Iterable[int]) -> list[Trial]:
        """Those of some numbers, each with probes of its own."""
        return [partial(self._errors, s) for s in numbers]

    def _errors(self, s: int, candidate: Estimator) -> Errors:
        x, v = self.X[self.chosen], self.deviation[self.chosen]
        solver = as_preimage(candidate.preimage)
        there = [self._denoiser(candidate, (s, number)) for number in self._numbers]

        def errors(q: int, in_full: bool) -> Array:
            clean = self._clean(candidate, q, in_full)
            slope = np.zeros(len(x))
            for number, denoiser in zip(self._numbers, there, strict=True):
                moved = replace(denoiser, solver=solver)(q, in_full).rows - clean
                slope += (self._along(s, number) * moved).sum(axis=1)
            square = ((x - clean) ** 2 - v**2).sum(axis=1)
            return np.asarray(square + 2 * slope / len(there))

        return errors

    def _clean(self, candidate: Estimator, q: int, in_full: bool) -> Array:
        """The rows after denoising, without a probe."""
        solver = as_preimage(candidate.preimage)
        key = repr(candidate.kernel), repr(solver), q, in_full
        if key not in self.denoised:
            if len(self.denoised) >= CACHED:
                self.denoised.pop(next(iter(self.denoised)))
            denoiser = replace(self._denoiser(candidate, (-1, 0)), solver=solver)
            self.denoised[key] = denoiser(q, in_full).rows
        return self.denoised[key]

    def linear(self) -> Array:
        """Errors of linear PCA with 1, 2, ... components by powers, (powers, r), estimated.

        All from one decomposition.
        """
        x, v = self.X[self.chosen], self.deviation[self.chosen]
        Z, V, factors = _principal(self.X, self.chosen)
        around = ((x - self.X.mean(axis=0)) ** 2 - v**2).sum(axis=1).mean()
        left = around - (factors * (2 - factors)) @ (Z**2).mean(axis=0)
        trials = min(max(LINEAR_NUMBERS // self.X.size, 1), MOST_LINEAR)
        probes = [(s, number) for s in range(max(trials, TRIALS)) for number in self._numbers]
        moved = 0.0
        for probe in probes:
            along, shifted = self._along(*probe), self._rows(probe)
            Y, W, others = _principal(shifted, self.chosen)
            moved += (along @ (shifted.mean(axis=0) - self.X.mean(axis=0))).mean()
            moved = moved + others @ ((along @ W) * Y).mean(axis=0)
            moved = moved - factors @ ((along @ V) * Z).mean(axis=0)
        return np.asarray(left + 2 * moved / len(probes))

    def residual(self, cell: Cells) -> float:
        """How far the only candidate moves a row, squared."""
        kernel, q, _ = cell.table()[0]
        moved = self.X[self.chosen] - self._clean(cell.candidate(kernel, q), q, True)
        return float((moved**2).sum(axis=1).mean())

    def risk(self, cell: Cells, linear: float, level: NoiseLevel) -> Risk:
        """What the only candidate is worth, and what linear PCA would be."""
        kernel, q, error = cell.table()[0]
        errors = cell.of_rows(kernel, q).mean(axis=0)
        deviation = float(errors.std() / np.sqrt(len(errors)))
        if level.uncertainty:  # the derivative by log σ of the estimate, which is linear in σ²
            slope = 2 * (error - self.residual(cell))
            deviation = float(np.hypot(deviation, slope * level.uncertainty))
        noise = float((self.deviation**2).sum(axis=1).mean())
        linear = error if isinstance(kernel, Linear) else linear
        return Risk(error, deviation, noise, linear, level)

    @property
    def _numbers(self) -> range:
        return range(min(max(NUMBERS // self.X.size, 1), MOST_PROBES))

    def _signs(self, probe: tuple[int, int]) -> Array:
        """Random signs; in a group of probes, those of two columns are as often alike as not.

        So the slopes of a row by its other columns, most of the estimate's variance, cancel.
        """
        numbers, d = len(self._numbers), self.X.shape[1]
        most = min(numbers * TRIALS, 2 * d - 1)
        order = 1 << (most.bit_length() - 1)
        group, place = divmod(probe[0] * numbers + probe[1], order)
        signs = fixed_rng([group, SIGNS]).choice(np.array([-1, 1], dtype=np.int8), self.X.shape)
        return np.asarray(signs * hadamard(order, dtype=np.int8)[place, np.arange(d) % order])

    def _along(self, *probe: int) -> Array:
        signs = self._signs((probe[0], probe[1]))[self.chosen]
        return np.asarray(self.deviation[self.chosen] * signs / self.step)

    def _rows(self, probe: tuple[int, int]) -> Array:
        """The rows, with a probe on them unless it is that of trial -1."""
        if probe[0] < 0:
            return self.X
        return np.asarray(self.X + self.step * self.deviation * self._signs(probe))

    def _denoiser(self, candidate: Estimator, probe: tuple[int, int]) -> Denoiser:
        kernel, most = repr(candidate.kernel), int(candidate.n_components)
        for (other, count, which), denoiser in self.fits.items():
            if (other, which) == (kernel, probe) and count >= most:
                return denoiser
        if len(self.fits) >= CACHED * (1 + len(self._numbers)):
            self.fits.pop(next(iter(self.fits)))
        rows = self._rows(probe)
        model = fit_quietly(clone(candidate), rows)
        denoiser = Denoiser.of(model, rows[self.chosen], "auto")
        self.fits[kernel, most, probe] = denoiser
        return denoiser


def _principal(X: Array, chosen: Array) -> tuple[Array, Array, Array]:
    """Scores of chosen rows on the principal axes, the axes, (d, r), and factors of the scores.

    These are of 1, 2, ... components for each power, (powers, r, r).
    """
    centred = X - X.mean(axis=0)
    if len(X) > X.shape[1]:
        values, axes = np.linalg.eigh(centred.T @ centred)
        values, axes = values[::-1], axes[:, ::-1]
    else:
        _, roots, right = np.linalg.svd(centred, full_matrices=False)
        values, axes = roots**2, right.T
    values = np.maximum(values, np.finfo(values.dtype).eps * values[0])
    factors = np.zeros((len(POWERS), len(values), len(values)))
    for q in range(1, len(values) + 1):
        for k, power in enumerate(POWERS):
            factors[k, q - 1, :q] = Shrunk(power=power).shrinkage(values[:q])
    return centred[chosen] @ axes, axes, factors
