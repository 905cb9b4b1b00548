"""Pre-images that are good enough to compare models by."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer._linalg import Array
from mercer.preimage._single import in_single, shifted
from mercer.preimage.auto import Auto
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver
from mercer.preimage.fixed_point import FixedPoint
from mercer.subspace import Subspace

#: Steps below this share of the scale count as converged: the error of denoising is then right to
#: about a thousandth.
TOL = 1e-3


def rough_preimage(solver: PreImageSolver, subspace: Subspace) -> BoundPreImage:
    """The solver bound to a subspace; a fixed point in float32 alone and to three digits."""
    chosen = solver.choose(subspace, has_start=True) if isinstance(solver, Auto) else solver
    if not isinstance(chosen, FixedPoint) or chosen.early_stop is not None or chosen.input_weight:
        return solver.init(subspace)
    quick = FixedPoint(max(TOL, chosen.tol), chosen.max_iter, accelerate=chosen.accelerate)
    single = in_single(subspace)
    if single is None:
        return quick.init(subspace)
    return _BoundInSingle(subspace, quick.init(single))


@dataclass(frozen=True)
class _BoundInSingle(BoundPreImage):
    """A solver in float32 and shifted coordinates, behind rows that are in neither."""

    subspace: Subspace
    single: BoundPreImage

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:
        first = None if start is None else shifted(self.subspace, start).astype(np.float32)
        found = self.single.solve(Z.astype(np.float32), first)
        mean = np.asarray(self.subspace.support).mean(axis=0)
        return replace(found, points=found.points + mean)
