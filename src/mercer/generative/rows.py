r"""Draws as rows: a mixture of training scores returns as the same mixture of training rows.

Four things make such rows believable. Numbers are mixed, and what the mixtures do to a column's
distribution is undone by the column's own quantiles, so that spread, range and tails are those of
the data. Categories (columns of two values, and one-hot blocks) are never mixed: each takes the
value of one row of the mixture. Every row is drawn around as often as any other. And a draw that
is all but a copy of a row is made again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer._base.linalg import evenly
from mercer._base.machine import blocks
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.generative.densities import FittedMixtures
from mercer.generative.metrics import over_distances
from mercer.preimage.nearest import mix

#: Draws for each row by which the distributions of the columns are learnt, and numbers in all.
DRAWS, MOST_NUMBERS = 50, 10_000_000
#: A category comes from another row of the mixture than the first as often as this.
CROSSED = 0.25
#: A draw nearer to a row than so many rows are to their nearest is made again; so many times.
COPIES, TRIES = 0.1, 20
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
    unit: Unit

    @classmethod
    def of(cls, density: FittedMixtures, rows: Array) -> RowMixtures:
        """Find the categories, and learn what mixing does to the numbers; O(50 n K d)."""
        ordered = np.sort(rows, axis=0)
        distinct = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
        categories = _categories(rows, distinct == 2)
        plain = cls(density, rows, categories, {}, Unit.of(rows))
        count = min(DRAWS * len(rows), max(MOST_NUMBERS // rows.shape[1], len(rows)))
        rng = fixed_rng(0)
        drawn = plain._around(density.starts(count, rng), rng)
        numbers = np.setdiff1d(np.arange(rows.shape[1]), np.concatenate([[], *categories]))
        columns = {
            j: Column.of(drawn[:, j], ordered[:, j], steps=2 * distinct[j] <= len(rows))
            for j in numbers.astype(int).tolist()
        }
        return cls(density, rows, categories, columns, plain.unit)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """(n, d) new rows."""
        i = self.density.starts(n, rng)
        drawn, again = self._around(i, rng), np.arange(n)
        for _ in range(TRIES):
            again = again[self.unit.is_copy(drawn[again])]
            if not len(again):
                break
            # Around the same rows, so that none loses its share to others.
            drawn[again] = self._around(i[again], rng)
        return drawn

    def _around(self, i: Array, rng: np.random.Generator) -> Array:
        """Draws around the rows i."""
        parts = [self._mixed(i[some], rng) for some in blocks(len(i), BLOCK)]
        drawn = np.concatenate(parts)
        for j, column in self.columns.items():
            drawn[:, j] = column.back(drawn[:, j])
        return drawn

    def _mixed(self, i: Array, rng: np.random.Generator) -> Array:
        _, near, weights = self.density.around(i, rng)
        drawn = mix(self.rows, i, near, weights)
        for block in self.categories:
            other = near[np.arange(len(i)), rng.integers(near.shape[1], size=len(i))]
            parent = np.where(rng.random(len(i)) < CROSSED, other, i)
            drawn[:, block] = self.rows[parent[:, None], block]
        return drawn


@dataclass(frozen=True)
class Column:
    r"""The way back of a number: :math:`Q(F(x))`, F of the draws and Q of the data.

    Attributes
    ----------
    drawn, place : (m,) arrays
        Different values of the draws at the ranks of the data, and these ranks.
    known : (n,) array
        The values of the data in order.
    steps : bool
        Values come again in the data, and no others come out; else they may lie in between.
    """

    drawn: Array
    place: Array
    known: Array
    steps: bool

    @classmethod
    def of(cls, drawn: Array, known: Array, *, steps: bool) -> Column:
        """From draws and the values of the data in order."""
        n = len(known)
        knots = np.quantile(drawn, (np.arange(n) + 0.5) / n, method="hazen")
        values, first, counts = np.unique(knots, return_index=True, return_counts=True)
        return cls(values, first + (counts - 1) / 2, known, steps)

    def back(self, x: Array) -> Array:
        """(n,) draws as values of the column; never outside the data."""
        rank = np.interp(x, self.drawn, self.place)
        rank = np.rint(rank) if self.steps else rank
        return np.interp(rank, np.arange(len(self.known)), self.known)


@dataclass(frozen=True)
class Unit:
    """Rows around 0 of size 1, whose distances neither over- nor underflow; ``least`` of them."""

    rows: Array
    middle: Array = field(repr=False)
    size: float
    least: float = 0.0

    @classmethod
    def of(cls, rows: Array) -> Unit:
        """How near is too near is said by the rows' own nearest neighbours."""
        middle = rows.mean(axis=0)
        size = float(np.abs(rows - middle).max()) or 1.0
        scaled = (rows - middle) / size
        # The nearest is the row itself.
        nearest = over_distances(
            evenly(scaled, SHOWN), scaled, lambda r: np.partition(r, 1, axis=1)[:, 1]
        )
        return cls(scaled, middle, size, float(np.quantile(nearest, COPIES)))

    def is_copy(self, drawn: Array) -> Array:
        """(n,) whether a draw is nearer to a row than most rows are to each other."""
        scaled = (drawn - self.middle) / self.size
        return over_distances(scaled, self.rows, lambda r: r.min(axis=1)) < self.least


def _categories(rows: Array, two: Array) -> list[Array]:
    """Columns of two values, those of a one-hot block together."""
    found, start = [], 0
    while start < len(two):
        stop = _end_of_block(rows, two, start) if two[start] else start
        if two[start]:
            found.append(np.arange(start, stop))
        start = max(stop, start + 1)
    return found


def _end_of_block(rows: Array, two: Array, start: int) -> int:
    """Where the one-hot block that begins here ends; after one column if there is none."""
    ones = np.zeros(len(rows), dtype=int)
    for j in range(start, len(two)):
        ones += rows[:, j] != 0
        if not two[j] or ones.max() > 1:
            break
        if ones.min() == 1:
            return j + 1
    return start + 1
