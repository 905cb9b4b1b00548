"""How many components novelty needs: enough for most of the variance, and not too many."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer.subspace import ComponentRule

__all__ = ["ShareUpTo"]


class ShareUpTo(ComponentRule):
    """The fewest components that carry a share of the variance, but at most ``limit``.

    Parameters
    ----------
    share : float, default=0.95
    limit : int, default=40
    """

    def __init__(self, share: float = 0.95, limit: int = 40) -> None:
        self.share = share
        self.limit = limit

    def describe(self) -> str:
        return f"{self.share:.4g} of the variance in at most {self.limit} components"

    def guess(self, n: int) -> int:
        # A quarter of the rows: a model of more would follow every single one.
        return min(self.limit, max(1, n // 4))

    def count(self, values: Array, trace: float) -> int:
        needed = 1 + int(np.searchsorted(np.cumsum(values), self.share * trace))
        return min(needed, self.limit, len(values))
