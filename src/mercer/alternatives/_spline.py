"""Penalised regression splines of one parameter, with a given number of degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import eigh
from scipy.optimize import brentq

from mercer._linalg import Array

DEGREE = 3


@dataclass(frozen=True)
class PenalizedSpline:
    """A cubic spline on [0, length] into d dimensions; of period ``length`` if closed."""

    coef: Array
    length: float
    closed: bool

    @classmethod
    def fit(cls, t: Array, X: Array, length: float, df: float, *, closed: bool) -> Self:
        """Least squares with a penalty on the curvature that leaves ``df`` degrees of freedom.

        The penalty is that of Eilers & Marx (1996, Statistical Science 11): second differences of
        the coefficients of B-splines on equal intervals. Degrees of freedom are the trace of the
        smoothing matrix; 2 is a straight line, and 1 the mean for closed curves.

        O(n k + k³) time for k coefficients, k a few times ``df``.
        """
        pieces = max(20, int(4 * df))
        B = basis(t, length, pieces, closed=closed)
        k = B.shape[1]
        D = np.diff(np.eye(k), 2, axis=0)
        if closed:
            D = np.eye(k) - 2 * np.roll(np.eye(k), 1, axis=0) + np.roll(np.eye(k), 2, axis=0)
        G, P = B.T @ B, D.T @ D
        P *= np.trace(G) / np.trace(P)
        P += 1e-12 * np.trace(G) / k * np.eye(k)
        # G + P has full rank even where no point lies: a straight line that B does not see is none.
        # W' (G + P) W = I and W' G W = diag(g), so that the smoother is diagonal for every penalty.
        g, W = eigh(G, G + P)
        g = np.clip(g, 0.0, 1.0)
        shares = g / (g + _penalty(g, df) * (1 - g))
        right = W.T @ (B.T @ X)
        # W (diag(g) + lam diag(1 - g))⁻¹ W' B' X, with 0/0 = 0 where nothing is known
        inverse = np.divide(shares, g, out=np.zeros_like(g), where=g > 1e-12)
        return cls(W @ (inverse[:, None] * right), float(length), closed)

    def __call__(self, t: Array) -> Array:
        pieces = len(self.coef) if self.closed else len(self.coef) - DEGREE
        return np.asarray(basis(t, self.length, pieces, closed=self.closed) @ self.coef)


def basis(t: Array, length: float, pieces: int, *, closed: bool) -> Array:
    """Values of the B-splines on ``pieces`` equal intervals, (n, k)."""
    knots = np.arange(-DEGREE, pieces + DEGREE + 1, dtype=np.float64)
    inside = np.mod(t / length, 1.0) if closed else np.clip(t / length, 0.0, 1.0)
    # design_matrix takes the right end only as a limit from the left
    u = np.minimum(inside * pieces, np.nextafter(pieces, 0))
    B = BSpline.design_matrix(u, knots, DEGREE).toarray()
    if closed:
        B[:, :DEGREE] += B[:, pieces:]
        B = B[:, :pieces]
    return np.asarray(B)


def _penalty(g: Array, df: float) -> float:
    """The penalty at which the degrees of freedom, Σ g / (g + lam (1 - g)), are ``df``."""

    def excess(log_lam: float) -> float:
        lam = np.exp(log_lam)
        return float((g / (g + lam * (1 - g) + 1e-300)).sum() - df)

    low, high = -30.0, 18.0
    if excess(low) <= 0:  # fewer than df directions are seen at all: no penalty
        return float(np.exp(low))
    if excess(high) >= 0:
        return float(np.exp(high))
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))
