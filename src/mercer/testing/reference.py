"""Kernel PCA by its definition, in extended precision: what every fit is compared with.

The matrix is formed and centred in ``np.longdouble``; only its eigenvalues come from float64
LAPACK, which errs by a few eps·λ₁. That is within the rounding that every judgement allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer._linalg import Array
from mercer.testing.problems import FitProblem

__all__ = ["ROUNDING", "Reference"]

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
    counts : which of the m rows are the p that count
    w : (p,) their weights
    center : is the weighted mean taken off?
    eps : the rounding of the type that the rows came in
    """

    K: Array
    own: Array
    counts: Array
    w: Array
    center: bool
    eps: float

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
        return cls(K, own, counts, w[counts].astype(np.longdouble), problem.center, eps)

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
        """|φ(x) - μ|² of all rows."""
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

        Twice the rounding, and that of what centring removes: the sums of n entries.
        """
        removed = float(self.w.sum() * self.mean_square)
        return 2 * self.rounding + 2 * ROUNDING * self.eps * abs(removed)

    @cached_property
    def size(self) -> float:
        """Largest |k| anywhere, for overflow."""
        return float(np.nanmax([np.abs(self.K).max(), np.nanmax(np.abs(self.own))]))
