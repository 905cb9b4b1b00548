"""How many components novelty needs: enough for most of the variance, and not too many."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer.subspace import ComponentRule


class ShareUpTo(ComponentRule):
    """The fewest components that carry a share of the variance, at most ``limit`` and n/4.

    Parameters
    ----------
    share : float, default=0.95
    limit : int, default=40
    rows : int, default=4
        Rows for each component.
    """

    def __init__(self, share: float = 0.95, limit: int = 40, rows: int = 4) -> None:
        self.share = share
        self.limit = limit
        self.rows = rows

    def describe(self) -> str:
        rows = {2: "two", 3: "three", 4: "four"}.get(self.rows, str(self.rows))
        most = f"at most {self.limit} components, one for {rows} rows"
        return f"{self.share:.4g} of the variance in {most}"

    def guess(self, n: int) -> int:
        return min(self.limit, max(1, n // self.rows))

    def count(self, values: Array, trace: float) -> int:
        needed = 1 + int(np.searchsorted(np.cumsum(values), self.share * trace))
        return min(needed, self.limit, len(values))


#: For the distance from the subspace: many, while each has a variance to speak of.
MANY = ShareUpTo(0.8, 400, rows=2)
#: For T², which divides by their variances.
FEW = ShareUpTo(0.95, 40)
#: For rows with outliers among them, which further components would follow.
CORE = ShareUpTo(0.95, 10)
# All by the development list of ``python -m benchmarks defaults novelty``.


def default_rule(measure: str, *, contaminated: bool) -> ShareUpTo:
    """The number of components where nothing is asked for."""
    if contaminated:
        return CORE
    return MANY if measure == "reconstruction" else FEW
