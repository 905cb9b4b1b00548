"""Joint optimum of the weights of given kernels: two fixed-point steps, then saddle-free Newton."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer._linalg import Array
from mercer.sparse.likelihood import Likelihood

__all__ = ["Ascent", "ascend", "prune"]

#: A weight may fall to this share of itself, or grow by its inverse, in one step.
SMALLEST_FACTOR = 0.05
#: Kernels whose share of the model w k(x,x) is below this part of the noise may be dropped.
NEGLIGIBLE = 1e-3


class Ascent(NamedTuple):
    """Where an ascent ended, after how many steps, and whether it got there."""

    at: Likelihood
    steps: int
    converged: bool


def ascend(
    at: Likelihood, *, tol: float = 1e-8, max_iter: int = 200, may_prune: bool = True
) -> Ascent:
    """Maximise the likelihood over the weights of the active kernels, dropping those that vanish.

    Converged when ``|q/S − 1| ≤ tol`` on all of them, or when the likelihood cannot grow any more
    within rounding. O(m³ + m² h) per step.
    """
    for _ in range(2):
        at = _fixed_point(at)
    for step in range(max_iter):
        at = prune(at) if may_prune else at
        if not len(at.active) or np.abs(at.ratio - 1).max() <= tol:
            return Ascent(at, step, True)
        better = _search(at, _direction(at))
        if better is None:
            return Ascent(at, step, True)
        at = better
    return Ascent(at, max_iter, False)


def prune(at: Likelihood) -> Likelihood:
    """Drop the kernels that are negligible *and* want to vanish; others may grow again."""
    negligible = at.weights * at.pool.diag[at.active] < NEGLIGIBLE * at.variance
    if not negligible.any():
        return at
    drop = negligible & (at.q < at.S)
    return at.keep(~drop) if drop.any() else at


def _fixed_point(at: Likelihood) -> Likelihood:
    """The paper's (14), w ← w q/S; with the square root, which cannot fail, where it would lose."""
    if not len(at.active):
        return at
    ratio = np.clip(at.ratio, SMALLEST_FACTOR, 1 / SMALLEST_FACTOR)
    new = at.at(at.weights * ratio)
    return new if new.value >= at.value else at.at(at.weights * np.sqrt(ratio))


def _direction(at: Likelihood) -> Array:
    """|Hessian|⁻¹ gradient in relative steps Δw/w: uphill even where L is not concave."""
    curvature, U = np.linalg.eigh(at.relative_hessian)
    size = np.abs(curvature)
    size = np.maximum(size, 1e-12 * size.max())
    return np.asarray(U @ ((U.T @ at.relative_gradient) / size))


def _search(at: Likelihood, step: Array) -> Likelihood | None:
    """Halve the step until the likelihood grows; None if it cannot."""
    slope = 0.5 * float(at.relative_gradient @ step)
    steepness = np.abs(at.relative_gradient).max()
    t = 1.0
    while t > 1e-6:
        factor = np.clip(1 + t * step, SMALLEST_FACTOR, 1 / SMALLEST_FACTOR)
        new = at.at(at.weights * factor)
        if new.value >= at.value + 1e-4 * t * slope > at.value + at.rounding:
            return new
        # Near the top values differ by rounding only, and the gradient still tells the way.
        if new.value >= at.value - at.rounding and (
            np.abs(new.relative_gradient).max() < 0.9 * steepness
        ):
            return new
        t /= 2
    return None
