r"""First and second moments of the landmark features, from one pass over the rows.

With landmarks Z the sums :math:`\sum w\, k_Z k_Z^\top` and :math:`\sum w\, k_Z` are all that kernel
PCA
on landmarks needs: r × r numbers, whatever n is. Sums of parts add up, so that the pass can be cut
into chunks, threads, machines and sessions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks, ordered_map
from mercer._progress import announce
from mercer.kernels import Kernel, Packed

__all__ = ["CHUNK", "FeatureSums", "LandmarkFeatures", "chunk_sums", "sum_features"]

#: Rows per chunk. Fixed, because the order of summation must not depend on threads or workers.
CHUNK = 16_384


@dataclass(frozen=True)
class FeatureSums:
    """Weighted sums over rows: of 1, of k_Z, of k_Z k_Zᵀ, and of k(x, x)."""

    weight: float
    linear: Array
    square: Array
    diagonal: float

    def __add__(self, other: FeatureSums) -> FeatureSums:
        return FeatureSums(
            self.weight + other.weight,
            self.linear + other.linear,
            self.square + other.square,
            self.diagonal + other.diagonal,
        )

    def __mul__(self, factor: float) -> FeatureSums:
        """All sums times a factor: forgetting, for streams."""
        return FeatureSums(
            factor * self.weight,
            factor * self.linear,
            factor * self.square,
            factor * self.diagonal,
        )

    @classmethod
    def zero(cls, r: int) -> FeatureSums:
        """Of no rows at all."""
        return cls(0.0, np.zeros(r), np.zeros((r, r)), 0.0)


@dataclass(frozen=True)
class LandmarkFeatures:
    """The map x → k(Z, x), for blocks of rows."""

    kernel: Kernel
    landmarks: Any

    @cached_property
    def origin(self) -> Array | None:
        """The point that rows are shifted by before they are packed."""
        return self.kernel.origin(self.landmarks)

    @cached_property
    def packed(self) -> Packed:
        """The landmarks, ready for tiles."""
        return self.kernel.pack(self.landmarks, self.origin)

    def of(self, X: Any, dtype: Any) -> Array:
        """k(x_i, z_j), (n, r)."""
        K = np.empty((len(X), len(self.packed)), dtype=dtype)
        self.kernel.fill(self.kernel.pack(X, self.origin), self.packed, K)
        return K


def sum_features(features: LandmarkFeatures, X: Any, weight: Array | None = None) -> FeatureSums:
    """The sums over all rows; O(n r (d + r)) time, O(r²) memory per thread."""
    chunks = blocks(len(X), CHUNK)

    def one(rows: slice) -> FeatureSums:
        return chunk_sums(features, X[rows], None if weight is None else weight[rows])

    total = FeatureSums.zero(len(features.packed))
    for done, part in enumerate(ordered_map(one, chunks), 1):
        announce("landmarks", done, len(chunks))
        total = total + part
    return total


def chunk_sums(features: LandmarkFeatures, X: Any, weight: Array | None = None) -> FeatureSums:
    """The sums over one chunk, in blocks that stay in cache."""
    r = len(features.packed)
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    square, linear, diagonal = np.zeros((r, r)), np.zeros(r), 0.0
    for rows in blocks(len(X), 2048):
        block = X[rows]
        w = np.ones(len(block), dtype=dtype) if weight is None else weight[rows].astype(dtype)
        K = features.of(block, dtype)
        linear += w @ K
        diagonal += float(w @ features.kernel.diag(block))
        if weight is not None:
            K *= np.sqrt(w)[:, None]
        square += K.T @ K  # BLAS computes one triangle only
    total_weight = float(len(X) if weight is None else weight.sum())
    return FeatureSums(total_weight, linear, square, diagonal)
