r"""How much noise rows carry, if nobody says it.

Noise that is equal in all columns and independent between them leaves its mark on the covariance:
what is no signal has eigenvalues of :math:`\sigma^2`, spread by chance between
:math:`\sigma^2 (1 - \sqrt{d/n})^2` and :math:`\sigma^2 (1 + \sqrt{d/n})^2` (Marchenko & Pastur
1967). Signal is taken away, one eigenvalue after the other, until the largest of the rest is no
larger than that (after Kritchman & Nadler 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.types import Array
from mercer.exceptions import DataError, Remedy

#: With fewer columns than this share of them beyond the signal there is nothing to tell noise by.
FEWEST, LEAST_SHARE = 4, 0.1


@dataclass(frozen=True)
class NoiseLevel:
    """Noise of rows: standard deviations of the columns, or counts.

    Attributes
    ----------
    deviation : float, (d,) array, or None for counts, whose variance is their mean
    source : str, where it is from
    """

    deviation: Array | None
    source: str

    def variance(self, X: Array) -> Array:
        """Of each entry, (n, d)."""
        if self.deviation is None:
            return np.maximum(X, 0.0)
        return np.broadcast_to(self.deviation**2, X.shape)

    @property
    def size(self) -> float | None:
        """The root mean square over the columns; None for counts."""
        return None if self.deviation is None else float(np.sqrt(np.mean(self.deviation**2)))

    def __str__(self) -> str:
        return f"of {self.source}" if self.size is None else f"{self.size:.3g}, {self.source}"


def noise_of(X: Array, noise: Any = None) -> NoiseLevel:
    """What is taken for the noise of rows: what is given, or an estimate."""
    if noise is None:
        return NoiseLevel(np.asarray(estimate_noise(X)), "estimated")
    if isinstance(noise, str):
        if noise != "poisson":
            raise DataError(f"noise={noise!r}; give a number, one for each column, or 'poisson'.")
        if np.min(X) < 0:
            raise DataError("noise='poisson' is of counts, and some rows are negative.")
        return NoiseLevel(None, "counts, whose variance is their mean")
    deviation = np.asarray(noise, dtype=np.float64)
    if deviation.shape not in ((), X.shape[1:]) or not np.all(deviation > 0):
        raise DataError(
            f"noise={noise!r} must be a number above zero, or one for each of {X.shape[1]} "
            "columns; give the standard deviation of the noise that the rows carry"
            + Remedy(".", shell=" by --noise.")
        )
    return NoiseLevel(deviation, "given")


def estimate_noise(X: Array) -> float:
    """Standard deviation of noise that is equal in all columns and independent between them."""
    centred = X - X.mean(axis=0, dtype=np.float64)
    n, d = len(X) - 1, X.shape[1]
    values = np.linalg.svd(centred, compute_uv=False)[: min(n, d)] ** 2 / n
    for r in range(len(values)):
        left = d - r
        square = float(values[r:].sum() / left)
        if values[r] <= square * (1 + np.sqrt(left / n)) ** 2:
            if left >= max(FEWEST, LEAST_SHARE * d) and square > 0:
                return float(np.sqrt(square))
            break
    raise DataError(
        f"the noise of {len(X)} rows with {d} columns cannot be told from what they are made of: "
        "no small eigenvalues are alike; "
        + Remedy("give noise=, its standard deviation.", shell="give it by --noise.")
    )
