"""The two methods that Mika et al. 1999 compare, and the error that they compare by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.preimage import PreImageSolver
from mercer.subspace import Subspace

#: Denoised points from a subspace and noisy points.
Denoiser = Callable[[Subspace, Array], Array]


def denoise_with(solver: PreImageSolver) -> Denoiser:
    """Project, and go back by the given method, starting at the noisy points."""

    def denoise(subspace: Subspace, X: Array) -> Array:
        return np.asarray(solver.init(subspace).solve(subspace.scores(X), X).points)

    return denoise


def linear_denoise(train: Array, X: Array, q: int) -> Array:
    """Centred linear PCA with q components."""
    mean = train.mean(axis=0)
    axes = np.linalg.svd(train - mean, full_matrices=False)[2][:q]
    return np.asarray((X - mean) @ axes.T @ axes + mean)


def mean_error(found: Array, truth: Array) -> float:
    """Mean squared distance of points to the truth."""
    return float(square_sums(found - truth).mean())
