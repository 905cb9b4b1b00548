"""Anderson acceleration of many small fixed-point iterations at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array

DEPTH = 3


@dataclass(frozen=True)
class Anderson:
    """The last differences of images and residuals of n iterations (Anderson 1965; type II).

    The next point is ``g - sum_j theta_j dg_j`` with theta minimising ``|r - sum_j theta_j dr_j|``,
    where g is the image of the current point and r = g - y its residual.
    """

    last_image: Array  # (n, d)
    last_residual: Array  # (n, d)
    d_image: Array  # (n, DEPTH, d)
    d_residual: Array  # (n, DEPTH, d)
    seen: Array  # (n,) images since the last reset

    @classmethod
    def start(cls, n: int, d: int, dtype: np.dtype) -> Anderson:
        """No history yet."""
        flat, deep = (n, d), (n, DEPTH, d)
        return cls(
            np.zeros(flat, dtype),
            np.zeros(flat, dtype),
            np.zeros(deep, dtype),
            np.zeros(deep, dtype),
            np.zeros(n, int),
        )

    def reset(self, rows: Array) -> None:
        """Forget what rows have seen: they have jumped."""
        self.seen[rows] = 0

    def adopt(self, other: Anderson, rows: Array) -> None:
        """Go on with what another has seen of these rows, e.g. in another precision."""
        for name in ("last_image", "last_residual", "d_image", "d_residual", "seen"):
            getattr(self, name)[rows] = getattr(other, name)[rows]

    def extrapolate(self, rows: Array, image: Array, residual: Array) -> Array:
        """Record an image for each of ``rows`` and return the accelerated next points.

        A row without history gets its image back: the plain step.
        """
        seen = self.seen[rows]
        slot = (seen - 1) % DEPTH
        old = seen > 0
        at = rows[old]
        self.d_image[at, slot[old]] = image[old] - self.last_image[at]
        self.d_residual[at, slot[old]] = residual[old] - self.last_residual[at]
        self.last_image[rows], self.last_residual[rows] = image, residual
        self.seen[rows] += 1
        known = np.arange(DEPTH) < seen[:, None]  # seen images before this one: as many differences
        theta = _least_squares(self.d_residual[rows], residual, known).astype(image.dtype)
        return np.asarray(image - np.einsum("nj,njd->nd", theta, self.d_image[rows]))


def _least_squares(D: Array, r: Array, known: Array) -> Array:
    """The minimiser of |r - Σ θ_j D_j| for each row over the known D_j; θ_j = 0 for the others."""
    D, r = np.where(known[:, :, None], D, 0).astype(np.float64), r.astype(np.float64)
    unit = np.abs(r).max(axis=1, initial=0.0)  # θ has none, and squares of 1e±300 are none
    unit = np.where(unit > 0, unit, 1)[:, None]
    D, r = D / unit[:, :, None], r / unit
    gram = np.einsum("nid,njd->nij", D, D)
    size = np.einsum("nii->n", gram)
    # A little ridge: residuals of a well-behaved iteration become parallel, and the system
    # singular.
    ridge = np.where(size > 0, 1e-12 * size, 1.0)
    gram += (ridge[:, None] + ~known)[:, :, None] * np.eye(DEPTH)
    right = np.einsum("njd,nd->nj", D, r)
    return np.asarray(np.linalg.solve(gram, right[:, :, None])[:, :, 0])
