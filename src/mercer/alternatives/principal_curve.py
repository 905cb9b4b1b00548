"""Principal curves: smooth curves through the middle of the data (Hastie & Stuetzle 1989)."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Self

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq
from sklearn.metrics import pairwise_distances_argmin
from sklearn.preprocessing import SplineTransformer

from mercer._base import linalg, progress
from mercer._base.config import with_parameters
from mercer._base.types import Array
from mercer.alternatives import _base as base
from mercer.exceptions import DataError


@dataclass(frozen=True)
class Polyline:
    """A curve as a fine polygon: nodes, and the length up to each; closed ones end at the start."""

    nodes: Array
    arc: Array
    closed: bool

    @classmethod
    def through(cls, nodes: Array, *, closed: bool) -> Self:
        """The polygon through the nodes; the first is repeated at the end if it is closed."""
        if closed:
            nodes = np.vstack([nodes, nodes[:1]])
        steps = np.sqrt(linalg.square_sums(np.diff(nodes, axis=0)))
        return cls(nodes, np.concatenate([[0.0], np.cumsum(steps)]), closed)

    @property
    def length(self) -> float:
        """Length of the curve."""
        return float(self.arc[-1])

    def at(self, t: Array) -> Array:
        """The points at arc lengths t, (n, d)."""
        return np.column_stack([np.interp(t, self.arc, x) for x in self.nodes.T])

    def project(self, X: Array) -> tuple[Array, Array]:
        """Arc length of the nearest point of the curve, and the squared distance to it.

        The nearest node is found first, then the nearest point on the two pieces that meet there:
        right up to the distance between two nodes. O(n m d) time for m nodes.
        """
        last = len(self.nodes) - 1
        # Without the repeated first node of closed curves, so that ties do not occur.
        near = pairwise_distances_argmin(X, self.nodes[:-1] if self.closed else self.nodes)
        before = (near - 1) % last if self.closed else np.maximum(near - 1, 0)
        after = np.minimum(near, last - 1)
        (t1, d1), (t2, d2) = self._onto_piece(X, before), self._onto_piece(X, after)
        t = np.where(d1 < d2, t1, t2)
        if self.closed:
            t = np.where(t >= self.length * (1 - 1e-12), 0.0, t)
        return t, np.minimum(d1, d2)

    def _onto_piece(self, X: Array, i: Array) -> tuple[Array, Array]:
        start, along = self.nodes[i], self.nodes[i + 1] - self.nodes[i]
        size = linalg.square_sums(along)
        part = np.einsum("ij,ij->i", X - start, along)
        part = np.clip(np.divide(part, size, out=np.zeros_like(part), where=size > 0), 0, 1)
        apart = X - start - part[:, None] * along
        return self.arc[i] + part * np.sqrt(size), linalg.square_sums(apart)


DEGREE = 3


def smoothed(t: Array, X: Array, length: float, df: float, at: Array, *, closed: bool) -> Array:
    """Columns of X as functions of t on [0, length], smoothed by cubic splines, at new places.

    Least squares with a penalty on the curvature that leaves ``df`` degrees of freedom; of period
    ``length`` if closed. The penalty is that of Eilers & Marx (1996, Statistical Science 11):
    second differences of the coefficients of B-splines on equal intervals. Degrees of freedom are
    the trace of the smoothing matrix; 2 is a straight line, and 1 the mean for closed curves.

    O(n k + k³) time for k coefficients, k a few times ``df``.
    """
    pieces = max(20, int(4 * df))
    B = basis(t, length, pieces, closed=closed)
    k = B.shape[1]
    D = np.diff(np.eye(k)[np.arange(k + 2 * closed) % k], 2, axis=0)  # around, if it is closed
    G, P = B.T @ B, D.T @ D
    P *= np.trace(G) / np.trace(P)
    P += 1e-12 * np.trace(G) / k * np.eye(k)
    # G + P has full rank even where no point lies: a straight line that B does not see is none.
    # W' (G + P) W = I and W' G W = diag(g), so that the smoother is diagonal for every penalty.
    g, W = eigh(G, G + P)
    g = np.clip(g, 0.0, 1.0)
    # W (diag(g) + lam diag(1 - g))⁻¹ W' B' X, and nothing where nothing is known
    inverse = np.where(g > 1e-12, 1 / (g + _penalty(g, df) * (1 - g)), 0.0)
    coef = W @ (inverse[:, None] * (W.T @ (B.T @ X)))
    return np.asarray(basis(at, length, pieces, closed=closed) @ coef)


def basis(t: Array, length: float, pieces: int, *, closed: bool) -> Array:
    """Values of the B-splines on ``pieces`` equal intervals, (n, k)."""
    knots = np.linspace(0, length, pieces + 1)[:, None]
    beyond = "periodic" if closed else "constant"
    splines = SplineTransformer(degree=DEGREE, knots=knots, extrapolation=beyond).fit(knots)
    return np.asarray(splines.transform(t[:, None]))


def _penalty(g: Array, df: float) -> float:
    """The penalty at which the degrees of freedom, Σ g / (g + lam (1 - g)), are ``df``."""

    def excess(log_lam: float) -> float:
        lam = np.exp(log_lam)
        return float((g / (g + lam * (1 - g) + 1e-300)).sum() - df)

    low, high = -30.0, 18.0
    if excess(low) <= 0 or excess(high) >= 0:  # none gives df: too few directions
        return float(np.exp(low if excess(low) <= 0 else high))
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))


#: Nodes of the polygon that stands for the curve.
NODES = 500
#: Annealing: each level has more degrees of freedom by this factor, up to the last number.
FINER, FINEST = 1.25, 60.0
#: Levels without improvement after which the annealing ends.
PATIENCE = 4


@with_parameters
class PrincipalCurve(base.ReversibleAlternative):
    r"""A smooth curve through the middle of the data, open or closed.

    Each point of a principal curve is the mean of the data that project onto it,

    .. math:: f(t) = E\,[\,x \mid t_f(x) = t\,],

    and the algorithm takes turns: project the rows onto the curve, which gives each its arc length
    t; smooth the coordinates as functions of t by a penalised spline. The smoothing is annealed
    from a straight line (a ring, if closed) to what the data support. Codes are arc lengths,
    (n, 1); those of closed curves go round and round.

    Parameters
    ----------
    df : float, optional
        Degrees of freedom of each coordinate, 2 or more: 2 is a straight line, 5 an arc, 10 an S.
        By default the annealing chooses: it goes on while Akaike's criterion improves.
    closed : bool, default=False
        A curve that ends where it begins.
    tol : float, default=1e-4
        A level of the annealing ends when the mean squared distance changes by less than this
        share of it.
    max_iter : int, default=50
        Rounds at each level.

    Attributes
    ----------
    nodes_ : (m, d) array
        The curve as a fine polygon, at equal steps of arc length; a closed one ends at its
        first node.
    length_ : float
        Codes go from 0 to here.
    df_ : float
    path_ : (levels, 3) array
        Degrees of freedom, root mean squared distance, and Akaike's criterion of each level.
    n_iter_ : int
        Rounds in all.

    Notes
    -----
    O(n m d) time per round with m = 500 nodes, some hundred rounds; O(n m) memory at most. Where
    data branch, or cross themselves, there is no principal curve to be found; where the first
    linear component folds the curve badly (a spiral), the annealing ends in a wrong one. Bends
    are drawn slightly inwards, as by every smoother.

    References
    ----------
    T. Hastie & W. Stuetzle, "Principal curves", Journal of the American Statistical Association
    84, 1989. P. Eilers & B. Marx, "Flexible smoothing with B-splines and penalties", Statistical
    Science 11, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.alternatives import PrincipalCurve
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, np.pi, 300)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((300, 2))
    >>> curve = PrincipalCurve().fit(X)
    >>> t = curve.transform(X)
    >>> points = curve.inverse_transform(t)
    >>> bool(np.abs(np.linalg.norm(points, axis=1) - 1).mean() < 0.03)
    True
    >>> round(curve.length_)
    3
    """

    _n_features_out = 1
    _saved = ("nodes_", "length_", "df_", "n_iter_", "_line", "_center", "_scale", *base.SEEN)

    df: float | None = None
    _: KW_ONLY
    closed: bool = False
    tol: float = 1e-4
    max_iter: int = 50

    def _learn(self, rows: Array, dtype: np.dtype) -> None:
        if self.df is not None and self.df > len(rows):
            raise DataError(f"df={self.df!r} for {len(rows)} rows: give at most so many, or None.")
        if self.closed and rows.shape[1] < 2:
            raise DataError("a closed curve needs 2 columns, not 1 feature(s); use closed=False.")
        self._center, unit, self._scale = base.centred(rows, "a curve")
        best, levels = self._anneal(unit)
        self.n_iter_ = sum(level.rounds for level in levels)
        self._line = best.line
        self.nodes_ = (self._center + self._scale * best.line.nodes).astype(dtype)
        self.length_ = self._scale * best.line.length
        self.df_ = best.df
        spread = [self._scale * np.sqrt(level.error) for level in levels]
        degrees = [level.df for level in levels]
        self.path_ = np.column_stack([degrees, spread, _criteria(levels, len(rows))])
        if not best.settled:
            still = f"the curve of df={best.df:.3g} still moved after {best.rounds} rounds"
            base.warn_unsettled(still, "raise max_iter or tol, or lower df")

    def _encode(self, rows: Array) -> Array:
        t, _ = self._line.project((rows - self._center) / self._scale)
        return np.asarray(self._scale * t)

    def _decode(self, codes: Array) -> Array:
        rounding = 1e-5 * self.length_  # codes may have been kept in single precision
        if self.closed:
            t = np.mod(codes, self.length_)
        else:
            t = base.on_shape(codes, self.length_, rounding, "curve", "arc lengths")
        return np.asarray(self._center + self._scale * self._line.at(t[:, 0] / self._scale))

    def _anneal(self, X: Array) -> "tuple[_Level, list[_Level]]":
        """The chosen level, and all levels."""
        line = _first_line(X, closed=self.closed)
        levels: list[_Level] = []
        for df in progress.announced("principal curve", self._schedule(len(X))):
            line, t, error, rounds, settled = base.settle(X, line, partial(_smooth, X, df), self)
            extent = float(np.subtract(*np.quantile(t, [0.9, 0.1])))
            noise = _dimensions(X - line.at(t))
            levels.append(_Level(df, line, error, extent, noise, rounds, settled))
            chosen = int(np.argmin(_criteria(levels, len(X)))) if self.df is None else -1
            if 0 <= chosen < len(levels) - PATIENCE:
                break
        return levels[chosen], levels

    def _schedule(self, n: int) -> list[float]:
        """Degrees of freedom from coarse to fine."""
        last = min(FINEST, max(2.0, n / 5)) if self.df is None else float(self.df)
        first = min(3.0, last)
        count = int(np.ceil(np.log(last / first) / np.log(FINER) + 1e-9))
        return [float(df) for df in np.geomspace(first, last, count + 1)]

    def _check_parameters(self) -> None:
        if self.df is not None and not (isinstance(self.df, Real) and 2 <= self.df < np.inf):
            raise DataError(f"df={self.df!r}: give a number of 2 or more, or None.")
        super()._check_parameters()


@dataclass(frozen=True)
class _Level:
    """The curve at one level of smoothing."""

    df: float
    line: Polyline
    error: float
    #: Length of the part where the middle 80 % of the rows lie; the ends follow single rows.
    extent: float
    #: Dimensions of the noise around the curve.
    noise: float
    rounds: int
    settled: bool


def _dimensions(residuals: Array) -> float:
    """How many dimensions round noise of this covariance would have, less that of the curve."""
    C = residuals.T @ residuals
    power = float((C**2).sum())
    return max(1.0, float(np.trace(C)) ** 2 / power - 1) if power > 0 else 1.0


def _criteria(levels: list[_Level], n: int) -> Array:
    """Akaike's criterion, per row, of rows spread evenly along the curve with noise around it.

    A curve that fills the plane with wiggles has small distances, and they alone would choose it;
    but it is long, and what the narrower noise gains the length loses.
    """
    k = levels[-1].noise  # of the finest curve, where the least structure is left
    df, extent, error = np.array([(level.df, level.extent, level.error) for level in levels]).T
    fit = np.log(np.maximum(extent, 1e-12)) + k / 2 * np.log(np.maximum(error / k, 1e-24))
    return np.asarray(fit + (k + 1) * df / n)


def _smooth(X: Array, df: float, line: Polyline, t: Array) -> Polyline:
    """The conditional mean of the rows given t, run through at unit speed again."""
    first, last = (0.0, line.length) if line.closed else (t.min(), t.max())
    grid = _grid(first, last, line.closed)
    nodes = smoothed(t, X, line.length, df, grid, closed=line.closed)
    rough = Polyline.through(nodes, closed=line.closed)
    return Polyline.through(rough.at(_grid(0.0, rough.length, line.closed)), closed=line.closed)


def _grid(start: float, end: float, closed: bool) -> Array:
    return np.linspace(start, end, NODES, endpoint=not closed)


def _first_line(X: Array, *, closed: bool) -> Polyline:
    """The first principal component, or the ellipse of the first two."""
    Vt, s = base.leading_axes(X - X.mean(axis=0), 2)
    if not closed:
        z = X @ Vt[0]
        return Polyline.through(_grid(z.min(), z.max(), closed)[:, None] * Vt[0], closed=False)
    angle = _grid(0.0, 2 * np.pi, closed)[:, None]
    # A ring of radius r has variance r²/2 in each direction; one of no width at all is no ring.
    radii = np.maximum(s[:2], 1e-3 * s[0]) * np.sqrt(2 / len(X))
    ring = radii[0] * np.cos(angle) * Vt[0] + radii[1] * np.sin(angle) * Vt[1]
    return Polyline.through(ring, closed=True)
