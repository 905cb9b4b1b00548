r"""The Subspace: what every variant of kernel PCA ends in.

Orthonormal directions :math:`w_k = \Phi_S B_k` around a mean :math:`\mu = \Phi_S c`, all written on
support points S. Everything that people want from kernel PCA is a formula in these four.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mercer._base.linalg import fix_signs, square_sums
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import KernelError
from mercer.gram import CenteredGram, GramOperator, whiten
from mercer.kernels import Basis, Kernel
from mercer.points import Points


@dataclass(frozen=True)
class Subspace:
    """A frozen affine subspace of feature space.

    Attributes
    ----------
    kernel : Kernel
        Resolved: every parameter is a number.
    support : (m, d) array, or m objects
        The points S on which everything is written.
    coef : (m, q) array
        B: directions ``w_k = sum_i B_ik phi(s_i)``, orthonormal.
    mean : (m,) array
        c: the mean ``mu = sum_i c_i phi(s_i)``; zero for uncentred models.
    offset : (q,) array
        ``b = Bᵀ K_SS c``, the scores of the mean before centring.
    mean_square : float
        ``cᵀ K_SS c``, the squared length of the mean.
    """

    kernel: Kernel
    support: Rows
    coef: Array
    mean: Array
    offset: Array
    mean_square: float

    @property
    def n_support(self) -> int:
        """Number of support points, m."""
        return len(self.mean)

    @property
    def n_components(self) -> int:
        """Number of directions, q."""
        return int(self.coef.shape[1])

    @cached_property
    def basis(self) -> Basis:
        """The functions k(s_i, ·), ready for tiles."""
        return Basis(self.kernel, self.points)

    def on(self, basis: Basis) -> "Subspace":
        """The same, with its functions packed already."""
        copy = replace(self)
        vars(copy)["basis"] = basis
        return copy

    @cached_property
    def points(self) -> Points:
        """The support as what it is to the kernel."""
        return self.kernel.points(self.support)

    def astype(self, dtype: Precision) -> "Subspace":
        """The same with coefficients in another precision; the support stays as it is."""
        parts = {name: getattr(self, name) for name in ("coef", "mean", "offset")}
        return replace(self, **{name: a.astype(dtype, copy=False) for name, a in parts.items()})

    def leading(self, q: int) -> "Subspace":
        """The subspace of the first q directions."""
        return replace(self, coef=self.coef[:, :q], offset=self.offset[:q])

    def spread(self, points: Points, group: Array, share: Array) -> "Subspace":
        """The same written on points of which point i is a copy of support point ``group[i]``.

        ``share`` (m,) says how much of that one's coefficients it takes.
        """
        coef, mean = self.coef[group] * share[:, None], self.mean[group] * share
        written = replace(self, support=points.support, coef=coef, mean=mean)
        return written.astype(self.coef.dtype)

    def in_precision(self, X: Points | Rows) -> Rows:
        """Rows in the precision of the model."""
        return self.kernel.points(X).cast(self.coef.dtype).rows

    def scores(self, X: Points | Rows) -> Array:
        """``z(x) = Bᵀ k(S, x) - b``; O(n m (d + q)) time."""
        return self.basis.matmat(X, self.coef) - self.offset

    def residual(self, X: Points | Rows) -> Array:
        """Squared distance of phi(x) from the subspace; see :meth:`scores_and_residual`."""
        return self.scores_and_residual(X)[1]

    def scores_and_residual(self, X: Points | Rows) -> tuple[Array, Array]:
        """Scores, and ``k(x,x) - 2 cᵀk(S,x) + cᵀ K_SS c - |z(x)|²``, from one pass over k(S, x).

        The second is a squared distance: values below zero are rounding and come out as zero.
        """
        points = self.kernel.points(X)
        products = self.basis.matmat(points, np.column_stack([self.coef, self.mean]))
        return self.of_products(products, self.kernel.diag(points.rows))

    def of_products(self, products: Array, own: Array) -> tuple[Array, Array]:
        """The same from ``k(x, S) [B, c]``, (n, q + 1), and ``own``, k(x, x)."""
        Z = products[:, :-1] - self.offset
        centred_square = own - 2 * products[:, -1] + self.mean_square
        return Z, np.maximum(centred_square - square_sums(Z), 0).astype(Z.dtype, copy=False)

    def exact(self, points: Points) -> Array:
        """``k(x_i, s_j)`` by the kernel's definition, in float64; for a few rows."""
        return self.kernel.exact(points.rows, self.support)

    def expansion(self, Z: Array) -> Array:
        """Coefficients of ``mu + sum_k z_k w_k`` on the support: rows ``c + B z``."""
        G = Z @ self.coef.T
        G += self.mean  # in place: the rows may be long
        return np.asarray(G)

    def squared_norm(self, Z: Array) -> Array:
        """Squared length in feature space of ``mu + sum_k z_k w_k``: ``cᵀKc + 2 bᵀz + |z|²``."""
        return np.asarray(self.mean_square + 2 * (Z @ self.offset) + square_sums(Z))


