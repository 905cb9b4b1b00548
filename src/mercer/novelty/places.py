"""How sure a map is, both ways: conformal radii, and places where there is no data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mercer._base.types import Array
from mercer.novelty.calibration import Conformal
from mercer.preimage.near import Neighbours

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
    def of(
        cls,
        Z: Array,
        placed: tuple[Array, Array],
        missed: Array,
        apart: Array,
        beside: Callable[[Array], Array] | None = None,
    ) -> Certainty:
        """From rows that none of these knew.

        Parameters
        ----------
        Z : (c, q) true places
        placed : (c, q) places that the way forth found, and (c,) how far the neighbours' are spread
        missed : (c,) how far the way back was off
        apart : (c,) distances to the fifth neighbour in the map
        beside : callable, optional
            Errors at ``near[i]``, (c, k), of a way back that does not know row i, either. An error
            that was made with the help of row i is smaller than one that a new row would find.
        """
        none, (places, spread) = Conformal.of(np.zeros(1)), placed
        bare = cls(Z, missed, float(spread.mean()), none, none, Conformal.of(apart))
        near = Neighbours(Z).nearest(Z, ERRORS, leave_out=np.arange(len(Z)))[0]
        expected = bare._expected(missed[near] if beside is None else beside(near))
        off = np.sqrt(((places - Z) ** 2).sum(axis=1))
        back = Conformal.of(_over(missed, expected))
        return replace(bare, back=back, forth=Conformal.of(_over(off, bare.expected_forth(spread))))

    def expected_back(self, Z: Array) -> Array:
        """The error to expect of rows from these places: that of the nearest rows, (n,)."""
        return self._expected(self.missed[Neighbours(self.calibrated).nearest(Z, ERRORS)[0]])

    def _expected(self, errors: Array) -> Array:
        # One more error, the usual one: where all of them vanish, the next need not.
        return np.asarray((errors.sum(axis=1) + self.missed.mean()) / (errors.shape[1] + 1))

    def expected_forth(self, spread: Array) -> Array:
        """The error to expect of places whose neighbours are spread so far, (n,)."""
        return np.asarray((ERRORS * spread + self.spread) / (ERRORS + 1))


def _over(errors: Array, expected: Array) -> Array:
    """Errors in units of the expected ones; 0 where all of them vanish."""
    return np.asarray(errors / np.where(expected > 0, expected, 1))
