"""Principal surfaces: an elastic net of nodes through the middle of the data."""

from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import pairwise_distances_argmin

from mercer._base import linalg, numbers, progress
from mercer._base.config import with_parameters
from mercer._base.types import Array
from mercer.alternatives import _base as base
from mercer.exceptions import DataError


@dataclass(frozen=True)
class Mesh:
    """Nodes of shape (g, g, d), two triangles in each square; grid point (i, j) is node [i, j]."""

    nodes: Array

    @property
    def side(self) -> int:
        """Nodes along each side, g."""
        return len(self.nodes)

    @property
    def flat(self) -> Array:
        """Nodes as (g², d)."""
        return self.nodes.reshape(-1, self.nodes.shape[-1])

    def weights(self, coordinates: Array) -> csr_array:
        """W, (n, g²) with three entries in each row: ``W @ flat`` are the points at coordinates."""
        square = np.clip(coordinates.astype(int), 0, self.side - 2)
        far = (coordinates - square).sum(axis=1) > 1
        # The near or the far corner of the square, and its two neighbours.
        corner, step = square + far[:, None], np.where(far, -1, 1)[:, None]
        nodes = corner @ [[self.side], [1]] + step * [0, self.side, 1]
        part = np.abs(coordinates - corner)
        weights = np.column_stack([1 - part.sum(axis=1), part])
        shape = (len(coordinates), self.side**2)
        return csr_array((weights.ravel(), nodes.ravel(), 3 * np.arange(len(nodes) + 1)), shape)

    def at(self, coordinates: Array) -> Array:
        """The points at grid coordinates between 0 and g - 1, (n, d)."""
        return np.asarray(self.weights(coordinates) @ self.flat)

    def project(self, X: Array) -> tuple[Array, Array]:
        """Grid coordinates of the nearest point of the surface, and the squared distance to it.

        Among the eight triangles around the nearest node; O(n g² d) time.
        """
        near = pairwise_distances_argmin(X, self.flat)
        node = np.column_stack(np.divmod(near, self.side))
        nearest, least = np.empty((len(X), 2)), np.full(len(X), np.inf)
        for di, dj, far in np.ndindex(2, 2, 2):
            corner, step = np.clip(node - [di, dj], 0, self.side - 2) + far, 1 - 2 * far
            i, j = corner.T
            A = self.nodes[i, j]
            E, F = self.nodes[i + step, j] - A, self.nodes[i, j + step] - A
            part = _nearest_in_triangle(X - A, E, F)
            apart = linalg.square_sums(X - A - part[:, :1] * E - part[:, 1:] * F)
            closer = apart < least
            nearest[closer], least[closer] = (corner + step * part)[closer], apart[closer]
        return nearest, least


def _nearest_in_triangle(R: Array, E: Array, F: Array) -> Array:
    """(s, t) of the point s E + t F nearest to R with s, t >= 0 and s + t <= 1, (n, 2)."""
    ee, ef, ff = np.vecdot(E, E), np.vecdot(E, F), np.vecdot(F, F)
    er, fr = np.vecdot(E, R), np.vecdot(F, R)
    determinant = ee * ff - ef**2
    s = _ratio(ff * er - ef * fr, determinant)
    t = _ratio(ee * fr - ef * er, determinant)
    inside = (s >= 0) & (t >= 0) & (s + t <= 1) & (determinant > 0)
    zero = np.zeros_like(ee)
    along_e = np.clip(_ratio(er, ee), 0, 1)
    along_f = np.clip(_ratio(fr, ff), 0, 1)
    across = np.clip(_ratio(fr - er + ee - ef, ee - 2 * ef + ff), 0, 1)
    S, T = np.stack([along_e, zero, 1 - across]), np.stack([zero, along_f, across])
    # |R - sE - tF|² without |R|², which is the same for all three edges
    cost = S**2 * ee + 2 * S * T * ef + T**2 * ff - 2 * (S * er + T * fr)
    best = cost.argmin(axis=0), np.arange(len(R))
    return np.column_stack([np.where(inside, s, S[best]), np.where(inside, t, T[best])])


def _ratio(a: Array, b: Array) -> Array:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


#: Annealing: the bending modulus starts at the first, and falls by the second at each level.
STIFF, SOFTER = 1.0, 4.0
#: Stretching modulus in units of the bending one: just enough to hold nodes that see no data.
STRETCH = 1e-2


