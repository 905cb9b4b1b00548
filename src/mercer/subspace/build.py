"""Subspaces from eigenpairs: normalisation and signs happen here and nowhere else."""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array, fix_signs
from mercer._types import RowsLike
from mercer.kernels import Kernel
from mercer.subspace.subspace import Subspace


def from_gram(
    kernel: Kernel,
    X: RowsLike,
    values: Array,
    vectors: Array,
    *,
    root_weight: Array | None = None,
    direction: Array | None = None,
    mean_product: Array | None = None,
) -> Subspace:
    """From unit eigenvectors of the weighted, centred Gram matrix: ``B = D V Λ^{-1/2}``, ``S = X``.

    Parameters
    ----------
    values, vectors : (q,) and (n, q)
        Leading eigenpairs, values positive and decreasing.
    root_weight : (n,), optional
        The diagonal of D; all ones if not given.
    direction, mean_product : (n,), optional
        The unit vector u that was projected out, and ``D K D u``; without them the model is
        uncentred.
    """
    n, dtype = len(vectors), vectors.dtype
    D = np.ones(n, dtype=dtype) if root_weight is None else root_weight.astype(dtype)
    # An eigenvector of the Gram matrix has length 1 in R^n; the direction Φ D v has length √λ.
    # Signs by the coefficient per unit of weight, so that weight 2 and a row given twice agree.
    vectors = vectors * fix_signs(vectors / D[:, None])
    if direction is not None:
        # B = D H U Λ^{-1/2}: U is orthogonal to the direction only to rounding of the *largest*
        # eigenvalue, and dividing by √λ would let the mean into components with a small one.
        vectors = vectors - np.outer(direction, direction @ vectors)
    # Values may come in float64 from a solver that sums so; the model keeps the rows' precision.
    B = (D[:, None] * vectors / np.sqrt(values)).astype(dtype, copy=False)
    if direction is None or mean_product is None:
        zero = np.zeros(max(n, B.shape[1]), dtype=dtype)
        return Subspace(kernel, kernel.points(X).support, B, zero[:n], zero[: B.shape[1]], 0.0)
    # μ = Σ w_i φ_i / Σ w = Φ D u / ‖D1‖, and K c = D⁻¹ (D K D u) / ‖D1‖
    size = np.linalg.norm(D)
    c = D * direction / size
    Kc = mean_product / (D * size)
    return Subspace(
        kernel,
        kernel.points(X).support,
        B,
        c.astype(dtype),
        (B.T @ Kc).astype(dtype),
        float(c @ Kc),
    )


def from_features(
    kernel: Kernel,
    S: RowsLike,
    basis: Array,
    mean: Array,
    vectors: Array,
    *,
    keep_signs: bool = False,
) -> Subspace:
    """From eigenvectors of a covariance in the coordinates ``a(x) = Rᵀ k(S, x)``.

    Parameters
    ----------
    basis : (m, r)
        R with ``Rᵀ K_SS R = I``; for landmarks the inverse transposed Cholesky factor of K_SS.
    mean : (r,)
        The mean of the coordinates over the data; zero for uncentred models.
    vectors : (r, q)
        Unit eigenvectors of the coordinates' covariance.
    keep_signs : bool, default=False
        The vectors are not eigenvectors of either sign, but have that of another model.
    """
    B = basis @ vectors
    signs = np.ones(B.shape[1], dtype=B.dtype) if keep_signs else fix_signs(B)
    # Coordinates are orthonormal, so that inner products are those of R^r.
    return Subspace(
        kernel, S, B * signs, basis @ mean, signs * (vectors.T @ mean), float(mean @ mean)
    )
