"""Ridge regression from scores to points that is steady between the training scores."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer._base.linalg import evenly
from mercer._base.machine import thread_map
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.generative.densities import mix, neighbors, unit_size
from mercer.kernels import Basis, Gaussian
from mercer.model import Subspace
from mercer.points import Vectors
from mercer.preimage import Auto, PreImageSolver, Ridge, as_preimage
from mercer.preimage.base import BoundPreImage
from mercer.preimage.nearest import SupportScores

#: Support points for the choice of width and penalty; of more, evenly spaced ones.
SAMPLE, LARGEST = 600, 4000
#: Candidate lengths as multiples of the median distance between scores, and penalties.
FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0)
ALPHAS = tuple(10.0**k for k in range(-10, 2))
#: Candidates may err on drawn points by so much more than the best one there ...
STEADY = 2.0
#: ... and a narrow width by so much more than the best of those on the rows themselves.
TOLERANCE = 1.05


class LocalRidge(PreImageSolver):
    r"""The regression of :class:`~mercer.preimage.Ridge`, chosen for points that are drawn.

    Leave-one-out asks how well the *training* scores are mapped, and may answer with a wide kernel
    and a penalty near zero: between and beyond those scores the regression can then be anywhere.
    Here a candidate must also do on scores drawn around training rows (as
    :class:`~mercer.generative.Local` draws them), which the same mixture of rows should go with:

    .. math:: z^\star = z_i + \sum_k g_k\,(z_{i_k} - z_i) \;\mapsto\;
              x^\star = x_i + \sum_k g_k\,(x_{i_k} - x_i)

    Those that err there by more than twice the least error are out. Of the others the narrowest
    width is taken whose leave-one-out error is within 5 % of the best: far from the data it returns
    to their mean, while a wide one goes on in a straight line. This is what ``preimage="ridge"``
    means in the estimators that generate, and ``"auto"`` where only scores are known.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours whose directions are mixed.

    Notes
    -----
    One eigendecomposition of at most 600 points for each of eight widths, and then the cost of
    :class:`~mercer.preimage.Ridge`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.generative import LocalRidge
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> model = KernelPCA(8, preimage=LocalRidge()).fit(X)
    >>> bool(np.abs(model.reconstruct(X) - X).mean() < 0.1)
    True
    """

    requires: ClassVar[tuple[str, ...]] = ("coordinates",)

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_kernel(subspace.kernel)
        every = evenly(np.arange(subspace.n_support), LARGEST)
        Z, S = SupportScores(subspace).scores[every], subspace.support[every]
        kernel, alpha = _choose(Z.astype(np.float64), S.astype(np.float64), self.n_neighbors)
        return Ridge(kernel, alpha).init(subspace)


def as_generator_preimage(preimage: str | PreImageSolver) -> PreImageSolver:
    """As :func:`mercer.preimage.as_preimage`, with :class:`LocalRidge` where that has Ridge."""
    if preimage == "auto":
        return Auto(LocalRidge())
    chosen = as_preimage(preimage)
    return LocalRidge() if preimage == "ridge" else chosen


def _choose(Z: Array, S: Array, n_neighbors: int) -> tuple[Gaussian, float]:
    """The narrowest width, and its penalty, that is good on the rows and steady around them."""
    S = unit_size(S)
    rng = fixed_rng(0)
    rows = evenly(np.arange(len(Z)), SAMPLE)
    near = neighbors(Z, n_neighbors)[rows]
    g = rng.standard_normal(near.shape) / np.sqrt(near.shape[1])
    drawn, wanted = mix(Z, rows, near, g), mix(S, rows, near, g)
    known, mean = Z[rows], S[rows].mean(axis=0)
    length = Gaussian("median").resolve(known).length

    def errors(factor: float) -> Array:
        kernel = Gaussian(width=length * factor)
        basis = Basis(kernel, Vectors(known))
        return _errors(basis.gram(), basis.at(drawn), S[rows] - mean, wanted - mean)

    on_rows, on_draws = np.stack(thread_map(errors, FACTORS), axis=1)
    on_rows[on_draws > STEADY * on_draws.min()] = np.inf
    width = int(np.argmax(on_rows.min(axis=1) <= TOLERANCE * on_rows.min()))
    return Gaussian(width=length * FACTORS[width]), ALPHAS[int(on_rows[width].argmin())]


def _errors(K: Array, k: Array, S: Array, wanted: Array) -> Array:
    """Mean squared errors for each penalty: at the rows, and at the points drawn around them.

    Each is predicted without its own row. With ``G = (K + αI)⁻¹`` and ``a = G S`` the coefficients
    without row i are ``a - G_i a_i / G_ii``; the residual at the row is ``a_i / G_ii``, and the
    prediction ``k·a`` at its drawn point loses ``(k·G_i) a_i / G_ii``.
    """
    values, V = np.linalg.eigh(K)
    values = np.maximum(values, 1e-12 * values[-1])
    T, Q = V.T @ S, k @ V
    found = np.empty((2, len(ALPHAS)))
    for i, alpha in enumerate(ALPHAS):
        w = 1 / (values + alpha)
        residual = (V @ (w[:, None] * T)) / ((V * V) @ w)[:, None]
        reach = ((Q * w) * V).sum(axis=1)
        predicted = Q @ (w[:, None] * T) - reach[:, None] * residual
        found[:, i] = (residual**2).mean(), ((predicted - wanted) ** 2).mean()
    return found
