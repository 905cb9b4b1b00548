"""A model in float32, for the first sweeps of an iteration that ends in float64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer._linalg import SQUARABLE, Array, square_sums
from mercer.subspace import Subspace

#: Squared norms of the points in units of the kernel's length, up to which float32 keeps five
#: digits of the kernel: the product formula errs by 6e-8 of them.
SPREAD = 64.0
#: Sizes of data whose squares float32 holds.
SIZES = (1e-12, 1e12)
#: Support points below which a sweep costs less than its bookkeeping.
FEWEST = 128


def in_single(subspace: Subspace) -> Subspace | None:
    """The same subspace in float32, in coordinates shifted by its origin; None if it would not do.

    The shift is made in float64: a large offset of the data costs no digits.
    """
    kernel = subspace.kernel.radial
    if kernel is None or subspace.coef.dtype != np.float64 or subspace.n_support < FEWEST:
        return None
    if not 1 / SQUARABLE < float(subspace.kernel.diag(subspace.support[:1])[0]) < SQUARABLE:
        return None  # a factor before the kernel, which takes scores out of range
    S = shifted(subspace, subspace.support)
    radius = float(np.sqrt(square_sums(S).max()))
    spread = (radius / kernel.length) ** 2
    if kernel.is_kinked or not (SIZES[0] < radius < SIZES[1] and spread <= SPREAD):
        return None
    with np.errstate(over="ignore"):
        single = replace(subspace.astype(np.float32), kernel=kernel, support=S.astype(np.float32))
    parts = (single.coef, single.mean, single.offset)
    return single if all(np.isfinite(part).all() for part in parts) else None


def shifted(subspace: Subspace, X: Array) -> Array:
    """Rows measured from the mean of the support points, which a radial kernel does not notice."""
    return np.asarray(X - np.asarray(subspace.support).mean(axis=0))
