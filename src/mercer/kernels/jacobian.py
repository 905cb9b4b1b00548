r"""Derivatives of many weighted sums of a kernel, :math:`\sum_i B_{ik} k(x, s_i)`, at once.

For kernels of distances, of dot products, and for all that is built from these,

.. math:: \nabla_x k(x, s) = P(x, s)\, x + Q(x, s)\, s

with two numbers for each pair of points. So a tile of P and Q serves all columns of B, and what is
left is one matrix product, :math:`Q [B_{ik} s_{ij}]_{i, (k, j)}`.
"""

import numpy as np

from mercer._base.machine import blocks
from mercer._base.types import Array, Rows
from mercer.kernels.base import Kernel
from mercer.kernels.histogram import _EntrywiseKernel
from mercer.points import Points, alike, as_points
from mercer.points.tiles import EDGE

#: Columns (components × variables) of one matrix product: its right factor stays in the cache.
COLUMNS = 2048


def jacobian(kernel: Kernel, X: Array, S: Rows, B: Array) -> Array:
    r"""``J[a, k, j]``, the derivative of ``sum_i B_ik k(x, s_i)`` by ``x_j`` at each row of X.

    Parameters
    ----------
    kernel : Kernel
        Resolved, of vectors.
    X : (n, d) points at which to differentiate
    S : (m, d) points of the expansions, sparse or not
    B : (m, q) weights, one column for each expansion

    Returns
    -------
    (n, q, d) array. O(n m q d) time; n m exponentials, whatever q is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.kernels.jacobian import jacobian
    >>> S = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> jacobian(Linear(), np.zeros((1, 2)), S, np.eye(2))[0]  # the points themselves
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(kernel, _EntrywiseKernel):  # one matrix product for each point
        return kernel.gradient(X, S, [B.T] * len(X)).astype(B.dtype, copy=False)
    points = as_points(S)
    if kernel.slopes(*_rows(X[:1], points.take(slice(1)))) is None:
        # Column by column, for any kernel that knows its gradient.
        columns = (np.broadcast_to(b, (len(X), len(S))) for b in B.T)
        return np.stack([kernel.gradient(X, S, G) for G in columns], axis=1)
    J = np.zeros((len(X), B.shape[1], X.shape[1]), dtype=B.dtype)
    PB, QB = np.zeros((2, len(X), B.shape[1]), dtype=B.dtype)
    # Around a point in the middle of S no digits cancel between P x and Q s; zeros stay zeros.
    middle = points.middle().astype(B.dtype)
    for tile in blocks(len(S), EDGE["d"]):
        near = points.take(tile)
        P, Q = kernel.slopes(*_rows(X, near))  # type: ignore[misc]
        PB += P @ B[tile]
        QB += Q @ B[tile]
        if not points.is_sparse:
            _add_points(J, Q, near.rows - middle, B[tile])
            continue
        for k, b in enumerate(B[tile].T):  # as many products by places as there are components
            J[:, k] += (near.for_user().T @ (Q * b).T).T
    J += PB[:, :, None] * (X - middle)[:, None, :]
    if (PB + QB).any():  # of a radial kernel P = -Q
        J += (PB + QB)[:, :, None] * middle
    return J


def weighted_gradient(kernel: Kernel, X: Array, S: Points, G: Array) -> Array:
    """``sum_i G_ai dk(x_a, s_i)/dx_a`` for dense rows X and points S, sparse or not, (n, d)."""
    if not S.is_sparse:
        return kernel.gradient(X, S.rows, G)
    gradient = np.zeros_like(X)
    for tile in blocks(len(S), EDGE["d"]):
        near = S.take(tile)
        P, Q = kernel.slopes(*_rows(X, near))  # type: ignore[misc]
        gradient += (P * G[:, tile]).sum(axis=1)[:, None] * X
        gradient += (near.for_user().T @ (Q * G[:, tile]).T).T
    return gradient


def _rows(X: Array, S: Points) -> list[Rows]:
    """Rows and points in one form, as kernels take them."""
    return [points.rows for points in alike(X, S)]


def _add_points(J: Array, Q: Array, S: Array, B: Array) -> None:
    """``J[a, k, j] += sum_i Q_ai B_ik S_ij``, as many components at once as fit the cache."""
    n, q, d = J.shape
    for part in blocks(q, max(1, COLUMNS // d)):
        columns = (B[:, part, None] * S[:, None, :]).reshape(len(S), -1)
        J[:, part] += (Q @ columns).reshape(n, -1, d)
