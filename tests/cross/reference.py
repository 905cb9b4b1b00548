"""Kernel PCA by its definition, in extended precision: what every fit is compared with.

The matrix is formed and centred in ``np.longdouble``; only its eigenvalues come from float64
LAPACK, which errs by a few eps·λ₁. That is within the rounding that every judgement allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._base.types import Array
from mercer.kernels import Kernel, Polynomial, Product, RadialKernel, Scaled, Sum
from mercer.points.packed import WIDE
from tests.cross.problems import FitProblem

#: Factor on eps in every allowance for rounding: some operations make each entry, and LAPACK's own
#: tests allow its routines this much.
ROUNDING = 16.0


@dataclass(frozen=True)
class Reference:
    """The weighted, centred Gram matrix of the rows that count, and of all rows with them.

    Attributes
    ----------
    K : (m, p) k between all rows (those of weight 0 and fresh ones, too) and those that count
    own : (m,) k(x, x) of all rows; NaN where a precomputed matrix does not say
    unit : what K and all that is made of it is measured in: a power of 4, so that no square of an
        eigenvalue leaves the range of floats
    counts : which of the m rows are the p that count
    w : (p,) their weights
    center : is the weighted mean taken off?
    eps : the rounding of the type that the rows came in
    extra : (m, p) relative errors of K that its formula has beyond ROUNDING, in units of eps
    group : (p,) which of the rows that count are copies of each other
    """

    K: Array
    own: Array
    unit: np.longdouble
    counts: Array
    w: Array
    center: bool
    eps: float
    extra: Array
    group: Array

    @classmethod
    def of(cls, problem: FitProblem) -> Reference:
        """Evaluate the kernel by its definition."""
        n, m = len(problem.X), len(problem.X) + len(problem.Y)
        w = np.ones(n) if problem.weight is None else problem.weight
        counts = np.flatnonzero(w)
        eps = float(np.finfo(problem.X.dtype).eps)
        rows = np.concatenate([problem.X, problem.Y]).astype(np.longdouble)
        if problem.definition is None:
            K, own = rows[:, counts], np.full(m, np.nan, np.longdouble)
            own[:n] = np.diagonal(rows)
        else:
            K = problem.definition(rows, rows[counts])
            own = np.array([problem.definition(x[None], x[None])[0, 0] for x in rows])
        extra = np.zeros(K.shape)
        if problem.definition is not None and rows.ndim == 2:
            points = np.concatenate([problem.X, problem.Y])
            extra = formula_errors(problem.kernel.resolve(points[counts]), points, counts)
        w = w[counts].astype(np.longdouble)
        unit = _power_of_four(np.abs(K).max())
        group = np.arange(len(counts))
        if problem.definition is not None and rows.ndim == 2:
            group = np.unique(problem.X[counts], axis=0, return_inverse=True)[1].ravel()
        return cls(K / unit, own / unit, unit, counts, w, problem.center, eps, extra, group)

    @cached_property
    def blur(self) -> Array:
        """How far off each entry of K may be by its evaluation, (m, p)."""
        return np.asarray(self.eps * (ROUNDING + self.extra) * np.abs(self.K.astype(np.float64)))

    @cached_property
    def formula(self) -> float:
        """What eigenvalues may be off because of ``extra``: the norm of E, as if entries agreed."""
        root = np.sqrt(self.w.astype(np.float64))
        E = self.extra * np.abs(self.K.astype(np.float64))
        return float(self.eps * np.linalg.norm(root[:, None] * E[self.counts] * root))

    @cached_property
    def p(self) -> Array:
        """Coefficients of the mean: shares of the weight; zero if uncentred."""
        return np.asarray(self.w / self.w.sum() if self.center else 0 * self.w)

    @cached_property
    def to_mean(self) -> Array:
        """⟨φ(x), μ⟩ for all rows."""
        return np.asarray(self.K @ self.p)

    @cached_property
    def mean_square(self) -> np.longdouble:
        """⟨μ, μ⟩."""
        return np.longdouble(self.p @ self.to_mean[self.counts])

    @cached_property
    def centred(self) -> Array:
        """⟨φ(x) - μ, φ(x_j) - μ⟩ between all rows and those that count."""
        to_mean = self.to_mean
        return np.asarray(self.K - to_mean[:, None] - to_mean[None, self.counts] + self.mean_square)

    @cached_property
    def own_centred(self) -> Array:
        """Squared distances of all rows from the mean."""
        return np.asarray(self.own - 2 * self.to_mean + self.mean_square)

    @cached_property
    def matrix(self) -> Array:
        """D (H K H) D of the rows that count, in extended precision."""
        root = np.sqrt(self.w)
        M = root[:, None] * self.centred[self.counts] * root
        return np.asarray((M + M.T) / 2)

    @cached_property
    def values(self) -> Array:
        """All eigenvalues, decreasing."""
        return np.linalg.eigvalsh(self.matrix.astype(np.float64))[::-1]

    def leading(self, q: int) -> Array:
        """The q largest eigenvalues; zero beyond the number of rows that count."""
        return np.pad(self.values, (0, max(0, q - len(self.values))))[:q]

    @cached_property
    def trace(self) -> float:
        """Total variance, times the number of rows."""
        return float(np.trace(self.matrix))

    @cached_property
    def entry(self) -> float:
        """The largest entry that has to be rounded: max w k(x, x), before centring.

        Centring cancels digits of these entries, and no float64 method that evaluates k can have
        them back: at an offset of 1e8 a linear kernel's entries are 1e16, and round to ±1.
        """
        return float(np.max(self.w * np.abs(self.own[self.counts])))

    @cached_property
    def rounding(self) -> float:
        """What the eigenvalues may be off by rounding alone.

        Entries err by eps·max w k(x, x), independently: a random symmetric matrix, whose norm grows
        like √n. A stable eigensolver adds eps·λ₁.
        """
        largest = max(float(self.values[0]), 0.0)
        return float(ROUNDING * self.eps * (largest + np.sqrt(len(self.w)) * self.entry))

    @cached_property
    def floor(self) -> float:
        """Components below this may be dropped, and must not be missed above it.

        Twice the rounding, that of the formula, and that of what centring removes: the sums of n
        entries. Copies of a row round alike, as one row with all their weight.
        """
        removed = float(self.w.sum() * self.mean_square)
        heaps = np.bincount(self.group, (self.w * np.abs(self.own[self.counts])).astype(float))
        alike = ROUNDING * self.eps * float(np.sqrt(len(heaps)) * heaps.max())
        rounding = max(self.rounding, ROUNDING * self.eps * abs(self.values[0]) + alike)
        return 2 * (rounding + self.formula) + 2 * ROUNDING * self.eps * abs(removed)

    @cached_property
    def size(self) -> float:
        """The largest kernel value anywhere."""
        return float(np.nanmax([np.abs(self.K).max(), np.nanmax(np.abs(self.own))]))


def _power_of_four(largest: np.longdouble) -> np.longdouble:
    """Near the largest number; 1 if there is none."""
    if not (0 < largest < np.inf):
        return np.longdouble(1)
    return np.longdouble(np.ldexp(np.longdouble(1), 2 * (int(np.frexp(largest)[1]) // 2)))


def own_error(kernel: Kernel) -> float:
    """The relative error of k(x, x), in units of eps: a power multiplies that of its base."""
    if isinstance(kernel, Scaled):
        return own_error(kernel.kernel)
    if isinstance(kernel, Sum | Product):
        return own_error(kernel.k1) + own_error(kernel.k2)
    return 4.0 * kernel.degree if isinstance(kernel, Polynomial) else 0.0


def formula_errors(kernel: Kernel, X: Array, counts: Array) -> Array:
    """Relative errors of k between all rows and those that count, in units of eps.

    Kernels of the distance take it from a product of matrices, whose argument is off by eps·N, with
    N the squared norms over the squared length: a hundred times faster than distances of pairs.
    Where that would be more than the kernel promises (``WIDE``), close pairs are measured, and err
    by eps·√N as rows do that were scaled and rounded; a kink at 0 feels fifty times that. What the
    argument is off by the value is off by as many times as f is steep at 0 (Gaussian 1, Matérn 3/2
    3). A power multiplies relative errors, and products add them.
    """
    if isinstance(kernel, Scaled):
        return formula_errors(kernel.kernel, X, counts)
    if isinstance(kernel, Sum | Product):
        parts = [formula_errors(k, X, counts) for k in (kernel.k1, kernel.k2)]
        return parts[0] + parts[1]
    if isinstance(kernel, RadialKernel):
        norms = (((X - X[counts].mean(axis=0, dtype=np.float64)) / kernel.length) ** 2).sum(axis=1)
        N = norms[:, None] + norms[counts]
        steep, rows = (1.0, 64) if kernel.is_kinked else (float(kernel.slope(np.zeros(1))[0]), 4)
        return np.asarray(steep * np.minimum(2 * N, WIDE[X.dtype.char]) + rows * np.sqrt(N))
    power = kernel.degree if isinstance(kernel, Polynomial) else 1
    return np.full((len(X), len(counts)), 4.0 * power)
