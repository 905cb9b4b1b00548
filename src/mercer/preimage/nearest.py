"""The support point nearest to the projection: works for any kernel and any objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.machine import blocks, thread_map
from mercer._base.numbers import check_count
from mercer._base.types import Array, Rows
from mercer.exceptions import DataError, KernelError
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, FromScores, PreImages, PreImageSolver

ROWS = 512


class Nearest(PreImageSolver):
    """The training example whose image lies nearest to the projection in feature space.

    Always a real example: strings, graphs and curves included. With a precomputed kernel the answer
    is the *index* of the training row, since there is nothing else that could be returned, and
    distances are those inside the subspace.

    Notes
    -----
    One pass over the support's own kernel matrix, O(m² (d + q)); then O(m q) per point.

    Examples
    --------
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import FunctionKernel
    >>> shared = FunctionKernel(lambda a, b: len(set(a) & set(b)))
    >>> model = KernelPCA(1, kernel=shared).fit(["abc", "abd", "xyz"])
    >>> model.denoise(["xyv"])
    ['xyz']
    """

    def init(self, subspace: Subspace) -> BoundPreImage:
        support = SupportScores(subspace)
        return FromScores(lambda Z: PreImages.direct(support.take(support.nearest(Z, 1)[:, 0])))


@dataclass(frozen=True)
class FromStart(BoundPreImage):
    """A method that goes from the point, or where that is not known from the nearest example."""

    config: Any
    subspace: Subspace

    @cached_property
    def nearest(self) -> BoundPreImage:
        """Of support points."""
        return Nearest().init(self.subspace)

    def begin(self, Z: Array, start: Rows | None) -> Any:
        """Where to begin for these scores."""
        return self.nearest.solve(Z).points if start is None else start


@dataclass(frozen=True)
class SupportScores:
    """Where the support points themselves lie: scores, and distances off the subspace."""

    subspace: Subspace

    @cached_property
    def products(self) -> Array:
        """(m, q + 1) inner products of the support with directions and mean: ``K_SS [B, c]``.

        O(m² (d + q)) time, once.
        """
        W = np.column_stack([self.subspace.coef, self.subspace.mean])
        return self.subspace.basis.own_tiles().matmat(W)

    @cached_property
    def scores(self) -> Array:
        """(m, q) scores of the support points."""
        if not self.subspace.points.is_open:
            return _scores_of_columns(self.subspace)
        return np.asarray(self.products[:, :-1] - self.subspace.offset)

    @cached_property
    def residual(self) -> Array:
        """(m,) squared distances of the support points from the subspace; 0 if not known."""
        if not self.subspace.points.is_open:
            return np.zeros(self.subspace.n_support)
        own = self.subspace.kernel.diag(self.subspace.support)
        return self.subspace.of_products(self.products, own)[1]

    @cached_property
    def squares(self) -> Array:
        """(m,) squared distances of the support points from the mean."""
        return np.asarray(square_sums(self.scores) + self.residual)

    def inner_products(self, Z: Array) -> Array:
        """(n, m) inner products in feature space of ``mu + W z`` with the support points."""
        return np.asarray(Z @ self.products[:, :-1].T + self.products[:, -1])

    def nearest(self, Z: Array, count: int) -> Array:
        """(n, count) support points nearest in feature space, the nearest first."""
        count = min(count, self.subspace.n_support)
        indices = np.empty((len(Z), count), dtype=np.intp)

        def look(rows: slice) -> None:
            # Squared distances up to |z|², in which those of far codes would drown.
            apart = self.squares - 2 * (Z[rows] @ self.scores.T)
            indices[rows] = smallest(apart, count)

        thread_map(look, blocks(len(Z), ROWS))
        return indices

    def take(self, index: Array) -> Array | list[object]:
        """Support points by number: rows of an array, or a list of objects."""
        return self.subspace.points.take(index).rows  # type: ignore[no-any-return]


def smallest(key: Array, count: int) -> Array:
    """(n, count) columns of the smallest entries of each row, the smallest first."""
    some = np.argpartition(key, count - 1, axis=1)[:, :count]
    order = np.take_along_axis(key, some, axis=1).argsort(axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def _scores_of_columns(subspace: Subspace) -> Array:
    """Scores of the training rows of a precomputed kernel, whose matrix the model does not keep.

    For exact kernel PCA ``K B = B Λ`` up to weights and the mean, so that ``z_ik ∝ B_ik / w_i``
    with the weights w = c of the mean; ``Bᵀ K B = I`` fixes the factor.
    """
    B, c = subspace.coef, subspace.mean
    w = c if c.any() else np.ones_like(c)
    gram = B.T @ (B / w[:, None])
    factor = np.diagonal(gram)
    if np.abs(gram - np.diag(factor)).max() > 1e-3 * factor.max():
        raise KernelError("training scores do not follow from this matrix K; use FunctionKernel.")
    return np.asarray(B / w[:, None] / factor)


def mix(points: Array, i: Array, near: Array, g: Array) -> Array:
    """``p_i + Σ_k g_k (p_k - p_i)`` for rows i with neighbours ``near``, both by number."""
    toward = np.einsum("nk,nkq->nq", g, points[near])
    mixed = points[i] + toward - g.sum(axis=1, keepdims=True) * points[i]
    return np.asarray(mixed, dtype=points.dtype)


def neighbors(Z: Array, count: int) -> Array:
    """(n, K) numbers of the nearest other rows, the nearest first."""
    K = check_count("n_neighbors", count)
    if len(Z) < 2:
        raise DataError(f"{len(Z)} row(s) have no neighbours; give at least 2 rows.")
    K = min(K, len(Z) - 1)
    # Scores have too many columns for trees to save anything.
    from sklearn.neighbors import NearestNeighbors  # brings in a third of scikit-learn

    search = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(Z)
    return np.asarray(search.kneighbors(return_distance=False))