def require_variables(subspace: Subspace, to: str) -> None:
    """Refuse a kernel that is no function of variables; ``to`` is what these could do."""
    if not subspace.points.can_wait:
        raise KernelError(f"{subspace.kernel!r} has no variables to {to}; use a kernel of vectors.")


# Subspaces from eigenpairs: normalisation and signs happen here and nowhere else.


def from_gram(
    kernel: Kernel, points: Points, operator: GramOperator, values: Array, vectors: Array
) -> Subspace:
    """From unit eigenvectors of the weighted, centred Gram matrix: ``B = D V Λ^{-1/2}``, ``S = X``.

    Parameters
    ----------
    operator : GramOperator
        The matrix, which knows its weights D and, if it is centred, the unit vector u that was
        projected out, and ``D K D u``.
    values, vectors : (q,) and (n, q)
        Leading eigenpairs, values positive and decreasing.
    """
    n, dtype = len(vectors), vectors.dtype
    centred = operator if isinstance(operator, CenteredGram) else None
    D = np.ones(n) if operator.root_weight is None else operator.root_weight
    D = D.astype(dtype)
    # An eigenvector of the Gram matrix has length 1 in R^n; the direction Φ D v has length √λ.
    # Signs by the coefficient per unit of weight, so that weight 2 and a row given twice agree.
    vectors = vectors * fix_signs(vectors / D[:, None])
    if centred is not None:
        # B = D H U Λ^{-1/2}: U is orthogonal to the direction only to rounding of the *largest*
        # eigenvalue, and dividing by √λ would let the mean into components with a small one.
        vectors = vectors - np.outer(centred.direction, centred.direction @ vectors)
    # Values may come in float64 from a solver that sums so; the model keeps the rows' precision.
    B = (D[:, None] * vectors / np.sqrt(values)).astype(dtype, copy=False)
    if centred is None:
        zero = np.zeros(max(n, B.shape[1]), dtype=dtype)
        return Subspace(kernel, points.support, B, zero[:n], zero[: B.shape[1]], 0.0)
    # μ = Σ w_i φ_i / Σ w = Φ D u / ‖D1‖, and K c = D⁻¹ (D K D u) / ‖D1‖
    size = np.linalg.norm(D)
    c = D * centred.direction / size
    Kc = centred.mean_product / (D * size)
    offset = (B.T @ Kc).astype(dtype)
    return Subspace(kernel, points.support, B, c.astype(dtype), offset, float(c @ Kc))


def from_features(
    kernel: Kernel, S: Rows, basis: Array, mean: Array, vectors: Array, *, keep_signs: bool = False
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
    offset = signs * (vectors.T @ mean)
    return Subspace(kernel, S, B * signs, basis @ mean, offset, float(mean @ mean))


def project_onto(
    model: Subspace, points: Rows, K: Array, products: Array, floor: float = 1e-12
) -> tuple[Array, Subspace]:
    """A model's directions and mean, seen through the span of the kernels of these m points.

    Of all orthonormal directions in the span the ones nearest to the model's (the polar factor of
    their projections), so that each component keeps its meaning and its sign. ``K`` (m, m) is the
    kernel between the points, ``products`` (m, q + 1) are ``k(points, S) [B, c]`` with the model's
    support S; directions of the span with less than ``floor`` of its largest one are left out.
    Returns the (q, q) cosines between new and old directions, and the subspace.
    """
    R = whiten(K, floor)
    inside = R.T @ products  # coordinates of the model's directions and mean
    directions, mean = inside[:, :-1], inside[:, -1]
    P, _, Qt = np.linalg.svd(directions, full_matrices=False)
    nearest = P @ Qt
    projected = from_features(model.kernel, points, R, mean, nearest, keep_signs=True)
    return nearest.T @ directions, projected
