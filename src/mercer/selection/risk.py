r"""What denoising leaves of the noise of rows, estimated without a clean one.

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

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import hadamard

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Estimator
from mercer.exceptions import Remedy
from mercer.kernels import Linear
from mercer.preimage import Shrunk, as_preimage
from mercer.selection.noise_level import FEW_COLUMNS, NoiseLevel
from mercer.selection.search import CACHED, Denoiser, Trial, cached, fit_quietly, fitted

#: The step of a probe, in standard deviations of the noise, where rounding allows it. It adds noise
#: of its square, by which shrunk scores seem better than they are: by up to 6 % at 0.3. Of few
#: columns it must see the jumps that there are between the pre-images of narrow kernels: on a
#: circle an error of 0.131 was taken for 0.106 at 0.1, and for 0.135 at 0.3.
STEP, FEW_COLUMNS_STEP = 0.1, 0.3
#: Rows whose errors are looked at in the search; of few columns more, up to so many numbers and
#: rows. What is chosen is estimated on all: on 600 of 1,000 rows of spectra its standard error was
#: up to 11 % of the error, and on all 8 %.
ROWS, ROW_NUMBERS, MOST_ROWS = 600, 40_000, 2000
#: Trials of a candidate that is not clearly worse.
TRIALS = 2
#: How scores are shrunk (see :class:`~mercer.preimage.Shrunk`; 0 leaves them as they are).
POWERS = (1.0, 0.5, 0.0)
#: Linear PCA costs so little that it takes more probes of few numbers: its error on rows of a plane
#: was 8 % unsure by two of them.
LINEAR_NUMBERS, MOST_LINEAR = 200_000, 16
#: The estimate is as sure as it has numbers: of few rows a trial takes more probes than one.
NUMBERS, MOST_PROBES = 4_000, 4
#: Seed of the signs: none that rows are drawn by, since signs must not know anything of the noise
#: (a list that ends with zeros would be the stream of its first number).
SIGNS = 19_812_008
#: Denoising that leaves more than this share of the noise is not worth its risk.
HELPS = 0.95


@dataclass(frozen=True)
class Risk:
    """Estimated mean squared errors of a row: how much noise denoising leaves.

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
        The noise that was assumed, and its source.
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
            what, remedy = "the error is below zero: there is less noise than was assumed", _LESS
        elif self.error + 2 * self.deviation >= HELPS * self.noise:
            what, remedy = "denoising does not help these rows", _LEAVE
        else:
            what, remedy = self.level.doubt, _COMPARE
        return f"{what}: {self}; " + remedy if what else ""


_LESS = Remedy(
    "say rows='clean' if they are clean examples, else give a smaller noise=.",
    shell="give a smaller --noise; clean examples are for 'mercer tune --rows clean'.",
)
_LEAVE = "leave them as they are, or give " + Remedy("a larger noise=.", shell="a larger --noise.")
_COMPARE = Remedy("compare with noise=None, which estimates it.", shell="compare with no --noise.")


