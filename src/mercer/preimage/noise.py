"""Match noisy queries to a model of clean rows: rescale their kernel rows."""

import numpy as np

from mercer._base.types import Array, Rows
from mercer.exceptions import DataError, KernelError
from mercer.model import Subspace
from mercer.points.tiles import RowTiles

#: True, False, or "auto".
MatchNoise = bool | str


def matched_scores(subspace: Subspace, X: Rows, how: MatchNoise) -> Array:
    r"""Scores of rows: as they are (False), of matched kernel rows (True), or as each row asks.

    Matched kernel rows are multiplied by :math:`a(x)` before centring, which gives ``a (z + b) -
    b``:

    .. math:: a(x) = \mathrm{median}_i \max_{j \ne i} k(s_i, s_j) \;/\; \max_i k(s_i, x)

    Noise of size ν shrinks the whole row k(S, x) by about exp(-|ν|²/ℓ²); the projection of a
    centred model is then drawn to the mean. The factor restores the row's largest entry.

    ``"auto"`` multiplies by :math:`\max(1, a(x))`: rows that are no farther from the support points
    than these are from each other stay as they are, and rows with more noise are matched. Kernels
    that are not of the distance alone are not matched.
    """
    if how is False or (how == "auto" and not can_be_matched(subspace)):
        return subspace.scores(X)
    if how is True:
        _require_constant_diagonal(subspace)
    elif how != "auto":
        raise DataError(f"match_noise={how!r}; give True, False or 'auto'.")
    products, largest = _products_and_largest(subspace, X)
    least, most = match_limits(largest.dtype)
    factor = subspace.basis.neighbour_similarity / np.maximum(largest, least)
    factor = np.clip(factor, 1 if how == "auto" else None, most)[:, None]
    return np.asarray(factor * products - subspace.offset, dtype=products.dtype)


def can_be_matched(subspace: Subspace) -> bool:
    """Whether ``"auto"`` looks at the rows: the kernel tells how far they are from the support."""
    return subspace.kernel.radial is not None and subspace.n_support > 1


def match_limits(dtype: np.dtype) -> tuple[float, float]:
    """The least similarity, and the largest factor: beyond it only rounding would be blown up."""
    limits = np.finfo(dtype)
    return float(limits.tiny), float(1 / np.sqrt(limits.eps))


def _require_constant_diagonal(subspace: Subspace) -> None:
    """Where k(x, x) varies, the largest entry says nothing about nearness."""
    diagonal = subspace.kernel.diag(subspace.support) if subspace.points.is_open else np.array([])
    if not diagonal.size or not np.ptp(diagonal) <= 1e-5 * np.abs(diagonal).max():
        lack = f"match_noise needs a constant k(x, x), and that of {subspace.kernel!r} varies"
        raise KernelError(f"{lack}; leave match_noise out.")


def _products_and_largest(subspace: Subspace, X: Rows) -> tuple[Array, Array]:
    """``Bᵀ k(S, x)`` and ``max_i k(s_i, x)`` for each row, from one pass over k(S, x)."""
    B = subspace.coef

    def both(rows: slice, tiles: RowTiles) -> tuple[Array, Array]:
        n = rows.stop - rows.start
        products = np.zeros((n, B.shape[1]), dtype=B.dtype)
        largest = np.full(n, -np.inf, dtype=B.dtype)
        for columns, tile in tiles:
            products += tile @ B[columns]
            np.maximum(largest, tile.max(axis=1), out=largest)
        return products, largest

    parts = subspace.basis.tiles(X).map_rows(both)
    products, largest = (np.concatenate(part) for part in zip(*parts, strict=True))
    return products, largest
