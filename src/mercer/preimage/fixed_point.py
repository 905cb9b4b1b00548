"""Mika's fixed-point iteration, for every radial kernel (Mika et al. 1999, eqs. 8-10)."""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from mercer._base.config import with_parameters
from mercer._base.linalg import SQUARABLE, square_sums
from mercer._base.machine import n_threads, thread_map
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import KernelError
from mercer.kernels import RadialKernel
from mercer.model import Subspace
from mercer.preimage._sweep import Images, Sweep
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, Status, check_codes
from mercer.preimage.nearest import FromStart

#: Differences that Anderson's acceleration looks back on.
DEPTH = 3
#: Squared norms of the points in units of the kernel's length, up to which float32 keeps five
#: digits of the kernel: the product formula errs by 6e-8 of them.
SPREAD = 64.0
#: Sizes of data whose squares float32 holds.
SIZES = (1e-12, 1e12)
#: Support points below which a sweep costs less than its bookkeeping.
FEWEST = 128


def in_single(subspace: Subspace) -> Subspace | None:
    """The same subspace in float32, in coordinates shifted by its origin; None if it would not do.

    The shift is made in float64: a large offset of the data costs no digits.
    """
    kernel = subspace.kernel.radial
    if kernel is None or kernel.is_kinked or subspace.coef.dtype != np.float64:
        return None
    own = float(subspace.kernel.diag(subspace.support[:1])[0])
    if subspace.n_support < FEWEST or not 1 / SQUARABLE < own < SQUARABLE:
        return None  # a factor before the kernel takes scores out of range
    S = np.asarray(subspace.support - subspace.support.mean(axis=0))
    radius = float(np.sqrt(square_sums(S).max()))
    if not SIZES[0] < radius < SIZES[1] or (radius / kernel.length) ** 2 > SPREAD:
        return None
    with np.errstate(over="ignore"):
        single = replace(subspace.astype(np.float32), kernel=kernel, support=S.astype(np.float32))
    parts = (single.coef, single.mean, single.offset)
    return single if all(np.isfinite(part).all() for part in parts) else None


#: Rows of a batch: enough for BLAS, and few enough that their coefficients (rows x m) take about
#: 16 MB, which malloc gives again without asking the system for fresh pages.
ROWS = (32, 256)
BATCH_BYTES = 16 << 20
#: Rows that BLAS takes at once: a product with 250 rows takes as long as one with 256.
STEP = 16
#: Sweeps before the points that are left are packed into full batches again.
SWEEPS = 12
#: A batch is thinned out when this share of it has arrived.
THIN = 0.125
#: Acceleration begins at steps below this share of the scale: before, it could change the basin.
SWITCH = 1e-2
#: A denominator below this share of the sum of its absolute terms is mostly rounding.
CANCELLED = 1e-3
#: The first sweeps are made in float32, to steps of this size. Where the first step in float64
#: from there is larger than the second number, float32 has gone astray, and the point starts anew.
ROUGH, AGREE = 2e-5, 1e-3
#: Sweeps in float32 after which a point that has not settled starts anew, in float64.
ROUGH_SWEEPS = 30

#: Of points that have not ended.
_RUNNING = ""


