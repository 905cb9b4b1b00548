"""A landmark basis that grows: which rows to take up, and what is known of the rows before."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.types import RowsLike
from mercer.gram.feature_sums import LandmarkFeatures
from mercer.gram.sums import FeatureSums
from mercer.kernels import Basis


def missed(features: LandmarkFeatures, rows: RowsLike, share: float, room: int) -> Any:
    """Rows of which more than a share lies outside the span, by a pivoted Cholesky; at most room.

    O(n m (d + m)) time for n rows and m landmarks.
    """
    A = features.kernel_values(rows) @ features.basis
    own = features.own(rows)
    left, bar = own - square_sums(A), share * own
    candidates = np.flatnonzero(left > bar)
    candidates = candidates[np.argsort(-left[candidates])][: 4 * room]  # enough to choose from
    if not candidates.size:
        return rows[:0]
    A, bar = A[candidates], bar[candidates]
    K = Basis(features.kernel, rows[candidates], np.float64).gram() - A @ A.T
    chosen: list[int] = []
    while len(chosen) < room:
        pivot = int(np.argmax(np.diagonal(K) - bar))
        if K[pivot, pivot] <= bar[pivot]:
            break
        chosen.append(pivot)
        K -= np.outer(K[:, pivot], K[pivot]) / K[pivot, pivot]
    return rows[candidates[chosen]]


def carried(sums: FeatureSums, old: LandmarkFeatures, new: LandmarkFeatures) -> FeatureSums:
    """The old sums in the new features: what the old landmarks know of the rows before."""
    whitened = old.whitened(sums)
    # φ(x) ≈ Φ_old R_old a(x), so that k(z, x) ≈ k(z, Z_old) R_old a(x) for every new landmark z.
    to_new = new.of(old.landmarks).T @ old.basis
    return FeatureSums(
        sums.weight, to_new @ whitened.linear, to_new @ whitened.square @ to_new.T, sums.diagonal
    )
