"""Descent on the feature-space distance itself, for any kernel with a gradient (Mika eq. 7)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from mercer._base.linalg import power_of_two, square_sums
from mercer._base.machine import blocks, n_threads, thread_map
from mercer._base.types import Array
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, Status, check_codes
from mercer.preimage.nearest import Nearest

#: The limited memory of quasi-Newton steps (Nocedal 1980).
DEPTH = 6


class Memory:
    """The last steps s and changes of gradient y of n problems; slots are used in turn.

    Nothing is known at first: the inverse Hessian is the identity.
    """

    def __init__(self, n: int, d: int) -> None:
        self.steps, self.changes = np.zeros((2, n, DEPTH, d))
        self.rho = np.zeros((n, DEPTH))  # 1 / s·y; 0 where a slot is empty
        self.count = np.zeros(n, int)  # pairs recorded so far

    def update(self, rows: Array, step: Array, change: Array) -> None:
        """Record pairs of positive curvature; others would spoil the approximation."""
        curvature = np.einsum("nd,nd->n", step, change)
        sizes = np.linalg.norm(step, axis=1) * np.linalg.norm(change, axis=1)
        good = curvature > 1e-10 * sizes
        at = rows[good]
        slot = self.count[at] % DEPTH
        self.steps[at, slot], self.changes[at, slot] = step[good], change[good]
        self.rho[at, slot] = 1 / curvature[good]
        self.count[at] += 1

    def apply(self, rows: Array, gradient: Array) -> Array:
        """The approximate inverse Hessian times the gradients, by the two-loop recursion."""
        q = gradient.copy()
        weight = np.zeros((len(rows), DEPTH))
        newest_first = (self.count[rows][:, None] - 1 - np.arange(DEPTH)) % DEPTH
        each = np.arange(len(rows))
        for j in range(DEPTH):
            slot = newest_first[:, j]
            s, y = self.steps[rows, slot], self.changes[rows, slot]
            weight[each, slot] = self.rho[rows, slot] * np.einsum("nd,nd->n", s, q)
            q -= weight[each, slot][:, None] * y
        q *= self._first_guess(rows)[:, None]
        for j in reversed(range(DEPTH)):
            slot = newest_first[:, j]
            s, y = self.steps[rows, slot], self.changes[rows, slot]
            correction = self.rho[rows, slot] * np.einsum("nd,nd->n", y, q)
            q += (weight[each, slot] - correction)[:, None] * s
        return q

    def _first_guess(self, rows: Array) -> Array:
        """``s·y / y·y`` of the newest pair."""
        slot = (self.count[rows] - 1) % DEPTH
        y = self.changes[rows, slot]
        square = np.einsum("nd,nd->n", y, y)
        rho = self.rho[rows, slot]
        known = (rho > 0) & (square > 0)
        return np.where(known, 1 / np.where(known, rho * square, 1), 1.0)


ROWS = 128
#: Sufficient decrease (Armijo), and how often a step is halved to get it.
DECREASE, HALVINGS = 1e-4, 25


class Gradient(PreImageSolver):
    r"""L-BFGS on the squared distance in feature space, for many points at once.

    .. math:: \rho(z) = k(z, z) - 2 \sum_i \gamma_i\, k(z, s_i)

    Starts at the noisy point where that is known, else at the support point nearest in feature
    space. No step is longer than the data's radius.

    Parameters
    ----------
    tol : float, default=1e-6
        Converged when ``|grad ρ| · r ≤ tol · (k(z,z) + |P| min(|P|, κ))`` with the data's radius r
        and κ² the largest k(s,s): far off all images ρ grows as the length of P, not its square.
    max_iter : int, default=300

    Notes
    -----
    Works in float64 inside. O(m d) time per point and evaluation, about twice that of
    :class:`~mercer.preimage.FixedPoint`, which finds the same points for radial kernels; memory
    O(m) for each of at most 128 rows per thread. For kernels with kinks (Laplacian) it may stop
    at one and say ``"stalled"``. Where a kernel takes no negative entries (Chi2), neither does
    the descent.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import Polynomial
    >>> from mercer.preimage import Gradient
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> model = KernelPCA(8, kernel=Polynomial(2), preimage=Gradient()).fit(X)
    >>> found = model.preimages(X[:5])
    >>> bool(found.converged.all())
    True
    """

    requires: ClassVar[tuple[str, ...]] = ("coordinates", "gradient")

    def __init__(self, tol: float = 1e-6, max_iter: int = 300) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_subspace(subspace)
        support = subspace.support.astype(np.float64, copy=False)
        return _BoundGradient(self, replace(subspace.astype(np.float64), support=support))


@dataclass(frozen=True)
class _BoundGradient(BoundPreImage):
    config: Gradient
    subspace: Subspace

    @cached_property
    def nearest(self) -> BoundPreImage:
        return Nearest().init(self.subspace)

    @cached_property
    def length(self) -> float:
        """The unit of the descent, of the size of the data: squares of steps stay in range."""
        S = self.subspace.support
        return float(power_of_two(np.abs(S - S[0]).max()))

    @cached_property
    def radius(self) -> float:
        """How far the support points lie from their mean, in units of the length."""
        S = (self.subspace.support - self.subspace.support[0]) / self.length
        return float(np.sqrt(square_sums(S - S.mean(axis=0)).mean())) or 1.0

    @cached_property
    def reach(self) -> float:
        """κ: how far from the origin of feature space the support points' images lie."""
        return float(np.sqrt(max(self.subspace.kernel.diag(self.subspace.support).max(), 0)))

    @property
    def lowest(self) -> float:
        """The least entry that the kernel takes: 0 for kernels of histograms."""
        return 0.0 if self.subspace.kernel.is_nonnegative else -np.inf

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:
        dtype = Z.dtype
        Z = check_codes(Z).astype(np.float64, copy=False)
        X = self.nearest.solve(Z).points if start is None else start
        X = np.maximum(X, self.lowest).astype(np.float64, copy=False) / self.length
        rows = max(1, min(ROWS, -(-len(Z) // n_threads())))
        parts = blocks(len(Z), rows)
        done = thread_map(lambda part: _Descent(self, Z[part], X[part]).run(), parts)
        points, status, iterations = map(np.concatenate, zip(*done, strict=True))
        points = (points * self.length).astype(dtype, copy=False)
        return PreImages(points, status == Status.CONVERGED, iterations, status)


class _Descent:
    """One batch on its way to the points ``Phi_S gamma``.

    Points are in units of the data's length, and squared distances, of which constants are left
    out, in those of ``square``: powers of two.
    """

    def __init__(self, bound: _BoundGradient, Z: Array, X: Array) -> None:
        self.bound = bound
        self.X = X.copy()
        self.G = bound.subspace.expansion(Z)
        self.square = float(power_of_two(bound.reach)) ** 2
        far = np.sqrt(np.maximum(bound.subspace.squared_norm(Z), 0))
        self.scale = far * np.minimum(far, bound.reach)
        rows = np.arange(len(X))
        self.value, self.size = self._value(self.X, rows)
        self.slope = self._gradient(rows)
        self.memory = Memory(*X.shape)
        self.iterations = np.ones(len(X), dtype=int)

    def run(self) -> tuple[Array, Array, Array]:
        """Points, status and iterations."""
        config, rows = self.bound.config, np.arange(len(self.X))
        status = np.full(len(self.X), Status.LIMIT)
        for _ in range(config.max_iter):
            steep = np.sqrt(square_sums(self.slope[rows])) * self.bound.radius
            arrived = steep <= config.tol * self.size[rows]
            status[rows[arrived]] = Status.CONVERGED
            rows = rows[~arrived]
            if not rows.size:
                break
            before = self.X[rows]
            moved = self._search(rows, self._direction(rows))
            status[rows[~moved]] = Status.STALLED
            rows, step = rows[moved], (self.X[rows] - before)[moved]
            if not rows.size:
                break
            fresh = self._gradient(rows)
            self.memory.update(rows, step, fresh - self.slope[rows])
            self.slope[rows] = fresh
        return self.X, status, self.iterations

    def _value(self, X: Array, rows: Array) -> tuple[Array, Array]:
        """``k(x,x) - 2 gamma·k(S,x)`` at each point, and its natural size ``k(x,x) + scale``."""
        X = X * self.bound.length
        own = self.bound.subspace.kernel.diag(X) / self.square
        inner = self.bound.subspace.basis.row_products(X, self.G[rows]) / self.square
        return own - 2 * inner, np.abs(own) + self.scale[rows] / self.square

    def _gradient(self, rows: Array) -> Array:
        kernel, S = self.bound.subspace.kernel, self.bound.subspace.support
        X = self.X[rows] * self.bound.length
        slope = kernel.diag_gradient(X) - 2 * kernel.gradient(X, S, self.G[rows])
        return np.asarray(slope * self.bound.length / self.square)

    def _direction(self, rows: Array) -> Array:
        """The quasi-Newton direction; downhill, and no longer than the data's radius."""
        slope = self.slope[rows]
        direction = -self.memory.apply(rows, slope)
        uphill = np.einsum("nd,nd->n", direction, slope) >= 0
        direction[uphill] = -slope[uphill]
        length = np.sqrt(square_sums(direction))
        # Without curvature the gradient's length means nothing: begin with a tenth of the radius.
        first = uphill | (self.memory.count[rows] == 0)
        allowed = np.where(first, 0.1, 1.0) * self.bound.radius
        step = np.where(first, allowed, np.minimum(length, allowed))
        return np.asarray(direction * (step / np.where(length > 0, length, 1))[:, None])

    def _search(self, rows: Array, direction: Array) -> Array:
        """Halve steps until the value falls enough, and make them; which rows have moved."""
        descent = np.einsum("nd,nd->n", direction, self.slope[rows])
        slack = 4 * np.finfo(float).eps * self.size[rows]
        left, factor = np.arange(len(rows)), 1.0
        for _ in range(HALVINGS):
            at = rows[left]
            trial = np.maximum(self.X[at] + factor * direction[left], self.bound.lowest)
            new, size = self._value(trial, at)
            self.iterations[at] += 1
            good = new <= self.value[at] + DECREASE * factor * descent[left] + slack[left]
            took = at[good]
            self.X[took], self.value[took], self.size[took] = trial[good], new[good], size[good]
            left, factor = left[~good], factor / 2
            if not left.size:
                break
        return ~np.isin(np.arange(len(rows)), left)
