"""New rows split into a point of a known subspace and a sparse rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer._base.linalg import orthonormalize
from mercer._base.machine import lapack_threads
from mercer._base.types import Array
from mercer.exceptions import ConvergenceWarning, warn

# Soft thresholds of entries and of singular values: the two proximal steps of robust PCA.


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


#: Steps in which the penalty adapts, its growth, and how far the two residuals may lie apart.
ADAPT, GROWTH, APART = 100, 1.5, 3.0
#: Stop below the first; above the second, in units of a row's length, say that rows still moved.
SETTLED, MOVING = 1e-8, 1e-3


def split_rows(
    X: Array, project: Callable[[Array], Array], max_iter: int = 1000
) -> tuple[Array, Array]:
    r"""Minimise :math:`\|s\|_1` subject to :math:`x = \ell + s` with :math:`\ell` in the subspace.

    What principal component pursuit does to a row when the row space is known: gross errors in a
    few columns do not move ``ℓ``, while a least-squares projection smears them over all columns.
    Missing values (NaN) are left out of the norm. Alternating directions, one penalty per row; a
    row stops by itself, so that no row depends on its company.

    Parameters
    ----------
    X : (n, d) array, NaN where a value is missing
    project : function of (n, d) arrays
        Orthogonal projection of rows onto the subspace.
    max_iter : int

    Returns
    -------
    (n, d) array in the subspace, and (n, d) sparse array, zero where a value is missing
    """
    observed = ~np.isnan(X)
    X = np.where(observed, X, 0.0)
    size = np.abs(X).max(axis=1, keepdims=True)  # squares of 1e300 would overflow
    size[size == 0] = 1.0
    length = np.linalg.norm(X / size, axis=1, keepdims=True)
    size = size * np.where(length > 0, length, 1.0)
    X = X / size
    L, S, Y = np.empty_like(X), np.zeros_like(X), np.zeros_like(X)
    mu = np.full_like(size, 10 * np.sqrt(X.shape[1]))  # shrinks by a tenth of the typical entry
    change = np.zeros(len(X))
    going = np.arange(len(X))
    for step in range(max_iter):
        i = going
        L[i] = project(X[i] - S[i] + Y[i] / mu[i])
        new = shrink(X[i] - L[i] + Y[i] / mu[i], observed[i] / mu[i])
        gap = X[i] - L[i] - new
        primal = np.linalg.norm(gap, axis=1, keepdims=True)
        dual = np.linalg.norm(new - S[i], axis=1, keepdims=True)
        S[i], Y[i] = new, Y[i] + mu[i] * gap
        if step < ADAPT:  # a penalty that moves for ever would keep the rows moving
            scaled = np.where(primal > APART * dual, GROWTH, 1.0)
            mu[i] *= np.where(dual > APART * primal, 1 / GROWTH, scaled)
        change[i] = np.maximum(primal, dual).ravel()
        going = i[change[i] > SETTLED]
        if not going.size:
            break
    _report(change, max_iter)
    return L * size, np.where(observed, S, 0.0) * size


def _report(change: Array, max_iter: int) -> None:
    moving = change > MOVING
    if moving.any():
        warn(
            f"{moving.sum()} of {len(change)} rows moved by up to {change.max():.1g} of their "
            f"length even after {max_iter} steps of the split; fewer components settle sooner.",
            ConvergenceWarning,
        )
