"""Eigenpairs inside the span of landmarks, from sums over the rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from mercer._linalg import Array
from mercer._parallel import lapack_threads
from mercer.eigen.policy import NEGATIVE_LIMIT, noise_floor, refuse_magnitude, refuse_negative
from mercer.exceptions import DataError, RankWarning, warn
from mercer.gram import FeatureSums, LandmarkFeatures
from mercer.subspace import ComponentRule, Subspace, from_features


@dataclass(frozen=True)
class LandmarkModel:
    """Eigenpairs of the covariance of ``a(x) = Rᵀ k(Z, x)``, where Z are the landmarks.

    Attributes
    ----------
    values, vectors : eigenpairs in the coordinates a, values as of the Gram matrix
    mean : (r,) the mean of a
    weight : number of rows, or the sum of their weights
    trace : total variance, of which ``unexplained`` lies outside the span of the landmarks, give or
        take ``unexplained_error`` by rounding
    """

    features: LandmarkFeatures
    values: Array
    vectors: Array
    mean: Array
    weight: float
    trace: float
    unexplained: float
    unexplained_error: float

    @classmethod
    def of(
        cls, features: LandmarkFeatures, sums: FeatureSums, center: bool, n: int
    ) -> LandmarkModel:
        """From the sums over n rows."""
        blur = _sum_rounding(features, sums)
        sums = features.whitened(sums)
        mean = sums.linear / sums.weight if center else np.zeros(len(sums.linear))
        removed = sums.weight * float(mean @ mean)
        with lapack_threads(len(mean)):
            values, vectors = np.linalg.eigh(sums.square - sums.weight * np.outer(mean, mean))
        scale, largest = sums.diagonal / sums.weight, float(values.max(initial=0.0))
        floor = noise_floor(largest, len(values), scale, np.dtype(np.float64), removed)
        if not largest > floor:
            raise DataError(
                "kernel has no variance on the landmarks: the largest eigenvalue is "
                f"{largest:.2g}; give rows that differ, more landmarks, or another width."
            )
        refuse_magnitude(features.points, float(values[-1]))
        keep = values > floor
        outside = sums.diagonal - float(np.trace(sums.square))
        if not features.kernel.is_mercer:
            spectrum = np.linalg.eigvalsh(features.gram)
            refuse_negative(spectrum[0], spectrum[-1], NEGATIVE_LIMIT * spectrum[-1])
            # n eigenvalues that sum to less than zero have one below a share of that.
            refuse_negative(min(outside + 8 * blur, 0.0) / n, values[-1], floor)
        trace = sums.diagonal - removed
        return cls(
            features,
            values[keep][::-1],
            # NumPy multiplies by a matrix of negative strides without BLAS, ten times slower.
            np.ascontiguousarray(vectors[:, keep][:, ::-1]),
            mean,
            sums.weight,
            trace,
            max(outside, 0.0) / trace,
            blur / trace,
        )

    def count(self, rule: ComponentRule) -> int:
        """How many components the rule wants; says so if there are fewer than asked for."""
        rank = len(self.values)
        asked = rule.guess(sys.maxsize)  # what the user wrote, whatever n is
        if rule.is_request and rank < asked:
            warn(
                f"{asked} components were asked for, but the landmarks span only {rank}; "
                f"kept {rank}. Ask for fewer, or give more landmarks.",
                RankWarning,
            )
        counted = rule.count(self.values, self.trace)
        if counted is None:
            held = float(self.values.sum()) / self.trace
            warn(
                f"{rule.describe()} was asked for, but the landmarks span only {rank} components, "
                f"which hold {held:.4g} of it; kept {rank}. Give more landmarks.",
                RankWarning,
            )
        return rank if counted is None else counted

    def leading(self, rank: int) -> LandmarkModel:
        """The model with its first components only."""
        return replace(self, values=self.values[:rank], vectors=self.vectors[:, :rank])

    @property
    def removed(self) -> float:
        """What centring has taken from the sum of squares."""
        return self.weight * float(self.mean @ self.mean)

    def directions(self, q: int) -> Array:
        """B of the leading q directions, in float64."""
        return np.asarray(self.features.basis @ self.vectors[:, :q])

    def subspace(self, q: int) -> Subspace:
        """The leading q directions, written on the landmarks."""
        parts = (self.features.basis, self.mean, self.vectors[:, :q])
        return from_features(
            self.features.kernel,
            self.features.landmarks,
            *(part.astype(self.features.dtype) for part in parts),
        )


def _sum_rounding(features: LandmarkFeatures, sums: FeatureSums) -> float:
    """How far off the sum of squares ``tr Rᵀ S R`` may be: R is large where landmarks are alike."""
    eps, R = float(np.finfo(features.working).eps), features.basis
    diagonal = abs(sums.diagonal)  # below zero if the kernel is indefinite
    if features.whitens_first:
        spread = float(np.sqrt(diagonal * sums.weight) * np.linalg.norm(R))
        return eps * (diagonal + spread)
    return eps * float(diagonal + np.abs(sums.square).max() * np.linalg.norm(R @ R.T))
