"""A model in float32, for the first sweeps of an iteration that ends in float64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer._linalg import square_sums
from mercer.preimage._sweep import Sweep
from mercer.subspace import Subspace

__all__ = ["in_single"]

#: Squared norms of the points in units of the kernel's length, up to which float32 keeps five
#: digits of the kernel: the product formula errs by 6e-8 of them.
SPREAD = 64.0
#: Sizes of data whose squares float32 holds.
SIZES = (1e-12, 1e12)
#: Support points below which a sweep costs less than its bookkeeping.
FEWEST = 128


def in_single(subspace: Subspace, sweep: Sweep) -> Subspace | None:
    """The same subspace in float32, in coordinates shifted by its origin; None if it would not do.

    The shift is made in float64: a large offset of the data costs no digits.
    """
    S = sweep.support[:, :-1]
    if sweep.dtype != np.float64 or len(S) < FEWEST:
        return None
    radius = float(np.sqrt(square_sums(S).max()))
    spread = (radius / sweep.kernel.length) ** 2
    if sweep.kernel.is_kinked or not (SIZES[0] < radius < SIZES[1] and spread <= SPREAD):
        return None
    names = ("coef", "mean", "offset")
    with np.errstate(over="ignore"):
        singles = {name: getattr(subspace, name).astype(np.float32) for name in names}
    if not all(np.isfinite(values).all() for values in singles.values()):
        return None
    return replace(subspace, kernel=sweep.kernel, support=S.astype(np.float32), **singles)
