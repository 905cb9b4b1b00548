r"""Bounded losses: beyond some size an error no longer counts more.

A loss :math:`\rho(u)` of the error in units of its own spread acts through its weight
:math:`w(u) = \rho'(u)/u`, which goes to zero: a gross outlier has no pull at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from mercer import catalogue
from mercer._config import Config
from mercer._linalg import Array
from mercer._registry import by_name
from mercer.exceptions import DataError


class Loss(Config, ABC):
    """How much an error counts, given in units of its spread."""

    @abstractmethod
    def weight(self, u: Array) -> Array:
        """w(u) for u ≥ 0: 1 at 0, falling to 0."""


class Hampel(Loss):
    r"""Full weight up to ``full``, none beyond ``none``, and a smooth fall between them.

    With ``v = (u - full) / (none - full)`` cut to [0, 1] the weight is ``(1 - v²)²``. Rows that are
    no outliers count exactly as in a plain fit, and do not turn its components.

    Parameters
    ----------
    full, none : float, default=6.0, 8.0
        In units of the spread of the errors above their median.
    """

    def __init__(self, full: float = 6.0, none: float = 8.0) -> None:
        self.full = full
        self.none = none

    def weight(self, u: Array) -> Array:
        if not 0 <= self.full < self.none:
            raise DataError(
                f"full={self.full} and none={self.none} must be in this order and not negative; "
                "6 and 8 are usual."
            )
        v = np.clip((u - self.full) / (self.none - self.full), 0, 1)
        return np.asarray((1 - v**2) ** 2)


class Tukey(Loss):
    r"""The biweight: :math:`w(u) = (1 - (u/c)^2)^2` up to c, and exactly 0 beyond.

    Parameters
    ----------
    cutoff : float, default=4.685
        c; the default keeps 95 % efficiency on normal errors. Smaller errors lose weight, too.
    """

    def __init__(self, cutoff: float = 4.685) -> None:
        self.cutoff = cutoff

    def weight(self, u: Array) -> Array:
        if not self.cutoff > 0:
            raise DataError(f"cutoff={self.cutoff} must be positive; 4.685 is usual.")
        return np.asarray((1 - np.minimum(u / self.cutoff, 1) ** 2) ** 2)


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name, ``"hampel"`` or ``"tukey"``, or the loss itself."""
    return by_name("loss", loss, Loss, catalogue.LOSSES, DataError, "an object of mercer.robust")
