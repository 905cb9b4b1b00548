"""Principal axes on the representing vectors: of the model, of the data, or of another model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.gram import whiten
from mercer.kernels import Kernel
from mercer.model import Subspace, from_features
from mercer.model.rank import NullSpectra
from mercer.solvers.policy import noise_floor
from mercer.sparse.base import Selection
from mercer.sparse.likelihood import KernelRows, Pool


def model_axes(kernel: Kernel, chosen: Selection) -> tuple[Array, Subspace]:
    """Eqs. (15)–(17): eigenvectors of the model's covariance, ``B = W^½ Ũ Λ̃^{-½}``.

    Returns the variances (16), Λ̃ + σ², decreasing, and the subspace.
    """
    root = np.sqrt(chosen.weights)
    lam, U = np.linalg.eigh(root[:, None] * chosen.pool.K * root)
    keep = lam > noise_floor(lam[-1], len(lam), 0.0, lam.dtype)
    lam, U = lam[keep][::-1], U[:, keep][:, ::-1]
    B = root[:, None] * U / np.sqrt(lam)
    q = len(lam)
    return lam + chosen.variance, from_features(kernel, chosen.points, B, np.zeros(q), np.eye(q))


def data_axes(kernel: Kernel, chosen: Selection) -> tuple[Array, Subspace]:
    """Eigenvectors of the covariance of the *data*, seen through the span of the chosen kernels.

    Returns the variances, decreasing, and the subspace.
    """
    R = whiten(chosen.pool.K)
    # Coordinates a(x) = Rᵀ k(S, x) are orthonormal; their second moments are RᵀH (RᵀH)ᵀ / n.
    V, s, _ = np.linalg.svd(R.T @ chosen.pool.H / np.sqrt(chosen.pool.n), full_matrices=False)
    keep = s**2 > noise_floor(s[0] ** 2, len(s), 0.0, s.dtype)
    zero = np.zeros(R.shape[1])
    return s[keep] ** 2, from_features(kernel, chosen.points, R, zero, V[:, keep])


def null_spectra(rows: KernelRows, chosen: Selection) -> NullSpectra:
    """Variances on the same kernels after the columns were permuted independently."""

    def spectra(k: int, repeats: int) -> Array:
        if chosen.indices is None:
            raise DataError("parallel analysis needs rows as kernels; use another solver.")
        found = np.zeros((repeats, k))
        for line in found:
            permuted = replace(rows, X=rows.kernel.points(rows.X).permuted(rows.rng).rows)
            pool = Pool.of_columns(permuted.columns(chosen.indices), chosen.indices, permuted)
            values, _ = data_axes(rows.kernel, replace(chosen, pool=pool))
            line[: len(values)] = values[:k]
        return found

    return spectra


def span(kernel: Kernel, points: RowsLike, K: Array) -> Subspace:
    """All of the span of the chosen kernels: its residual is eq. (18), k(x,x) − kᵀ K⁻¹ k."""
    R = whiten(K)
    r = R.shape[1]
    return from_features(kernel, points, R, np.zeros(r), np.eye(r))


def project(model: Subspace, chosen: Selection, K_points_support: Array) -> tuple[Array, Subspace]:
    """Another model's directions and mean, seen through the span of the chosen kernels.

    See :func:`project_onto`.
    """
    products = K_points_support @ np.column_stack([model.coef, model.mean])
    return project_onto(model, chosen.points, chosen.pool.K, products)


def project_onto(
    model: Subspace, points: RowsLike, K: Array, products: Array, floor: float = 1e-12
) -> tuple[Array, Subspace]:
    """A model's directions and mean, seen through the span of the kernels of these points.

    Of all orthonormal directions in the span the ones nearest to the model's (the polar factor of
    their projections), so that each component keeps its meaning and its sign.

    Parameters
    ----------
    model : Subspace
    points : m points
    K : (m, m) kernel between them
    products : (m, q + 1)
        ``k(points, S) [B, c]`` with the model's support S.
    floor : float
        Directions of the span with less than this share of its largest one are left out.

    Returns
    -------
    (q, q) array of the cosines between new and old directions, and the subspace.
    """
    R = whiten(K, floor)
    inside = R.T @ products  # coordinates of the model's directions and mean
    directions, mean = inside[:, :-1], inside[:, -1]
    P, _, Qt = np.linalg.svd(directions, full_matrices=False)
    nearest = P @ Qt
    found = from_features(model.kernel, points, R, mean, nearest, keep_signs=True)
    return nearest.T @ directions, found
