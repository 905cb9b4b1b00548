"""Soft thresholds of entries and of singular values: the two proximal steps of robust PCA."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array, orthonormalize
from mercer._parallel import lapack_threads

#: Beyond this share of all directions the complete decomposition is cheaper.
WHOLE = 0.4
#: Residual of a triplet, in units of the largest singular value.
ACCURACY = 1e-9
#: Triplets below the threshold that are looked at, too.
BELOW = 5


def shrink(A: Array, tau: float | Array) -> Array:
    """sign(a) max(|a| - τ, 0) for each entry: the minimiser of τ|s| + (s - a)²/2."""
    return np.asarray(A - np.clip(A, -tau, tau))


def shrink_singular_values(A: Array, tau: float, start: Array) -> tuple[Array, Array, Array]:
    """The minimiser U s Vᵀ of τ‖L‖_* + ‖L - A‖²/2, in factors.

    Only the triplets above τ are computed, from a Krylov basis that begins at ``start`` and grows
    by blocks of residuals; the complete decomposition takes over when many are above it.

    Parameters
    ----------
    A : (n, d) array
    tau : float
    start : (d, k) array
        Guesses of leading right singular vectors: those of the step before, and something new.

    Returns
    -------
    (n, r) array, (r,) array of shrunk singular values, (r, d) array

    Notes
    -----
    O(n d r) time for r triplets above τ.
    """
    found = _leading(A, tau, start)
    if found is None:
        with lapack_threads(min(A.shape)):
            found = np.linalg.svd(A, full_matrices=False)
    U, s, Vt = found
    keep = s > tau
    return U[:, keep], s[keep] - tau, Vt[keep]


def _leading(A: Array, tau: float, start: Array) -> tuple[Array, Array, Array] | None:
    """All singular triplets above τ, and some below; None if they are too many."""
    limit = int(WHOLE * min(A.shape))
    if start.shape[1] > limit:
        return None
    basis = orthonormalize(start)
    image = A @ basis
    while True:
        U, s, Wt = np.linalg.svd(image, full_matrices=False)
        V = basis @ Wt.T
        residual = A.T @ U - V * s
        size = np.linalg.norm(residual, axis=0)
        r = int((s > tau).sum())
        # The next value lies within its residual; if that is below τ, no more are above it.
        if r < len(s) and s[r] + size[r] <= tau and (size[:r] <= ACCURACY * s[0]).all():
            return U, s, V.T
        # Residuals of the triplets in doubt, up to a few below τ, are where the basis lacks most.
        doubtful = np.flatnonzero(size[: r + BELOW] > ACCURACY * max(s[0], tau))
        if basis.shape[1] + len(doubtful) > limit or not len(doubtful):
            return None
        fresh = orthonormalize(residual[:, doubtful], basis)
        basis = np.hstack([basis, fresh])
        image = np.hstack([image, A @ fresh])
