"""Sample weights: D K D with D = diag(√weight)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array
from mercer.gram.base import ChangedGram
from mercer.gram.low_rank import LowRank


@dataclass(frozen=True, eq=False)
class WeightedGram(ChangedGram):
    """A row of weight 2 counts as the row given twice."""

    root_weight: Array

    def matmat(self, V: Array) -> Array:
        D = self.root_weight[:, None]
        return D * self.base.matmat(D * V)

    def diagonal(self) -> Array:
        return self.root_weight**2 * self.base.diagonal()

    def block(self, rows: Array | slice, columns: Array) -> Array:
        D = self.root_weight
        return np.asarray(D[rows, None] * self.base.block(rows, columns) * D[columns])

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:
        D = self.root_weight
        return self.base.entry_errors(D[:, None] * V, D if row_scale is None else D * row_scale)

    def refined(self) -> WeightedGram:
        return WeightedGram(self.base.refined(), self.root_weight)

    def low_rank(
        self,
        rank: int,
        rng: np.random.Generator,
        weight: Array | None = None,  # noqa: ARG002
    ) -> LowRank | None:
        # A row of weight 13 is as likely a landmark as 13 copies of it together.
        low = self.base.low_rank(rank, rng, self.root_weight**2)
        return None if low is None else low.scaled(self.root_weight)

    def to_dense(self) -> Array:
        K = self.base.to_dense()
        K *= self.root_weight[:, None]
        K *= self.root_weight
        return K
