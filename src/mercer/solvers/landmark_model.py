"""Kernel PCA inside a span of landmarks, and how far off its eigenvalues are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.machine import lapack_threads
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.exceptions import DataError, RankWarning, warn
from mercer.gram import FeatureSums, LandmarkFeatures, SpotCheck
from mercer.gram.spot_check import ROWS
from mercer.kernels import Basis, Kernel
from mercer.model import ComponentRule, Subspace, from_features
from mercer.points import Points
from mercer.solvers import policy


@dataclass(frozen=True)
class LandmarkModel:
    """Eigenpairs of the covariance of ``a(x) = Rᵀ k(Z, x)``, where Z are the landmarks."""

    features: LandmarkFeatures
    values: Array  #: as of the Gram matrix
    rounded: Array  #: their relative errors by rounding, as far as :func:`counted` has looked
    vectors: Array  #: in the coordinates a
    mean: Array  #: (r,) of a
    weight: float  #: number of rows, or the sum of their weights
    square: Array  #: products of the features, summed, as they were before whitening
    trace: float  #: total variance
    unexplained: float  #: its share outside the span of the landmarks, ...
    unexplained_error: float  #: ... give or take so much by rounding
    excess: float  #: what the span of an indefinite kernel holds beyond the trace

    @classmethod
    def of(
        cls, features: LandmarkFeatures, sums: FeatureSums, center: bool, n: int
    ) -> LandmarkModel:
        """From the sums over n rows."""
        blur, square = _sum_rounding(features, sums), sums.square
        sums = features.whitened(sums)
        mean = sums.linear / sums.weight if center else np.zeros(len(sums.linear))
        removed = sums.weight * float(mean @ mean)
        with lapack_threads(len(mean)):
            values, vectors = np.linalg.eigh(sums.square - sums.weight * np.outer(mean, mean))
        scale, largest = sums.diagonal / sums.weight, float(values.max(initial=0.0))
        floor = policy.noise_floor(largest, len(values), scale, np.dtype(np.float64), removed)
        if not largest > floor:
            none = f"kernel has no variance on the landmarks: eigenvalues reach {largest:.2g}"
            raise DataError(f"{none}; give rows that differ, more landmarks, or another width.")
        policy.refuse_magnitude(features.points.cast(features.dtype), float(values[-1]))
        keep = values > floor
        outside = sums.diagonal - float(np.trace(sums.square))
        if not features.kernel.is_mercer:
            spectrum = np.linalg.eigvalsh(features.gram)
            policy.refuse_negative(spectrum[0], spectrum[-1], policy.NEGATIVE_LIMIT * spectrum[-1])
            # n eigenvalues that sum to less than zero have one below a share of that.
            policy.refuse_negative(min(outside + 8 * blur, 0.0) / n, values[-1], floor)
        values, rounded = values[keep][::-1], np.zeros(np.count_nonzero(keep))
        # NumPy multiplies by a matrix of negative strides without BLAS, ten times slower.
        vectors = np.ascontiguousarray(vectors[:, keep][:, ::-1])
        trace = sums.diagonal - removed
        unseen = max(outside, 0.0) / trace, blur / trace, max(-outside - blur, 0.0)
        return cls(features, values, rounded, vectors, mean, sums.weight, square, trace, *unseen)

    def leading(self, rank: int) -> LandmarkModel:
        """The model with its first components only."""
        values, rounded, vectors = self.values[:rank], self.rounded[:rank], self.vectors[:, :rank]
        return replace(self, values=values, rounded=rounded, vectors=vectors)

    @property
    def removed(self) -> float:
        """What centring has taken from the sum of squares."""
        return self.weight * float(self.mean @ self.mean)

    def subspace(self) -> Subspace:
        """The directions, written on the landmarks."""
        features, parts = self.features, (self.features.basis, self.mean, self.vectors)
        stored = (part.astype(features.dtype) for part in parts)
        return from_features(features.kernel, features.landmarks, *stored)


def _sum_rounding(features: LandmarkFeatures, sums: FeatureSums) -> float:
    """How far off the sum of squares ``tr Rᵀ S R`` may be: R is large where landmarks are alike."""
    eps, R = float(np.finfo(features.working).eps), features.basis
    diagonal = abs(sums.diagonal)  # below zero if the kernel is indefinite
    if features.whitens_first:
        spread = float(np.sqrt(diagonal * sums.weight) * np.linalg.norm(R))
        return eps * (diagonal + spread)
    return eps * float(diagonal + np.abs(sums.square).max() * np.linalg.norm(R @ R.T))


#: Share of the trace outside the span from which on float32 tells it.
ROUGH = 1e-2
#: Share of what lies outside the span below which a sample has missed it.
RARE = 0.1


@dataclass(frozen=True)
class Sample:
    """Rows that stand for all."""

    rows: Points
    weight: Array  #: (p,) what each stands for; they sum to that of all rows
    share: float  #: 1 if these are all rows, 0 if they were drawn with replacement by their weight

    @classmethod
    def draw(cls, X: Points, weight: Array | None, size: int, rng: np.random.Generator) -> Sample:
        """At most ``size`` rows: alike without weights, else as often as their weight says."""
        n = len(X)
        if n <= size:
            return cls(X.take(np.arange(n)), np.ones(n) if weight is None else weight, 1.0)
        if weight is None:
            return cls(X.sample(size, rng), np.full(size, n / size), size / n)
        rows = X.take(weighted_draw(weight, size, rng))
        return cls(rows, np.full(size, weight.sum() / size), 0.0)

    def few(self, kernel: Kernel, landmarks: Points) -> Few:
        """Some of the rows, as often as their weight says."""
        rows = self.rows
        if len(rows) > ROWS:
            rows = rows.take(weighted_draw(self.weight, ROWS, fixed_rng(0)))
        return Few(rows, kernel.exact(rows.rows, landmarks.rows))


class Few(NamedTuple):
    """A few rows, and their kernel values with the landmarks by the definition, (p, m).

    What rounding and the audit both look at.
    """

    rows: Points
    exact: Array


def weighted_draw(weight: Array, size: int, rng: np.random.Generator) -> Array:
    """Increasing numbers of rows, drawn with replacement by their weight."""
    return np.sort(rng.choice(len(weight), size, p=weight / weight.sum()))


def truncation(model: LandmarkModel, sample: Sample) -> tuple[Array, Array]:
    """Relative errors by what the landmarks do not see, and ``|A w - λ w|``, of the eigenvalues.

    Estimated on a sample, from above: by the smaller of the two bounds. What lies outside may be
    larger than what was found inside (a narrow kernel, rows far apart); then the pair may be as
    good as it likes, and is another one than was asked for.
    """
    left, beyond, hidden, seen = residuals(model, sample)
    lam = model.values
    gap = lam - beyond
    share = np.divide(left, gap, out=np.ones(len(lam)), where=gap > left)
    truncated = (left * share + np.maximum(hidden - lam, 0)) / lam
    outside = model.trace * (model.unexplained - model.unexplained_error)
    # Rows so rare that the sample has none of them may be all that the landmarks do not see.
    missed = outside - seen if seen < RARE * outside else 0.0
    # An indefinite kernel has less outside than nothing; the eigenvalues are too large by it.
    return truncated + (missed + model.excess) / lam, left


def counted(model: LandmarkModel, rule: ComponentRule, few: Few) -> LandmarkModel:
    """The model with the components that the rule wants, and the errors that rounding leaves them.

    Components of which rounding leaves no digit are none; says so if fewer are left than asked for.
    """
    model = model.leading(rule.count(model.values, model.trace) or len(model.values))
    model = replace(model, rounded=rounding(model, few))
    lost = model.rounded > 0.5
    if lost[0]:
        raise DataError(
            "kernel has no variance on the landmarks above rounding: the largest eigenvalue is "
            f"{model.values[0]:.2g}, {model.removed:.2g} was taken off by centring; "
            "subtract the mean of the rows, or use solver='dense'."
        )
    if lost.any():
        model = model.leading(int(lost.argmax()))
    rank = len(model.values)
    but = f"the landmarks span only {rank}"
    rule.warn_if_fewer(rank, but, "Ask for fewer, or give more landmarks.")
    q = rule.count(model.values, model.trace)
    if q is None:
        held = float(model.values.sum()) / model.trace
        kept = f"{but} components, which hold {held:.4g} of it; kept {rank}"
        warn(f"{rule.describe()} was asked for, but {kept}. Give more landmarks.", RankWarning)
        q = rank
    return model.leading(q)


def rounding(model: LandmarkModel, few: Few) -> Array:
    """Relative errors of the eigenvalues that rounding may leave, looked at on few rows.

    A score ``Bᵀ k`` errs by that of its terms and of the kernel values, which the definition tells;
    an eigenvalue is a sum of their squares, by directions whose length ``Bᵀ K_ZZ B`` errs likewise.
    """
    features, lam = model.features, model.values
    B = features.basis @ model.vectors
    eps = float(np.finfo(features.working).eps)
    exact, values = few.exact, features.functions.at(few.rows)
    spread = np.sqrt(lam / model.weight)
    # Rounding is as likely up as down, so that terms add like squares. Coefficients B = R v are
    # sums themselves, always in float64.
    parts = (features.basis**2) @ (model.vectors**2)
    terms, inner = (np.sqrt(np.mean(exact**2 @ C, axis=0)) / spread for C in (B**2, parts))
    off = np.sqrt(np.mean(((exact - values) @ B) ** 2, axis=0))
    double = float(np.finfo(np.float64).eps)
    score = 2 * eps * terms + double * inner + off / spread
    summed = np.zeros(len(lam))
    if not features.whitens_first:  # Σ k kᵀ has rounded what Bᵀ … B brings forth
        rounded = np.sqrt(np.einsum("ij,ij->j", B**2, model.square**2 @ B**2))
        summed = eps * rounded / lam + double * inner**2
    KB = features.gram @ B
    length = np.abs(np.einsum("ij,ij->j", B, KB) - 1)
    # Few rows may not be those on which a direction lives: two landmarks that are much alike.
    spot = SpotCheck(features.kernel, features.points)
    length += spot.local_shifts(lambda index, exact: exact @ B - KB[index], B)
    if features.working == np.float64:  # and so are the entries of K_ZZ
        length += np.linalg.norm(B, axis=0) * np.sqrt(len(B)) * off
    centring = eps * (lam[0] + model.removed) / lam
    known = score + score**2 + summed + length + centring
    stored = float(np.finfo(features.dtype).eps) + features.cut * model.weight / lam
    return np.asarray(16 * known + stored)


def residuals(model: LandmarkModel, sample: Sample) -> tuple[Array, float, float, float]:
    r"""Estimated ``|A w - λ w|`` for the directions, and what there is beside them.

    The largest eigenvalue outside the span, the largest that the directions do not hold, and the
    sum of those outside.

    Inside the span the pair is exact; outside, the residual is
    :math:`\sum_i w_i z_i \phi_\perp(x_i)` with :math:`\phi_\perp` the part of a point that the
    landmarks do not see. Its squared norm is a double sum over rows, estimated from the pairs of a
    sample.
    """
    features, p = model.features, len(sample.rows)
    rows = sample.rows.cast(np.float64)
    a = features.functions.at(rows) @ features.basis
    weight, own = sample.weight, np.maximum(features.own(rows) - square_sums(a), 0)
    outside = _outside(features, rows, a, own)
    Z = (a - model.mean) @ model.vectors
    W = weight[:, None] * Z
    unit = float(np.abs(W).max()) or 1.0
    V = (W / unit).astype(outside.dtype)
    shares = unit * W * (outside @ V)
    beyond = _largest_eigenvalue(outside, own, weight)
    hidden = 1.1 * beyond
    if sample.share == 1:  # all rows: directions of the span that were not kept add to it, too
        rest = a - model.mean - Z @ model.vectors.T
        hidden = max(hidden, _largest_eigenvalue(outside, own, weight, rest))
    np.square(outside, out=outside)  # no longer needed itself
    # Two standard deviations on top, because the estimate shall rather be too large: those of
    # a sum over pairs have a part from the rows and one from the pairs themselves.
    from_rows = 4 * p * shares.var(axis=0)
    from_pairs = 2 * unit**2 * np.einsum("iq,iq->q", W**2, outside @ V**2)
    upper = shares.sum(axis=0) + 2 * np.sqrt(from_rows + from_pairs)
    alone = (weight**2 * own)[:, None] * Z**2
    diagonal = alone.sum(axis=0) + 2 * np.sqrt(p * alone.var(axis=0))
    # Of rows drawn without replacement p (p - 1) of n (n - 1) pairs were seen, each row with
    # itself apart; with replacement a row that was drawn twice is the pair with itself.
    pairs = (p - sample.share) / (p - 1)
    norms = np.sqrt(np.maximum(upper, 0) * pairs + diagonal * sample.share)
    return norms, beyond, hidden, float(weight @ own)


def _outside(features: LandmarkFeatures, rows: Points, a: Array, own: Array) -> Array:
    """``k(x_i, x_j) - a_i · a_j`` for pairs of different rows, (p, p); ``own`` is its diagonal.

    Where a good part of each point lies outside, float32 tells how much.
    """
    whole = features.own(rows)
    rough = own.sum() > ROUGH * whole.sum() and rows.fit_float32(whole)
    dtype = np.dtype(np.float32 if rough else np.float64)
    a = a.astype(dtype, copy=False)
    outside = Basis(features.kernel, rows, dtype).gram()
    outside -= a @ a.T
    np.fill_diagonal(outside, 0)
    return outside


def _largest_eigenvalue(
    outside: Array, own: Array, weight: Array, rest: Array | None = None
) -> float:
    """Of a small positive definite matrix, and ``rest restᵀ`` with it, to a hundredth.

    Not by power steps: the largest of many that are close comes up too slowly.
    """
    largest = float(weight.max())
    root = np.sqrt(weight / largest)
    if not own.any():
        return 0.0

    def product(v: Array) -> Array:
        v = root * v.ravel()
        more = 0.0 if rest is None else rest @ (rest.T @ v)
        inner = outside @ v.astype(outside.dtype, copy=False) + own * v
        return np.asarray(root * (inner + more))

    bound = float((root**2 * own).max())  # the diagonal tells, too
    return largest * max(
        bound, policy.end_of_spectrum(product, len(own), "LA", 1e-2, own.dtype) or 0.0
    )
