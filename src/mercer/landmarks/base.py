"""Landmarks drawn at random, or given by the user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mercer._base.config import Config
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.kernels import Kernel
from mercer.points.sparse import SparseRows

# The role of a landmark rule: which m points stand for all n rows.


class LandmarkRule(Config, ABC):
    """Chooses landmarks from rows."""

    @abstractmethod
    def select(self, kernel: Kernel, X: RowsLike, m: int, rng: np.random.Generator) -> Any:
        """At most m points, as rows of an array (or objects) in the same form as X."""


def sample_rows(X: RowsLike, size: int, rng: np.random.Generator) -> Any:
    """At most ``size`` different rows, in their order (so that a memmap is read forwards).

    All of them are X itself, not a copy.
    """
    if len(X) <= size:
        return X
    return take(X, np.sort(rng.choice(len(X), size, replace=False)))


def take(X: RowsLike, index: Array) -> Any:
    """Rows by number, of an array, of sparse rows or of a list of objects."""
    if isinstance(X, SparseRows):
        return X[index]
    return np.asarray(X[index]) if hasattr(X, "dtype") else [X[i] for i in index]


class Uniform(LandmarkRule):
    """m rows at random, without replacement: the cheapest rule, blind to rare groups."""

    def select(self, kernel: Kernel, X: RowsLike, m: int, rng: np.random.Generator) -> Any:  # noqa: ARG002
        # A copy in any case: a model must not change with the caller's rows.
        return take(X, np.arange(len(X))) if len(X) <= m else sample_rows(X, m, rng)


class Given(LandmarkRule):
    """The user's own points.

    Parameters
    ----------
    points : (m, d) array, or sparse matrix for sparse rows
    """

    def __init__(self, points: RowsLike) -> None:
        self.points = points

    def select(self, kernel: Kernel, X: RowsLike, m: int, rng: np.random.Generator) -> Any:  # noqa: ARG002
        if not hasattr(X, "dtype"):
            return list(self.points)
        sparse = isinstance(X, SparseRows)
        points: Any = (SparseRows.of if sparse else np.asarray)(self.points, dtype=X.dtype)
        entries = points.data if sparse else points
        if points.ndim != 2 or points.shape[1] != X.shape[1] or not np.isfinite(entries).all():
            raise DataError(
                f"landmarks of shape {points.shape} do not fit rows of {X.shape[1]} columns; "
                "give finite points with the same columns."
            )
        return points
