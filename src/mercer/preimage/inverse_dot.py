"""The explicit pre-image for kernels that reveal the dot product (Mika et al., footnote 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer._linalg import Array, square_sums
from mercer.kernels import DotProductKernel, Kernel, cross_gram
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver
from mercer.preimage.nearest import Nearest
from mercer.subspace import Subspace

__all__ = ["InverseDot"]


class InverseDot(PreImageSolver):
    r"""Coordinates read off one by one: :math:`k = f(x \cdot y)` with an invertible f.

    .. math:: \hat x_j = f^{-1}\big(\langle P\varphi(x), \varphi(\tau e_j) \rangle\big) / \tau
                       = f^{-1}\Big(\sum_i \gamma_i\, k(s_i, \tau e_j)\Big) / \tau

    for the canonical basis e_j, scaled by τ to the size of the data. Exact to rounding where a
    pre-image exists: for the linear kernel always, where it is PCA's inverse, and for odd
    polynomial kernels when all components are kept. With fewer components it reads noise into
    small coordinates; :class:`~mercer.preimage.Gradient` is better there.

    Notes
    -----
    O(m d (d + q)) time once, then O(q d) per point. Needs an invertible profile: linear,
    polynomial of odd degree, sigmoid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import Polynomial
    >>> from mercer.preimage import InverseDot
    >>> X = load_iris().data
    >>> model = KernelPCA(kernel=Polynomial(3), preimage=InverseDot()).fit(X)
    >>> bool(abs(model.reconstruct(X) - X).max() < 1e-4)
    True
    """

    requires: ClassVar[tuple[type[Kernel], ...]] = (DotProductKernel,)

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_kernel(subspace.kernel)
        assert isinstance(subspace.kernel, DotProductKernel)
        subspace.kernel.invert(np.zeros(1))  # raises now, with the remedy, if it cannot
        S = subspace.support
        tau = float(np.sqrt(square_sums(S).mean(dtype=np.float64))) or 1.0
        basis = np.eye(S.shape[1], dtype=S.dtype) * S.dtype.type(tau)
        K = cross_gram(subspace.kernel, subspace.packed_support, subspace.kernel.pack(basis))
        return _BoundInverseDot(subspace, tau, subspace.coef.T @ K, subspace.mean @ K)


@dataclass(frozen=True)
class _BoundInverseDot(BoundPreImage):
    subspace: Subspace
    tau: float
    directions: Array  # (q, d) inner products <w_k, phi(tau e_j)>
    mean: Array  # (d,) inner products <mu, phi(tau e_j)>

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:  # noqa: ARG002
        kernel = self.subspace.kernel
        assert isinstance(kernel, DotProductKernel)
        with np.errstate(all="ignore"):
            points = np.asarray(kernel.invert(self.mean + Z @ self.directions) / self.tau)
        found = PreImages.direct(points.astype(Z.dtype, copy=False))
        lost = ~np.isfinite(points).all(axis=1)
        if lost.any():  # values that the profile never takes, such as tanh = 1.2
            found.points[lost] = Nearest().init(self.subspace).solve(Z[lost]).points
            found.converged[lost] = False
            status = np.where(lost, "failed", found.status)
            return PreImages(found.points, found.converged, found.iterations, status)
        return found
