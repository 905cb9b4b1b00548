"""A weighted mean of the most similar support points (Schreurs & Suykens 2018, eq. 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer._base.machine import blocks, thread_map
from mercer._base.numbers import check_count
from mercer._base.types import Array
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, check_codes
from mercer.preimage.nearest import SupportScores

ROWS = 256


class Smoother(PreImageSolver):
    r"""A kernel smoother over the support points most similar to the projection.

    .. math:: \hat x = \frac{\sum_{j \in N} \tilde k_j s_j}{\sum_{j \in N} \tilde k_j}, \qquad
              \tilde k_j \propto \langle \varphi(s_j), P\varphi(x) \rangle - \min

    with the similarities scaled to [0, 1] over all support points, and N the ``n_neighbors``
    largest.

    Parameters
    ----------
    n_neighbors : int, default=10

    Notes
    -----
    Never leaves the convex hull of the support points, and so is safe for histograms; it blurs, and
    does not return Φ(x) to x. O(m q) per point after one pass over the support's kernel matrix.

    References
    ----------
    J. Schreurs, J. A. K. Suykens. Generative kernel PCA. ESANN 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> from mercer.preimage import Smoother
    >>> X = load_digits().data
    >>> model = KernelPCA(20, preimage=Smoother(n_neighbors=5)).fit(X[:500])
    >>> model.reconstruct(X[500:503]).shape
    (3, 64)
    """

    requires: ClassVar[tuple[str, ...]] = ("coordinates",)

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_subspace(subspace)
        count = check_count("n_neighbors", self.n_neighbors)
        return _BoundSmoother(min(count, subspace.n_support), SupportScores(subspace))


@dataclass(frozen=True)
class _BoundSmoother(BoundPreImage):
    count: int
    support: SupportScores

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:  # noqa: ARG002
        check_codes(Z)
        parts = [Z[rows] for rows in blocks(len(Z), ROWS)]
        return PreImages.direct(np.concatenate(thread_map(self._smooth, parts)))

    def _smooth(self, Z: Array) -> Array:
        similarity = self.support.inner_products(Z)
        low = similarity.min(axis=1, keepdims=True)
        some = np.argpartition(-similarity, self.count - 1, axis=1)[:, : self.count]
        weight = np.take_along_axis(similarity, some, axis=1) - low
        # All equally similar: the plain mean.
        weight = np.where(weight.max(axis=1, keepdims=True) > 0, weight, 1)
        weight /= weight.sum(axis=1, keepdims=True)
        points = self.support.subspace.support[some]
        return np.asarray(np.einsum("nj,njd->nd", weight, points))
