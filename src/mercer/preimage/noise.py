"""Match noisy queries to a model of clean rows: rescale their kernel rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks, thread_map
from mercer.exceptions import KernelError
from mercer.kernels import cross_gram
from mercer.subspace import Subspace

__all__ = ["match_noise"]

#: Support points from which the typical similarity of neighbours is taken.
SAMPLE = 1000
ROWS = 256


def match_noise(subspace: Subspace, X: Any, Z: Array) -> Array:
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
    if not kernel.is_pairwise:
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
    support = subspace.support
    rows = support[sample] if isinstance(support, np.ndarray) else [support[i] for i in sample]
    A = subspace.kernel.pack(rows, subspace.origin)
    K = cross_gram(subspace.kernel, A, subspace.packed_support)
    K[np.arange(len(sample)), sample] = -np.inf
    return float(np.median(K.max(axis=1)))


def _largest_similarity(subspace: Subspace, X: Any) -> Array:
    """max_i k(s_i, x) for each row, with O(256 m) memory per thread."""
    A = subspace.kernel.pack(X, subspace.origin)
    dtype = subspace.coef.dtype

    def largest(rows: slice) -> Array:
        tile = np.empty((rows.stop - rows.start, subspace.n_support), dtype=dtype)
        subspace.kernel.fill(A[rows], subspace.packed_support, tile)
        return np.asarray(tile.max(axis=1))

    return np.concatenate(thread_map(largest, blocks(len(A), ROWS)))
