"""How many components novelty needs: enough for most of the variance, and not too many."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer.subspace import ComponentRule

__all__ = ["ShareUpTo"]


class ShareUpTo(ComponentRule):
    """The fewest components that carry a share of the variance, at most ``limit`` and n/4.

    A model of more than a quarter of the rows would follow every single one.

    Parameters
    ----------
    share : float, default=0.95
    limit : int, default=40
    """

    def __init__(self, share: float = 0.95, limit: int = 40) -> None:
        self.share = share
        self.limit = limit

    def describe(self) -> str:
        most = f"at most {self.limit} components, one for four rows"
        return f"{self.share:.4g} of the variance in {most}"

    def guess(self, n: int) -> int:
        return min(self.limit, max(1, n // 4))

    def count(self, values: Array, trace: float) -> int:
        needed = 1 + int(np.searchsorted(np.cumsum(values), self.share * trace))
        return min(needed, self.limit, len(values))