@with_parameters
class PrincipalSurface(base.ReversibleAlternative):
    r"""A smooth surface of two parameters through the middle of the data.

    An elastic map: a square grid of nodes y, joined by triangles, that minimises

    .. math:: \frac1n \sum_i \|x_i - y(u_i)\|^2 + \beta \int \|\partial^2 y\|^2
       + \frac{\beta}{100} \int \|\partial y\|^2

    with :math:`y(u_i)` the point of the surface nearest to :math:`x_i`. Takes turns between
    projecting the rows and solving a linear system for the nodes; the bending modulus β is
    annealed from a stiff plate in the plane of the first two components. The two-parameter
    companion of :class:`PrincipalCurve`. Codes are parameters from 0 to 1, (n, 2).

    Parameters
    ----------
    side : int, default=15
        Nodes along each side of the grid.
    bending : float, default=1e-4
        Final β, for rows of unit variance: less follows finer folds, and more of the noise.
    tol : float, default=1e-3
        A level of the annealing ends when the mean squared distance changes by less than this
        share of it.
    max_iter : int, default=50
        Rounds at each level.

    Attributes
    ----------
    nodes_ : (side, side, d) array
        The surface.
    n_iter_ : int
        Rounds in all.

    Notes
    -----
    O(n g² d + g⁶) time per round for g nodes along a side, some tens of rounds; O(n g²) memory at
    most. The parameters go from 0 to 1 and are neither lengths nor areas. For data of two
    intrinsic dimensions that a bent sheet can follow; a closed surface or a rolled one (the Swiss
    roll) is beyond it, because the start is a plane.

    References
    ----------
    A. Gorban & A. Zinovyev, "Elastic principal graphs and manifolds and their practical
    applications", Computing 75, 2005. T. Hastie & W. Stuetzle, "Principal curves", Journal of the
    American Statistical Association 84, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.alternatives import PrincipalSurface
    >>> rng = np.random.default_rng(0)
    >>> flat = rng.uniform(-1, 1, (400, 2))
    >>> bowl = np.column_stack([flat, (flat**2).sum(axis=1)])
    >>> X = bowl + 0.05 * rng.standard_normal(bowl.shape)
    >>> surface = PrincipalSurface().fit(X)
    >>> surface.transform(X).shape
    (400, 2)
    >>> bool(-surface.score(X) < 0.004)
    True
    """

    _n_features_out = 2
    _saved = ("nodes_", "n_iter_", "_mesh", "_center", "_scale", *base.SEEN)

    side: int = 15
    _: KW_ONLY
    bending: float = 1e-4
    tol: float = 1e-3
    max_iter: int = 50

    def _learn(self, rows: Array, dtype: np.dtype) -> None:
        if rows.shape[1] < 2:
            raise DataError("a surface needs at least 2 columns, not 1 feature(s); give more.")
        self._center, unit, largest = base.centred(rows, "a surface")
        self._scale = float(largest * np.sqrt((unit**2).sum(axis=1).mean()))
        self._mesh = self._anneal((rows - self._center) / self._scale)
        self.nodes_ = (self._center + self._scale * self._mesh.nodes).astype(dtype)

    def _encode(self, rows: Array) -> Array:
        coordinates, _ = self._mesh.project((rows - self._center) / self._scale)
        return coordinates / (self._mesh.side - 1)

    def _decode(self, codes: Array) -> Array:
        parameters = base.on_shape(codes, 1.0, 1e-6, "surface", "parameters")
        points = self._mesh.at(parameters * (self._mesh.side - 1))
        return np.asarray(self._center + self._scale * points)

    def _anneal(self, X: Array) -> Mesh:
        mesh = _first_mesh(X, self.side)
        bend = _bending(self.side) + STRETCH * _stretching(self.side)
        levels = int(np.ceil(max(np.log(STIFF / self.bending) / np.log(SOFTER), 0))) + 1
        self.n_iter_ = 0
        settled = False
        for level, beta in enumerate(np.geomspace(max(STIFF, self.bending), self.bending, levels)):
            progress.announce("principal surface", level, levels)
            # Rows have unit variance: a distance of a hundredth of their spread is small enough.
            refit = partial(_solve, X, beta * bend)
            mesh, _, _, rounds, settled = base.settle(X, mesh, refit, self, smallest=1e-4)
            self.n_iter_ += rounds
        if not settled:
            still = f"the surface still moved after {self.max_iter} rounds"
            base.warn_unsettled(still, "raise max_iter, tol or bending")
        return mesh

    def _check_parameters(self) -> None:
        numbers.check_one_of("side", self.side, 3, 60, "a surface has a few nodes along a side")
        numbers.check_positive("bending", self.bending)
        super()._check_parameters()


def _solve(X: Array, penalty: Array, mesh: Mesh, coordinates: Array) -> Mesh:
    """The nodes for which the projected points fit best: a ridge regression."""
    n, W = len(X), mesh.weights(coordinates)
    nodes = np.linalg.solve((W.T @ W).toarray() / n + penalty, W.T @ X / n)
    return Mesh(nodes.reshape(mesh.nodes.shape))


def _first_mesh(X: Array, side: int) -> Mesh:
    """A plate in the plane of the first two components that covers the data."""
    Vt, _ = base.leading_axes(X, 2)
    Z = X @ Vt.T
    low, high = Z.min(axis=0), Z.max(axis=0)
    # A plate without any width has no triangles.
    room = np.maximum(high - low, 1e-3 * (high - low).max())
    grid = np.moveaxis(np.indices((side, side)), 0, -1) / (side - 1)
    return Mesh((low + room * grid) @ Vt)


def _bending(side: int) -> Array:
    """The integral of squared second derivatives over the unit square, as a matrix."""
    one, first, second = (_squared_differences(side, order) for order in (0, 1, 2))
    both = np.kron(second, one) + np.kron(one, second) + 2 * np.kron(first, first)
    # A step is 1/(side - 1), to the fourth power in a squared derivative, squared in an area.
    return np.asarray(both * (side - 1) ** 2)


def _stretching(side: int) -> Array:
    """The integral of squared first derivatives over the unit square, as a matrix."""
    one, first = (_squared_differences(side, order) for order in (0, 1))
    return np.asarray(np.kron(first, one) + np.kron(one, first))


def _squared_differences(side: int, order: int) -> Array:
    D = np.diff(np.eye(side), order, axis=0)
    return np.asarray(D.T @ D)
