r"""The model's directions and some that it left out, and what rows add up to in them.

How far sampling moves a component depends on its neighbours, also on those beyond the last one
that was kept. So the q directions :math:`w_k` are completed by directions in the span of a few
landmarks: an orthonormal basis of what lies outside the subspace,

.. math:: e_j = \sum_i R_{ij} \Big(\phi(l_i) - \sum_k P_{ik} w_k\Big), \qquad
          P = K_{LS} B, \qquad R^\top (K_{LL} - P P^\top) R = I.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.kernels import Basis
from mercer.landmarks import RPCholesky
from mercer.sparse_rows import concatenate
from mercer.subspace import Subspace


@dataclass(frozen=True)
class Directions:
    """Orthonormal directions w_1 … w_q and further ones, turned to the axes of some rows.

    Attributes
    ----------
    subspace : Subspace
    landmarks : (l, d) array, or sparse rows
    products : (l, q) array
        P.
    root : (l, p) array
        R.
    turn : (q + p, r) array
        From the directions to the r leading principal axes of the rows.
    shift : (r,) array
        The mean of the turned coordinates; zero for an uncentred model.
    """

    subspace: Subspace
    landmarks: Any
    products: Array
    root: Array
    turn: Array
    shift: Array

    @classmethod
    def of(
        cls, subspace: Subspace, X: Array, weight: Array, r: int, rng: np.random.Generator
    ) -> Directions:
        """The r leading axes of rows, among the model's directions and those of 2 r landmarks."""
        plain = cls._beyond(subspace, X, 2 * r, rng)
        F = plain.features(X)[0]
        mean = weight @ F / weight.sum() if np.any(subspace.mean) else np.zeros(F.shape[1])
        vectors = np.linalg.eigh(((F - mean) * weight[:, None]).T @ (F - mean))[1]
        turn = vectors[:, ::-1][:, :r]
        return replace(plain, turn=turn, shift=mean @ turn)

    @classmethod
    def _beyond(
        cls, subspace: Subspace, X: Array, size: int, rng: np.random.Generator
    ) -> Directions:
        """With at most ``size`` landmarks chosen from X, before they are turned."""
        kernel = subspace.kernel
        L = RPCholesky().select(kernel, X, min(size, len(X)), rng)
        P = (subspace.scores(L) + subspace.offset).astype(np.float64)
        left = Basis(kernel, L).gram() - P @ P.T
        values, vectors = np.linalg.eigh((left + left.T) / 2)
        # What is left of a landmark near the subspace is rounding, and no direction.
        keep = values > 1e4 * np.finfo(subspace.coef.dtype).eps * max(values[-1], 1e-300)
        width = subspace.n_components + int(keep.sum())
        root = vectors[:, keep] / np.sqrt(values[keep])
        return cls(subspace, L, P, root, np.eye(width), np.zeros(width))

    def features(self, X: Array) -> tuple[Array, Array]:
        """Coordinates of rows, (n, r), and their squared distances to the mean, (n,)."""
        S = self.subspace
        Z, residual = S.scores_and_residual(X)
        Z = Z.astype(np.float64, copy=False)
        total = square_sums(Z) + residual
        K = Basis(S.kernel, self.landmarks).at(X)
        outside = (K - (Z + S.offset) @ self.products.T) @ self.root
        return np.hstack([Z, outside]) @ self.turn - self.shift, total

    def turned(self, axes: Array) -> Directions:
        """Turned once more."""
        return replace(self, turn=self.turn @ axes, shift=self.shift @ axes)

    def coefficients(self) -> tuple[Any, Array]:
        """The turned directions as sums of kernels: points (m + l, d) and weights (m + l, r)."""
        S, q = self.subspace, self.subspace.n_components
        on_landmarks = self.root @ self.turn[q:]
        on_support = S.coef @ (self.turn[:q] - self.products.T @ on_landmarks)
        return (
            concatenate([S.support, self.landmarks]),
            np.concatenate([on_support, on_landmarks]).astype(S.coef.dtype),
        )


@dataclass(frozen=True)
class GroupSums:
    """Weighted sums over rows in r directions, for each of G groups and for all.

    Attributes
    ----------
    weight : (G,)        Σ w
    linear : (G, r)      Σ w z
    square : (G, r, r)   Σ w z zᵀ
    total : (G,)         Σ w t, with t the squared distance to the mean
    spread : float       Σ w²
    fourth : (r, r)      Σ w² z_k² z_l²
    cross : (r,)         Σ w² z_k² t
    second : (r,)        Σ w² z_k²
    totals : (2,)        Σ w² t and Σ w² t²
    """

    weight: Array
    linear: Array
    square: Array
    total: Array
    spread: float
    fourth: Array
    cross: Array
    second: Array
    totals: Array

    @classmethod
    def of(cls, Z: Array, t: Array, w: Array, group: Array, groups: int) -> GroupSums:
        """Of rows with coordinates Z, squared distances t, weights w and group numbers."""
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(groups + 1))
        rows, wz = Z[order], (w[:, None] * Z)[order]
        square = np.stack([wz[a:b].T @ rows[a:b] for a, b in pairwise(edges)])
        linear = np.stack([wz[a:b].sum(axis=0) for a, b in pairwise(edges)])
        squares, w2 = Z**2, w**2
        return cls(
            np.bincount(group, w, groups),
            linear,
            square,
            np.bincount(group, w * t, groups),
            float(w2.sum()),
            (w2[:, None] * squares).T @ squares,
            (w2 * t) @ squares,
            w2 @ squares,
            np.array([w2 @ t, w2 @ t**2]),
        )

    def __add__(self, other: GroupSums) -> GroupSums:
        return GroupSums(*map(add, vars(self).values(), vars(other).values()))

    def turned(self, axes: Array) -> GroupSums:
        """In other axes of the same space; moments of fourth order only where they have moved.

        The axes come from many rows already, so that what is left to turn is tiny, except between
        directions of one variance, where these moments hardly differ.
        """
        square = np.einsum("grs,ri,sj->gij", self.square, axes, axes, optimize=True)
        return replace(self, linear=self.linear @ axes, square=square)

    def covariances(self, shares: Array, center: bool) -> Array:
        """Covariance matrices with the groups weighted by each row of ``shares``, (b, r, r)."""
        weight = shares @ self.weight
        r = self.linear.shape[1]
        upper = np.triu_indices(r)
        packed = shares @ self.square[:, upper[0], upper[1]] / weight[:, None]
        C = np.empty((len(shares), r, r))
        C[:, upper[0], upper[1]] = packed
        C[:, upper[1], upper[0]] = packed
        if center:
            mean = shares @ self.linear / weight[:, None]
            C -= mean[:, :, None] * mean[:, None, :]
        return C
