r"""Centring in feature space: P K P with the projector :math:`P = I - u u^\top`.

For equal weights :math:`u = 1/\sqrt n` and P is the familiar H. For sample weights the operator
below is already D K D, and :math:`u = \sqrt{w / \sum w}`; see NOTATION.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._linalg import Array
from mercer.gram.base import ChangedGram
from mercer.gram.low_rank import LowRank

__all__ = ["CenteredGram"]


@dataclass(frozen=True, eq=False)
class CenteredGram(ChangedGram):
    """P K P; P is never formed.

    The product ``K u`` is needed for the trace and for the feature-space mean. It is a cached
    property that rides along as one more column of the first product, so that centring costs no
    pass of its own.

    Attributes
    ----------
    base : K
    direction : (n,) u
    """

    direction: Array

    @cached_property
    def mean_product(self) -> Array:
        """``K u``, (n,)."""
        return self.base.matmat(self.direction[:, None])[:, 0]

    def project(self, V: Array) -> Array:
        """P V."""
        return np.asarray(V - self.direction[:, None] * (self.direction @ V))

    def matmat(self, V: Array) -> Array:
        centred = self.project(V)
        if "mean_product" not in vars(self):
            product = self.base.matmat(np.column_stack([centred, self.direction]))
            vars(self)["mean_product"] = product[:, -1].copy()
            return self.project(product[:, :-1])
        return self.project(self.base.matmat(centred))

    def diagonal(self) -> Array:
        # (P K P)_ii = K_ii - 2 u_i (Ku)_i + u_i² uᵀKu
        u, Ku = self.direction, self.mean_product
        return np.asarray(self.base.diagonal() - 2 * u * Ku + u * u * (u @ Ku))

    def trace(self) -> float:
        return self.base.trace() - self.removed()

    def removed(self) -> float:
        return float(self.direction @ self.mean_product)

    def scale(self) -> float:
        return self.base.scale()

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:
        # |P E P v| ≤ |E P v|
        return self.base.entry_errors(self.project(V), row_scale)

    def trace_error(self) -> float:
        # The trace lacks uᵀKu, which errs by uᵀEu.
        return float(self.base.entry_errors(self.direction[:, None])[0])

    def refined(self) -> CenteredGram:
        return CenteredGram(self.base.refined(), self.direction)

    def low_rank(self, rank: int, rng: np.random.Generator) -> LowRank | None:
        low = self.base.low_rank(rank, rng)
        return None if low is None else low.centered(self.direction)

    def to_dense(self) -> Array:
        K = self.base.to_dense()
        u = self.direction
        Ku = K @ u
        vars(self)["mean_product"] = Ku
        # K - u(Ku)ᵀ - (Ku)uᵀ + u(uᵀKu)uᵀ, as one update of rank two in place
        half = Ku - u * (u @ Ku) / 2
        for rows in np.array_split(np.arange(self.n), max(1, self.n // 256)):
            K[rows] -= np.outer(u[rows], half)
            K[rows] -= np.outer(half[rows], u)
        return K
