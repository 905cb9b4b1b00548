"""The explicit pre-image for kernels that reveal the dot product (Mika et al., footnote 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mercer._base.machine import blocks, thread_map
from mercer._base.types import Array
from mercer.kernels import DotProductKernel
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, check_codes
from mercer.preimage.nearest import SupportScores

ROWS = 512


class InverseDot(PreImageSolver):
    r"""Dot products with the support points, and from them the point: :math:`k = f(x \cdot y)`.

    .. math:: p_j = f^{-1}\big(\langle P\varphi(x), \varphi(s_j) \rangle\big)
                  = f^{-1}\Big(\sum_i \gamma_i\, k(s_i, s_j)\Big), \qquad
              \hat x = \arg\min_y \sum_j (s_j \cdot y - p_j)^2

    Exact where a pre-image exists: for the linear kernel always, where it is PCA's inverse, and
    for polynomials of odd degree when all components are kept. Footnote 2 of the paper reads the
    coordinates off an orthonormal basis instead, which is exact there, too. With all components
    the form used here was closer on iris (1e-12 against 7e-9 for degree 3) and less close on
    normal data (1e-6 against 3e-14 for degree 5).

    Notes
    -----
    O(m² (d + q)) time once, then O(m (q + d)) per point. Needs an invertible profile: linear,
    polynomial of odd degree, sigmoid. Not for polynomial kernels with components left out: on
    digits with 20 components its error was 12 times that of :class:`~mercer.preimage.Gradient`,
    where the paper's form has about twice that error.

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

    requires: ClassVar[tuple[str, ...]] = ("dot product",)

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_subspace(subspace)
        S = subspace.support.astype(np.float64)
        return _BoundInverseDot(SupportScores(subspace), np.linalg.pinv(S, rcond=1e-12))


@dataclass(frozen=True)
class _BoundInverseDot(BoundPreImage):
    support: SupportScores
    inverse: Array  # (d, m) pseudo-inverse of the support points

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:  # noqa: ARG002
        kernel = self.support.subspace.kernel
        assert isinstance(kernel, DotProductKernel)
        points = np.empty((len(check_codes(Z)), len(self.inverse)), dtype=Z.dtype)

        def look(rows: slice) -> None:
            with np.errstate(all="ignore"):
                products = kernel.invert(self.support.inner_products(Z[rows]))
                points[rows] = products @ self.inverse.T

        thread_map(look, blocks(len(Z), ROWS))
        found = np.asarray(np.isfinite(points).all(axis=1))
        if not found.all():  # values that the profile never takes, such as tanh = 1.2
            points[~found] = self.support.take(self.support.nearest(Z[~found], 1)[:, 0])
        return PreImages.direct(points, found)
