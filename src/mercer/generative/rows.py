r"""Draws as rows: a mixture of training scores returns as the same mixture of training rows.

Four things make such rows believable. Numbers are mixed, and what the mixtures do to a column's
distribution is undone by the column's own quantiles, so that spread, range and tails are those of
the data. Categories (columns of two values, and one-hot blocks) are never mixed: each takes the
value of one row of the mixture. Every row is drawn around as often as any other. And a draw that
is nearly a copy of a row is drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer._base.linalg import evenly, one_hot_groups
from mercer._base.machine import blocks
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.generative.densities import FittedMixtures
from mercer.generative.metrics import over_distances
from mercer.preimage.nearest import mix

#: Draws for each row by which the distributions of the columns are learnt, and numbers in all.
DRAWS, MOST_NUMBERS = 100, 4_000_000
#: Draws by which they are corrected for those made again, and the quantiles that are compared.
EVENED, LEVELS = 4000, 50
#: A category comes from another row of the mixture than the first as often as this.
CROSSED = 0.25
#: A draw nearer to a row than so many rows are to their nearest is made again; so many times, and
#: as often once more while it is a copy: in this distance, in the unit of the rows.
COPIES, TRIES, EQUAL = 0.2, 20, 1e-7
#: Decimals of a draw beside the largest value of its column, and of a rank.
DIGITS = 9
#: A gap between neighbouring values is wide if it is so many times the mean gap.
WIDE = 10
#: Rows whose nearest neighbours show how near is too near, and rows that are mixed at a time.
SHOWN, BLOCK = 1000, 512


@dataclass(frozen=True)
class RowMixtures:
    """Rows of a density whose draws are mixtures of training rows.

    Attributes
    ----------
    density : FittedMixtures
    rows : (n, d) array
        In the order of the density's points.
    categories : list of arrays
        Numbers of the columns of each category.
    columns : dict
        Number of every other column → the way back of its values.
    apart : Apart

    Notes
    -----
    A draw that is too near to a row after twenty tries is kept, unless it is equal to one that
    occurs once; then a neighbour of the row is drawn around, up to twenty times.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import Local, RowMixtures
    >>> rng = np.random.default_rng(0)
    >>> wage = rng.lognormal(size=300)
    >>> X = np.column_stack([wage, rng.random(300) < 0.3])
    >>> drawn = RowMixtures.of(Local().fit(X, rng), X).sample(300, rng)
    >>> bool(wage.min() <= drawn[:, 0].min() and drawn[:, 0].max() <= wage.max())
    True
    >>> np.unique(drawn[:, 1])
    array([0., 1.])
    """

    density: FittedMixtures
    rows: Array
    categories: list[Array]
    columns: dict[int, Column]
    apart: Apart

    @classmethod
    def of(cls, density: FittedMixtures, rows: Array) -> RowMixtures:
        """Find the categories, and learn what mixing does to the numbers; O(100 n K d)."""
        ordered, rng = np.sort(rows, axis=0), fixed_rng(0)
        categories = _categories(rows, (ordered[1:] != ordered[:-1]).sum(axis=0) == 1)
        plain = cls(density, rows, categories, {}, Apart.of(rows))
        count = min(DRAWS * len(rows), max(MOST_NUMBERS // rows.shape[1], len(rows)))
        drawn = plain._around(density.starts(count, rng), rng)
        numbers = sorted({*range(rows.shape[1])} - {j for block in categories for j in block})
        columns = {j: Column.of(drawn[:, j], ordered[:, j]) for j in numbers}
        first = replace(plain, columns=columns)
        # Those that are made again for being too near have left the middle of the data.
        kept = first._kept(min(EVENED, max(MOST_NUMBERS // (8 * rows.shape[1]), 500)), rng)
        return replace(first, columns={j: c.evened(kept[:, j]) for j, c in columns.items()})

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """(n, d) new rows."""
        return self._back(self._kept(n, rng))

    def _kept(self, n: int, rng: np.random.Generator) -> Array:
        """Draws that are not too near to a row, before columns are decoded."""
        i = self.density.starts(n, rng)
        drawn, again = self._around(i, rng), np.arange(n)
        for tried in range(2 * TRIES):
            least = self.apart.least if tried < TRIES else min(self.apart.least, EQUAL)
            again = again[self.apart.nearer(self._back(drawn[again]), least)]
            if not len(again):
                break
            # Around the same rows, so that none loses its share to others. Where columns have few
            # levels, all mixtures around a row may come out as that row: then around a neighbour.
            if tried >= TRIES:
                near = self.density.around(i[again], rng)[1]
                i[again] = near[np.arange(len(again)), rng.integers(near.shape[1], size=len(again))]
            drawn[again] = self._around(i[again], rng)
        return drawn

    def _back(self, drawn: Array) -> Array:
        """Draws as values of the columns; categories have theirs already."""
        rows = drawn.copy()
        for j, column in self.columns.items():
            rows[:, j] = column.back(drawn[:, j])
        return rows

    def _around(self, i: Array, rng: np.random.Generator) -> Array:
        """Mixtures around the rows i."""
        return np.concatenate([self._mixed(i[some], rng) for some in blocks(len(i), BLOCK)])

    def _mixed(self, i: Array, rng: np.random.Generator) -> Array:
        _, near, weights = self.density.around(i, rng)
        drawn = mix(self.rows, i, near, weights)
        # A mixture of equal values is that value, and not above or below it by its rounding.
        size = np.abs(self.rows).max(axis=0)
        size[size == 0] = 1
        drawn = np.asarray(np.round(drawn / size, DIGITS) * size)
        for block in self.categories:
            other = near[np.arange(len(i)), rng.integers(near.shape[1], size=len(i))]
            parent = np.where(rng.random(len(i)) < CROSSED, other, i)
            drawn[:, block] = self.rows[parent[:, None], block]
        return drawn


@dataclass(frozen=True)
class Column:
    r"""The way back of a number: :math:`Q(F(x))`, F of the draws and Q of the data."""

    #: drawn, rank: (m,), different values of the draws, and the ranks of the data that they
    #: stand at
    drawn: Array
    rank: Array
    known: Array  #: (n,), the values of the data in order
    #: (n - 1,), between which neighbouring values of the data no others come out
    jumps: Array

    @classmethod
    def of(cls, drawn: Array, known: Array) -> Column:
        """From draws, and the values of the data in order.

        Where values repeat, no others come out. Nor does anything from a wide gap: below the
        largest value of a long tail it would take much from the variance.
        """
        n, gaps = len(known), np.diff(known)
        knots = np.quantile(drawn, (np.arange(n) + 0.5) / n, method="hazen")
        repeats = 2 * (1 + np.count_nonzero(gaps)) <= n
        return cls(*_function(knots, np.arange(n)), known, (gaps > WIDE * gaps.mean()) | repeats)

    def evened(self, drawn: Array) -> Column:
        """The same, corrected so that these draws are distributed as the data are."""
        n, shares = len(self.known), (np.arange(LEVELS) + 0.5) / LEVELS
        drawn_ranks = np.quantile(np.interp(drawn, self.drawn, self.rank), shares, method="hazen")
        ranks = np.clip(n * shares - 0.5, 0, n - 1)
        x, y = _function(np.array([0, *drawn_ranks, n - 1]), np.array([0, *ranks, n - 1]))
        y[0], y[-1] = 0, n - 1  # the ends of the data stay within reach
        return replace(self, rank=np.interp(self.rank, x, y))

    def back(self, x: Array) -> Array:
        """(n,) draws as values of the column; never outside the data."""
        rank = np.round(np.interp(x, self.drawn, self.rank), DIGITS)  # a half is a half
        below = np.minimum(rank.astype(int), len(self.jumps) - 1)
        rank = np.where(self.jumps[below], np.rint(rank), rank)
        return np.interp(rank, np.arange(len(self.known)), self.known)


@dataclass(frozen=True)
class Apart:
    """How near to a row is too near: nearer than most rows are to their nearest neighbour.

    Rows that occur several times identify nobody, and new rows may be equal to them.
    """

    #: (m, d), those that do not repeat, around 0 and of size 1: squares of distances neither
    #: over- nor underflow
    rows: Array
    middle: Array  #: (d,) array
    size: float
    least: float  #: the distance, in these units

    @classmethod
    def of(cls, rows: Array) -> Apart:
        """From the distances between rows; O(n d) for each of at most 1,000."""
        middle = rows.mean(axis=0)
        size = float(np.abs(rows - middle).max()) or 1.0
        scaled = (rows - middle) / size
        different, counts = np.unique(scaled, axis=0, return_counts=True)
        singles = different[counts == 1]
        if len(different) < 2 or not len(singles):
            return cls(singles, middle, size, 0.0)
        # The nearest is the row itself.
        nearest = over_distances(
            evenly(singles, SHOWN), different, lambda r: np.partition(r, 1, axis=1)[:, 1]
        )
        return cls(singles, middle, size, float(np.quantile(nearest, COPIES)))

    def nearer(self, drawn: Array, least: float) -> Array:
        """(n,) whether a draw is nearer to a row than this, almost a copy of it."""
        if not least:
            return np.zeros(len(drawn), dtype=bool)
        scaled = (drawn - self.middle) / self.size
        return over_distances(scaled, self.rows, lambda r: r.min(axis=1)) < least * (1 - 1e-9)


def _function(x: Array, y: Array) -> tuple[Array, Array]:
    """Distinct values of increasing x, and the midpoint of y for each."""
    values, first, counts = np.unique(x, return_index=True, return_counts=True)
    return values, (y[first] + y[first + counts - 1]) / 2


def _categories(rows: Array, two: Array) -> list[Array]:
    """Columns of two values, those of a one-hot block together."""
    edges = np.flatnonzero(np.diff(one_hot_groups(rows))) + 1
    groups = np.split(np.arange(len(two)), edges)
    return [columns for columns in groups if len(columns) > 1 or two[columns[0]]]
