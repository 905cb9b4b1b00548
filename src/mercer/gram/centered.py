r"""Centring in feature space: P K P with the projector :math:`P = I - u u^\top`.

For equal weights :math:`u = 1/\sqrt n` and P is the familiar H. For sample weights the operator
below is already D K D, and :math:`u = \sqrt{w / \sum w}`; see NOTATION.md.
"""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer.gram.base import GramOperator
from mercer.gram.low_rank import LowRank

__all__ = ["CenteredGram"]


class CenteredGram(GramOperator):
    """P K P; P is never formed.

    The product ``K u`` is needed for the trace and for the feature-space mean. It rides along as
    one more column of the first product, so that centring costs no pass of its own.
    """

    def __init__(self, base: GramOperator, direction: Array) -> None:
        self.base = base
        self.direction = direction
        self._mean_product: Array | None = None

    @property
    def n(self) -> int:
        return self.base.n

    @property
    def dtype(self) -> np.dtype:
        return self.base.dtype

    @property
    def precision(self) -> np.dtype:
        return self.base.precision

    @property
    def mean_product(self) -> Array:
        """``K u``, (n,)."""
        if self._mean_product is None:
            self._mean_product = self.base.matmat(self.direction[:, None])[:, 0]
        return self._mean_product

    def project(self, V: Array) -> Array:
        """P V."""
        return np.asarray(V - self.direction[:, None] * (self.direction @ V))

    def matmat(self, V: Array) -> Array:
        centred = self.project(V)
        if self._mean_product is None:
            product = self.base.matmat(np.column_stack([centred, self.direction]))
            self._mean_product = product[:, -1].copy()
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

    def refined(self) -> CenteredGram | None:
        base = self.base.refined()
        return None if base is None else CenteredGram(base, self.direction)

    def low_rank(self, rank: int, rng: np.random.Generator) -> LowRank | None:
        low = self.base.low_rank(rank, rng)
        return None if low is None else low.centered(self.direction)

    def to_dense(self) -> Array:
        K = self.base.to_dense()
        u = self.direction
        Ku = K @ u
        self._mean_product = Ku
        # K - u(Ku)ᵀ - (Ku)uᵀ + u(uᵀKu)uᵀ, as one update of rank two in place
        half = Ku - u * (u @ Ku) / 2
        for rows in np.array_split(np.arange(self.n), max(1, self.n // 256)):
            K[rows] -= np.outer(u[rows], half)
            K[rows] -= np.outer(half[rows], u)
        return K
