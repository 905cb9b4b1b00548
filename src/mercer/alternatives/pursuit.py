"""Principal component pursuit: a matrix as a low-rank plus a sparse one (Candès et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array
from mercer._progress import announce
from mercer.alternatives._shrinkage import shrink, shrink_singular_values

#: The first penalty in units of 1/‖M‖₂ (Lin et al.), its growth, and the bar for the dual residual.
FIRST, GROWTH, SETTLED = 1.25, 2.0, 1e-5


@dataclass(frozen=True)
class Pursuit:
    """M = L + S with L = U diag(s) Vt, and how well it was solved."""

    U: Array
    s: Array
    Vt: Array
    sparse: Array
    #: ‖M - L - S‖ / ‖M‖, and the last change of μS in units of the multiplier.
    primal: float
    dual: float
    n_iter: int
    converged: bool

    @property
    def low_rank(self) -> Array:
        """L as a matrix."""
        return np.asarray((self.U * self.s) @ self.Vt)


def principal_component_pursuit(
    M: Array,
    penalty: float,
    *,
    observed: Array | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    rng: np.random.Generator,
) -> Pursuit:
    r"""Minimise :math:`\|L\|_* + \lambda \|S\|_1` subject to :math:`L + S = M` where observed.

    Inexact augmented Lagrangian: one shrinkage of the singular values for L, one of the entries
    for S, one step of the multiplier Y. The penalty μ grows only where the dual residual is below
    the primal one: a penalty that races ahead freezes L and S short of the minimum.

    Parameters
    ----------
    M : (n, d) array
        Not zero everywhere; what stands at missing entries is ignored.
    penalty : float
        λ, the price of the sparse part.
    observed : (n, d) array of bool, optional
        False where an entry is missing: there S costs nothing and is reported as zero.
    tol : float
        Bar for the violation ‖M - L - S‖ in units of ‖M‖.
    max_iter : int
    rng : Generator
        For directions that the partial decompositions look at first.

    Notes
    -----
    O(n d r) time per step for rank r, O(n d) memory.

    References
    ----------
    Z. Lin, M. Chen & Y. Ma, "The augmented Lagrange multiplier method for exact recovery of
    corrupted low-rank matrices", 2010; E. J. Candès, X. Li, Y. Ma & J. Wright, "Robust principal
    component analysis?", Journal of the ACM 58, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.alternatives import principal_component_pursuit
    >>> rng = np.random.default_rng(0)
    >>> low_rank = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 60))
    >>> spikes = 5 * (rng.random((60, 60)) < 0.05)
    >>> found = principal_component_pursuit(low_rank + spikes, 1 / np.sqrt(60), rng=rng)
    >>> len(found.s), bool(np.abs(found.sparse - spikes).max() < 1e-5)
    (2, True)
    """
    price = penalty if observed is None else np.where(observed, penalty, 0.0)
    M = M if observed is None else np.where(observed, M, 0.0)
    size = np.linalg.norm(M)
    largest = float(np.linalg.norm(M, 2))
    Y = M / max(largest, np.abs(M).max() / penalty)
    S = np.zeros_like(M)
    mu = FIRST / largest
    Vt = np.empty((0, M.shape[1]))
    primal = dual = np.inf
    step = 0
    for step in range(1, max_iter + 1):
        announce("principal component pursuit", step)
        # As many new directions as a quarter of the old ones: the rank may grow by that in a step.
        new = rng.standard_normal((M.shape[1], 5 + len(Vt) // 4))
        U, s, Vt = shrink_singular_values(M - S + Y / mu, 1 / mu, np.hstack([Vt.T, new]))
        L = (U * s) @ Vt
        before, S = S, shrink(M - L + Y / mu, price / mu)
        gap = M - L - S
        Y = Y + mu * gap
        primal = float(np.linalg.norm(gap) / size)
        dual = float(mu * np.linalg.norm(S - before) / np.linalg.norm(Y))
        if primal <= tol and dual <= SETTLED:
            break
        if dual <= primal:
            mu *= GROWTH
    converged = primal <= tol and dual <= SETTLED
    if observed is not None:
        S = np.where(observed, S, 0.0)
    return Pursuit(U, s, Vt, S, primal, dual, step, converged)
