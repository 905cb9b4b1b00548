"""Descent on the feature-space distance itself, for any kernel with a gradient (Mika eq. 7)."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mercer._base.linalg import power_of_two, square_sums
from mercer._base.machine import blocks, n_threads, thread_map
from mercer._base.types import Array
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, Status, check_codes
from mercer.preimage.nearest import FromStart

#: The limited memory of quasi-Newton steps (Nocedal 1980).
DEPTH = 6


class Memory:
    """The last steps s and changes of gradient y of n problems, the newest first.

    Nothing is known at first: the inverse Hessian is the identity.
    """

    def __init__(self, n: int, d: int) -> None:
        self.pairs = np.zeros((n, DEPTH, 2, d))  # s and y
        self.rho = np.zeros((n, DEPTH))  # 1 / s·y; 0 where no pair is known

    def update(self, rows: Array, step: Array, change: Array) -> None:
        """Record pairs of positive curvature; others would spoil the approximation."""
        curvature = np.einsum("nd,nd->n", step, change)
        sizes = np.linalg.norm(step, axis=1) * np.linalg.norm(change, axis=1)
        good = curvature > 1e-10 * sizes
        at, pair = rows[good], np.stack([step, change], axis=1)[good]
        self.pairs[at] = np.concatenate([pair[:, None], self.pairs[at, :-1]], axis=1)
        self.rho[at] = np.column_stack([1 / curvature[good], self.rho[at, :-1]])

    def apply(self, rows: Array, gradient: Array) -> Array:
        """The approximate inverse Hessian times the gradients, by the two-loop recursion."""
        q, rho, weight = gradient.copy(), self.rho[rows].T, np.zeros((DEPTH, len(rows)))
        steps, changes = self.pairs[rows].transpose(2, 1, 0, 3)
        for j in range(DEPTH):
            weight[j] = rho[j] * np.einsum("nd,nd->n", steps[j], q)
            q -= weight[j][:, None] * changes[j]
        # The first guess is s·y / y·y of the newest pair.
        square = rho[0] * square_sums(changes[0])
        q *= np.where(square > 0, 1 / np.where(square > 0, square, 1), 1.0)[:, None]
        for j in reversed(range(DEPTH)):
            correction = rho[j] * np.einsum("nd,nd->n", changes[j], q)
            q += (weight[j] - correction)[:, None] * steps[j]
        return q


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
class _BoundGradient(FromStart):
    def solve(self, Z: Array, start: Array | None = None) -> PreImages:
        dtype = Z.dtype
        Z = check_codes(Z).astype(np.float64, copy=False)
        X = self.begin(Z, start)

        def descend(rows: slice) -> tuple[Array, Array, Array]:
            return _Descent(self.config, self.subspace, Z[rows], X[rows]).run()

        parts = blocks(len(Z), max(1, min(ROWS, -(-len(Z) // n_threads()))))
        done = zip(*thread_map(descend, parts), strict=True)
        points, status, iterations = map(np.concatenate, done)
        points = points.astype(dtype, copy=False)
        return PreImages(points, status == Status.CONVERGED, iterations, status)


class _Descent:
    """One batch on its way to the points ``Phi_S gamma``.

    Points are in units of ``length``, of the size of the data: squares of steps stay in range.
    Squared distances, of which constants are left out, are in those of ``square``. Both are powers
    of two.
    """

    def __init__(self, config: Gradient, subspace: Subspace, Z: Array, X: Array) -> None:
        self.config = config
        self.subspace = subspace
        kernel, S = subspace.kernel, subspace.support - subspace.support[0]
        self.length = float(power_of_two(np.abs(S).max()))
        S /= self.length
        # How far the support points lie from their mean, and their images from the origin: κ.
        self.radius = float(np.sqrt(square_sums(S - S.mean(axis=0)).mean())) or 1.0
        reach = float(np.sqrt(max(kernel.diag(subspace.support).max(), 0)))
        self.square = float(power_of_two(reach)) ** 2
        self.lowest = 0.0 if kernel.is_nonnegative else -np.inf  # entry that the kernel takes
        self.X = np.maximum(X, self.lowest).astype(np.float64, copy=False) / self.length
        self.G = subspace.expansion(Z)
        far = np.sqrt(np.maximum(subspace.squared_norm(Z), 0))
        self.scale = far * np.minimum(far, reach)
        rows = np.arange(len(X))
        self.value, self.size = self._value(self.X, rows)
        self.slope = self._gradient(rows)
        self.memory = Memory(*X.shape)
        self.iterations = np.ones(len(X), dtype=int)

    def run(self) -> tuple[Array, Array, Array]:
        """Points, status and iterations."""
        rows = np.arange(len(self.X))
        status = np.full(len(self.X), Status.LIMIT)
        for _ in range(self.config.max_iter):
            steep = np.sqrt(square_sums(self.slope[rows])) * self.radius
            arrived = steep <= self.config.tol * self.size[rows]
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
        return self.X * self.length, status, self.iterations

    def _value(self, X: Array, rows: Array) -> tuple[Array, Array]:
        """``k(x,x) - 2 gamma·k(S,x)`` at each point, and its natural size ``k(x,x) + scale``."""
        X = X * self.length
        own = self.subspace.kernel.diag(X) / self.square
        inner = np.einsum("ij,ij->i", self.subspace.basis.at(X), self.G[rows]) / self.square
        return own - 2 * inner, np.abs(own) + self.scale[rows] / self.square

    def _gradient(self, rows: Array) -> Array:
        kernel, S = self.subspace.kernel, self.subspace.support
        X = self.X[rows] * self.length
        slope = kernel.diag_gradient(X) - 2 * kernel.gradient(X, S, self.G[rows])
        return np.asarray(slope * self.length / self.square)

    def _direction(self, rows: Array) -> Array:
        """The quasi-Newton direction; downhill, and no longer than the data's radius."""
        slope = self.slope[rows]
        direction = -self.memory.apply(rows, slope)
        uphill = np.einsum("nd,nd->n", direction, slope) >= 0
        direction[uphill] = -slope[uphill]
        length = np.sqrt(square_sums(direction))
        # Without curvature the gradient's length means nothing: begin with a tenth of the radius.
        first = uphill | (self.memory.rho[rows, 0] == 0)
        allowed = np.where(first, 0.1, 1.0) * self.radius
        step = np.where(first, allowed, np.minimum(length, allowed))
        return np.asarray(direction * (step / np.where(length > 0, length, 1))[:, None])

    def _search(self, rows: Array, direction: Array) -> Array:
        """Halve steps until the value falls enough, and make them; which rows have moved."""
        descent = np.einsum("nd,nd->n", direction, self.slope[rows])
        slack = 4 * np.finfo(float).eps * self.size[rows]
        left, factor = np.arange(len(rows)), 1.0
        for _ in range(HALVINGS):
            at = rows[left]
            trial = np.maximum(self.X[at] + factor * direction[left], self.lowest)
            new, size = self._value(trial, at)
            self.iterations[at] += 1
            good = new <= self.value[at] + DECREASE * factor * descent[left] + slack[left]
            took = at[good]
            self.X[took], self.value[took], self.size[took] = trial[good], new[good], size[good]
            left, factor = left[~good], factor / 2
            if not left.size:
                break
        return ~np.isin(np.arange(len(rows)), left)
