r"""The functions :math:`k(s_i, \cdot)` of fixed points: what every model is written in."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._base.linalg import mirror
from mercer._base.types import Array, Precision, Rows
from mercer.kernels.base import Kernel, Origin
from mercer.points import Points
from mercer.points.tiles import Packed, Tiles

#: Points from which the typical similarity of neighbours is taken.
SAMPLE = 1000


@dataclass(frozen=True)
class Basis:
    """Points S with their kernel, packed once, around an origin that all rows are measured from.

    Attributes
    ----------
    kernel : Kernel, resolved
    points : Points, or the rows of which the kernel makes them
    dtype : type of the tiles; the points' own if not given
    """

    kernel: Kernel
    points: Points
    dtype: Precision = None

    def __post_init__(self) -> None:
        vars(self)["points"] = self.kernel.points(self.points)

    @cached_property
    def origin(self) -> Origin:
        """What the kernel measures rows from."""
        return self.kernel.origin(self.points.rows)

    @cached_property
    def packed(self) -> Packed:
        """The points, ready for tiles."""
        return self.pack(self.points)

    @cached_property
    def neighbour_similarity(self) -> float:
        """The median similarity of a point to its nearest other one, over at most 1,000 points."""
        m = len(self)
        sample = np.arange(0, m, -(-m // SAMPLE))
        K = self.at(self.points.take(sample))
        K[np.arange(len(sample)), sample] = -np.inf
        return float(np.median(K.max(axis=1)))

    def __len__(self) -> int:
        return len(self.packed)

    def pack(self, X: Points) -> Packed:
        """Other rows, measured from the same origin."""
        # Rows follow the points: a block of them is small, all of them might not be.
        return self.kernel.pack(self.points.adopt(X).rows, self.origin, self.dtype)

    def tiles(self, X: Points | Rows) -> Tiles:
        """k(x_i, s_j), tile by tile."""
        points = self.kernel.points(X)
        left: Packed = _PackedLater(self, points) if points.can_wait else self.pack(points)
        return Tiles(self.kernel.fill, left, self.packed, left.dtype)

    def own_tiles(self) -> Tiles:
        """k(s_i, s_j), tile by tile."""
        return Tiles(self.kernel.fill, self.packed, self.packed, self.packed.dtype)

    def at(self, X: Points | Rows) -> Array:
        """The dense matrix k(x_i, s_j), (n, m)."""
        return self.tiles(X).gram()

    def matmat(self, X: Points | Rows, W: Array) -> Array:
        """``k(X, S) @ W``, (n, b)."""
        return self.tiles(X).matmat(W)

    def gram(self) -> Array:
        """The dense, symmetric matrix k(s_i, s_j) with its exact diagonal, (m, m)."""
        tiles = self.own_tiles()
        K = np.empty(tiles.shape, dtype=tiles.dtype)
        tiles.lower(K)
        np.fill_diagonal(K, self.kernel.diag(self.points.cast(K.dtype).rows))
        return mirror(K)


@dataclass(frozen=True)
class _PackedLater:
    """Rows that are packed block by block as they are needed: no copy of all of them is made."""

    basis: Basis
    points: Points

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.basis.dtype or self.points.dtype)

    def __len__(self) -> int:
        return len(self.points.rows)

    def __getitem__(self, rows: slice) -> Packed:
        return self.basis.pack(self.points.take(rows))
