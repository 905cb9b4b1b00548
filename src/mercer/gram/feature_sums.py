r"""First and second moments of the landmark features, from one pass over the rows.

With landmarks Z and features :math:`a = T^\top k_Z(x)` the sums :math:`\sum w\, a a^\top` and
:math:`\sum w\, a` are all that kernel PCA on landmarks needs: r × r numbers, whatever n is. Sums of
parts add up, so that the pass can be cut into chunks, threads, machines and sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from mercer._base import linalg, machine, progress
from mercer._base.types import Array, Rows
from mercer.gram.low_rank import inverse_root
from mercer.kernels import Basis, Kernel, RadialKernel
from mercer.points import Points
from mercer.points.source import as_source

if TYPE_CHECKING:
    from mercer.gram.checkpoint import Checkpoint

#: Rows whose features stay in cache while they are squared.
BLOCK = 2048
#: Condition numbers of K_ZZ up to which plain sums of squares are accurate enough, by precision.
STEEP = {np.float64: 1e9, np.float32: 5e5}
#: And up to which sums of rows in float64 are tried in float32: where much lies outside the span of
#: the landmarks, that hides the rounding.
ROUGH = 3e7
#: If the components wanted have more than this share of the largest eigenvalue, directions beyond
#: STEEP cannot move them and are left out.
TALL = 1e-4


@dataclass(frozen=True)
class FeatureSums(linalg.Sums):
    """Weighted sums over rows, which add up: of 1, of the features a, of a aᵀ, and of k(x, x)."""

    weight: float
    linear: Array
    square: Array
    diagonal: float

    def __mul__(self, factor: float) -> FeatureSums:
        """All sums times a factor: forgetting, for streams."""
        return FeatureSums(*(factor * part for part in vars(self).values()))

    def mapped(self, M: Array) -> FeatureSums:
        """The sums of ``M a`` in the place of a."""
        square = M @ self.square @ M.T
        return FeatureSums(self.weight, M @ self.linear, square, self.diagonal)

    @classmethod
    def zero(cls, r: int) -> FeatureSums:
        """Of no rows at all."""
        return cls(0.0, np.zeros(r), np.zeros((r, r)), 0.0)


@dataclass(frozen=True)
class LandmarkFeatures:
    """The map ``x → k(Z, x)``, and the basis R in which its coordinates are orthonormal.

    A sum of squares ``Rᵀ (Σ k kᵀ) R`` errs by eps·cond(K_ZZ). Where that is too much in float32,
    the features are computed in float64. Where it is too much there (a smooth kernel), directions
    of small variance are left out if the components wanted lie far above them; else features are
    whitened *before* they are summed, and the error is eps·√cond only, at twice the time.
    """

    kernel: Kernel
    landmarks: Rows  #: Z
    #: precision of the rows and of the result
    dtype: np.dtype = np.dtype(np.float64)  # noqa: RUF009
    leading: int | None = None  #: how many components will be wanted, if that is known

    @cached_property
    def functions(self) -> Basis:
        """The functions k(z_j, ·), in the precision in which they are summed."""
        return Basis(self.kernel, self.points, self._whitening.working)

    @cached_property
    def points(self) -> Points:
        """The landmarks as what they are to the kernel."""
        return self.kernel.points(self.landmarks)

    @cached_property
    def gram(self) -> Array:
        """K_ZZ in float64."""
        return Basis(self.kernel, self.points, np.float64).gram()

    @property
    def basis(self) -> Array:
        """R with ``Rᵀ K_ZZ R = I``, (m, r); directions lost in rounding are left out."""
        return self._whitening.basis

    @property
    def working(self) -> np.dtype:
        """Precision in which kernel values are computed."""
        return self._whitening.working

    @property
    def cut(self) -> float:
        """Variance of a direction that was left out because rounding hides it; 0 if none was."""
        return self._whitening.cut

    @property
    def whitens_first(self) -> bool:
        """Whether features are whitened before they are summed."""
        return self._whitening.before_sums

    @property
    def size(self) -> int:
        """Number of features that are summed."""
        return int(self.basis.shape[1 if self.whitens_first else 0])

    def of(self, X: Points) -> Array:
        """The features that are summed, (n, r)."""
        K = self.functions.at(X)
        return np.asarray(K @ self.basis) if self.whitens_first else K

    def own(self, X: Points) -> Array:
        """k(x_i, x_i) in float64: what is left of them after the mean may be their last digits."""
        if isinstance(self.kernel, RadialKernel):
            return np.ones(len(X))
        return self.kernel.diag(X.cast(np.float64).rows)

    def whitened(self, sums: FeatureSums) -> FeatureSums:
        """The sums in the orthonormal coordinates ``Rᵀ k(Z, x)``."""
        return sums if self.whitens_first else sums.mapped(self.basis.T)

    def in_single(self) -> LandmarkFeatures | None:
        """The same with kernel values in float32, in the same basis; None where that is no use."""
        K = self.gram
        small = self.points.cast(self.dtype).fit_float32(np.diagonal(K))
        plain = self.working == np.float64 and not self.whitens_first and not self.cut
        if not (plain and small and _condition(K, self.basis) < ROUGH):
            return None
        rough = replace(self)
        single = replace(self._whitening, working=np.dtype(np.float32))
        vars(rough).update(gram=K, _whitening=single)
        return rough

    @cached_property
    def _whitening(self) -> _Whitening:
        K = self.gram
        R = inverse_root(K)
        if R is not None:
            condition = _condition(K, R)
            fits = self.dtype == np.float32 and np.abs(K).max() < linalg.SQUARABLE
            single = fits and condition < STEEP[np.float32]
            if condition < STEEP[np.float64]:
                return _Whitening(R, np.dtype(np.float32 if single else np.float64), False)
        with machine.lapack_threads(len(K)):
            s, Q = np.linalg.eigh(K)
        tall = self.leading is not None and s[-min(self.leading + 1, len(s))] > TALL * s[-1]
        keep = s > (1 / STEEP[np.float64] if tall else 1e-12) * s[-1]
        basis = Q[:, keep] / np.sqrt(s[keep])
        cut = 0.0 if tall or keep.all() else float(s[~keep].max() / len(s))
        return _Whitening(basis, np.dtype(np.float64), not tall, max(cut, 0.0))


def _condition(K: Array, R: Array) -> float:
    """An upper bound of the condition number of K_ZZ for sums of squares that are centred."""
    # tr(K⁻¹) times the largest row sum bounds the condition number from above.
    bound = np.sum(R * R) * np.abs(K).sum(axis=0).max()
    # Centring takes the mean off the sums, and its rounding stays.
    return float(bound / max(1 - K.mean() / np.diagonal(K).mean(), 1e-12))


@dataclass(frozen=True)
class _Whitening:
    basis: Array
    working: np.dtype
    before_sums: bool
    cut: float = 0.0


def chunk_sums(
    features: LandmarkFeatures, weight: Array | None, rows: slice, X: Rows
) -> FeatureSums:
    """The sums over one chunk of rows, in blocks that stay in cache; for threads and workers."""
    r, points = features.size, features.kernel.points(X)
    square, linear, diagonal = np.zeros((r, r)), np.zeros(r), 0.0
    weights = np.ones(len(X)) if weight is None else weight[rows]
    for part in machine.blocks(len(X), BLOCK):
        block, w = points.take(part), weights[part]
        if features.working == np.float64:  # else they are rounded around an origin, not here
            block = block.cast(np.float64)
        A = features.of(block)
        # By the largest weight first: with it squares might leave the range of float32.
        top = float(w.max(initial=0.0)) or 1.0
        linear += top * ((w / top).astype(A.dtype) @ A)
        diagonal += float(w @ features.own(block))
        if weight is not None:
            A *= np.sqrt(w / top)[:, None]
        part_square = A.T @ A  # BLAS computes one triangle only
        square += part_square if top == 1 else top * part_square
    return FeatureSums(float(weights.sum()), linear, square, diagonal)


def sum_features(
    features: LandmarkFeatures,
    points: Points,
    weight: Array | None = None,
    checkpoint: Checkpoint | None = None,
) -> FeatureSums:
    """The sums over all rows; O(n r (d + r)) time, O(r²) memory per thread.

    With a checkpoint the pass begins where an earlier one was stopped, and gives the same bits.
    """
    source, work = as_source(points), partial(chunk_sums, features, weight)
    done, total = 0, FeatureSums.zero(features.size)
    if checkpoint is None:
        parts = source.map_steps(work)
    else:
        done, total = checkpoint.position(total, source)
        parts = checkpoint.steps(source, work, done)
    for part in parts:
        total, done = total + part, done + 1
        if checkpoint is not None:
            checkpoint.keep(done, total)
        progress.announce("landmarks", done, source.n_steps)
    return total


def missed(features: LandmarkFeatures, rows: Points, share: float, room: int) -> Points:
    """Rows of which more than a share lies outside the span, by a pivoted Cholesky; at most room.

    O(n m (d + m)) time for n rows and m landmarks.
    """
    A = features.functions.at(rows) @ features.basis
    own = features.own(rows)
    left, bar = own - linalg.square_sums(A), share * own
    candidates = np.flatnonzero(left > bar)
    candidates = candidates[np.argsort(-left[candidates])][: 4 * room]  # enough to choose from
    if not candidates.size:
        return rows.take(candidates)
    A, bar = A[candidates], bar[candidates]
    K = Basis(features.kernel, rows.take(candidates), np.float64).gram() - A @ A.T
    chosen: list[int] = []
    while len(chosen) < room:
        pivot = int(np.argmax(np.diagonal(K) - bar))
        if K[pivot, pivot] <= bar[pivot]:
            break
        chosen.append(pivot)
        K -= np.outer(K[:, pivot], K[pivot]) / K[pivot, pivot]
    return rows.take(candidates[chosen])


def carried(sums: FeatureSums, old: LandmarkFeatures, new: LandmarkFeatures) -> FeatureSums:
    """The old sums in the new features: what the old landmarks know of the rows before."""
    # φ(x) ≈ Φ_old R_old a(x), so that k(z, x) ≈ k(z, Z_old) R_old a(x) for every new landmark z.
    return old.whitened(sums).mapped(new.of(old.points).T @ old.basis)