@dataclass(frozen=True)
class Probes:
    """Fits to the rows, and to the rows with a small random probe on them."""

    X: Array
    deviation: Array
    chosen: Array  # rows whose errors are looked at
    step: float
    #: Denoisers by kernel, number of components and probe, which all pre-image methods share.
    fits: dict[tuple[str, int, Any], Denoiser] = field(default_factory=dict)
    #: Denoised rows without a probe, which all trials share, by candidate.
    clean: dict[tuple[str, str, int, bool], Array] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Array, level: NoiseLevel) -> Probes:
        """Probes of rows with this noise."""
        deviation = np.sqrt(level.variance(X))
        some = min(len(X), max(ROWS, min(ROW_NUMBERS // X.shape[1], MOST_ROWS)))
        chosen = np.sort(fixed_rng(0).choice(len(X), some, replace=False))
        # A step must be more than what rounding leaves of rows that are far from zero.
        far = np.abs(X - X.mean(axis=0)).max() / max(np.sqrt((deviation**2).mean()), 1e-300)
        step = FEW_COLUMNS_STEP if X.shape[1] <= FEW_COLUMNS else STEP
        return cls(X, deviation, chosen, max(step, np.sqrt(np.finfo(X.dtype).eps) * float(far)))

    def on_all_rows(self) -> Probes:
        """The same, with the errors of all rows looked at: for the one that was chosen."""
        return replace(self, chosen=np.arange(len(self.X)), fits={}, clean={})

    def trials(self, numbers: Iterable[int]) -> list[Trial]:
        """Those of some numbers, each with probes of its own."""
        return [partial(self.errors, s) for s in numbers]

    def errors(self, s: int, candidate: Estimator, q: int, in_full: bool) -> Array:
        """Estimated squared errors of the chosen rows, in trial s."""
        x, v = self.X[self.chosen], self.deviation[self.chosen]
        clean, slope = self._clean(candidate, q, in_full), np.zeros(len(x))
        for probe in range(s * self.count, (s + 1) * self.count):
            moved = self._denoised(candidate, probe, q, in_full) - clean
            slope += (self._along(probe) * moved).sum(axis=1)
        return np.asarray(((x - clean) ** 2 - v**2).sum(axis=1) + 2 * slope / self.count)

    def _clean(self, candidate: Estimator, q: int, in_full: bool) -> Array:
        """The rows after denoising, without a probe."""
        key = repr(candidate.kernel), repr(candidate.preimage), q, in_full
        denoised = cached(self.clean, key, lambda: self._denoised(candidate, None, q, in_full))
        return np.asarray(denoised)

    def linear(self) -> Array:
        """Errors of linear PCA with 1, 2, ... components by powers, (powers, r), estimated.

        All from one decomposition.
        """
        x, v = self.X[self.chosen], self.deviation[self.chosen]
        Z, V, factors = _principal(self.X, self.chosen)
        around = ((x - self.X.mean(axis=0)) ** 2 - v**2).sum(axis=1).mean()
        left = around - (factors * (2 - factors)) @ (Z**2).mean(axis=0)
        probes = self.count * max(min(LINEAR_NUMBERS // self.X.size, MOST_LINEAR), TRIALS)
        moved = 0.0
        for probe in range(probes):
            along, shifted = self._along(probe), self._rows(probe)
            Y, W, others = _principal(shifted, self.chosen)
            moved += (along @ (shifted.mean(axis=0) - self.X.mean(axis=0))).mean()
            moved = moved + others @ ((along @ W) * Y).mean(axis=0)
            moved = moved - factors @ ((along @ V) * Z).mean(axis=0)
        return np.asarray(left + 2 * moved / probes)

    def risk(
        self, candidate: Estimator, trials: Iterable[int], linear: float, level: NoiseLevel
    ) -> tuple[Risk, float]:
        """What a candidate is worth, in trials of its own, and how far it moves a row, squared."""
        q = candidate.n_components
        errors = np.mean([self.errors(s, candidate, q, True) for s in trials], axis=0)
        error, deviation = float(errors.mean()), float(errors.std() / np.sqrt(len(errors)))
        moved = self.X[self.chosen] - self._clean(candidate, q, True)
        distance = float((moved**2).sum(axis=1).mean())
        # The derivative by log σ of the estimate, which is linear in σ², is twice the difference.
        deviation = float(np.hypot(deviation, 2 * (error - distance) * level.uncertainty))
        noise = float((self.deviation**2).sum(axis=1).mean())
        linear = error if isinstance(candidate.kernel, Linear) else linear
        return Risk(error, deviation, noise, linear, level), distance

    @property
    def count(self) -> int:
        """Of the probes of a trial."""
        return min(max(NUMBERS // self.X.size, 1), MOST_PROBES)

    def _signs(self, probe: int) -> Array:
        """Random signs; in a group of probes, those of two columns are as often alike as not.

        So the slopes of a row by its other columns, most of the estimate's variance, cancel.
        """
        d = self.X.shape[1]
        most = min(self.count * TRIALS, 2 * d - 1)
        order = 1 << (most.bit_length() - 1)
        group, place = divmod(probe, order)
        signs = fixed_rng([group, SIGNS]).choice(np.array([-1, 1], dtype=np.int8), self.X.shape)
        return np.asarray(signs * hadamard(order, dtype=np.int8)[place, np.arange(d) % order])

    def _along(self, probe: int) -> Array:
        return np.asarray((self.deviation * self._signs(probe))[self.chosen] / self.step)

    def _rows(self, probe: int | None) -> Array:
        """The rows, with a probe on them if there is one."""
        if probe is None:
            return self.X
        return np.asarray(self.X + self.step * self.deviation * self._signs(probe))

    def _denoised(self, candidate: Estimator, probe: int | None, q: int, in_full: bool) -> Array:
        """The chosen rows after denoising, with a probe on them if there is one."""

        def denoiser() -> Denoiser:
            rows = self._rows(probe)
            return Denoiser.of(fit_quietly(candidate, rows), rows[self.chosen], "auto")

        plain = fitted(self.fits, candidate, probe, denoiser, CACHED * (1 + self.count))
        return np.asarray(replace(plain, solver=as_preimage(candidate.preimage))(q, in_full).rows)


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
