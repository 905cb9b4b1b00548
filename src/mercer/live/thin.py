"""A model small enough for a page: its directions, written on fewer support points."""

from __future__ import annotations

import numpy as np

from mercer._random import fixed_rng
from mercer.kernels import Basis
from mercer.landmarks import RPCholesky
from mercer.sparse.axes import project_onto
from mercer.subspace import Subspace

#: Numbers (support and coefficients) that a page holds: a pre-image then still follows the hand.
LARGEST = 2_000_000


def thin(subspace: Subspace, largest: int = LARGEST) -> tuple[Subspace, str | None]:
    """The subspace, on landmarks where it is too large, and a sentence that says so.

    Components keep their order, meaning and sign, as in :func:`mercer.compress`; the landmarks are
    drawn by randomly pivoted Cholesky, which is quick for very many support points.

    Parameters
    ----------
    subspace : Subspace
    largest : int
        Numbers that it may have: m (d + q + 1) of them.
    """
    M, q = subspace.n_support, subspace.n_components
    d = subspace.support.shape[1]
    m = max(int(largest // (d + q + 1)), 2)
    if m >= M:
        return subspace, None
    q = min(q, m)
    big, kernel = subspace.leading(q), subspace.kernel
    points = RPCholesky().select(kernel, big.support, m, fixed_rng(0))
    K = Basis(kernel, points, np.float64).gram()
    products = big.basis.matmat(points, np.column_stack([big.coef, big.mean]))
    # Directions that hold less than 1e-7 of the kernel would need coefficients beyond float32.
    cosines, small = project_onto(big, points, K, products, floor=1e-7)
    kept = float(np.sum(cosines**2) / q)
    note = (
        f"The model has {M:,} support points; the page keeps {len(points):,} of them as landmarks "
        f"({kept:.1%} of its directions), so that it stays quick. Scores differ a little."
    )
    return small, note
