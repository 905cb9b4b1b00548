"""Landmarks drawn at random, or given by the user."""

from abc import ABC, abstractmethod

import numpy as np

from mercer._base.config import Config
from mercer._base.held_out import take
from mercer._base.types import Rows
from mercer.exceptions import DataError
from mercer.kernels import Kernel
from mercer.points import as_points
from mercer.points.sparse import SparseRows


class LandmarkRule(Config, ABC):
    """Chooses landmarks: m points that stand for all n rows."""

    @abstractmethod
    def select(self, kernel: Kernel, X: Rows, m: int, rng: np.random.Generator) -> Rows:
        """At most m points, as rows of an array (or objects) in the same form as X."""


def sample_rows(X: Rows, size: int, rng: np.random.Generator) -> Rows:
    """At most ``size`` different rows, in their order; all of them are X itself, not a copy."""
    return X if len(X) <= size else take(X, np.sort(rng.choice(len(X), size, replace=False)))


class Uniform(LandmarkRule):
    """m rows at random, without replacement: the cheapest rule, blind to rare groups."""

    def select(self, kernel: Kernel, X: Rows, m: int, rng: np.random.Generator) -> Rows:
        # A copy in any case: a model must not change with the caller's rows.
        points = kernel.points(X)
        return (points.sample(m, rng) if m < len(X) else points.take(np.arange(len(X)))).rows


class Given(LandmarkRule):
    """The user's own points.

    Parameters
    ----------
    points : (m, d) array, or sparse matrix for sparse rows
    """

    def __init__(self, points: Rows) -> None:
        self.points = points

    def select(self, kernel: Kernel, X: Rows, m: int, rng: np.random.Generator) -> Rows:  # noqa: ARG002
        rows = kernel.points(X)
        if not rows.can_wait:
            return list(self.points)
        make = SparseRows.of if rows.is_sparse else np.asarray
        points = make(self.points, dtype=X.dtype)
        fit = points.ndim == 2 and points.shape[1] == X.shape[1]
        if not fit or not np.isfinite(as_points(points).largest):
            misfit = f"landmarks of shape {points.shape} do not fit rows of {X.shape[1]} columns"
            raise DataError(f"{misfit}; give finite points with the same columns.")
        return points
