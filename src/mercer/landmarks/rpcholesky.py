"""Randomly pivoted Cholesky: landmarks where the kernel is least explained so far.

Chen, Epperly, Tropp & Webber 2024 (Communications on Pure and Applied Mathematics); blocks with
rejection sampling after Epperly, Tropp & Webber 2024 ("Embrace rejection").
"""

import contextlib

import numpy as np
from scipy.linalg import solve_triangular

from mercer._base.linalg import square_sums
from mercer._base.types import Array, Rows
from mercer.kernels import Basis, Kernel
from mercer.landmarks.base import LandmarkRule
from mercer.points import Points
from mercer.points.tiles import Tiles

#: Share of the trace below which what is left is rounding.
ROUNDING = 1e-13
#: Share of the trace down to which float32 tells where it is.
ROUGH = 5e-2


class RPCholesky(LandmarkRule):
    """Each landmark is drawn with probability proportional to what the others leave unexplained.

    Finds small far-away groups that uniform sampling misses.

    Parameters
    ----------
    oversample : int, default=5
        Rows looked at per landmark: a uniform sample of ``oversample * m`` rows stands for all.

    Notes
    -----
    O(s m (d + m)) time and O(s m) memory with s = ``oversample * m``.
    """

    def __init__(self, oversample: int = 5) -> None:
        self.oversample = oversample

    def select(self, kernel: Kernel, X: Rows, m: int, rng: np.random.Generator) -> Rows:
        sample = kernel.points(X).sample(self.oversample * m, rng)
        # float32 would stop at the first hundred pivots of a smooth kernel.
        pivots = random_pivots(kernel, sample.cast(np.float64), m, rng)
        return sample.take(np.sort(pivots)).rows


def random_pivots(kernel: Kernel, points: Points, m: int, rng: np.random.Generator) -> Array:
    """The pivots alone of :func:`partial_cholesky`, for rows in float64.

    As long as a good part of the kernel is unexplained, float32 tells where it is. Where k(x, x) is
    above zero nowhere, any row shows the solver as much: the first.
    """
    points = kernel.points(points)
    total = _diagonal(kernel, points)
    if not total.any():
        return np.zeros(1, dtype=np.intp)
    pivots, exact = np.empty(0, dtype=np.intp), Basis(kernel, points, np.float64)
    if points.fit_float32(total):
        rough = _Factor(Basis(kernel, points, np.float32), total, m)
        pivots = rough.grow(rng, floor=ROUGH * total.sum())
        if len(pivots) == min(m, len(points)):
            return pivots
    factor = _Factor(exact, total, m)
    with contextlib.suppress(np.linalg.LinAlgError):  # where rounding leaves them no factor
        factor.add(pivots, np.linalg.cholesky(factor.columns(pivots, pivots)))
    return factor.grow(rng, floor=ROUNDING * total.sum())


def partial_cholesky(
    kernel: Kernel, points: Points, m: int, rng: np.random.Generator, block: int = 64
) -> tuple[Array, Array]:
    """Pivots and factor F (n, r ≤ m) with ``K ≈ F Fᵀ``, exact on the pivots' rows.

    Stops early when what is left is rounding.
    """
    points = kernel.points(points)
    left = _diagonal(kernel, points)
    factor = _Factor(Basis(kernel, points), left, m)
    pivots = factor.grow(rng, ROUNDING * left.sum(), block)
    return pivots, factor.F[:, : len(pivots)]


def _diagonal(kernel: Kernel, points: Points) -> Array:
    """k(x, x), and 0 where an indefinite kernel has less: there is nothing to be explained."""
    return np.maximum(kernel.diag(points.rows).astype(np.float64), 0)


class _Factor:
    """A factor that grows: its pivots, ``F``, and the diagonal of what is left, ``K - F Fᵀ``."""

    def __init__(self, rows: Basis, diagonal: Array, m: int) -> None:
        # Single precision is for its speed; all else is summed in double.
        dtype = np.float32 if rows.packed.dtype == rows.dtype == np.float32 else np.float64
        self.rows, self.left = rows, diagonal
        self.F = np.empty((len(rows), min(m, len(rows))), dtype=dtype)
        self.pivots = np.empty(0, dtype=np.intp)

    def columns(self, index: Array, of: Array | None = None) -> Array:
        """Columns of ``K - F Fᵀ``, all of their rows or some."""
        points, r = self.rows.points, len(self.pivots)
        columns = self.rows.pack(points.take(index))
        packed = self.rows.packed if of is None else self.rows.pack(points.take(of))
        F = self.F[:, :r] if of is None else self.F[of, :r]
        K = Tiles(self.rows.kernel.fill, packed, columns, columns.dtype).gram(self.F.dtype)
        K -= F @ self.F[index, :r].T
        return K

    def add(self, pivots: Array, L: Array) -> None:
        """Pivots, and the Cholesky factor of their block of what is left."""
        r = len(self.pivots)
        K = self.columns(pivots)
        new = solve_triangular(L.astype(K.dtype), K.T, lower=True, check_finite=False).T
        self.F[:, r : r + len(pivots)] = new
        self.left = np.maximum(self.left - square_sums(new), 0)
        self.pivots = np.append(self.pivots, pivots)
        self.left[self.pivots] = 0

    def grow(self, rng: np.random.Generator, floor: float, block: int = 64) -> Array:
        """Draw pivots until there are enough, or what is left sums to no more than the floor."""
        n, m = self.F.shape
        while len(self.pivots) < m and self.left.sum() > floor:
            size = min(block, m - len(self.pivots))
            drawn = np.unique(rng.choice(n, size, p=self.left / self.left.sum()))
            H = self.columns(drawn, drawn).astype(np.float64)
            accepted, L = _accept(H, self.left[drawn], rng)
            # What the entries themselves leave of a drawn row: a row that rounding alone would
            # have drawn, and that is rejected for ever, is not drawn again.
            self.left[drawn] = np.minimum(self.left[drawn], np.maximum(np.diagonal(H), 0))
            self.add(drawn[accepted], L)  # whole columns only of rows that are accepted
        return self.pivots


def _accept(H: Array, bar: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Keep a drawn row with the probability that it would have been drawn after the earlier ones.

    ``bar`` is the diagonal with which it was drawn; returns the rows kept and the Cholesky factor
    of their block.
    """
    b = len(H)
    kept: list[int] = []
    L, left = np.zeros((b, b)), np.diagonal(H).copy()
    for i in range(b):
        if left[i] <= max(rng.random() * bar[i], 1e-12 * bar[i]):
            continue
        r = len(kept)
        column = H[i:, i] - L[i:, :r] @ L[i, :r]
        column /= np.sqrt(left[i])
        L[i:, r] = column
        left[i:] -= column**2
        kept.append(i)
    index = np.array(kept, dtype=np.intp)
    return index, L[index, : len(kept)]
