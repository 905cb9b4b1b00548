"""The role of a pre-image solver: from a point of feature space back to a point of input space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mercer._config import Config
from mercer._linalg import Array, square_sums
from mercer.exceptions import DataError, KernelError
from mercer.kernels import Kernel
from mercer.subspace import Subspace

__all__ = ["BoundPreImage", "PreImageSolver", "PreImages", "check_codes", "require_vectors"]


@dataclass(frozen=True)
class PreImages:
    """Points found, and how it went for each.

    Attributes
    ----------
    points : (n, d) array, or n objects; training indices (n,) for a precomputed kernel
    converged : (n,) bool
        True where the method reached what it looks for: a stationary point of its objective if it
        iterates, never by way of an iteration limit; else a point that its formula holds for.
    iterations : (n,) int
        Evaluations of the kernel row k(z, S); 0 for methods that do not iterate.
    status : (n,) str
        What happened: ``"converged"``, ``"restarted"`` (and then converged), ``"stopped early"``,
        ``"iteration limit"``, ``"stalled"``, ``"failed"``; ``"direct"`` for a formula, which
        minimises nothing; ``"not a minimum"`` where a point that was at hand is nearer to the
        projection, see :class:`Auto`.
    objective : (n,) array or None
        Squared feature-space distance ``|phi(z) - P phi(x)|²`` at the point, once measured.
    """

    points: Any
    converged: Array
    iterations: Array
    status: Array
    objective: Array | None = None

    def __len__(self) -> int:
        return len(self.converged)

    @classmethod
    def direct(cls, points: Any, found: Array | None = None) -> PreImages:
        """For methods that compute their answer without iterating, and where they ``found`` it."""
        n = len(points)
        found = np.ones(n, bool) if found is None else found
        return cls(points, found, np.zeros(n, int), np.where(found, "direct", "failed"))

    def measured(self, subspace: Subspace, Z: Array) -> PreImages:
        """The same with its objective: ``|z(p) - z|²`` inside the subspace plus the residual of p.

        Costs one pass over k(points, S). NaN for a precomputed kernel, which is known only between
        training points.
        """
        if not subspace.points.is_open:
            return replace(self, objective=np.full(len(self), np.nan))
        scores, residual = subspace.scores_and_residual(self.points)
        return replace(self, objective=square_sums(scores - Z) + residual)


class BoundPreImage(ABC):
    """A solver that has seen the subspace, ready for queries."""

    @abstractmethod
    def solve(self, Z: Array, start: Array | None = None) -> PreImages:
        """Pre-images of ``mu + sum_k z_k w_k``, one for each row of Z.

        Parameters
        ----------
        Z : (n, q) scores
        start : (n, d), optional
            The points whose projections these are, where they are known (denoising). Methods that
            see only the scores ignore them.
        """


class PreImageSolver(Config, ABC):
    """A strategy; :attr:`requires` names the kinds of kernel that it can work with."""

    requires: ClassVar[tuple[type[Kernel], ...]] = (Kernel,)

    @abstractmethod
    def init(self, subspace: Subspace) -> BoundPreImage:
        """Look at the subspace once; what this costs is not paid again per query."""

    def check_kernel(self, kernel: Kernel) -> None:
        """Raise for a kernel that the strategy cannot work with."""
        if not isinstance(kernel, self.requires):
            needed = " or ".join(kind.__name__ for kind in self.requires)
            raise KernelError(
                f"{type(self).__name__} needs a {needed}, not {kernel!r}; use preimage='auto', "
                "or 'gradient' for a kernel with a gradient, or 'nearest' for any kernel."
            )


def check_codes(Z: Array) -> Array:
    """The scores themselves; an error names the first that is NaN, infinite or overflows."""
    limit = float(np.sqrt(np.finfo(Z.dtype).max)) / 1e3  # squares and their sums stay finite
    bad = ~(np.abs(Z) <= limit)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DataError(
            f"the score in row {row}, column {column} is {Z[row, column]}, and pre-images need "
            f"finite scores up to {limit:.0e} in {Z.dtype}; give scores as transform returns them."
        )
    return Z


def require_vectors(solver: PreImageSolver, subspace: Subspace) -> None:
    """Raise where input space has no coordinates: objects, or a precomputed matrix."""
    if not subspace.points.has_coordinates:
        raise KernelError(
            f"{type(solver).__name__} needs points with coordinates, and {subspace.kernel!r} was "
            "fitted without; use preimage='nearest', which returns training examples."
        )
