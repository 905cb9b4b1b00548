"""Multilinear PCA of tensors: a small projection for each mode (Lu et al. 2008 and 2009).

The first mode of an array of samples counts them, the others are those of one sample.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from mercer._base import linalg, progress
from mercer._base.config import with_parameters
from mercer._base.types import Array, ArrayLike, RowsLike
from mercer.alternatives import _base
from mercer.alternatives._base import SEEN, centred, warn_unsettled
from mercer.exceptions import DataError, RankWarning, warn

#: A number of components, or a share of the variance, for all modes or for each.
Ranks = int | float | Sequence[int | float]


def project(X: Array, factors: Sequence[Array], skip: int | None = None) -> Array:
    """Multiply mode k of every sample by the transpose of factor k, all modes but ``skip``."""
    for k in reversed(range(len(factors))):  # a last mode needs no copy
        if k != skip:
            X = np.moveaxis(np.tensordot(X, factors[k], axes=(k + 1, 0)), -1, k + 1)
    return X


def expand(Z: Array, factors: Sequence[Array]) -> Array:
    """Multiply mode k of every sample by factor k: back from cores to tensors."""
    return project(Z, [U.T for U in factors])


def scatter(X: Array, k: int) -> Array:
    """The sum over samples of X_(k) X_(k)ᵀ, with X_(k) a sample unfolded along its mode k."""
    others = [axis for axis in range(X.ndim) if axis != k + 1]
    return np.asarray(np.tensordot(X, X, axes=(others, others)))


def axes(X: Array) -> list[tuple[Array, Array]]:
    """The eigenvalues and eigenvectors of each mode's scatter."""
    return [_eigen(scatter(X, k)) for k in range(X.ndim - 1)]


def count_ranks(ranks: Any, spectra: Sequence[Array]) -> tuple[int, ...]:
    """How many components each mode keeps, from the decreasing eigenvalues of its scatter."""
    rules = [ranks] * len(spectra) if isinstance(ranks, Real) else list(ranks)
    if len(rules) != len(spectra):
        modes = f"ranks has {len(rules)} entries for {len(spectra)} modes"
        raise DataError(f"{modes}; give one for each mode, or one number for all.")
    return tuple(_count(rank, values) for rank, values in zip(rules, spectra, strict=True))


class TensorAlternative(_base.Alternative):
    """An alternative for samples that are arrays of one or more modes."""

    _takes: ClassVar[tuple[str, ...]] = ("three_d_array",)
    tensor_shape_: tuple[int, ...]
    ranks_: tuple[int, ...]

    @property
    def _n_features_out(self) -> int:
        return math.prod(self.ranks_)

    def _samples(self, X: RowsLike, *, reset: bool = False) -> tuple[Array, np.dtype]:
        if isinstance(X, list | tuple) and np.ndim(X[0] if len(X) else 0) >= 2:
            try:
                X = np.asarray(X)
            except ValueError:
                raise DataError(f"{len(X)} samples differ; give samples of equal shape.") from None
        shape = tuple(getattr(X, "shape", ())[1:])
        has_modes = len(shape) > 1
        known = None if reset else vars(self).get("tensor_shape_")
        if known and (has_modes or len(known) > 1) and shape != known:
            modes = ", ".join(map(str, known))
            raise DataError(f"X has shape {np.shape(X)}; give (n, {modes}), as in the fit.")
        # As rows for the checks at the door.
        flat = X.reshape(len(X), math.prod(shape)) if has_modes else X
        rows, dtype = super()._samples(flat, reset=reset)
        if reset:
            self.tensor_shape_ = shape if has_modes else rows.shape[1:]
        return rows.reshape(-1, *self.tensor_shape_), dtype

    def _check_codes(self, Z: ArrayLike) -> tuple[Array, np.dtype]:
        """Codes as tensors of shape ``ranks_``; they may come flat, as transform returns them."""
        if np.ndim(Z) > 2 and np.shape(Z)[1:] == vars(self).get("ranks_"):
            Z = np.reshape(Z, (len(Z), -1))
        codes, dtype = super()._check_codes(Z)
        return codes.reshape(-1, *self.ranks_), dtype


