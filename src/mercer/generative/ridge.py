"""Ridge regression from scores to points that is steady between the training scores."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array
from mercer._parallel import thread_map
from mercer.generative.densities.local import evenly, mix, neighbors
from mercer.kernels import Gaussian
from mercer.preimage import PreImageSolver, Ridge, as_preimage
from mercer.preimage.base import BoundPreImage, require_vectors
from mercer.preimage.nearest import SupportScores
from mercer.subspace import Subspace

__all__ = ["LocalRidge", "as_generator_preimage"]

#: Support points for the choice of width and penalty; of more, evenly spaced ones.
SAMPLE, LARGEST = 600, 4000
#: Candidate lengths as multiples of the median distance between scores, and penalties.
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ALPHAS = tuple(10.0**k for k in range(-10, 2))


class LocalRidge(PreImageSolver):
    r"""The regression of :class:`~mercer.preimage.Ridge`, chosen for points that are drawn.

    Leave-one-out asks how well the *training* scores are mapped, and often answers with a penalty
    near zero: between and beyond those scores the regression may then be anywhere. Here width and
    penalty are those that best map scores drawn around training rows (as
    :class:`~mercer.generative.Local` draws them),

    .. math:: z^\star = z_i + \sum_k g_k\,(z_{i_k} - z_i) \;\mapsto\;
              x^\star = x_i + \sum_k g_k\,(x_{i_k} - x_i)

    to the same mixture of rows. This is what ``preimage="ridge"`` means in the estimators that
    generate.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours whose directions are mixed.

    Notes
    -----
    One eigendecomposition of at most 600 points for each of six widths, and then the cost of
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

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def init(self, subspace: Subspace) -> BoundPreImage:
        require_vectors(self, subspace)
        every = evenly(np.arange(subspace.n_support), LARGEST)
        Z, S = SupportScores(subspace).scores[every], subspace.support[every]
        kernel, alpha = _choose(Z.astype(np.float64), S.astype(np.float64), self.n_neighbors)
        return Ridge(kernel, alpha).init(subspace)


def as_generator_preimage(preimage: str | PreImageSolver) -> PreImageSolver:
    """As :func:`mercer.preimage.as_preimage`, with :class:`LocalRidge` for ``"ridge"``."""
    chosen = as_preimage(preimage)
    return LocalRidge() if preimage == "ridge" else chosen


def _choose(Z: Array, S: Array, n_neighbors: int) -> tuple[Gaussian, float]:
    """Width and penalty with the least error on points drawn around the sample."""
    rng = np.random.default_rng(0)
    rows = evenly(np.arange(len(Z)), SAMPLE)
    near = neighbors(Z, n_neighbors)[rows]
    g = rng.standard_normal(near.shape) / np.sqrt(near.shape[1])
    drawn, wanted = mix(Z, rows, near, g), mix(S, rows, near, g)
    mean, known = S[rows].mean(axis=0), Z[rows]
    length = Gaussian("median").resolve(known).length

    def errors(factor: float) -> list[float]:
        kernel = Gaussian(width=length * factor)
        values, vectors = np.linalg.eigh(kernel(known))
        T = vectors.T @ (S[rows] - mean)
        K = kernel(drawn, known) @ vectors
        floor = 1e-12 * values[-1]
        weights = [1 / (np.maximum(values, 0) + max(alpha, floor)) for alpha in ALPHAS]
        return [float(((K @ (w[:, None] * T) + mean - wanted) ** 2).mean()) for w in weights]

    table = np.array(thread_map(errors, FACTORS))
    width, alpha = np.unravel_index(table.argmin(), table.shape)
    return Gaussian(width=length * FACTORS[width]), ALPHAS[alpha]
