r"""Centring in feature space: P K P with the projector :math:`P = I - u u^\top`.

For equal weights :math:`u = 1/\sqrt n` and P is the familiar H. For sample weights the operator
below is already D K D, and :math:`u = \sqrt{w / \sum w}`; see NOTATION.md.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from mercer._base.machine import blocks
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram.base import GramOperator
from mercer.gram.low_rank import LowRank


@dataclass(frozen=True, eq=False)
class ChangedGram(GramOperator):
    """Another operator, weighted or centred."""

    base: GramOperator

    def __post_init__(self) -> None:
        same = ("n", "dtype", "basis", "passes", "root_weight")
        vars(self).update({name: getattr(self.base, name) for name in same} | vars(self))

    def refined(self) -> Self:
        return replace(self, base=self.base.refined())


@dataclass(frozen=True, eq=False)
class WeightedGram(ChangedGram):
    """D K D with D = diag(√weight): a row of weight 2 counts as the row given twice."""

    root_weight: Array = field()

    def matmat(self, V: Array) -> Array:
        D = self.root_weight[:, None]
        return D * self.base.matmat(D * V)

    def diagonal(self) -> Array:
        return self.root_weight**2 * self.base.diagonal()

    def block(self, rows: Array | slice, columns: Array) -> Array:
        D = self.root_weight
        return np.asarray(D[rows, None] * self.base.block(rows, columns) * D[columns])

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:  # noqa: ARG002
        D = self.root_weight
        return self.base.entry_errors(D[:, None] * V, D)

    def to_dense(self) -> Array:
        K = self.base.to_dense()
        K *= self.root_weight[:, None]
        K *= self.root_weight
        return K


#: Vectors that ride along; a group is overlooked only if all of them are nearly orthogonal to it.
#: With the direction they are four, the number of columns that BLAS likes to add.
PROBES = 3


@dataclass(frozen=True, eq=False)
class ProbedGram(ChangedGram):
    """``P K P`` by an operator K whose first product takes a few more vectors along.

    They tell, row by row, how much of the matrix a search space has not seen. Their products are
    cached properties that ride along with the first one, so that they cost no pass of their own.
    ``direction`` (n,) is u, the unit vector along the square roots of the weights.
    """

    direction: Array

    @cached_property
    def probes(self) -> Array:
        """``P u s`` with random signs s that rows in one group share, (n, p)."""
        return self._signed(PROBES, fixed_rng(1))

    @cached_property
    def probe_products(self) -> Array:
        """The operator times :attr:`probes`, (n, p)."""
        return self.project(self.base.matmat(self.probes))

    @cached_property
    def mean_product(self) -> Array:
        """``K u``, (n,): sums of rows, for the trace and the feature-space mean."""
        return self.base.matmat(self.direction[:, None])[:, 0]

    def renew_probes(self, rng: np.random.Generator) -> None:
        """Others, and more of them, to ride along with the next product."""
        vars(self)["probes"] = self._signed(5 * PROBES, rng)
        vars(self).pop("probe_products", None)

    def _signed(self, count: int, rng: np.random.Generator) -> Array:
        signs = self.base.halves(count, rng).astype(self.direction.dtype)
        return self.project(self.direction[:, None] * signs)

    def project(self, V: Array) -> Array:
        """``P V``, what the operator sees of V (n, b); without centring all of it."""
        return V

    def seen(self, K: Array, rows: Array | slice, columns: Array) -> Array:  # noqa: ARG002
        """Entries of ``P K P`` from those of K."""
        return K

    def matmat(self, V: Array) -> Array:
        seen, q = self.project(V), V.shape[1]
        if q <= PROBES or "probe_products" in vars(self):
            return self.project(self.base.matmat(seen))
        product = self.base.matmat(np.column_stack([seen, self.probes, self.direction]))
        vars(self)["probe_products"] = self.project(product[:, q:-1])
        vars(self)["mean_product"] = product[:, -1].copy()
        return self.project(product[:, :q])

    def diagonal(self) -> Array:
        return self.base.diagonal()

    def block(self, rows: Array | slice, columns: Array) -> Array:
        return self.seen(self.base.block(rows, columns), rows, columns)

    def to_dense(self) -> Array:
        return self.base.to_dense()

    def scale(self) -> float:
        return self.base.scale()

    def entry_errors(self, V: Array, row_scale: Array | None = None) -> Array:
        # |P E P v| ≤ |E P v|
        return self.base.entry_errors(self.project(V), row_scale)


@dataclass(frozen=True, eq=False)
class UncenteredGram(ProbedGram):
    """K itself: P is the identity."""


@dataclass(frozen=True, eq=False)
class CenteredGram(ProbedGram):
    """P K P; P is never formed."""

    def project(self, V: Array) -> Array:
        return np.asarray(V - self.direction[:, None] * (self.direction @ V))

    def seen(self, K: Array, rows: Array | slice, columns: Array) -> Array:
        u, Ku = self.direction, self.mean_product
        K -= np.outer(u[rows], Ku[columns] - u[columns] * (u @ Ku))
        K -= np.outer(Ku[rows], u[columns])
        return K

    def diagonal(self) -> Array:
        # (P K P)_ii = K_ii - 2 u_i (Ku)_i + u_i² uᵀKu
        u, Ku = self.direction, self.mean_product
        return np.asarray(self.base.diagonal() - 2 * u * Ku + u * u * (u @ Ku))

    def trace(self) -> float:
        return self.base.trace() - self.removed()

    def removed(self) -> float:
        return float(self.direction @ self.mean_product)

    def trace_error(self) -> float:
        # The trace lacks uᵀKu, which errs by uᵀEu.
        return float(self.base.entry_errors(self.direction[:, None])[0])

    def low_rank(self, rank: int, rng: np.random.Generator) -> LowRank | None:
        low = self.base.low_rank(rank, rng)
        return None if low is None else replace(low, direction=self.direction)

    def to_dense(self) -> Array:
        K = self.base.to_dense()
        u = self.direction
        Ku = K @ u
        vars(self)["mean_product"] = Ku
        # K - u(Ku)ᵀ - (Ku)uᵀ + u(uᵀKu)uᵀ, as one update of rank two in place
        half = Ku - u * (u @ Ku) / 2
        for rows in blocks(self.n, 256):
            K[rows] -= np.outer(u[rows], half)
            K[rows] -= np.outer(half[rows], u)
        return K
