r"""The functions :math:`k(s_i, \cdot)` of fixed points: what every model is written in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer.kernels.base import Kernel, Origin
from mercer.tiles import Packed, Tiles

__all__ = ["Basis"]


@dataclass(frozen=True)
class Basis:
    """Points S with their kernel, packed once, around an origin that all rows are measured from.

    Attributes
    ----------
    kernel : Kernel, resolved
    points : (m, d) array, m objects, or column numbers
    dtype : type of the tiles; the points' own if not given
    """

    kernel: Kernel
    points: Any
    dtype: Any = None

    @cached_property
    def origin(self) -> Origin:
        """What the kernel measures rows from."""
        return self.kernel.origin(self.points)

    @cached_property
    def packed(self) -> Packed:
        """The points, ready for tiles."""
        return self.pack(self.points)

    def __len__(self) -> int:
        return len(self.packed)

    def pack(self, X: Any) -> Packed:
        """Other rows, measured from the same origin."""
        return self.kernel.pack(X, self.origin, self.dtype)

    def tiles(self, X: Any) -> Tiles:
        """k(x_i, s_j), tile by tile."""
        return Tiles(self.kernel.fill, self.pack(X), self.packed, self.packed.dtype)

    def own_tiles(self) -> Tiles:
        """k(s_i, s_j), tile by tile."""
        return Tiles(self.kernel.fill, self.packed, self.packed, self.packed.dtype)

    def at(self, X: Any) -> Array:
        """The dense matrix k(x_i, s_j), (n, m)."""
        return self.tiles(X).gram()

    def matmat(self, X: Any, W: Array) -> Array:
        """``k(X, S) @ W``, (n, b)."""
        return self.tiles(X).matmat(W)

    def gram(self) -> Array:
        """The dense, symmetric matrix k(s_i, s_j) with its exact diagonal, (m, m)."""
        K = self.own_tiles().gram()
        K += K.T
        K /= 2
        np.fill_diagonal(K, self.kernel.diag(self.points))
        return K
