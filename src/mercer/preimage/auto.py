"""Which pre-image method for which kernel: a rule, not a search."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from mercer._base.types import Array, Rows
from mercer.kernels import Chi2, Cosine, Kernel, Laplacian, Linear
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, Status, as_preimage
from mercer.preimage.distances import InverseDot
from mercer.preimage.fixed_point import AGREE, FixedPoint
from mercer.preimage.gradient import Gradient
from mercer.preimage.nearest import Nearest
from mercer.preimage.ridge import Ridge
from mercer.preimage.shrunk import Shrunk
from mercer.preimage.smoother import BoundSmoother, Smoother


class Auto(PreImageSolver):
    """The method that measured best for the kernel and for what is known about the point.

    ================================================  ===================  ===================
    kernel                                            with the point       scores alone
    ================================================  ===================  ===================
    objects, precomputed, sparse rows                 :class:`Nearest`     :class:`Nearest`
    :class:`~mercer.kernels.Linear`                   :class:`InverseDot`  :class:`InverseDot`
    radial, and multiples of it                       :class:`FixedPoint`  :class:`Ridge`
    Laplacian, Chi2, Cosine, and made of them         a smoother           :class:`Ridge`
    any other: polynomial, sigmoid, sums, products    :class:`Gradient`    :class:`Ridge`
    ================================================  ===================  ===================

    ``denoise`` knows the noisy point and starts there; ``inverse_transform`` has only the scores.
    The fourth row exists because a kernel with kinks stops a descent at the first of them, and
    because the cosine does not see the length of a vector, so that a descent keeps the noise's. The
    smoother is ``Smoother(10, by="nearest")``.

    A smoother's point is compared with the start and with the nearest support point (three passes
    over k(points, S)). Where one of these is nearer to the projection, the status is
    ``"not a minimum"`` and ``converged`` is False. The smoother's point is returned all the same.

    Parameters
    ----------
    alone : PreImageSolver, optional
        Instead of :class:`Ridge` in the last column; estimators that generate take another.

    Notes
    -----
    The choice never depends on which method reaches the smaller objective: another start with a
    better objective was measured to give an error in input space 3,000 times worse.
    """

    def __init__(self, alone: PreImageSolver | None = None) -> None:
        self.alone = alone

    def init(self, subspace: Subspace) -> BoundPreImage:
        @cache
        def bound(has_start: bool) -> BoundPreImage:
            return self.choose(subspace, has_start=has_start).init(subspace)

        return _BoundAuto(subspace, bound)

    def choose(self, subspace: Subspace, *, has_start: bool) -> PreImageSolver:
        """The method for a model, with or without the points that the scores came from."""
        kernel = subspace.kernel
        if not subspace.points.has_coordinates:
            return Nearest()
        if isinstance(kernel, Linear):
            return InverseDot()
        if not has_start:
            return Ridge() if self.alone is None else self.alone
        if kernel.radial is not None:
            return FixedPoint()
        if _contains(kernel, (Laplacian, Chi2, Cosine)):
            return Smoother(10, by="nearest")  # far from the support, the similar are too far out
        return Gradient()


@dataclass(frozen=True)
class _BoundAuto(BoundPreImage):
    subspace: Subspace
    bound: Callable[[bool], BoundPreImage]  # the method with the points, and that without

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:
        if start is None:
            return self.bound(False).solve(Z)
        points = self.subspace.points
        start = points.adopt(self.subspace.kernel.points(start)).rows  # as the answer will be
        bound = self.bound(True)
        images = bound.solve(Z, start)
        if not isinstance(bound, BoundSmoother):
            return images

        def objective(points: Rows) -> Array:
            return np.asarray(PreImages.direct(points).measured(self.subspace, Z).objective)

        # A blur is not what is nearest to the projection: look at two points that are at hand.
        nearest = bound.support.take(bound.support.nearest(Z, 1)[:, 0])
        least = np.minimum(objective(start), objective(nearest))
        beaten = images.converged & (objective(images.points) > least)
        status = np.where(beaten, Status.NOT_A_MINIMUM, images.status)
        return replace(images, converged=images.converged & ~beaten, status=status)


def _contains(kernel: Kernel, kinds: tuple[type[Kernel], ...]) -> bool:
    """Whether the kernel, or a part of it, is one of these."""
    return isinstance(kernel, kinds) or any(_contains(part, kinds) for part in kernel.parts)


def rough_preimage(solver: PreImageSolver, subspace: Subspace) -> BoundPreImage:
    """Good enough to compare models by: a fixed point to three digits, which float32 has.

    The error of denoising is then right to about a thousandth.
    """
    if isinstance(solver, Shrunk):
        return rough_preimage(as_preimage(solver.preimage), subspace)
    chosen = solver.choose(subspace, has_start=True) if isinstance(solver, Auto) else solver
    if not isinstance(chosen, FixedPoint) or chosen.early_stop is not None or chosen.input_weight:
        return solver.init(subspace)
    tol = max(AGREE, chosen.tol)
    return FixedPoint(tol, chosen.max_iter, accelerate=chosen.accelerate).init(subspace)
