"""Multilinear PCA: one small projection for each mode of a tensor (Lu et al. 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from mercer._base.linalg import fix_signs
from mercer._base.progress import announce
from mercer._base.types import Array, ArrayLike, RowsLike, Targets
from mercer.alternatives._base import SEEN, ReversibleAlternative
from mercer.alternatives._tensor import (
    Ranks,
    TensorAlternative,
    count_ranks,
    expand,
    project,
    scatter,
)
from mercer.estimators.door import verb
from mercer.exceptions import ConvergenceWarning, DataError, warn


class MultilinearPCA(TensorAlternative, ReversibleAlternative):
    r"""Principal components of tensors, one orthonormal factor per mode.

    Samples are arrays :math:`X_i` of shape (d1, …, dK): images, spectrograms, volumes. They are
    compressed to cores of shape (p1, …, pK),

    .. math:: Z_i = (X_i - \bar X) \times_1 U_1^\top \cdots \times_K U_K^\top, \qquad
       \max \sum_i \|Z_i\|^2 \quad \text{with } U_k^\top U_k = I,

    by solving for one mode at a time, an eigenproblem of order dk, with the others held fast. The
    start is the full projection: the leading eigenvectors of each mode's scatter. A model has
    Σ dk pk numbers, while PCA of the flattened samples has q Π dk. With rows instead of arrays
    (K = 1) it is PCA.

    Parameters
    ----------
    ranks : int, float or sequence of those, default=0.97
        Components of each mode: a number, or the least number that carries this share of the
        mode's variance; one for all modes, or one for each.
    tol : float, default=1e-6
        Stop when the captured variance grows by less than this share.
    max_iter : int, default=50

    Attributes
    ----------
    factors_ : list of (dk, pk) arrays
        Orthonormal columns, in decreasing order of variance.
    ranks_ : tuple
        (p1, …, pK), the shape of a core.
    mean_ : (d1, …, dK) array
    tensor_shape_ : tuple
        (d1, …, dK).
    explained_variance_ratio_ : (p1 ⋯ pK,) array
        Share of the total variance in each entry of the core.
    n_iter_ : int

    Notes
    -----
    O(n D (Σ dk + Σ pk)) time per round with D = Π dk numbers per sample, O(n D) memory. The
    alternation ends at a local maximum; from this start it is rarely far from the best. Not for
    columns without a grid: modes must mean something.

    References
    ----------
    H. Lu, K. N. Plataniotis & A. N. Venetsanopoulos, "MPCA: Multilinear principal component
    analysis of tensor objects", IEEE Transactions on Neural Networks 19, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.alternatives import MultilinearPCA
    >>> images = load_digits().images
    >>> images.shape
    (1797, 8, 8)
    >>> model = MultilinearPCA(ranks=(5, 4)).fit(images)
    >>> model.transform(images).shape
    (1797, 20)
    >>> model.inverse_transform(model.transform(images)).shape
    (1797, 8, 8)
    >>> round(float(model.explained_variance_ratio_.sum()), 2)
    0.82
    """

    _saved: ClassVar[tuple[str, ...]] = (
        "factors_",
        "mean_",
        "ranks_",
        "tensor_shape_",
        "explained_variance_ratio_",
        "n_iter_",
        *SEEN,
    )

    def __init__(self, ranks: Ranks = 0.97, *, tol: float = 1e-6, max_iter: int = 50) -> None:
        self.ranks = ranks
        self.tol = tol
        self.max_iter = max_iter

    @verb()
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Find the factors.

        Parameters
        ----------
        X : (n, d1, …, dK) array, or (n, d) array or data frame
        y : ignored
        """
        self._check_limits()
        tensors, dtype = self._fit_tensors(X)
        mean = tensors.mean(axis=0)
        centered = tensors - mean
        scale = np.abs(centered).max()  # squares of 1e300 would overflow
        if scale == 0:
            raise DataError("all samples are equal; multilinear PCA needs samples that differ.")
        centered /= scale
        factors, self.n_iter_ = alternate(centered, self.ranks, self.tol, self.max_iter)
        self.mean_ = mean.astype(dtype)
        self.factors_ = [U.astype(dtype) for U in factors]
        self.ranks_ = tuple(U.shape[1] for U in factors)
        power = (project(centered, factors) ** 2).sum(axis=0).ravel()
        self.explained_variance_ratio_ = (power / (centered**2).sum()).astype(dtype)
        return self

    @verb()
    def transform(self, X: RowsLike) -> Array:
        """Cores of samples, flattened, (n, p1 ⋯ pK).

        ``.reshape(-1, *model.ranks_)`` gives them as tensors.
        """
        tensors, dtype = self._new_samples(X)
        cores = project(tensors - self.mean_, self.factors_)
        return np.asarray(cores.reshape(len(cores), -1).astype(dtype))

    @verb()
    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Samples with the given cores, (n, d1, …, dK); Z may be flat or of the cores' shape."""
        cores, dtype = self._check_cores(Z)
        return np.asarray((expand(cores, self.factors_) + self.mean_).astype(dtype))


def alternate(X: Array, ranks: Ranks, tol: float, max_iter: int) -> tuple[list[Array], int]:
    """Orthonormal factors that capture the most of centred tensors, and the number of rounds."""
    modes = range(X.ndim - 1)
    pairs = [_eigen(scatter(X, k)) for k in modes]
    counts = count_ranks(ranks, [values for values, _ in pairs])
    factors = [vectors[:, :p] for (_, vectors), p in zip(pairs, counts, strict=True)]
    captured, settled, rounds = _captured(X, factors), len(factors) == 1, 0
    while not settled and rounds < max_iter:
        rounds += 1
        announce("multilinear PCA", rounds)
        for k in modes:
            factors[k] = _eigen(scatter(project(X, factors, skip=k), k))[1][:, : counts[k]]
        before, captured = captured, _captured(X, factors)
        settled = captured - before <= tol * captured
    if not settled:
        warn(
            f"the captured variance still grew by {captured / before - 1:.1e} after {rounds} "
            "rounds; raise max_iter or tol.",
            ConvergenceWarning,
        )
    return factors, max(rounds, 1)


def _captured(X: Array, factors: Sequence[Array]) -> float:
    return float((project(X, factors) ** 2).sum())


def _eigen(A: Array) -> tuple[Array, Array]:
    """Eigenvalues in decreasing order, none below zero, and eigenvectors with fixed signs."""
    values, vectors = np.linalg.eigh(A)
    vectors = vectors[:, ::-1]
    return np.maximum(values[::-1], 0.0), np.asarray(vectors * fix_signs(vectors))
