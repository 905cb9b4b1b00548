"""How well rows with added noise are restored: the purpose that models are compared for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer._config import Config
from mercer._linalg import Array
from mercer._random import fixed_rng
from mercer._types import Estimator, RowsLike, Targets
from mercer.exceptions import DataError, DenoisingWarning, Remedy
from mercer.sparse_rows import SparseRows, exchanged, squared_differences

#: A level of Gaussian noise, or ``function(rows, rng) -> noisy rows``.
Noise = float | Callable[[Array, np.random.Generator], Array]
#: Of sparse rows: the share of entries that are exchanged for those of another row.
EXCHANGED = 0.3


class DenoisingScore(Config):
    """A scorer for ``GridSearchCV``: minus the error left after denoising rows with added noise.

    Parameters
    ----------
    noise : float, callable or None, default=None
        Standard deviation of Gaussian noise, or ``function(rows, rng)`` that returns noisy rows.
        None takes half the standard deviation of the scored rows, the root mean square over their
        columns: without noise the best width is always the widest, which is linear PCA. Of sparse
        rows it is the share of entries that are exchanged for those of another row, 0.3 if None.
    match_noise : bool or "auto", default="auto"
        Passed on to ``denoise``.
    random_state : int, default=0
        The same noise for every candidate: differences between them are then theirs.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import Gaussian
    >>> from mercer.selection import DenoisingScore
    >>> X = load_digits().data[:300] / 16
    >>> grid = {"n_components": [2, 32], "kernel__gamma": [0.05]}
    >>> search = GridSearchCV(
    ...     KernelPCA(kernel=Gaussian(0.05)), grid, scoring=DenoisingScore(noise=0.2), cv=2
    ... )
    >>> search.fit(X).best_params_["n_components"]
    32
    """

    def __init__(
        self, noise: Noise | None = None, *, match_noise: bool | str = "auto", random_state: int = 0
    ) -> None:
        self.noise = noise
        self.match_noise = match_noise
        self.random_state = random_state

    def __call__(self, estimator: Estimator, X: RowsLike, y: Targets = None) -> float:  # noqa: ARG002
        """Minus the mean squared distance between rows and their denoised noisy versions."""
        rows = SparseRows.of(X, np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
        noise = typical_noise(rows) if self.noise is None else self.noise
        noisy = add_noise(rows, noise, fixed_rng(self.random_state))
        with warnings.catch_warnings():  # the error itself tells that all components are too many
            warnings.simplefilter("ignore", DenoisingWarning)
            cleaned = estimator.denoise(_like(X, noisy), match_noise=self.match_noise)
        if isinstance(rows, SparseRows) and issparse(cleaned):
            cleaned = SparseRows.of(cleaned)
        elif isinstance(rows, SparseRows):  # a model of dense rows
            rows = rows.to_dense()
        return -float(squared_differences(cleaned, rows).mean())


def typical_noise(X: RowsLike) -> float:
    """Half the standard deviation of the rows, the root mean square over their columns."""
    if isinstance(X, SparseRows):
        return EXCHANGED
    noise = 0.5 * float(np.sqrt(np.asarray(X, dtype=np.float64).var(axis=0).mean()))
    if not noise > 0:
        raise DataError(
            f"half the standard deviation of {len(X)} row(s) that do not differ is no noise; give "
            "rows that differ, or " + Remedy("a level of noise.", shell="a level by --noise.")
        )
    return noise


def add_noise(X: RowsLike, noise: Noise, rng: np.random.Generator) -> Any:
    """Rows with Gaussian noise of a given level, or with the caller's own.

    Of sparse rows a share of the entries is exchanged for those of another row: noise in every
    column would leave no zeros.
    """
    if isinstance(X, SparseRows):
        return _exchanged(X, noise, rng)
    if callable(noise):
        return np.asarray(noise(X, rng))
    if not isinstance(noise, Real) or not noise > 0:
        raise DataError(
            f"noise={noise!r} must be a number above zero; give the level that you expect"
            + Remedy(".", shell=" by --noise.")
        )
    return np.asarray(X + noise * rng.standard_normal(X.shape))


def _exchanged(X: SparseRows, noise: Noise, rng: np.random.Generator) -> SparseRows:
    if callable(noise):
        return SparseRows.of(noise(X.to_scipy(), rng))
    if not isinstance(noise, Real) or not 0 < noise < 1:
        raise DataError(
            f"noise={noise!r} of sparse rows is the share of entries that are exchanged; give a "
            "number between 0 and 1, or a function of (rows, rng)."
        )
    return exchanged(X, float(noise), rng)


def _like(X: RowsLike, rows: Any) -> RowsLike:
    """The rows under the names that X has, if it is a data frame of pandas."""
    if isinstance(rows, SparseRows):
        return rows.to_scipy()
    return type(X)(rows, index=X.index, columns=X.columns) if hasattr(X, "iloc") else rows
