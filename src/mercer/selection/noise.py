"""How well rows with added noise are restored: the purpose that models are compared for."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from mercer._base.config import Config, with_parameters
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, DenoisingWarning, Remedy
from mercer.io import Table
from mercer.points import as_points
from mercer.points.source import MemoryRows
from mercer.points.sparse import SparseRows

#: A level of Gaussian noise, or ``function(rows, rng) -> noisy rows``.
Noise = float | Callable[[Array, np.random.Generator], Array]
#: Of sparse rows: the share of entries that are exchanged for those of another row.
EXCHANGED = 0.3


@with_parameters
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
        Every candidate gets the same noise, so that differences are not due to chance.

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

    noise: Noise | None = None
    _: KW_ONLY
    match_noise: bool | str = "auto"
    random_state: int = 0

    def __call__(self, estimator: Estimator, X: RowsLike, y: Targets = None) -> float:  # noqa: ARG002
        """Minus the mean squared distance between rows and their denoised noisy versions."""
        rows = SparseRows.of(X, np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
        noise = typical_noise(rows) if self.noise is None else self.noise
        noisy = add_noise(rows, noise, fixed_rng(self.random_state))
        with warnings.catch_warnings():  # the error itself tells that all components are too many
            warnings.simplefilter("ignore", DenoisingWarning)
            cleaned = estimator.denoise(_like(X, noisy), match_noise=self.match_noise)
        points = as_points(SparseRows.of(cleaned) if issparse(cleaned) else np.asarray(cleaned))
        return -float(points.squared_differences(as_points(rows)).mean())


def typical_noise(X: RowsLike) -> float:
    """Half the standard deviation of the rows, the root mean square over their columns."""
    if as_points(X).is_sparse:
        return EXCHANGED
    return _half_deviation(np.asarray(X, dtype=np.float64).var(axis=0), len(X))


def _half_deviation(variances: Array, n: int) -> float:
    noise = 0.5 * float(np.sqrt(variances.mean()))
    if not noise > 0:
        raise DataError(f"the {n} row(s) do not differ; give rows that differ.")
    return noise


def add_noise(X: RowsLike, noise: Noise, rng: np.random.Generator) -> Any:
    """Rows with Gaussian noise of a given level, or with the caller's own.

    Of sparse rows a share of the entries is exchanged for those of another row: noise in every
    column would leave no zeros.
    """
    is_sparse = as_points(X).is_sparse
    if callable(noise):
        return SparseRows.of(noise(X.to_scipy(), rng)) if is_sparse else np.asarray(noise(X, rng))
    is_level = isinstance(noise, Real) and noise > 0
    if is_sparse and not (is_level and noise < 1):
        raise DataError(
            f"noise={noise!r} of sparse rows is the share of entries that are exchanged; give a "
            "number between 0 and 1, or a function of (rows, rng)."
        )
    if not is_level:
        what = f"noise={noise!r} must be a number above zero; give the level that you expect"
        raise DataError(what + Remedy(".", shell=" by --noise."))
    if is_sparse:
        return X.exchanged(float(noise), rng)
    return np.asarray(X + noise * rng.standard_normal(X.shape))


def _like(X: RowsLike, rows: Any) -> RowsLike:
    """The rows under the names that X has, if it is a data frame of pandas."""
    rows = as_points(rows).for_user()
    return type(X)(rows, index=X.index, columns=X.columns) if hasattr(X, "iloc") else rows


# How well a model restores and keeps the rows of a table, which may be longer than the memory.


@dataclass(frozen=True)
class Assessment:
    """How much noise denoising leaves, and how much of clean rows it loses.

    Attributes
    ----------
    rows : int
    score : float
        Minus the mean squared error of denoised rows; more is better.
    noise : float
        Standard deviation of the noise that was added.
    noise_left : float
        The share of its variance that is left.
    root_mean_square_error : float
        Per entry, of clean rows from their reconstructions. It falls with every wider kernel and
        every further component, so it is no criterion to choose a model by.
    reconstruction_error : float
        Mean squared distance of clean rows from the subspace, in feature space.
    """

    rows: int
    score: float
    noise: float
    noise_left: float
    root_mean_square_error: float
    reconstruction_error: float


def assess(model: Estimator, table: Table) -> Assessment:
    """Add noise of half the standard deviation to the rows, and measure how much a model leaves.

    Parameters
    ----------
    model : fitted estimator with ``denoise``, ``reconstruct`` and ``reconstruction_error``
    table : rows that it has not seen; read twice, block by block

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> from mercer.io import MemoryRows, Table
    >>> from mercer.selection import assess
    >>> X = load_digits().data / 16
    >>> model = KernelPCA(32).fit(X[:500])
    >>> assess(model, Table(MemoryRows(X[500:600]))).noise_left < 1
    True
    """
    from sklearn.preprocessing import StandardScaler  # brings in all encoders

    scaler = StandardScaler()
    for block in table.blocks():
        scaler.partial_fit(np.asarray(block[:], dtype=np.float64))
    n, d = table.rows.shape
    noise = _half_deviation(scaler.var_, n)
    left = lost = distance = 0.0
    for i, block in enumerate(table.blocks()):
        rows = block[:]
        noisy = MemoryRows(add_noise(rows, noise, fixed_rng(i)), block.columns)
        with warnings.catch_warnings():  # the error itself tells that the model keeps too much
            warnings.simplefilter("ignore", DenoisingWarning)
            left += _squares(model.denoise(noisy) - rows)
            lost += _squares(model.reconstruct(block) - rows)
        distance += float(model.reconstruction_error(block).sum(dtype=np.float64))
    return Assessment(
        rows=n,
        score=-left / n,
        noise=noise,
        noise_left=left / n / (noise**2 * d),
        root_mean_square_error=float(np.sqrt(lost / n / d)),
        reconstruction_error=distance / n,
    )


def _squares(difference: object) -> float:
    return float((np.asarray(difference) ** 2).sum(dtype=np.float64))
