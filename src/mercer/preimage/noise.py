"""Match noisy queries to a model of clean rows: rescale their kernel rows."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer._types import RowsLike
from mercer.exceptions import KernelError
from mercer.subspace import Subspace
from mercer.tiles import RowTiles

__all__ = ["match_noise"]

#: Support points from which the typical similarity of neighbours is taken.
SAMPLE = 1000
ROWS = 256


def match_noise(subspace: Subspace, X: RowsLike, Z: Array) -> Array:
    r"""Scores of rows whose kernel rows are multiplied by :math:`a(x)` before centring.

    .. math:: a(x) = \mathrm{median}_i \max_{j \ne i} k(s_i, s_j) \;/\; \max_i k(s_i, x)

    Noise of size ν shrinks the whole row k(S, x) by about exp(-|ν|²/ℓ²); the projection of a
    centred model is then drawn to the mean. The factor restores the row's largest entry.

    Parameters
    ----------
    subspace : Subspace
    X : (n, d) rows
    Z : (n, q) their scores

    Returns
    -------
    (n, q) array: ``a (z + b) - b``.
    """
    _check_constant_diagonal(subspace)
    factor = _neighbour_similarity(subspace) / np.maximum(
        _largest_similarity(subspace, X), np.finfo(Z.dtype).tiny
    )
    b = subspace.offset
    # Far from all data the factor would only blow up what is rounding.
    factor = np.minimum(factor, 1 / np.sqrt(np.finfo(Z.dtype).eps))
    return np.asarray(factor[:, None] * (Z + b) - b, dtype=Z.dtype)


def _check_constant_diagonal(subspace: Subspace) -> None:
    """k(x, x) must be the same everywhere, or the largest entry says nothing about nearness."""
    kernel = subspace.kernel
    if subspace.points.is_open:
        diagonal = kernel.diag(subspace.support)
        if np.ptp(diagonal) <= 1e-5 * np.abs(diagonal).max():
            return
    raise KernelError(
        f"match_noise needs a kernel whose k(x, x) is constant, such as Gaussian, not {kernel!r}; "
        "leave match_noise out."
    )


def _neighbour_similarity(subspace: Subspace) -> float:
    """The median over support points of the similarity to their nearest other one."""
    m = subspace.n_support
    step = -(-m // SAMPLE)
    sample = np.arange(0, m, step)
    K = subspace.basis.at(subspace.points.take(sample).rows)
    K[np.arange(len(sample)), sample] = -np.inf
    return float(np.median(K.max(axis=1)))


def _largest_similarity(subspace: Subspace, X: RowsLike) -> Array:
    """max_i k(s_i, x) for each row."""

    def largest(rows: slice, tiles: RowTiles) -> Array:  # noqa: ARG001
        return np.asarray(np.maximum.reduce([tile.max(axis=1) for _, tile in tiles]))

    return np.concatenate(subspace.basis.tiles(X).map_rows(largest))
