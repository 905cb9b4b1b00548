r"""How much noise rows carry, if nobody says it.

Noise that is equal in all columns and independent between them can be seen in three ways, each of
which takes some signal for noise, but never the other way round. So the least of them counts:

- the lower half of the covariance's eigenvalues that are no signal, over their mean under the law
  of Marchenko & Pastur (1967). Signal is what exceeds the law's edge, one eigenvalue after the
  other (after Kritchman & Nadler 2008); what is below the edge, as in images, shows in the upper
  half, by which the level is lowered;
- second differences of neighbouring columns, which are small for spectra and other curves;
- where few columns leave no such eigenvalues, or none but such, flat pieces that the rows lie
  around (:mod:`mercer.selection.local_noise`).

Where each column has a level of its own, the columns are first divided by what the others leave of
them in linear regression, and then by what the directions of signal leave: noise, and some signal,
of which the level of all takes its share away.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._base.numbers import counted
from mercer._base.types import Array
from mercer.exceptions import DataError, Remedy
from mercer.io.look import is_number
from mercer.selection.local_noise import noise_around_pieces

#: With fewer columns than this share of them beyond the signal there is nothing to tell noise by.
FEWEST, LEAST_SHARE = 4, 0.1
#: Fewer rows than this say nothing about their noise.
FEWEST_ROWS = 8
#: Of more rows than this half of them may show noise where all of them do not.
MANY_ROWS = 3000
#: Up to so many columns, pieces are looked for.
FEW_COLUMNS = 12
#: How far off estimates on digits, faces and spectra with known noise were, as a share.
UNSURE = 0.04
#: How much signal below the law's edge adds to the lower half of the eigenvalues, as a multiple of
#: what it adds to all of them beyond that (3 to 7 on digits and faces).
BELOW = 5.0
#: A level that is given and what the rows show are said to disagree by this factor: one that is
#: wrong by 1.5 shows as one of 1.35 or more. Of a level that is right the rows show 0.93 or more;
#: they show too much where columns have something of their own, so that it counts only with so many
#: columns beyond the signal.
DISAGREE, SHARING = 1.35, 12
#: Rounds in which the noise of each column and the signal of all are told apart, and the least
#: share of a column that is not signal.
ROUNDS, LEAST_LEFT = 5, 0.05
#: Noise of which nothing is known but that columns do not share it.
ANY_KIND = "independent"
#: What ``noise`` takes in words; the last may be followed by its level.
WORDS = "'columns', 'independent', 'poisson', 'speckle' or 'speckle:0.3'"

#: What to do where nothing shows the level.
GIVE = Remedy("give noise=, its standard deviation.", shell="give it by --noise.")
_CLEAN = Remedy(
    "give noise=, its standard deviation, or rows='clean' if these are clean examples.",
    shell="give it by --noise, or --rows clean to 'mercer tune' if these are clean examples.",
)


class UnseenNoiseError(DataError):
    """Nothing shows the level."""


@dataclass(frozen=True)
class NoiseLevel:
    """Noise of rows: standard deviations of the columns, counts, or speckle.

    Attributes
    ----------
    deviation : float or (d,) array; for speckle as a share of the clean entry; None for counts,
        whose variance is their mean
    source : str, where it is from
    uncertainty : float, the standard error as a share of the deviation
    is_relative : bool, whether the noise multiplies the rows
    seen : (low, high) of what the rows show of a level that was given, as shares of it; nan where
        they show nothing
    """

    deviation: Array | None
    source: str
    uncertainty: float = 0.0
    is_relative: bool = False
    seen: tuple[float, float] = (np.nan, np.nan)

    def variance(self, X: Array) -> Array:
        """Of each entry, (n, d); of counts and speckle an unbiased estimate."""
        if self.deviation is None:
            return np.maximum(X, 0.0)
        square = self.deviation**2
        if self.is_relative:  # E x² = s² (1 + c²)
            return np.asarray(square / (1 + square) * X**2)
        return np.broadcast_to(square, X.shape)

    def lowered(self, factor: float) -> NoiseLevel:
        """A level that left an error below zero, less sure by as much as it was wrong."""
        assert self.deviation is not None
        why = ", lowered since an error was below zero"
        return replace(
            self,
            deviation=self.deviation * factor,
            source=self.source.removesuffix(why) + why,
            uncertainty=float(np.hypot(self.uncertainty, 1 - factor)),
        )

    @property
    def size(self) -> float | None:
        """The root mean square over the columns that have noise; None for counts."""
        if self.deviation is None:
            return None
        return float(np.sqrt(np.mean(self.deviation[self.deviation > 0] ** 2)))

    @property
    def doubt(self) -> str:
        """By how much the rows disagree with a level that was given; empty if they do not."""
        low, high = self.seen
        if high < 1 / DISAGREE:
            seen, why = high, "smaller, or columns share it"
        elif low > DISAGREE:
            seen, why = low, "larger, or each column has variation of its own"
        else:
            return ""
        return f"the rows show {seen:.2g} times the noise that was given: the noise is {why}"

    def __str__(self) -> str:
        if self.size is None:
            return f"of {self.source}"
        unsure = f" ± {self.uncertainty * self.size:.1g}" if self.uncertainty else ""
        return f"{self.size:.3g}{unsure}{' of each entry' * self.is_relative}, {self.source}"


def noise_of(X: Array, noise: Any = None) -> NoiseLevel:
    """What is taken for the noise of rows: what is given, or an estimate."""
    if noise is None:
        return _estimated(X)
    if isinstance(noise, NoiseLevel):
        return noise
    if isinstance(noise, str):
        return _in_words(X, noise)
    deviation = np.array(np.nan)
    with contextlib.suppress(TypeError, ValueError):  # such as a function
        deviation = np.asarray(noise, dtype=np.float64)
    if deviation.shape not in ((), X.shape[1:]) or not np.all(deviation > 0):
        raise DataError(
            f"noise={noise!r} of noisy rows must be above zero, a number or one for each of "
            f"{X.shape[1]} columns, or {WORDS}; a function that adds noise is for rows='clean'."
        )
    return NoiseLevel(deviation, "given", seen=_seen(X / deviation))


def _seen(X: Array) -> tuple[float, float]:
    """Between what numbers the rows show their noise to be, which is said to be one.

    Second differences, and eigenvalues of few columns, are never too small, but may be too large.
    """
    X = np.asarray(X, dtype=np.float64)
    if len(X) < FEWEST_ROWS:
        return np.nan, np.nan
    X = X[:, np.ptp(X, axis=0) > 0]
    if X.shape[1] <= FEW_COLUMNS:
        return np.nan, np.nan
    high = _second_difference(X)
    level, n_signal = _of_eigenvalues(X)
    if level is None:
        return np.nan, high
    deviation, error = level
    many = X.shape[1] - n_signal >= SHARING
    return min(high, deviation - 2 * error) if many else np.nan, min(high, deviation + error)


def _second_difference(X: Array) -> float:
    return float(np.sqrt((np.diff(X, 2, axis=1) ** 2).mean() / 6))


def estimate_noise(X: Array) -> float:
    """Standard deviation of noise that is equal in all columns and independent between them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection import estimate_noise
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 500)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> round(estimate_noise(circle + rng.normal(scale=0.3, size=(500, 2))), 1)
    0.3
    """
    level = _estimated(X).size
    assert level is not None
    return level


def _in_words(X: Array, noise: str) -> NoiseLevel:
    kind, _, level = noise.partition(":")
    if noise == "columns":
        return _of_columns(X)
    if noise == "poisson":
        if np.min(X) < 0:
            raise DataError("noise='poisson' is of counts, and some rows are negative.")
        return NoiseLevel(None, "counts, whose variance is their mean")
    if kind != "speckle":
        raise DataError(f"noise={noise!r}; give a number, one for each column, or {WORDS}.")
    if level:
        share = float(level) if is_number(level) else np.nan
        if not 0 < share < 1:
            raise DataError(f"noise={noise!r}; give the level as a share, such as 'speckle:0.3'.")
        # log x = log s + log m, and Var m = exp(Var log m) - 1
        logs = np.log(X) / np.sqrt(np.log1p(share**2)) if np.min(X) > 0 else X[:0]
        return NoiseLevel(np.asarray(share), "speckle, given", is_relative=True, seen=_seen(logs))
    if np.min(X) <= 0:
        raise DataError(
            "the level of speckle is estimated from logarithms, and some entries are not above "
            "zero; give it as a share, such as noise='speckle:0.3'."
        )
    added = _estimated(np.log(X))
    return replace(
        added,
        source=f"{added.source}, of logarithms",
        deviation=np.sqrt(np.expm1(np.asarray(added.deviation) ** 2)),
        is_relative=True,
    )


def _of_columns(X: Array) -> NoiseLevel:
    """A level for each column: the shape by regression on the others, the size by all together."""
    X = np.asarray(X, dtype=np.float64)
    varies = np.ptp(X, axis=0) > 0
    n, d = len(X), int(varies.sum())
    if d < 3 or n < 2 * d:
        few = f"{counted(n, 'row')} of {counted(d, 'column')} are too few for the noise of each; "
        raise DataError(few + Remedy("give noise=, one number for each.", shell="give --noise."))
    scale = X[:, varies].std(axis=0)
    centred = (X - X.mean(axis=0))[:, varies] / scale
    products = centred.T @ centred + n * np.finfo(X.dtype).eps ** 0.5 * np.eye(d)
    # What regression on the others leaves of a column is one over the inverse's diagonal.
    left = scale / np.sqrt(np.diagonal(np.linalg.inv(products)) * (n - d))
    every = np.zeros(X.shape[1])
    every[varies] = _beyond_signal(X[:, varies], left)
    return as_large_as_seen(X, every, "one of each column")


def _beyond_signal(X: Array, left: Array) -> Array:
    """What the directions of signal leave of each column, where there are such, (d,).

    Regression takes a share of what neither column nor others can say for noise.
    """
    for _ in range(ROUNDS):
        Y = (X - X.mean(axis=0)) / left
        level, n_signal = _of_eigenvalues(Y)
        if level is None or not n_signal:
            break
        axes = np.linalg.eigh(Y.T @ Y)[1][:, -n_signal:]
        beyond = ((Y - Y @ axes @ axes.T) ** 2).sum(axis=0) / (len(Y) - n_signal)
        # Of a column's noise its share in these directions has gone with the signal.
        left = left * np.sqrt(beyond / np.maximum(1 - (axes**2).sum(axis=1), LEAST_LEFT))
    return left


def as_large_as_seen(X: Array, left: Array, what: str) -> NoiseLevel:
    """Levels of columns, zero where there is none, times what they are by all columns together."""
    has = left > 0
    level = _estimated(X[:, has] / left[has])
    deviation = left.copy()
    deviation[has] *= np.asarray(level.deviation)
    return replace(level, deviation=deviation, source=f"{level.source}, {what}")


def _estimated(X: Array) -> NoiseLevel:
    X = np.asarray(X, dtype=np.float64)
    varies = np.ptp(X, axis=0) > 0
    if not varies.any():
        raise DataError(f"the {len(X)} row(s) do not differ; give rows that differ.")
    if len(X) < FEWEST_ROWS:
        few = f"{len(X)} rows are too few to estimate their noise from, which takes {FEWEST_ROWS}; "
        raise DataError(few + GIVE)
    X, ways = X[:, varies], []  # there is no noise in a column that is constant
    by_eigenvalues, n_signal = _of_eigenvalues(X)
    if by_eigenvalues is not None:
        ways.append((*by_eigenvalues, "the smallest eigenvalues"))
    # Where no eigenvalue exceeds the others, all may be noise, or all signal, as of a bent curve.
    is_open = 1 < X.shape[1] <= FEW_COLUMNS and (by_eigenvalues is None or not n_signal)
    if is_open and (around := noise_around_pieces(X)) is not None:
        ways.append((*around, "the spread around flat pieces"))
    if X.shape[1] > (2 if ways else FEW_COLUMNS):
        deviation = _second_difference(X)
        ways.append((deviation, UNSURE * deviation, "second differences of columns"))
    ways = [way for way in ways if way[0] > 0]
    if not ways:
        raise UnseenNoiseError(
            f"the noise of {len(X)} rows with {counted(X.shape[1], 'column')} cannot be told apart "
            "from the rows themselves: no small eigenvalues are alike, and the rows do not lie "
            "around a curve or clusters; " + _CLEAN
        )
    deviation, error, what = min(ways)
    level = np.asarray(deviation) if varies.all() else np.where(varies, deviation, 0.0)
    return NoiseLevel(level, f"estimated from {what}", error / deviation)


def _of_eigenvalues(X: Array) -> tuple[tuple[float, float] | None, int]:
    """Deviation and uncertainty by eigenvalues that are no signal, if enough; how many are signal.

    Signal below the edge of the law raises their upper half more than the lower one. By how much
    all of them exceed the lower half beyond chance says what is wrong with that, too. The more
    rows, the fainter a signal is above the edge: where all directions have some, half of the rows
    are looked at.
    """
    level, n_signal = _below_edge(X)
    if level is None and len(X) > MANY_ROWS:
        return _of_eigenvalues(X[::2])
    return level, n_signal


def _below_edge(X: Array) -> tuple[tuple[float, float] | None, int]:
    n, d = len(X) - 1, X.shape[1]
    centred = X - X.mean(axis=0)
    products = centred.T @ centred if d <= n else centred @ centred.T
    values = np.linalg.eigvalsh(products)[::-1][: min(n, d)]
    for r in range(len(values)):
        # Signal takes r directions away from the noise, among the columns and among the rows.
        left, rows = d - r, n - r
        square = float(values[r:].sum() / left / rows)
        if values[r] <= rows * square * (1 + np.sqrt(left / rows)) ** 2:
            if left < max(FEWEST, LEAST_SHARE * d) or not square > 0:
                return None, r
            lower = values[r + (len(values) - r) // 2 :]
            share = len(lower) / (len(values) - r)
            level = float(np.sqrt(lower.mean() / rows / _lower_mean(left / rows, share)))
            chance = 2 / np.sqrt(2 * left * rows)
            excess = BELOW * max(np.sqrt(square) / level - 1 - chance, 0.0)
            level /= 1 + excess
            return (level, level * max(UNSURE, excess / 2)), r
    return None, len(values)


def _lower_mean(ratio: float, share: float) -> float:
    """Mean of the lowest eigenvalues above zero of noise with variance one, d / n = ratio."""
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    angle = (np.arange(4000) + 0.5) / 4000 * np.pi
    x = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    density = np.sin(angle) ** 2 / x
    mass = np.cumsum(density) / density.sum()
    lowest = mass <= max(share, mass[0])
    return float((x * density)[lowest].sum() / density[lowest].sum())
