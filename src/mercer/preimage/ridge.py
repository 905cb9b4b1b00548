"""A regression from scores to points (Bakır, Weston & Schölkopf 2004; what scikit-learn does)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer._base.config import with_parameters
from mercer._base.linalg import evenly, unit_size
from mercer._base.machine import lapack_threads, thread_map
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.exceptions import KernelError
from mercer.kernels import Basis, Gaussian, Kernel, RadialKernel
from mercer.model import Subspace
from mercer.points import Vectors
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, check_codes
from mercer.preimage.nearest import mix, neighbors

#: Support points used for the choice of width and penalty, and for the final regression.
SAMPLE, LARGEST = 600, 4000
#: Candidate lengths as multiples of the median distance between scores, and penalties.
FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0)
ALPHAS = tuple(10.0**k for k in range(-10, 2))
#: The same where scores will be drawn. These may err there by so much more than the best one ...
STEADY_FACTORS, STEADY = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0), 2.0
#: ... and a narrow width by so much more than the best of those on the rows themselves.
TOLERANCE = 1.05


@with_parameters
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
    n_neighbors : int, optional
        Choose for points that are drawn, not projected: by mixtures of so many neighbours.

    Notes
    -----
    Leave-one-out asks how well the *training* scores are mapped, and may answer with a wide kernel
    and a penalty near zero: between and beyond those scores the regression can then be anywhere.
    With ``n_neighbors`` a candidate must also do on scores drawn widely around training rows, which
    the same mixture of rows should go with:

    .. math:: z^\star = z_i + \sum_k g_k\,(z_{i_k} - z_i) \;\mapsto\;
              x^\star = x_i + \sum_k g_k\,(x_{i_k} - x_i)

    Those that err there by more than twice the least error are out. Of the others the narrowest
    width is taken whose leave-one-out error is within 5 % of the best: far from the data it returns
    to their mean, while a wide one goes on in a straight line. ``Ridge(n_neighbors=10)`` is what
    ``preimage="ridge"`` means in the estimators that generate, and ``"auto"`` where only scores are
    known; :func:`mercer.generative.LocalRidge` makes it, too.

    The regression is solved once, O(m³/3) for m ≤ 4,000 support points; of more, 4,000 evenly
    spaced ones are used. The choice costs one eigendecomposition of at most 600 points for each of
    five widths (eight with ``n_neighbors``). Then O(m d) per point. It sees only the scores, and is
    best when nothing else is known. Scores unlike those of all support points get the mean, and the
    status ``"failed"``.

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

    kernel: Kernel | None = None
    alpha: float | None = None
    _: KW_ONLY
    n_neighbors: int | None = None

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_subspace(subspace)
        if self.alpha is not None and not self.alpha >= 0:
            raise KernelError(f"alpha={self.alpha} must not be negative; give a positive penalty.")
        S = evenly(subspace.support, LARGEST)
        # In float64: a regression this ill-posed needs the digits.
        Z, S = (part.astype(np.float64) for part in (subspace.scores(S), S))
        return _BoundRidge.of(Z, S, *self._choose(Z, S))

    def _choose(self, Z: Array, S: Array) -> tuple[Kernel, float]:
        """Kernel and penalty; those not given are the best by leave-one-out, or the steady ones."""
        rows = evenly(np.arange(len(Z)), SAMPLE)
        points, known = unit_size(S), Z[rows]
        kernels = self._kernels(known)
        alphas = ALPHAS if self.alpha is None else (self.alpha,)
        if len(kernels) * len(alphas) == 1:
            return kernels[0], float(alphas[0])
        drawn = None if self.n_neighbors is None else _draws(Z, points, rows, self.n_neighbors)

        def errors(kernel: Kernel) -> Array:
            basis = Basis(kernel, Vectors(known))
            around = None if drawn is None else (basis.at(drawn[0]), drawn[1])
            return _leave_one_out(basis.gram(), points[rows], alphas, around)

        on_rows, *on_draws = np.stack(thread_map(errors, kernels), axis=1)
        for error in on_draws:
            on_rows[error > STEADY * error.min()] = np.inf
        limit = on_rows.min() * (1 if drawn is None else TOLERANCE)
        width = int(np.argmax(on_rows.min(axis=1) <= limit))
        return kernels[width], float(alphas[int(on_rows[width].argmin())])

    def _kernels(self, known: Array) -> list[Kernel]:
        """The kernel that is given, or Gaussians of several widths, the narrowest first."""
        if self.kernel is not None:
            return [self.kernel.resolve(known)]
        length = Gaussian("median").resolve(known).length
        factors = FACTORS if self.n_neighbors is None else STEADY_FACTORS
        return [Gaussian(width=length * factor) for factor in factors]


def LocalRidge(n_neighbors: int = 10) -> Ridge:  # noqa: N802
    """``Ridge(n_neighbors=n_neighbors)``, which was a class of its own."""
    return Ridge(n_neighbors=n_neighbors)


@dataclass(frozen=True)
class _BoundRidge(BoundPreImage):
    basis: Basis  # on the scores
    alpha: float
    weights: Array  # (m, d)
    mean: Array  # (d,)

    @classmethod
    def of(cls, Z: Array, S: Array, kernel: Kernel, alpha: float) -> _BoundRidge:
        """The regression from scores Z to points S."""
        basis, mean = Basis(kernel, Vectors(Z)), S.mean(axis=0)
        K = basis.gram()
        # The floor keeps a kernel matrix with repeated scores positive definite.
        K[np.diag_indices_from(K)] += max(alpha, 1e-12 * np.trace(K) / len(K))
        with lapack_threads(len(K)):
            weights = cho_solve(cho_factor(K, lower=True, overwrite_a=True), S - mean)
        return cls(basis, alpha, weights, mean)

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:  # noqa: ARG002
        # One column more: the sum of similarities, without which there is nothing to regress on.
        weights = np.column_stack([self.weights, np.ones(len(self.weights))])
        products = self.basis.matmat(check_codes(Z).astype(np.float64), weights)
        points = (products[:, :-1] + self.mean).astype(Z.dtype, copy=False)
        known = np.isfinite(points).all(axis=1)
        if isinstance(self.basis.kernel, RadialKernel):
            known &= products[:, -1] > np.finfo(np.float64).eps
        return PreImages.direct(np.where(known[:, None], points, self.mean.astype(Z.dtype)), known)


def _draws(Z: Array, S: Array, rows: Array, n_neighbors: int) -> tuple[Array, Array]:
    """Scores drawn widely around training rows, and the points that should go with them."""
    near = neighbors(Z, n_neighbors)[rows]
    g = fixed_rng(0).standard_normal(near.shape) / np.sqrt(near.shape[1])
    return mix(Z, rows, near, g), mix(S, rows, near, g)


def _leave_one_out(
    K: Array, S: Array, alphas: tuple[float, ...], drawn: tuple[Array, Array] | None = None
) -> Array:
    """Mean squared errors, one column for each penalty, from one eigendecomposition for all.

    With ``G = (K + αI)⁻¹`` and ``a = G (S - mean)`` the coefficients without row i are ``a - G_i
    a_i / G_ii``, and the residual at the row is ``a_i / G_ii``. With ``drawn``, the kernel row k of
    a point drawn around each row and where it should go, a second line has the errors there: the
    prediction ``k·a`` loses ``(k·G_i) a_i / G_ii``.
    """
    values, V = np.linalg.eigh(K)
    mean = S.mean(axis=0)
    T = V.T @ (S - mean)
    Q = T if drawn is None else drawn[0] @ V
    errors = np.empty((1 if drawn is None else 2, len(alphas)))
    for i, alpha in enumerate(alphas):
        w = 1 / (np.maximum(values, 0) + max(alpha, 1e-12 * values[-1]))
        residual = (V @ (w[:, None] * T)) / ((V * V) @ w)[:, None]
        errors[0, i] = (residual**2).mean()
        if drawn is not None:
            lost = ((Q * w) * V).sum(axis=1)[:, None] * residual
            errors[1, i] = ((Q @ (w[:, None] * T) - lost - (drawn[1] - mean)) ** 2).mean()
    return errors
