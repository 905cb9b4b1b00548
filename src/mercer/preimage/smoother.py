"""A weighted mean of the most similar support points (Schreurs & Suykens 2018, eq. 8)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np

from mercer._base.config import with_parameters
from mercer._base.linalg import evenly, square_sums, unit_size
from mercer._base.machine import blocks, thread_map
from mercer._base.numbers import check_choice, check_count, fixed_rng
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, check_codes
from mercer.preimage.nearest import SupportScores, smallest

ROWS = 256
#: Support points that are held out in the choice of S, and the neighbours that show the noise.
HELD_OUT, SPREAD_OF = 400, 30
#: Candidates for S.
SIZES = (3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300)
RANKINGS = ("similarity", "distance", "nearest")


@with_parameters
class Smoother(PreImageSolver):
    r"""A weighted mean of the most similar support points.

    .. math:: \hat x = \frac{\sum_{j=1}^{S} \tilde k_j x_j}{\sum_{j=1}^{S} \tilde k_j}, \qquad
              k_j = \varphi(x_j)^\top W h^\star

    with **centred** :math:`\varphi` and the similarities :math:`k_j` scaled to [0, 1] over all
    points, eqs. (6) and (8). :class:`mercer.generative.KernelSmoother` is the same class.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        S. ``"auto"`` takes the number that best restores held-out support points after noise was
        added to them.
    by : {"similarity", "distance", "nearest"}, default="similarity"
        The S points are those of largest similarity (the paper), those of nearest score, or those
        nearest to the projection in feature space. Similarity favours points far out in the same
        direction; distance asks for more points to average the noise away, and keeps to a cluster.
        ``Smoother(10, by="nearest")`` is what ``preimage="auto"`` and ``tune`` take.
    noise : float, optional
        Standard deviation, per coordinate, of the noise that ``"auto"`` adds; by default the
        spread of the 30 nearest support points around their mean.

    Notes
    -----
    The result never leaves the convex hull of the support points. It blurs: an average of ten
    images. And an S larger than a cluster must pull in other clusters, which is what happens to
    one of the paper's figures. O(m q) per point, after one pass over the support's kernel matrix.

    References
    ----------
    J. Schreurs, J. A. K. Suykens. Generative kernel PCA. ESANN 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GenerativeKernelPCA
    >>> from mercer.kernels import Gaussian
    >>> from mercer.preimage import Smoother
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 500)
    >>> noisy = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(
    ...     scale=0.3, size=(500, 2)
    ... )
    >>> model = GenerativeKernelPCA(2, kernel=Gaussian(sigma=1.0)).fit(noisy)
    >>> clean = model.denoise(noisy, smoother=Smoother(150))
    >>> bool(np.abs(np.hypot(*clean.T) - 1).mean() < 0.1 < np.abs(np.hypot(*noisy.T) - 1).mean())
    True
    """

    requires: ClassVar[tuple[str, ...]] = ("coordinates",)

    n_neighbors: int | str = "auto"
    _: KW_ONLY
    by: str = "similarity"
    noise: float | None = None

    def init(self, subspace: Subspace) -> BoundSmoother:
        self.check_subspace(subspace)
        check_choice("by", self.by, RANKINGS)
        if self.noise is not None and not 0 <= self.noise < np.inf:
            raise DataError(f"noise={self.noise!r}: give a standard deviation, or None.")
        bound = BoundSmoother(1, SupportScores(subspace), self.by)
        if self.n_neighbors == "auto":
            return replace(bound, count=_choose_size(bound, self.noise))
        count = check_count("n_neighbors", self.n_neighbors)
        return replace(bound, count=min(count, subspace.n_support))


@dataclass(frozen=True)
class BoundSmoother(BoundPreImage):
    """A smoother with its number of neighbours, for one subspace."""

    count: int
    support: SupportScores
    by: str = "similarity"

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:  # noqa: ARG002
        check_codes(Z)

        def smooth(rows: slice) -> Array:
            some, weight = self.ranked(Z[rows], self.count)
            return _average(weight, self.support.subspace.support[some])

        return PreImages.direct(np.concatenate(thread_map(smooth, blocks(len(Z), ROWS))))

    def ranked(self, Z: Array, count: int, leave_out: Array | None = None) -> tuple[Array, Array]:
        """The ``count`` first neighbours of each row in order, and their weights."""
        scores = self.support.scores
        products = Z @ scores.T
        weight = scaled_similarities(products)
        if self.by == "similarity":
            key = -weight
        else:
            own = square_sums(scores) if self.by == "distance" else self.support.squares
            key = own - 2 * products
        if leave_out is not None:
            key[np.arange(len(Z)), leave_out] = np.inf
        some = smallest(key, count)
        return some, np.take_along_axis(weight, some, axis=1)


def scaled_similarities(similarity: Array) -> Array:
    """Each row scaled to [0, 1]; rows without any difference become ones.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import scaled_similarities
    >>> scaled_similarities(np.array([[-1.0, 0.0, 3.0], [2.0, 2.0, 2.0]]))
    array([[0.  , 0.25, 1.  ],
           [1.  , 1.  , 1.  ]])
    """
    low = similarity.min(axis=1, keepdims=True)
    width = similarity.max(axis=1, keepdims=True) - low
    flat = width <= 0
    return np.asarray(np.where(flat, 1, (similarity - low) / np.where(flat, 1, width)))


def _average(weight: Array, points: Array) -> Array:
    """Eq. (8); (n, S) weights, (n, S, d) points. Weights that vanish give the plain mean."""
    total = weight.sum(axis=1, keepdims=True)
    share = np.where(total > 0, weight, 1) / np.where(total > 0, total, weight.shape[1])
    return np.asarray(np.einsum("ns,nsd->nd", share, points))


def _choose_size(bound: BoundSmoother, noise: float | None) -> int:
    """The S that best restores support points from which the noise shall be removed.

    Each point is left out of its own neighbours.
    """
    subspace = bound.support.subspace
    S, m = subspace.support, subspace.n_support
    sizes = [size for size in SIZES if size <= max(m - 1, 1) // 2] or [1]
    if len(sizes) == 1 or m < 3:
        return sizes[0]
    rows, U = evenly(np.arange(m), HELD_OUT), unit_size(S)
    if noise is None:  # that of the nearest points around their mean, per coordinate
        nearest = bound.support.nearest(bound.support.scores[rows], SPREAD_OF)
        spread = np.sqrt(np.mean([U[some].var(axis=0).mean() for some in nearest]))
        noise = float(spread * np.abs(S - S.mean(axis=0)).max())
    draws = fixed_rng(0).standard_normal((len(rows), S.shape[1]))
    noisy = (S[rows] + noise * draws).astype(S.dtype)
    if subspace.kernel.is_nonnegative:
        noisy = np.maximum(noisy, 0)
    some, weight = bound.ranked(subspace.scores(noisy), sizes[-1], leave_out=rows)

    def error(size: int) -> float:
        restored = _average(weight[:, :size], U[some[:, :size]])
        return float(square_sums(restored - U[rows]).mean())

    return min(sizes, key=error)
