"""One assertion for arrays, whose message has the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._linalg import Array


def assert_close(
    what: str, found: Any, wanted: Any, tol: float, scale: float | None = None
) -> None:
    """``|found - wanted| <= tol * scale`` everywhere; the scale is max|wanted| if not given.

    Errors are measured against the largest entry, as matrix norms do: a kernel value of 1e-300
    needs not be right in its own digits.
    """
    A: Array = np.asarray(found, dtype=np.float64)
    B: Array = np.asarray(wanted, dtype=np.float64)
    if A.shape != B.shape:
        raise AssertionError(f"{what}: shape {A.shape}, expected {B.shape}")
    if not A.size:
        return
    scale = float(np.abs(B).max()) if scale is None else scale
    error = np.abs(A - B)
    worst = np.unravel_index(np.nanargmax(error), error.shape) if not np.isnan(error).all() else ()
    if not (error <= tol * scale).all():  # a NaN is not <= anything
        where = tuple(int(i) for i in worst)
        raise AssertionError(
            f"{what}: off by {float(error[worst].max()):.3g} at {where} "
            f"(found {A[worst]}, expected {B[worst]}; allowed {tol * scale:.3g})"
        )
