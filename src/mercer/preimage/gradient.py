"""Descent on the feature-space distance itself, for any kernel with a gradient (Mika eq. 7)."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Memory:
    """The last steps s and changes of gradient y of n problems; slots are used in turn."""

    steps: Array  # (n, DEPTH, d)
    changes: Array  # (n, DEPTH, d)
    rho: Array  # (n, DEPTH) 1 / s·y; 0 where a slot is empty
    count: Array  # (n,) pairs recorded so far

    @classmethod
    def start(cls, n: int, d: int) -> Memory:
        """Nothing known yet: the inverse Hessian is the identity."""
        return cls(
            np.zeros((n, DEPTH, d)), np.zeros((n, DEPTH, d)), np.zeros((n, DEPTH)), np.zeros(n, int)
        )

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
        done = thread_map(lambda part: self._descend(Z[part], X[part]), parts)
        points, converged, iterations, status = map(np.concatenate, zip(*done, strict=True))
        points = (points * self.length).astype(dtype, copy=False)
        return PreImages(points, converged, iterations, status)

    def _descend(self, Z: Array, X: Array) -> tuple[Array, Array, Array, Array]:
        """One batch, in units of the length: points, converged, iterations and status."""
        far = np.sqrt(np.maximum(self.subspace.squared_norm(Z), 0))
        scale = far * np.minimum(far, self.reach)
        G = self.subspace.expansion(Z)
        target = _Target(self.subspace, G, scale, self.length, float(power_of_two(self.reach)) ** 2)
        X = X.copy()
        status = np.full(len(X), Status.LIMIT)
        iterations = np.ones(len(X), dtype=int)
        memory = Memory.start(*X.shape)
        rows = np.arange(len(X))
        value, size = target.value(X, rows)
        slope = target.gradient(X, rows)
        for _ in range(self.config.max_iter):
            steep = np.sqrt(square_sums(slope[rows])) * self.radius
            arrived = steep <= self.config.tol * size[rows]
            status[rows[arrived]] = Status.CONVERGED
            rows = rows[~arrived]
            if not rows.size:
                break
            direction = self._direction(memory, rows, slope[rows])
            moved = self._search(target, X, value, size, rows, direction, slope)
            iterations[rows] += moved.trials
            status[rows[~moved.found]] = Status.STALLED
            rows, step = rows[moved.found], moved.step[moved.found]
            if not rows.size:
                break
            fresh = target.gradient(X[rows], rows)
            memory.update(rows, step, fresh - slope[rows])
            slope[rows] = fresh
        return X, status == Status.CONVERGED, iterations, status

    def _direction(self, memory: Memory, rows: Array, slope: Array) -> Array:
        """The quasi-Newton direction; downhill, and no longer than the data's radius."""
        direction = -memory.apply(rows, slope)
        uphill = np.einsum("nd,nd->n", direction, slope) >= 0
        direction[uphill] = -slope[uphill]
        length = np.sqrt(square_sums(direction))
        # Without curvature the gradient's length means nothing: begin with a tenth of the radius.
        first = uphill | (memory.count[rows] == 0)
        allowed = np.where(first, 0.1, 1.0) * self.radius
        shrink = np.where(first, allowed, np.minimum(length, allowed)) / np.where(
            length > 0, length, 1
        )
        return np.asarray(direction * shrink[:, None])

    def _search(
        self,
        target: _Target,
        X: Array,
        value: Array,
        size: Array,
        rows: Array,
        direction: Array,
        slope: Array,
    ) -> _Moved:
        """Halve steps until the value falls enough; writes X, value and size of rows that moved."""
        moved = _Moved.start(len(rows), X.shape[1])
        descent = np.einsum("nd,nd->n", direction, slope[rows])
        slack = 4 * np.finfo(float).eps * size[rows]
        open_, factor = np.arange(len(rows)), 1.0
        for _ in range(HALVINGS):
            at = rows[open_]
            trial = np.maximum(X[at] + factor * direction[open_], self.lowest)
            new, new_size = target.value(trial, at)
            moved.trials[open_] += 1
            good = new <= value[at] + DECREASE * factor * descent[open_] + slack[open_]
            took, where = open_[good], at[good]
            moved.found[took] = True
            moved.step[took] = trial[good] - X[where]
            X[where], value[where], size[where] = trial[good], new[good], new_size[good]
            open_, factor = open_[~good], factor / 2
            if not open_.size:
                break
        return moved


@dataclass(frozen=True)
class _Moved:
    """The outcome of a line search, row by row."""

    found: Array
    step: Array
    trials: Array

    @classmethod
    def start(cls, n: int, d: int) -> _Moved:
        return cls(np.zeros(n, bool), np.zeros((n, d)), np.zeros(n, int))


@dataclass(frozen=True)
class _Target:
    """The squared distances to the points ``Phi_S gamma`` of one batch, up to constants.

    Points are in units of ``length`` and distances in those of ``square``, powers of two.
    """

    subspace: Subspace
    G: Array
    scale: Array
    length: float
    square: float

    def value(self, X: Array, rows: Array) -> tuple[Array, Array]:
        """``k(x,x) - 2 gamma·k(S,x)`` at each point, and its natural size ``k(x,x) + scale``."""
        X = X * self.length
        own = self.subspace.kernel.diag(X) / self.square
        inner = self.subspace.basis.row_products(X, self.G[rows]) / self.square
        return own - 2 * inner, np.abs(own) + self.scale[rows] / self.square

    def gradient(self, X: Array, rows: Array) -> Array:
        kernel, S = self.subspace.kernel, self.subspace.support
        X = X * self.length
        slope = kernel.diag_gradient(X) - 2 * kernel.gradient(X, S, self.G[rows])
        return np.asarray(slope * self.length / self.square)
