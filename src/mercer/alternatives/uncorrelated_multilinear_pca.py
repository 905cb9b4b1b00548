"""Uncorrelated multilinear PCA: rank-one projections whose scores do not correlate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from mercer._base.linalg import fix_signs
from mercer._base.numbers import check_count
from mercer._base.progress import announce
from mercer._base.types import Array, RowsLike, Targets
from mercer.alternatives._base import SEEN
from mercer.alternatives._tensor import TensorAlternative, scatter
from mercer.estimators.door import verb
from mercer.exceptions import ConvergenceWarning, DataError, RankWarning, warn


class UncorrelatedMultilinearPCA(TensorAlternative):
    r"""Tensors to a few numbers of largest variance that do not correlate (UMPCA).

    Component p is an elementary projection, one unit vector per mode,

    .. math:: y_p = (X - \bar X) \times_1 u_{p1}^\top \cdots \times_K u_{pK}^\top,

    of the largest variance among those whose scores do not correlate with the scores before.
    Found one after the other, each by solving for one mode at a time: an eigenproblem within the
    directions that the constraint leaves. With rows instead of arrays it is PCA.

    Parameters
    ----------
    n_components : int, optional
        At most min(d1, …, dK, n - 1), which is also the default: each earlier component takes a
        direction from every mode.
    tol : float, default=1e-6
        Stop when a component's variance changes by less than this share.
    max_iter : int, default=100

    Attributes
    ----------
    projections_ : list of (dk, q) arrays
        The unit vectors of mode k, one column per component.
    explained_variance_ : (q,) array
        Variances of the scores; not always in decreasing order, since each is a local maximum.
    mean_ : (d1, …, dK) array
    tensor_shape_ : tuple
    n_iter_ : int
        Rounds of all components.

    Notes
    -----
    O(q n D) time per round with D = Π dk numbers per sample, O(n D) memory. Made for features
    that feed a classifier. Not for compression: scores alone do not lead back, so there is no
    ``inverse_transform``; see :class:`MultilinearPCA`.

    References
    ----------
    H. Lu, K. N. Plataniotis & A. N. Venetsanopoulos, "Uncorrelated multilinear principal component
    analysis for unsupervised multilinear subspace learning", IEEE Transactions on Neural Networks
    20, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from mercer.alternatives import UncorrelatedMultilinearPCA
    >>> images = load_digits().images[:500]
    >>> Z = UncorrelatedMultilinearPCA(4).fit_transform(images)
    >>> bool(np.abs(np.corrcoef(Z.T) - np.eye(4)).max() < 1e-8)
    True
    """

    _saved: ClassVar[tuple[str, ...]] = (
        "projections_",
        "mean_",
        "tensor_shape_",
        "explained_variance_",
        "n_iter_",
        *SEEN,
    )

    def __init__(
        self, n_components: int | None = None, *, tol: float = 1e-6, max_iter: int = 100
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter

    @verb()
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Find the projections.

        Parameters
        ----------
        X : (n, d1, …, dK) array, or (n, d) array or data frame
        y : ignored
        """
        if self.n_components is not None:
            check_count("n_components", self.n_components, instead=", or None")
        self._check_limits()
        tensors, dtype = self._fit_tensors(X)
        mean = tensors.mean(axis=0)
        centered = tensors - mean
        scale = float(np.abs(centered).max())  # squares of 1e300 would overflow
        if scale == 0:
            raise DataError("all samples are equal; give samples that differ.")
        centered /= scale
        self.n_iter_ = 0
        vectors, Y = self._extract(centered, self._count(tensors))
        self.mean_ = mean.astype(dtype)
        self.projections_ = [V.astype(dtype) for V in vectors]
        self.explained_variance_ = ((scale * Y.std(axis=0)) ** 2).astype(dtype)
        return self

    @verb()
    def transform(self, X: RowsLike) -> Array:
        """Uncorrelated scores of samples, (n, q)."""
        tensors, dtype = self._new_samples(X)
        centered = tensors - self.mean_
        components = zip(*(V.T for V in self.projections_), strict=True)  # a vector for each mode
        columns = [_contract(centered, vectors) for vectors in components]
        return np.column_stack(columns).astype(dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.projections_[0].shape[1])

    def _count(self, tensors: Array) -> int:
        room = int(min(*tensors.shape[1:], len(tensors) - 1))
        wanted = room if self.n_components is None else self.n_components
        if wanted > room:
            warn(
                f"samples of shape {tensors.shape[1:]} leave room for {room} uncorrelated "
                f"components, not {wanted}; {room} are kept.",
                RankWarning,
            )
        return min(wanted, room)

    def _extract(self, X: Array, q: int) -> tuple[list[Array], Array]:
        """Vectors of each mode as columns, and the scores, (n, q)."""
        found: list[list[Array]] = []
        scores = np.empty((len(X), 0))
        smallest = 1e-12 * float((X**2).sum())
        for p in range(q):
            announce("uncorrelated multilinear PCA", p, q)
            vectors = self._component(X, scores)
            y = _contract(X, vectors)
            if y @ y <= smallest and found:
                warn(
                    f"{p} uncorrelated components carry all that can be had; asked were {q}.",
                    RankWarning,
                )
                break
            found.append(vectors)
            scores = np.column_stack([scores, y])
        return [np.column_stack(mode) for mode in zip(*found, strict=True)], scores

    def _component(self, X: Array, scores: Array) -> list[Array]:
        """One component whose scores are orthogonal to those before, mode by mode."""
        # Unit scores keep the constraint well scaled however small their variances are.
        before = scores / np.linalg.norm(scores, axis=0)
        vectors = [np.linalg.eigh(scatter(X, k))[1][:, -1] for k in range(X.ndim - 1)]
        variance = 0.0
        for _ in range(self.max_iter):
            self.n_iter_ += 1
            for k in range(len(vectors)):
                Y = _contract(X, vectors, skip=k)
                vectors[k] = _leading_within(Y.T @ Y, Y.T @ before)
            last, variance = variance, float((_contract(X, vectors) ** 2).sum())
            if abs(variance - last) <= self.tol * variance:
                break
        else:
            warn(
                f"the variance of component {scores.shape[1]} still changed by "
                f"{abs(variance - last) / variance:.1e} of it after {self.max_iter} rounds; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        return [u * fix_signs(u[:, None])[0] for u in vectors]


def _contract(X: Array, vectors: Sequence[Array], skip: int | None = None) -> Array:
    """Multiply out all modes but ``skip``: (n,) numbers, or (n, dk) rows."""
    for k in reversed(range(len(vectors))):
        if k != skip:
            X = np.tensordot(X, vectors[k], axes=(k + 1, 0))
    return X


def _leading_within(S: Array, C: Array) -> Array:
    """Unit u of the largest uᵀ S u among those with Cᵀ u = 0 (Lu et al. 2009, Theorem 1)."""
    free = np.linalg.qr(C, mode="complete")[0][:, C.shape[1] :]
    return np.asarray(free @ np.linalg.eigh(free.T @ S @ free)[1][:, -1])
