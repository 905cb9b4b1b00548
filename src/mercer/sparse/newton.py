"""Joint optimum of the weights of given kernels: two fixed-point steps, then saddle-free Newton."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer._base.types import Array
from mercer.sparse.likelihood import Likelihood

#: A weight may fall to this share of itself, or grow by its inverse, in one step.
SMALLEST_FACTOR = 0.05
#: Levenberg's additions to the curvature, as shares of the largest, until a step gains.
DAMPINGS = (1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 1.0)
#: Kernels with w S below this hardly change the model and may be dropped.
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
        better = _newton(at)
        if better is None:
            return Ascent(at, step, True)
        at = better
    return Ascent(at, max_iter, False)


def prune(at: Likelihood) -> Likelihood:
    """Drop the kernels that are negligible *and* that the likelihood would rather be without.

    A small weight alone is no reason: it may be about to grow.
    """
    drop = (1 - at.slack < NEGLIGIBLE) & (at.worth <= 0)
    return at.keep(~drop) if drop.any() else at


def _fixed_point(at: Likelihood) -> Likelihood:
    """The paper's (14), w ← w q/S; with the square root, which cannot fail, where it would lose."""
    if not len(at.active):
        return at
    ratio = np.clip(at.ratio, SMALLEST_FACTOR, 1 / SMALLEST_FACTOR)
    new = at.at(at.weights * ratio)
    return new if new.value >= at.value else at.at(at.weights * np.sqrt(ratio))


def _newton(at: Likelihood) -> Likelihood | None:
    """A step that gains; None if none does, within rounding."""
    for damping in DAMPINGS:
        step = _direction(at, damping)
        better = _search(at, step)
        if better is not None:
            return better
        if 0.5 * float(at.relative_gradient @ step) <= at.rounding:
            return None
    monotone = at.at(at.weights * np.sqrt(at.ratio))
    return monotone if monotone.value > at.value + at.rounding else None


def _direction(at: Likelihood, damping: float) -> Array:
    """|Hessian|⁻¹ gradient in relative steps Δw/w: uphill even where L is not concave.

    A weight that wants to leave the range of one step is sent to its end, and the others are solved
    for without it (Bertsekas 1982): merely cutting its step short could turn the whole downhill.
    """
    g, H = at.relative_gradient, at.relative_hessian
    step, free = np.zeros_like(g), np.ones(len(g), dtype=bool)
    while free.any():
        curvature, U = np.linalg.eigh(H[np.ix_(free, free)])
        size = np.abs(curvature)
        step[free] = U @ ((U.T @ g[free]) / (size + damping * size.max()))
        falls = free & (step < SMALLEST_FACTOR - 1) & (g < 0)
        grows = free & (step > 1 / SMALLEST_FACTOR - 1) & (g > 0)
        if not (falls | grows).any():
            break
        step[falls], step[grows] = SMALLEST_FACTOR - 1, 1 / SMALLEST_FACTOR - 1
        free &= ~(falls | grows)
    return step


def _search(at: Likelihood, step: Array) -> Likelihood | None:
    """Halve the step until the likelihood grows; None if it does not."""
    steepness = np.abs(at.relative_gradient).max()
    for t in 0.5 ** np.arange(6):
        factor = np.clip(1 + t * step, SMALLEST_FACTOR, 1 / SMALLEST_FACTOR)
        new = at.at(at.weights * factor)
        promised = 0.5 * float(at.relative_gradient @ (factor - 1))
        if new.value - at.value > max(1e-4 * promised, at.rounding):
            return new
        # Near the top values differ by rounding only, and the gradient still tells the way.
        if new.value >= at.value - at.rounding and (
            np.abs(new.relative_gradient).max() < 0.9 * steepness
        ):
            return new
    return None
