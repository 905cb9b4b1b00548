"""How sure a map is, both ways: conformal radii, and places where there is no data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._base.types import Array
from mercer.novelty.calibration import Conformal
from mercer.preimage.near import Neighbours
from mercer.preimage.ways import Forth

#: Neighbours whose errors say how large one is, and the one whose distance says how empty a place.
ERRORS, EMPTY = 20, 5


@dataclass(frozen=True)
class Certainty:
    """What rows that were left out have shown, one after the other, of both ways.

    Errors are divided by the size that is expected where they occur, so that a radius is small
    where the map is good, and holds on the average over new rows (Lei et al. 2018). A row that was
    left out meets a model of all others, a new row one of all: the promise holds up to that.

    Attributes
    ----------
    calibrated : (c, q) places of those rows
    missed : (c,) how far the way back was off there
    spread : typical distance of neighbours' places from the place of a row
    back, forth, empty : Conformal
        Errors of the way back and forth in units of what was expected, and distances to the fifth
        neighbour in the map.
    """

    calibrated: Array
    missed: Array
    spread: float
    back: Conformal
    forth: Conformal
    empty: Conformal

    @classmethod
    def of(cls, Z: Array, missed: Array, rows: Array, forth: Forth, near: Neighbours) -> Certainty:
        """From the map, and what the way back was off at some of its rows."""
        placed, spread = forth.place(forth.known.rows[rows], leave_out=rows)
        usual, none = float(spread.mean()), Conformal.of(np.zeros(1))
        apart = near.nearest(Z[rows], EMPTY, leave_out=rows)[1][:, -1]
        bare = cls(Z[rows], missed, usual, none, none, Conformal.of(apart))
        expected = bare.expected_back(Z[rows], np.arange(len(rows)))
        off = np.sqrt(((placed - Z[rows]) ** 2).sum(axis=1))
        back = Conformal.of(_over(missed, expected))
        fair = Conformal.of(_over(off, bare.expected_forth(spread)))
        return cls(Z[rows], missed, usual, back, fair, bare.empty)

    def expected_back(self, Z: Array, leave_out: Array | None = None) -> Array:
        """The error to expect of rows from these places: that of the nearest rows, (n,)."""
        near = Neighbours(self.calibrated).nearest(Z, ERRORS, leave_out)[0]
        # One more error, the usual one: where all of them vanish, the next need not.
        return np.asarray(
            (self.missed[near].sum(axis=1) + self.missed.mean()) / (near.shape[1] + 1)
        )

    def expected_forth(self, spread: Array) -> Array:
        """The error to expect of places whose neighbours are spread so far, (n,)."""
        return np.asarray((ERRORS * spread + self.spread) / (ERRORS + 1))


def _over(errors: Array, expected: Array) -> Array:
    """Errors in units of the expected ones; 0 where all of them vanish."""
    return np.asarray(errors / np.where(expected > 0, expected, 1))
