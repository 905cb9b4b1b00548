r"""Both ways between rows and their places in a map that somebody else has made.

Forth, from a row to a place, is a matter of neighbours: maps tear, and a smooth function cannot.
Back, from a place to a row, is a regression with a kernel on the map.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from mercer._base.linalg import square_sums
from mercer._base.machine import blocks, lapack_threads, ordered_map, thread_map
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.kernels import Basis, Gaussian, Kernel, Matern, RadialKernel
from mercer.kernels.jacobian import jacobian
from mercer.kernels.width import median_length
from mercer.landmarks import KMeans, Uniform
from mercer.points import Points, Vectors
from mercer.preimage.near import LARGEST, Neighbours
from mercer.preimage.ridge import _leave_one_out

#: Candidates for the number of neighbours, and for the width in units of the farthest one.
COUNTS, SHARPNESS = (3, 5, 7, 10, 15, 20, 30), (0.3, 0.5, 0.7, 1.0)
#: Candidates for the kernel on the map: lengths in units of the median distance, and penalties.
LENGTHS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0)
ALPHAS = tuple(10.0**k for k in np.arange(-4, 1.1, 0.5))
#: How much larger than the least the error of a rougher or narrower kernel may be.
TOLERANCE = 1.01
#: Random directions that stand for more columns in the choice; rows of a block on landmarks; and
#: the leverage of a row that is all but a landmark of its own.
COLUMNS, BLOCK, MOST = 64, 2048, 1 - 1e-6
#: Steps towards the median of places, the least distance in units of the largest, and rows at a
#: time.
STEPS, NEAR, FEW = 20, 1e-6, 256


@dataclass(frozen=True)
class Forth:
    r"""The way from rows to places: the weighted geometric median of the neighbours' places.

    .. math:: z(x) = \arg\min_z \sum_{j \in N(x)} w_j \|z - z_j\|, \qquad
              w_j = \exp\left(-\frac{\|x - x_j\|^2 - \|x - x_1\|^2}{(f \|x - x_k\|)^2}\right)

    with :math:`x_1` the nearest and :math:`x_k` the farthest of k neighbours. Their mean would put
    a row whose neighbours lie on two islands into the water between them; the median goes to the
    larger part. A row of the fit is where the map has it.

    Attributes
    ----------
    known : Neighbours
    places : (n, q) array
    count, sharpness : k and f
    """

    known: Neighbours
    places: Array
    count: int
    sharpness: float

    @classmethod
    def chosen(cls, known: Neighbours, Z: Array, count: int | None, rows: Array) -> Forth:
        """k (if it is not given) and f of the least mean error in placing rows left out."""
        counts = [k for k in COUNTS if k < len(Z)] or [1] if count is None else [count]
        near, apart = known.nearest(known.rows[rows], counts[-1], leave_out=rows)

        def error(way: Forth) -> float:
            placed, _ = way.median(near[:, : way.count], apart[:, : way.count])
            return float(np.sqrt(square_sums(placed - Z[rows])).mean())

        return min((cls(known, Z, k, f) for k in counts for f in SHARPNESS), key=error)

    def place(self, X: Any, leave_out: Array | None = None) -> tuple[Array, Array]:
        """Places of rows, (n, q), and how far their neighbours lie from these, (n,)."""
        near, apart = self.known.nearest(X, self.count, leave_out)
        if (far := np.flatnonzero(~np.isfinite(apart).all(axis=1))).size:
            away = f"row {far[0]} is so far from those of the fit that squares overflow"
            raise DataError(f"{away}; leave it out, or give it in the units of the fit.")
        return self.median(near, apart)

    def median(self, near: Array, apart: Array) -> tuple[Array, Array]:
        """The same from neighbours by number, and their distances."""
        # Few rows at a time: what one step leaves is still in the cache in the next.
        parts = [(near[rows], apart[rows]) for rows in blocks(len(near), FEW)]
        medians = thread_map(lambda part: self._median(*part), parts)
        return tuple(map(np.concatenate, zip(*medians, strict=True)))  # type: ignore[return-value]

    def _median(self, near: Array, apart: Array) -> tuple[Array, Array]:
        # Rows side by side, (k, n) and (q, k, n): sums over neighbours are sums of long vectors.
        w = np.ascontiguousarray(self.weights(apart).T)
        points = np.stack([part[near.T] for part in self.places.T])
        z = (w * points).sum(axis=1)
        for _ in range(STEPS):  # Weiszfeld's, from the weighted mean on
            away = _apart(points, z)
            # At one of the places the pull of that place is large, and not infinite.
            least = NEAR * away.max(axis=0)
            pull = w / np.maximum(away, np.where(least > 0, least, 1), out=away)
            z = (pull * points).sum(axis=1) / pull.sum(axis=0)
        return z.T, (w * _apart(points, z)).sum(axis=0)

    def weights(self, apart: Array) -> Array:
        """w of neighbours at these distances, the nearest first, with 1 as their sum."""
        reach = self.sharpness * apart[:, -1:]
        # In units of the reach, so that squares neither overflow nor vanish.
        a = apart / np.where(reach > 0, reach, 1)
        w = np.exp(a[:, :1] ** 2 - a**2)
        w = np.where(apart[:, :1] > 0, w, apart == 0)  # rows of the fit, and their twins
        return np.asarray(w / w.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Back:
    r"""The way from places to rows: kernel ridge regression on the map.

    .. math:: x(z) = \bar x + \sum_i a_i\, k(z, z_i), \qquad
              A = (K + \alpha I)^{-1} (X - \bar x)

    or, on m landmarks c of many rows, :math:`A = (K_{nm}^\top K_{nm} + \alpha K_{mm})^{-1}
    K_{nm}^\top (X - \bar x)`.

    Attributes
    ----------
    kernel : Kernel
    centres : (m, q) array
        The places, or landmarks among them.
    weights : (m, d) array
        A.
    mean : (d,) array
    alpha : float
    """

    kernel: Kernel
    centres: Array
    weights: Array
    mean: Array
    alpha: float

    @cached_property
    def basis(self) -> Basis:
        """The functions k(·, z_i)."""
        return Basis(self.kernel, Vectors(self.centres))

    def rows(self, Z: Array) -> Array:
        """The rows that places stand for, (n, d); O(n m (q + d)) time."""
        return np.asarray(self.basis.matmat(Z, self.weights) + self.mean)

    def gradient(self, Z: Array) -> Array:
        """The derivative of each column by each coordinate of the map, (n, d, q)."""
        return jacobian(self.kernel, Z, self.centres, self.weights)


@dataclass(frozen=True)
class LeftOut:
    r"""What a regression misses of some rows where it has learnt without them.

    Of rows p that are left out together it misses :math:`G_{pp}^{-1} A_p`: G is
    :math:`(K + \alpha I)^{-1}` and A the weights; on landmarks, G is I less the matrix that takes
    rows to fitted ones, and A what the fit misses.

    Attributes
    ----------
    G : (c, c) array
    A : (c, d) array
    """

    G: Array
    A: Array

    @cached_property
    def alone(self) -> Array:
        """How far each row is missed without itself, (c,)."""
        return np.asarray(np.sqrt(square_sums(self.A)) / self.G.diagonal())

    def beside(self, near: Array) -> Array:
        """How far the rows ``near[i]`` are missed without themselves and without row i, (c, k)."""
        G, A, own = self.G, self.A, self.G.diagonal()
        between = np.take_along_axis(G, near, axis=1)
        det = own[:, None] * own[near] - between**2
        size = np.empty(near.shape)
        for k, j in enumerate(near.T):
            size[:, k] = np.sqrt(square_sums(own[:, None] * A[j] - between[:, k, None] * A))
        # Rows that are all but one landmark between them leave nothing to divide by.
        return np.asarray(size / np.maximum(det, (1 - MOST) * own[:, None] * own[near]))


def _apart(points: Array, z: Array) -> Array:
    """Distances between points (q, k, n) and one place for each n, (q, n)."""
    away = points - z[:, None]
    away *= away
    return np.asarray(np.sqrt(away.sum(axis=0)))


def choose_kernel(
    Z: Array, X: Array, placed: Array, kernel: RadialKernel | None
) -> tuple[RadialKernel, float]:
    r"""Kernel (if it is not given) and penalty that bring rows back best that were left out.

    A row has two places: the one in the map, and the one that the way forth finds without it. Both
    count alike. New rows come from places of the second kind, or from those that the map's own tool
    gives, and a regression chosen for the first alone may swing between them.

    Parameters
    ----------
    Z, X, placed : places, rows, and places that were found without the row
    kernel : resolved, if it is given
    """
    kernels = [kernel] if kernel is not None else _candidates(median_length(Z))

    def errors(candidate: RadialKernel) -> Array:
        basis = Basis(candidate, Vectors(Z))
        left_out = _leave_one_out(basis.gram(), X, ALPHAS, (basis.at(placed), X))
        return np.asarray(left_out.sum(axis=0))

    losses = np.stack(thread_map(errors, kernels))
    # The first that will do is the roughest and narrowest: it does not swing between rows.
    best = int(np.argmax(losses.min(axis=1) <= TOLERANCE * losses.min()))
    return kernels[best], ALPHAS[int(losses[best].argmin())]


def _candidates(length: float) -> list[RadialKernel]:
    """Exponential, Matérn and Gaussian kernels of many lengths, rough and narrow ones first."""
    shapes: tuple[RadialKernel, ...] = (Matern(nu=0.5), Matern(nu=1.5), Gaussian())
    return [shape.with_length(length * factor) for shape in shapes for factor in LENGTHS]


def learn_back(
    Z: Array, X: Points, kernel: RadialKernel, alpha: float, n_landmarks: int, rows: Array
) -> tuple[Back, LeftOut]:
    """The regression, and what it misses of some rows without them.

    O(n³/3 + n² (c + d)) time up to 5,000 rows, O(n m (m + d)) on m landmarks of more.
    """
    mean = np.asarray(X.for_user().mean(axis=0), dtype=np.float64).ravel()
    if len(Z) > LARGEST:
        centres, weights, left = on_landmarks(Z, X, mean, kernel, alpha, n_landmarks, rows)
        return Back(kernel, centres, weights, mean, alpha), left
    K = Basis(kernel, Vectors(Z)).gram()
    K[np.diag_indices_from(K)] += alpha
    with lapack_threads(len(K)):
        L = cho_factor(K, lower=True, overwrite_a=True)
        A = cho_solve(L, X.to_dense() - mean)
        one = np.zeros((len(Z), len(rows)), order="F")
        one[rows, np.arange(len(rows))] = 1
        half = solve_triangular(L[0], one, lower=True, overwrite_b=True)
        return Back(kernel, Z, A, mean, alpha), LeftOut(half.T @ half, A[rows])


def on_landmarks(
    Z: Array, X: Points, mean: Array, kernel: Kernel, alpha: float, m: int, rows: Array
) -> tuple[Array, Array, LeftOut]:
    """Landmarks, A, and what is missed of some rows without them."""
    centres = np.asarray(KMeans(Uniform()).select(kernel, Z, m, fixed_rng(0)))
    basis = Basis(kernel, Vectors(centres))

    def add(part: slice) -> tuple[Array, Array]:
        k = basis.at(Z[part])
        return k.T @ k, k.T @ (X.take(part).to_dense() - mean)

    M = alpha * basis.gram()
    R = np.zeros((len(centres), len(mean)))
    for square, product in ordered_map(add, blocks(len(Z), BLOCK)):
        M += square
        R += product
    # Landmarks close to each other leave the matrix positive definite only up to rounding.
    M[np.diag_indices_from(M)] += 1e-12 * np.trace(M) / len(M)
    with lapack_threads(len(M)):
        L = cho_factor(M, lower=True)
        A = cho_solve(L, R)
        k = basis.at(Z[rows])
        half = solve_triangular(L[0], k.T, lower=True)
        G = -half.T @ half
    G[np.diag_indices_from(G)] = np.maximum(1 + G.diagonal(), 1 - MOST)
    return centres, A, LeftOut(G, X.take(rows).to_dense() - mean - k @ A)


def sketched(X: Points, rng: np.random.Generator) -> Array:
    """Rows around their mean in at most 64 random directions, in which squares are the same.

    Sums of squared errors are, too, in the mean; a choice among hundreds costs a tenth.
    """
    if X.width <= COLUMNS:
        rows = X.to_dense()
    else:
        rows = X.for_user() @ (rng.standard_normal((X.width, COLUMNS)) / np.sqrt(COLUMNS))
    return np.asarray(rows - rows.mean(axis=0), dtype=np.float64)


def shared(X: Neighbours, Z: Neighbours, count: int, rows: Array) -> Array:
    """The share of each row's nearest rows that are nearest to it in the map, too, (n,)."""
    near = [known.nearest(known.rows[rows], count, leave_out=rows)[0] for known in (X, Z)]
    return np.asarray((near[0][:, :, None] == near[1][:, None, :]).any(axis=2).mean(axis=1))