@with_parameters
class FixedPoint(PreImageSolver):
    r"""Weighted means of the support points, repeated: the method of the paper.

    .. math:: z \leftarrow \frac{\sum_i \delta_i s_i}{\sum_i \delta_i}, \qquad
              \delta_i = \gamma_i\, k'(\|z - s_i\|^2), \qquad \gamma = c + B z(x)

    The iteration starts at the noisy point where that is known, and this start is part of the
    estimator: the projection alone often cannot tell which group of data the point belongs to.
    Without it (``inverse_transform``) the support point nearest in feature space is the start.

    Parameters
    ----------
    tol : float, default=1e-6
        Steps below ``tol`` times the smaller of the kernel's length and the data's radius count as
        converged; in float32 at least 8e-6, which is what rounding allows.
    max_iter : int, default=300
    accelerate : bool, default=True
        Anderson acceleration, once steps are small, and only where the objective does not fall: the
        same point as without, after fewer sweeps.
    early_stop : int, optional
        Stop deliberately after this many steps. One to three steps denoise better than convergence
        where groups of data overlap.
    input_weight : float, default=0.0
        Weight of a term that holds z near the noisy point, in units of the denominator there:
        maximises ``f(z) - input_weight · f'(x) |z - x|²/ℓ²``. Small values such as 0.03 help a
        little more often than they hurt.

    Notes
    -----
    O(m d) time per point and sweep; memory O(m) for each of at most 256 rows per thread. Points
    that have arrived leave the batch. A model in float64 makes its first sweeps in float32, which
    take half the time, and ends in float64 (unless ``tol`` is 1e-3 or more, which float32 settles);
    a point whose first step in float64 disagrees, or that float32 could not settle in 30 sweeps,
    starts anew in float64.

    Where the denominator is negative or cancels, or the step leaves the data's box by more than its
    diagonal, the point is restarted, at the support point with the largest γ and then at the mean,
    and its status says so; with centring (γ contains the mean) this is very rare.

    Not for kernels with a kink, ``Matern(nu=0.5)``: the iteration sticks to support points.

    References
    ----------
    S. Mika, B. Schölkopf, A. Smola, K.-R. Müller, M. Scholz, G. Rätsch. Kernel PCA and de-noising
    in feature spaces. NIPS 11, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import Gaussian
    >>> from mercer.preimage import FixedPoint
    >>> angle = np.linspace(0, np.pi, 100)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = KernelPCA(4, kernel=Gaussian(width=1.0), preimage=FixedPoint()).fit(X)
    >>> moved = model.denoise([[0.0, 1.3]])
    >>> bool(abs(np.linalg.norm(moved) - 1) < 0.05)
    True
    """

    requires: ClassVar[tuple[str, ...]] = ("radial",)

    tol: float = 1e-6
    max_iter: int = 300
    _: KW_ONLY
    accelerate: bool = True
    early_stop: int | None = None
    input_weight: float = 0.0

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_subspace(subspace)
        steps = [self.max_iter] if self.early_stop is None else [self.max_iter, self.early_stop]
        if min(steps) < 1 or not self.tol >= 0 or not self.input_weight >= 0:
            least = "max_iter and early_stop of at least 1, tol and input_weight of at least 0"
            raise KernelError(f"{self!r}: give {least}.")
        return _BoundFixedPoint(self, subspace)


