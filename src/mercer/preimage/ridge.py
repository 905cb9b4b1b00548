"""A regression from scores to points (Bakır, Weston & Schölkopf 2004; what scikit-learn does)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer._base.linalg import evenly
from mercer._base.machine import lapack_threads
from mercer._base.types import Array
from mercer.exceptions import KernelError
from mercer.kernels import Basis, Gaussian, Kernel, RadialKernel
from mercer.model import Subspace
from mercer.points import Vectors
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, check_codes
from mercer.preimage.nearest import SupportScores

#: Support points used for the choice of width and penalty, and for the final regression.
SAMPLE, LARGEST = 600, 4000
#: Candidate lengths as multiples of the median distance between scores, and penalties.
FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0)
ALPHAS = tuple(10.0**k for k in range(-10, 2))


class Ridge(PreImageSolver):
    r"""Kernel ridge regression from scores to points, learnt on the support points.

    .. math:: \hat x(z) = \bar s + \sum_i a_i\, k_z(z, z_i), \qquad
              A = (K_z + \alpha I)^{-1} (S - \bar s)

    The regression has a kernel of its own, on the scores; that the width of the input kernel should
    suit the scores, too, is an accident. The mean of the points is not penalised.

    Parameters
    ----------
    kernel : Kernel, optional
        On the scores. By default a Gaussian, whose width is chosen by leave-one-out.
    alpha : float, optional
        Penalty; by default chosen by leave-one-out.

    Notes
    -----
    The regression is solved once, O(m³/3) for m ≤ 4,000 support points; of more, 4,000 evenly
    spaced ones are used. The choice costs one eigendecomposition of at most 600 points per width.
    Then O(m d) per point. It sees only the scores: best when these are all that is known. Scores
    that are like none of the support points' get the mean, and ``"failed"``.

    References
    ----------
    G. H. Bakır, J. Weston, B. Schölkopf. Learning to find pre-images. NIPS 16, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> from mercer.preimage import Ridge
    >>> X = load_digits().data / 16
    >>> model = KernelPCA(64, preimage=Ridge()).fit(X[:1000])
    >>> bool(model.score(X[1000:]) > -0.5 * X.var(axis=0).sum())
    True
    """

    requires: ClassVar[tuple[str, ...]] = ("coordinates",)

    def __init__(self, kernel: Kernel | None = None, alpha: float | None = None) -> None:
        self.kernel = kernel
        self.alpha = alpha

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_subspace(subspace)
        if self.alpha is not None and not self.alpha >= 0:
            raise KernelError(f"alpha={self.alpha} must not be negative; give a positive penalty.")
        Z, S = _training_pairs(subspace)
        kernel, alpha = self._choose(Z, S)
        mean = S.mean(axis=0)
        basis = Basis(kernel, Vectors(Z))
        K = basis.gram()
        # The floor keeps a kernel matrix with repeated scores positive definite.
        K[np.diag_indices_from(K)] += max(alpha, 1e-12 * np.trace(K) / len(K))
        with lapack_threads(len(K)):
            weights = cho_solve(cho_factor(K, lower=True, overwrite_a=True), S - mean)
        return _BoundRidge(basis, alpha, weights, mean)

    def _choose(self, Z: Array, S: Array) -> tuple[Kernel, float]:
        """Kernel and penalty; those not given are the best by leave-one-out."""
        Z, S = evenly(Z, SAMPLE), evenly(S, SAMPLE)
        if self.kernel is None:
            length = Gaussian("median").resolve(Z).length
            kernels: list[Kernel] = [Gaussian(width=length * factor) for factor in FACTORS]
        else:
            kernels = [self.kernel.resolve(Z)]
        alphas = ALPHAS if self.alpha is None else (self.alpha,)
        if len(kernels) * len(alphas) == 1:
            return kernels[0], float(alphas[0])
        grams = (Basis(kernel, Vectors(Z)).gram() for kernel in kernels)
        errors = np.array([_leave_one_out(K, S, alphas) for K in grams])
        best_kernel, best_alpha = np.unravel_index(errors.argmin(), errors.shape)
        return kernels[best_kernel], float(alphas[best_alpha])


@dataclass(frozen=True)
class _BoundRidge(BoundPreImage):
    basis: Basis  # on the scores
    alpha: float
    weights: Array  # (m, d)
    mean: Array  # (d,)

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:  # noqa: ARG002
        # One column more: the sum of similarities, without which there is nothing to regress on.
        weights = np.column_stack([self.weights, np.ones(len(self.weights))])
        found = self.basis.matmat(check_codes(Z).astype(np.float64), weights)
        points, similar = (found[:, :-1] + self.mean).astype(Z.dtype, copy=False), found[:, -1]
        known = np.isfinite(points).all(axis=1)
        points = np.where(known[:, None], points, self.mean.astype(Z.dtype))
        if isinstance(self.basis.kernel, RadialKernel):
            known &= similar > np.finfo(np.float64).eps
        return PreImages.direct(points, known)


def _training_pairs(subspace: Subspace) -> tuple[Array, Array]:
    """Scores and points to learn from, in float64: a regression this ill-posed needs the digits."""
    S = evenly(subspace.support, LARGEST)
    if len(S) == subspace.n_support:
        Z = SupportScores(subspace).scores
    else:
        Z = subspace.scores(S)
    return Z.astype(np.float64), S.astype(np.float64)


def _leave_one_out(K: Array, S: Array, alphas: tuple[float, ...]) -> list[float]:
    """Mean squared leave-one-out errors, from one eigendecomposition for all penalties.

    The residual of point i without point i is ``[(K + αI)⁻¹ (S - mean)]_i / [(K + αI)⁻¹]_ii``.
    """
    values, vectors = np.linalg.eigh(K)
    T = vectors.T @ (S - S.mean(axis=0))
    errors = []
    for alpha in alphas:
        weight = 1 / (np.maximum(values, 0) + max(alpha, 1e-12 * values[-1]))
        diagonal = (vectors * vectors) @ weight
        residual = (vectors @ (weight[:, None] * T)) / diagonal[:, None]
        errors.append(float((residual**2).mean()))
    return errors