def _count(rank: Any, values: Array) -> int:
    n = len(values)
    if isinstance(rank, Integral) and not isinstance(rank, bool) and int(rank) >= 1:
        if int(rank) > n:
            warn(f"a mode of length {n} cannot keep {rank} components; it keeps {n}.", RankWarning)
        return min(int(rank), n)
    if isinstance(rank, Real) and not isinstance(rank, Integral) and 0 < float(rank) <= 1:
        shares = np.cumsum(values) / values.sum()
        return min(int((shares < float(rank) * (1 - 1e-12)).sum()) + 1, n)
    choices = "a whole number of 1 or more, or a share of the variance above 0 and up to 1.0"
    raise DataError(f"{rank!r} as a rank: give {choices}.")


@with_parameters
class MultilinearPCA(TensorAlternative, _base.ReversibleAlternative):
    r"""Principal components of tensors, one orthonormal factor per mode.

    Samples are arrays :math:`X_i` of shape (d1, …, dK): images, spectrograms, volumes. They are
    compressed to cores of shape (p1, …, pK),

    .. math:: Z_i = (X_i - \bar X) \times_1 U_1^\top \cdots \times_K U_K^\top, \qquad
       \max \sum_i \|Z_i\|^2 \quad \text{with } U_k^\top U_k = I,

    by solving for one mode at a time, an eigenproblem of order dk, with the others held fast. The
    start is the full projection: the leading eigenvectors of each mode's scatter. A model has
    Σ dk pk numbers, while PCA of the flattened samples has q Π dk. With rows instead of arrays
    (K = 1) it is PCA. Codes are flat, (n, p1 ⋯ pK), and ``.reshape(-1, *model.ranks_)`` gives the
    cores; ``inverse_transform`` takes both.

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

    _saved = ("factors_", "mean_", "ranks_", "tensor_shape_", "explained_variance_ratio_",
              "n_iter_", *SEEN)  # fmt: skip

    ranks: Ranks = 0.97
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 50

    def _learn(self, tensors: Array, dtype: np.dtype) -> None:
        mean, unit, _ = centred(tensors, "multilinear PCA", "samples")
        factors, self.n_iter_ = alternate(unit, self.ranks, self.tol, self.max_iter)
        self.mean_ = mean.astype(dtype)
        self.factors_ = [U.astype(dtype) for U in factors]
        self.ranks_ = tuple(U.shape[1] for U in factors)
        power = (project(unit, factors) ** 2).sum(axis=0).ravel()
        self.explained_variance_ratio_ = (power / (unit**2).sum()).astype(dtype)

    def _encode(self, tensors: Array) -> Array:
        return project(tensors - self.mean_, self.factors_)

    def _decode(self, cores: Array) -> Array:
        return np.asarray(expand(cores, self.factors_) + self.mean_)


def alternate(X: Array, ranks: Ranks, tol: float, max_iter: int) -> tuple[list[Array], int]:
    """Orthonormal factors that capture the most of centred tensors, and the number of rounds."""
    pairs = axes(X)
    counts = count_ranks(ranks, [values for values, _ in pairs])
    factors = [vectors[:, :p] for (_, vectors), p in zip(pairs, counts, strict=True)]
    if len(factors) == 1:
        return factors, 1
    before = captured = np.sum(project(X, factors) ** 2)
    for rounds in range(1, max_iter + 1):
        progress.announce("multilinear PCA", rounds)
        for k in range(len(factors)):
            factors[k] = _eigen(scatter(project(X, factors, skip=k), k))[1][:, : counts[k]]
        before, captured = captured, np.sum(project(X, factors) ** 2)
        if captured - before <= tol * captured:
            return factors, rounds
    growth = f"{captured / before - 1:.1e} after {max_iter} rounds"
    warn_unsettled(f"the captured variance still grew by {growth}")
    return factors, max_iter


def _eigen(A: Array) -> tuple[Array, Array]:
    """Eigenvalues in decreasing order, none below zero, and eigenvectors with fixed signs."""
    values, vectors = np.linalg.eigh(A)
    vectors = vectors[:, ::-1]
    return np.maximum(values[::-1], 0.0), np.asarray(vectors * linalg.fix_signs(vectors))


@with_parameters
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

    _saved = ("projections_", "mean_", "tensor_shape_", "explained_variance_", "n_iter_", *SEEN)

    n_components: int | None = None
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 100

    def _learn(self, tensors: Array, dtype: np.dtype) -> None:
        mean, unit, scale = centred(tensors, "uncorrelated multilinear PCA", "samples")
        room = int(min(*tensors.shape[1:], len(tensors) - 1))
        count = room if self.n_components is None else self.n_components
        if count > room:
            warn(f"there is room for {room} components, not {count}: {room} are kept.", RankWarning)
        self.n_iter_ = 0
        vectors, Y = self._extract(unit, min(count, room))
        self.mean_ = mean.astype(dtype)
        self.projections_ = [V.astype(dtype) for V in vectors]
        self.explained_variance_ = ((scale * Y.std(axis=0)) ** 2).astype(dtype)

    def _encode(self, tensors: Array) -> Array:
        around, q = tensors - self.mean_, range(self._n_features_out)
        components = ([V[:, [p]] for V in self.projections_] for p in q)
        return np.hstack([project(around, vectors).reshape(-1, 1) for vectors in components])

    @property
    def _n_features_out(self) -> int:
        return int(self.projections_[0].shape[1])

    def _extract(self, X: Array, q: int) -> tuple[list[Array], Array]:
        """Vectors of each mode as columns, and the scores, (n, q)."""
        components: list[list[Array]] = []
        scores = np.empty((len(X), 0))
        smallest = 1e-12 * float((X**2).sum())
        for p in progress.announced("uncorrelated multilinear PCA", range(q)):
            vectors = self._component(X, scores)
            y = project(X, vectors).ravel()
            if y @ y <= smallest and components:
                warn(f"{p} components, not {q}, carry all the variance there is.", RankWarning)
                break
            components.append(vectors)
            scores = np.column_stack([scores, y])
        return [np.hstack(mode) for mode in zip(*components, strict=True)], scores

    def _component(self, X: Array, scores: Array) -> list[Array]:
        """One component whose scores are orthogonal to those before, mode by mode."""
        # Unit scores keep the constraint well scaled however small their variances are.
        before = scores / np.linalg.norm(scores, axis=0)
        vectors = [np.linalg.eigh(scatter(X, k))[1][:, -1:] for k in range(X.ndim - 1)]
        variance = 0.0
        for _ in range(self.max_iter):
            self.n_iter_ += 1
            for k in range(len(vectors)):
                Y = project(X, vectors, skip=k).reshape(len(X), -1)
                vectors[k] = _leading_within(Y.T @ Y, Y.T @ before)
            last, variance = variance, float((project(X, vectors) ** 2).sum())
            if abs(variance - last) <= self.tol * variance:
                break
        else:
            change = f"{abs(variance - last) / variance:.1e} of it after {self.max_iter} rounds"
            warn_unsettled(f"the variance of component {scores.shape[1]} still changed by {change}")
        return [u * linalg.fix_signs(u) for u in vectors]


def _leading_within(S: Array, C: Array) -> Array:
    """Unit column u of the largest uᵀ S u among those with Cᵀ u = 0 (Lu et al. 2009, Theorem 1)."""
    free = np.linalg.qr(C, mode="complete")[0][:, C.shape[1] :]
    return np.asarray(free @ np.linalg.eigh(free.T @ S @ free)[1][:, -1:])
