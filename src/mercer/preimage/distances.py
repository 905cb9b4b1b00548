"""Pre-images from distances (Kwok & Tsang 2004), or dot products (Mika et al. 1999, footnote 2)."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mercer._base.machine import blocks, thread_map
from mercer._base.numbers import check_count
from mercer._base.types import Array
from mercer.kernels import RadialKernel
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, FromScores, PreImages, PreImageSolver
from mercer.preimage.nearest import SupportScores

ROWS = 256


class Distances(PreImageSolver):
    r"""Distances in feature space become distances in input space; then trilateration.

    For the ``n_neighbors`` support points nearest to the projection, the kernel's profile is
    inverted to get the squared distance :math:`d_j^2` that the pre-image should have from each.
    The point is the least-squares solution in the affine hull of these neighbours:

    .. math:: (s_j - \bar s) \cdot (\hat x - \bar s)
              = \tfrac12 \big(\|s_j - \bar s\|^2 - d_j^2\big) + \text{const}

    Parameters
    ----------
    n_neighbors : int, default=10

    Notes
    -----
    Not iterative, and sees only the scores. On clean queries it is less exact than
    :class:`~mercer.preimage.FixedPoint`; under strong noise that is not Gaussian it was measured
    to be better. O(m q + k² d) per point, after one pass over the support's kernel matrix.

    References
    ----------
    J. T. Kwok, I. W. Tsang. The pre-image problem in kernel methods. IEEE Trans. Neural Networks
    15, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> from mercer.preimage import Distances
    >>> X = load_digits().data
    >>> model = KernelPCA(20, preimage=Distances(n_neighbors=8)).fit(X[:500])
    >>> model.denoise(X[500:503]).shape
    (3, 64)
    """

    requires: ClassVar[tuple[str, ...]] = ("inverse",)

    def __init__(self, n_neighbors: int = 10) -> None:
        self.n_neighbors = n_neighbors

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_subspace(subspace)
        count = check_count("n_neighbors", self.n_neighbors, 2)
        support = SupportScores(subspace)

        def locate(Z: Array) -> Array:
            near = support.nearest(Z, count)
            inner = np.take_along_axis(support.inner_products(Z), near, axis=1)
            neighbours = subspace.support[near]
            return _trilaterate(neighbours, _input_distances(subspace, Z, neighbours, inner))

        return FromScores(partial(_located, support, locate))


def _input_distances(subspace: Subspace, Z: Array, neighbours: Array, inner: Array) -> Array:
    """Squared distances in input space from the sought points to their neighbours."""
    kernel: Any = subspace.kernel
    square = subspace.squared_norm(Z)[:, None]
    if not isinstance(kernel, RadialKernel):
        own = np.einsum("njd,njd->nj", neighbours, neighbours)
        return np.asarray(kernel.invert(square) - 2 * kernel.invert(inner) + own)
    # |phi(x) - P|² = 2 - 2 k is what Kwok & Tsang invert: k = 1 - distance²/2.
    apart = 1 + square - 2 * inner
    k = np.clip(1 - apart / 2, np.finfo(Z.dtype).tiny ** 0.5, 1)
    # Farther from all neighbours than any point is: they tell nothing.
    k[(apart >= 2).all(axis=1)] = np.nan
    return np.asarray(-kernel.invert(k) * kernel.length**2)


def _trilaterate(neighbours: Array, squared: Array) -> Array:
    """The least-squares points at given squared distances from their neighbours.

    With centred neighbours A (k, d) the equations are ``A y = (|a_j|² - d_j²)/2`` up to a constant,
    which centring of the right side removes; their least-norm solution is ``y = Aᵀ (A Aᵀ)⁺ rhs``.
    """
    centre = neighbours.mean(axis=1, keepdims=True)
    A = (neighbours - centre).astype(np.float64)
    right = (np.einsum("njd,njd->nj", A, A) - squared) / 2
    right -= right.mean(axis=1, keepdims=True)
    inverse = np.linalg.pinv(np.einsum("nid,njd->nij", A, A), rcond=1e-10, hermitian=True)
    weights = np.einsum("nij,nj->ni", inverse, right)  # not numbers where a distance is none
    return np.asarray(centre[:, 0] + np.einsum("nj,njd->nd", weights, A))


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
        kernel: Any = subspace.kernel
        support = SupportScores(subspace)
        inverse = np.linalg.pinv(subspace.support.astype(np.float64), rcond=1e-12)

        def locate(Z: Array) -> Array:
            return np.asarray(kernel.invert(support.inner_products(Z)) @ inverse.T)

        return FromScores(partial(_located, support, locate))


def _located(support: SupportScores, locate: Callable[[Array], Array], Z: Array) -> PreImages:
    """Points block by block; the nearest support points where values tell nothing.

    Such as tanh = 1.2, which the profile never takes.
    """

    def quietly(rows: slice) -> Array:
        with np.errstate(all="ignore"):
            return locate(Z[rows])

    points = np.concatenate(thread_map(quietly, blocks(len(Z), ROWS))).astype(Z.dtype, copy=False)
    located = np.asarray(np.isfinite(points).all(axis=1))
    if not located.all():
        points[~located] = support.take(support.nearest(Z[~located], 1)[:, 0])
    return PreImages.direct(points, located)
