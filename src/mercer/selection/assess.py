"""How well a model restores and keeps the rows of a table, which may be longer than the memory."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mercer._random import fixed_rng
from mercer._types import Estimator
from mercer.exceptions import DataError, DenoisingWarning
from mercer.rows import MemoryRows, Table
from mercer.selection.noise import add_noise


@dataclass(frozen=True)
class Assessment:
    """What is left of noise, and what is lost of clean rows.

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
        Per entry, of clean rows from what their scores keep. Less for every wider kernel and every
        further component: no way to choose a model.
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
    """Add noise of half the standard deviation to the rows, and see what a model leaves of it.

    Parameters
    ----------
    model : fitted estimator with ``denoise``, ``reconstruct`` and ``reconstruction_error``
    table : rows that it has not seen; read twice, block by block

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> from mercer.rows import MemoryRows, Table
    >>> from mercer.selection import assess
    >>> X = load_digits().data / 16
    >>> model = KernelPCA(32).fit(X[:500])
    >>> assess(model, Table(MemoryRows(X[500:600]))).noise_left < 1
    True
    """
    noise, (n, d) = _typical_noise(table), table.rows.shape
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


def _typical_noise(table: Table) -> float:
    """Half the standard deviation of all rows, from one pass over their blocks."""
    n, d = table.rows.shape
    mean, square = np.zeros(d), np.zeros(d)
    shift = None
    for rows in table.blocks():
        block = np.asarray(rows[:], dtype=np.float64)
        shift = block[0] if shift is None else shift  # sums of squares around a row lose no digits
        mean += (block - shift).sum(axis=0)
        square += ((block - shift) ** 2).sum(axis=0)
    noise = 0.5 * float(np.sqrt(max((square / n - (mean / n) ** 2).mean(), 0.0)))
    if not noise > 0:
        raise DataError(f"the {n} row(s) do not differ; give rows that differ to be scored.")
    return noise