@dataclass(frozen=True)
class _BoundFixedPoint(FromStart):
    restarts: int = 2

    @cached_property
    def sweep(self) -> Sweep:
        # A factor before the radial kernel cancels in eq. (10).
        return Sweep(self.subspace, cast("RadialKernel", self.subspace.kernel.radial))

    @cached_property
    def rough(self) -> _BoundFixedPoint | None:
        """The same iteration in float32; None where that would not pay, or not hold the model."""
        config = self.config
        if config.early_stop is not None or config.input_weight:
            return None
        single = in_single(self.subspace)
        if single is None:
            return None
        if self.is_coarse:
            return _BoundFixedPoint(config, single)
        sweeps = min(config.max_iter, ROUGH_SWEEPS)
        rough = FixedPoint(max(config.tol, ROUGH), sweeps, accelerate=config.accelerate)
        return _BoundFixedPoint(rough, single, restarts=0)  # these are decided in float64

    @property
    def is_coarse(self) -> bool:
        """Whether float64 would find nothing to correct."""
        return bool(self.config.tol >= AGREE)

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:
        X = self.begin(Z, start)
        Z = check_codes(Z.astype(self.sweep.dtype, copy=False))
        points = _Points(self.sweep.to_shifted(X), held=start is not None)
        if self.rough is not None:
            self._begin_roughly(self.rough, points, Z)
        self._run(points, Z)
        good = (points.status == Status.CONVERGED) | (points.status == Status.RESTARTED)
        return PreImages(self.sweep.to_input(points.at), good, points.iterations, points.status)

    def _begin_roughly(self, single: _BoundFixedPoint, points: _Points, Z: Array) -> None:
        """Move the points that float32 can settle to where it settles them."""
        rough = _Points(single.sweep.to_shifted(points.at))
        single._run(rough, Z.astype(np.float32))
        sure = (rough.status == Status.CONVERGED) | self.is_coarse
        points.at[sure] = single.sweep.to_input(rough.at[sure])
        for name in ("iterations", "last", "change"):
            getattr(points, name)[sure] = getattr(rough, name)[sure]
        points.doubtful[sure] = True
        if self.is_coarse:
            points.status = rough.status

    def _run(self, points: _Points, Z: Array) -> None:
        """Sweeps until no point is left."""
        running = np.flatnonzero(points.status == _RUNNING)
        while running.size:
            rows = self._rows_of(running.size)
            batches = [running[i : i + rows] for i in range(0, running.size, rows)]
            thread_map(lambda batch: self._advance(points, Z, batch), batches)
            running = running[points.status[running] == _RUNNING]
            announce("pre-images", len(Z) - running.size, len(Z))

    def _rows_of(self, n: int) -> int:
        """Rows of a batch of n points: near-equal shares, but in steps that BLAS likes."""
        most = BATCH_BYTES // (self.subspace.n_support * self.sweep.dtype.itemsize)
        most = min(int(np.clip(most, *ROWS)), -(-n // n_threads()))
        share = -(-n // -(-n // most))
        return -(-share // STEP) * STEP

    def _advance(self, points: _Points, Z: Array, rows: Array) -> None:
        """Some sweeps over one batch."""
        G, batch = self.sweep.coefficients(Z[rows]), points.take(rows)
        for _ in range(SWEEPS):
            self._update(batch, self.sweep(batch.at, G), G)
            running = batch.status == _RUNNING
            if not running.any():
                break
            # Points that have arrived stay in the batch until it is thinned out.
            if running.mean() < 1 - THIN:
                points.put(rows, batch)
                rows, batch, G = rows[running], batch.take(running), [g[running] for g in G]
        points.put(rows, batch)

    def _update(self, points: _Points, seen: Images, G: list[Array]) -> None:
        """Judge the images of one sweep, and choose each point's next place."""
        running = points.status == _RUNNING
        image, value, good = self._assess(points, seen)
        points.iterations += running
        step = np.sqrt(square_sums((image - points.at) / self.sweep.scale))
        astray = running & points.doubtful & ~(good & (step <= AGREE))
        slack = 16 * np.finfo(image.dtype).eps * seen.size
        worse = running & points.leapt & (~good | (value < points.value - slack)) & ~astray
        lost = running & ~(good | worse | astray)
        points.doubtful &= ~running
        self._turn_back(points, astray, worse, lost, G)
        fine = np.flatnonzero(running & good & ~(worse | astray))
        points.value[fine] = value[fine]
        self._move(points, fine, image[fine], step[fine])

    def _assess(self, points: _Points, seen: Images) -> tuple[Array, Array, Array]:
        """Images under eq. (10), the objective, and whether the image can be trusted."""
        pull, weight, size, value = seen
        if self.config.input_weight:
            hold = self.config.input_weight * np.maximum(weight, 0)
            points.hold = np.where(points.iterations == 0, points.held * hold, points.hold)
            away = square_sums(points.at - points.first) / self.sweep.kernel.length**2
            pull, weight = pull + points.hold[:, None] * points.first, weight + points.hold
            value = value - points.hold * away
        with np.errstate(all="ignore"):
            image = pull / weight[:, None]
            low, high = self.sweep.box
            inside = ((image >= low) & (image <= high)).all(axis=1)  # false for NaN
            return image, value, inside & (weight > CANCELLED * size)

    def _move(self, points: _Points, rows: Array, image: Array, step: Array) -> None:
        """The image, or where steps are small the extrapolation of the last few."""
        early = self.config.early_stop
        following = image.copy()
        if self.config.accelerate and early is None:
            leap = step <= SWITCH
            following[leap] = points.extrapolate(rows[leap], image[leap])
        arrived = step <= max(self.config.tol, 64 * float(np.finfo(image.dtype).eps))
        over = points.iterations[rows] >= (self.config.max_iter if early is None else early)
        following[arrived | over] = image[arrived | over]  # nobody would judge this leap
        points.at[rows], points.plain[rows] = following, image
        points.leapt[rows] = (following != image).any(axis=1)
        points.status[rows[over]] = Status.LIMIT if early is None else Status.EARLY
        anew = np.where(points.restarts[rows] > 0, Status.RESTARTED, Status.CONVERGED)
        points.status[rows[arrived]] = anew[arrived]

    def _turn_back(
        self, points: _Points, astray: Array, worse: Array, lost: Array, G: list[Array]
    ) -> None:
        """To the start, to the last image, or to a start of another kind."""
        back = astray | worse | lost
        if not back.any():
            return
        # Float32 came to another place: all steps in float64.
        points.at[astray], points.iterations[astray] = points.first[astray], 0
        points.at[worse] = points.plain[worse]
        # First at the support point that counts most, then at the mean; then give up.
        points.restarts += lost
        best = np.concatenate([g[lost] for g in G], axis=1).argmax(axis=1)
        anew = self.sweep.support[best, :-1]
        points.at[lost] = np.where(points.restarts[lost, None] == 2, 0, anew)
        points.leapt[back], points.last[back], points.change[back] = False, np.nan, 0
        points.status[back & (points.iterations >= self.config.max_iter)] = Status.LIMIT
        points.status[lost & (points.restarts > self.restarts)] = Status.FAILED


class _Points:
    """The state of n iterations, in shifted coordinates."""

    def __init__(self, Y: Array, *, held: bool = False) -> None:
        (n, d), dtype = Y.shape, Y.dtype
        self.first = Y  # (n, d) where it began
        self.at = Y.copy()  # (n, d) where to look next; in the end the answer
        self.plain = Y.copy()  # (n, d) the last image, to return to when a leap fails
        self.value = np.zeros(n, dtype)  # objective before the last move
        self.leapt = np.zeros(n, bool)  # was the last move an extrapolation?
        self.status = np.full(n, _RUNNING, dtype="U15")
        self.iterations = np.zeros(n, int)
        self.restarts = np.zeros(n, int)
        # Comes from float32, and no step in float64 has confirmed it?
        self.doubtful = np.zeros(n, bool)
        self.held = np.full(n, held)  # by the first point, which is the noisy one,
        self.hold = np.zeros(n, dtype)  # and with what weight
        self.last = np.full((n, 2, d), np.nan, dtype)  # the last image and its residual
        self.change = np.zeros((n, DEPTH, 2, d), dtype)  # differences of both, the newest first

    def take(self, rows: Array) -> _Points:
        """Some of the iterations."""
        some = copy(self)
        vars(some).update({name: array[rows] for name, array in vars(self).items()})
        return some

    def put(self, rows: Array, some: _Points) -> None:
        """Take these back."""
        for name, array in vars(self).items():
            array[rows] = getattr(some, name)

    def extrapolate(self, rows: Array, image: Array) -> Array:
        """Record images and return the accelerated next points (Anderson 1965; type II).

        These are ``g - sum_j theta_j dg_j`` with theta minimising ``|r - sum_j theta_j dr_j|``,
        where g is the image of the current point y, r = g - y its residual, and d stands for the
        last differences. A row without history gets its image back: the plain step.
        """
        residual = image - self.at[rows]
        now = np.stack([image, residual], axis=1)
        newest = np.nan_to_num(now - self.last[rows])[:, None]
        change = np.concatenate([newest, self.change[rows, :-1]], axis=1)
        self.last[rows], self.change[rows] = now, change
        theta = _least_squares(change[:, :, 1], residual).astype(image.dtype)
        return np.asarray(image - np.einsum("nj,njd->nd", theta, change[:, :, 0]))


def _least_squares(D: Array, r: Array) -> Array:
    """The minimiser of |r - Σ θ_j D_j| for each row; θ_j = 0 where D_j is zero."""
    unit = np.abs(r).max(axis=1, initial=0.0)  # θ has none, and squares of 1e±300 are none
    unit = np.where(unit > 0, unit, 1).astype(np.float64)[:, None]
    D, r = D / unit[:, :, None], r / unit
    gram = np.einsum("nid,njd->nij", D, D)
    size = np.einsum("nii->n", gram)
    # A little ridge: residuals of a well-behaved iteration become parallel, and the system
    # singular.
    gram += np.where(size > 0, 1e-12 * size, 1.0)[:, None, None] * np.eye(DEPTH)
    right = np.einsum("njd,nd->nj", D, r)
    return np.asarray(np.linalg.solve(gram, right[:, :, None])[:, :, 0])
