"""The role of a landmark rule: which m points stand for all n rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from mercer._config import Config
from mercer._linalg import Array
from mercer._types import RowsLike
from mercer.kernels import Kernel
from mercer.sparse_rows import SparseRows


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
