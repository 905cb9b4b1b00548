r"""The Gram matrix seen through landmarks: :math:`K \approx F F^\top` with ``F = k(X, Z) R``.

Used as a start and as a preconditioner, never as the result, so that its accuracy only decides how
many passes over the true matrix are needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer._base.linalg import SQUARABLE
from mercer._base.machine import blocks, lapack_threads
from mercer._base.types import Array
from mercer.gram.passes import Passes
from mercer.kernels import Basis, Kernel
from mercer.landmarks import Given, KMeans, LandmarkRule, RPCholesky
from mercer.points import Points
from mercer.points.crew import Crew
from mercer.points.tiles import Fill, Packed, Tiles

#: Rows among which small groups are looked for.
SEARCHED = 20_000


@dataclass(frozen=True)
class LowRank:
    """``F = P D C R`` with C = k(X, Z) in strips, and weights D and centring P only applied."""

    strips: Sequence[Any]  #: for each strip of rows, what the crew knows its (n_i, r) values C by
    rows: Sequence[slice]  #: the rows of each
    crew: Crew  #: who holds them
    basis: Array  #: (r, r) R with ``Rᵀ K_ZZ R = I``
    dtype: np.dtype  #: of C
    root_weight: Array | None = None  #: the diagonal of D, or None for the identity
    #: The unit vector u of ``P = I - u uᵀ``, or None for the identity
    direction: Array | None = None

    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues s (decreasing) of F Fᵀ, and M with eigenvectors ``U = P D C M``."""
        D, u = self.root_weight, self.direction
        # FᵀF = Rᵀ (Cᵀ D² C - Cᵀ D u uᵀ D C) R, in float64 sums of strips
        weights = [None if D is None else D[part] for part in self.rows]
        square = np.asarray(sum(self.crew.map(_square, self.strips, weights)))
        if u is not None:
            linear = self._contracted((u if D is None else u * D)[:, None])
            square -= linear @ linear.T
        s, Q = np.linalg.eigh(self.basis.T @ square @ self.basis)
        keep = s > 1e-10 * s[-1]
        s, Q = s[keep][::-1], Q[:, keep][:, ::-1]
        return s, self.basis @ (Q / np.sqrt(s))

    def expand(self, Y: Array) -> Array:
        """``P D C Y``, (n, b)."""
        V = np.empty((self.rows[-1].stop, Y.shape[1]))
        (factor,) = self.crew.lend([Y.astype(self.dtype)])
        parts = self.crew.map(_expanded, self.strips, [factor] * len(self.rows))
        for part, block in zip(self.rows, parts, strict=True):
            V[part] = block
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
        return self._contracted(V)

    def _contracted(self, V: Array) -> Array:
        V = np.ascontiguousarray(V, self.dtype)
        parts = self.crew.map(_contracted, self.strips, [V[part] for part in self.rows])
        return np.asarray(sum(parts))


def _square(C: Array, weight: Array | None) -> Array:
    weighted = C if weight is None else C * weight[:, None]
    return (weighted.T @ weighted).astype(np.float64)  # BLAS computes one triangle only


def _expanded(C: Array, Y: Array) -> Array:
    return np.concatenate([C[part] @ Y for part in blocks(len(C), 2048)])


def _contracted(C: Array, V: Array) -> Array:
    return (C.T @ V).astype(np.float64)


def _cross(fill: Fill, rows: Packed, landmarks: Packed, dtype: np.dtype) -> Array:
    return Tiles(fill, rows, landmarks, np.dtype(rows.dtype)).gram(dtype)


def nystrom(
    rows: Basis,
    rank: int,
    rng: np.random.Generator,
    root_weight: Array | None = None,
    passes: Passes | None = None,
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
    tiles = Tiles(kernel.fill, landmarks, landmarks, dtype)
    own = tiles.gram(np.float64)
    # What the rounding of float32 entries leaves of a direction with less variance is noise.
    # Not with as many BLAS threads as the moment allows: a fit that is resumed repeats the bits.
    R = _whitened(own, floor=1e-12 if dtype == np.float64 else 1e-5)
    if not R.size:  # without directions the kernel is zero at the landmarks
        return None
    if np.abs(own).max(initial=0.0) > SQUARABLE:
        dtype = np.dtype(np.float64)
    passes = passes or Passes()
    crew, (parts, packed) = passes.crew, passes.shared(rows.packed, tiles.width)
    (lent,), many = crew.share([landmarks]), len(parts)
    strips = crew.keep(_cross, [kernel.fill] * many, packed, [lent] * many, [dtype] * many)
    return LowRank(strips, parts, crew, R, dtype, root_weight)


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
        return _whitened(K, floor)


def _whitened(K: Array, floor: float) -> Array:
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
