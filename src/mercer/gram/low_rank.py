r"""The Gram matrix seen through landmarks: :math:`K \approx F F^\top` with ``F = k(X, Z) R``.

Used as a start and as a preconditioner, never as the result, so that its accuracy only decides how
many passes over the true matrix are needed.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from mercer._base.linalg import SQUARABLE
from mercer._base.machine import blocks, lapack_threads, thread_map
from mercer._base.types import Array
from mercer.kernels import Basis, Kernel
from mercer.landmarks import Given, KMeans, LandmarkRule, RPCholesky
from mercer.points import Points
from mercer.points.tiles import Tiles

#: Rows among which small groups are looked for.
SEARCHED = 20_000


@dataclass(frozen=True)
class LowRank:
    """``F = P D C R`` with C = k(X, Z) kept (n, r), and weights D and centring P only applied."""

    cross: Array  #: (n, r) kernel values C between rows and landmarks
    basis: Array  #: (r, r) R with ``Rᵀ K_ZZ R = I``
    root_weight: Array | None = None  #: the diagonal of D, or None for the identity
    #: The unit vector u of ``P = I - u uᵀ``, or None for the identity
    direction: Array | None = None

    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues s (decreasing) of F Fᵀ, and M with eigenvectors ``U = P D C M``."""
        C, D, u = self.cross, self.root_weight, self.direction

        def block(rows: slice) -> Array:
            weighted = C[rows] if D is None else C[rows] * D[rows, None]
            return (weighted.T @ weighted).astype(np.float64)  # BLAS computes one triangle only

        # FᵀF = Rᵀ (Cᵀ D² C - Cᵀ D u uᵀ D C) R, in float64 sums of blocks
        square = np.asarray(sum(thread_map(block, blocks(len(C), 8192))))
        if u is not None:
            linear = (C.T @ (u if D is None else u * D).astype(C.dtype)).astype(np.float64)
            square -= np.outer(linear, linear)
        s, Q = np.linalg.eigh(self.basis.T @ square @ self.basis)
        keep = s > 1e-10 * s[-1]
        s, Q = s[keep][::-1], Q[:, keep][:, ::-1]
        return s, self.basis @ (Q / np.sqrt(s))

    def expand(self, Y: Array) -> Array:
        """``P D C Y``, (n, b)."""
        V = np.empty((len(self.cross), Y.shape[1]))
        Y = Y.astype(self.cross.dtype)

        def fill(rows: slice) -> None:
            V[rows] = self.cross[rows] @ Y

        thread_map(fill, blocks(len(V), 2048))
        if self.root_weight is not None:
            V *= self.root_weight[:, None]
        if self.direction is not None:
            V -= np.outer(self.direction, self.direction @ V)
        return V

    def contract(self, V: Array) -> Array:
        """``Cᵀ D P V``, (r, b)."""
        if self.direction is not None:
            V = V - np.outer(self.direction, self.direction @ V)
        if self.root_weight is not None:
            V = V * self.root_weight[:, None]
        V = V.astype(self.cross.dtype, copy=False)
        parts = thread_map(
            lambda rows: (self.cross[rows].T @ V[rows]).astype(np.float64), blocks(len(V), 8192)
        )
        return np.asarray(sum(parts))


def nystrom(
    rows: Basis, rank: int, rng: np.random.Generator, root_weight: Array | None = None
) -> LowRank | None:
    """Landmarks, their kernel values with all rows, and the whitening of their own Gram matrix.

    In the precision in which the rows are packed. Rows are drawn with chances proportional to their
    weight: one of weight 13 is as likely a landmark as 13 copies of it together.
    """
    weight = None if root_weight is None else root_weight**2
    kernel, dtype = rows.kernel, rows.packed.dtype
    if not rows.points.is_open:
        return None  # there are no points to take landmarks from
    landmarks = rows.pack(_landmarks(kernel, rows.points, rank, rng, weight))
    cross = Tiles(kernel.fill, rows.packed, landmarks, dtype).gram()
    own = Tiles(kernel.fill, landmarks, landmarks, dtype).gram(np.float64)
    if np.abs(own).max(initial=0.0) > SQUARABLE:
        cross = cross.astype(np.float64)
    # What the rounding of float32 entries leaves of a direction with less variance is noise.
    R = whiten(own, floor=1e-12 if dtype == np.float64 else 1e-5)
    # Without directions the kernel is zero at the landmarks.
    return LowRank(cross, R, root_weight) if R.size else None


def _landmarks(
    kernel: Kernel, X: Points, rank: int, rng: np.random.Generator, weight: Array | None = None
) -> Points:
    """Uniform rows, and a quarter drawn where the others explain least; then one k-means step.

    The pivoted quarter finds small groups far away, which might be missed otherwise, and their
    eigenvalues with them. To pivot all costs more than the pass that it may save.
    """
    if kernel.takes_objects or len(X) < 4000:  # careful landmarks would cost more than they save
        return _drawn(X, rank, rng, weight)
    few = rank // 4
    rule: LandmarkRule = RPCholesky(oversample=SEARCHED // few)
    pivoted = kernel.points(rule.select(kernel, X.rows, few, rng))
    start = pivoted.joined(_drawn(X, rank - len(pivoted), rng, weight)).rows
    if X.has_coordinates:
        start = np.unique(start, axis=0)
    rule = KMeans(Given(start), steps=1)
    return kernel.points(rule.select(kernel, X.rows, len(start), rng))


def _drawn(X: Points, count: int, rng: np.random.Generator, weight: Array | None) -> Points:
    if weight is None or count >= np.count_nonzero(weight):
        return X.sample(count, rng)
    return X.take(np.sort(rng.choice(len(X), count, replace=False, p=weight / weight.sum())))


def whiten(K: Array, floor: float = 1e-12) -> Array:
    """R with ``Rᵀ K R = I`` for a positive definite K: the inverse transposed Cholesky factor.

    Where K is numerically singular, directions with less than ``floor`` of the largest eigenvalue
    are left out (r' < r columns).
    """
    with lapack_threads(len(K)):
        R = inverse_root(K)
        if R is not None:
            pivots = np.diagonal(R)
            if pivots.max() < 0.1 / np.sqrt(floor) * pivots.min():  # well-conditioned
                return R
        s, Q = np.linalg.eigh(K)
    keep = s > floor * np.abs(s).max()
    return np.asarray(Q[:, keep] / np.sqrt(s[keep]))


def inverse_root(K: Array) -> Array | None:
    """The inverse transposed Cholesky factor, upper triangular; None if there is none."""
    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(solve_triangular(L, np.eye(len(K)), lower=True).T)
