"""The role of a pre-image solver: from a point of feature space back to a point of input space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer._config import Config
from mercer._linalg import Array
from mercer.exceptions import KernelError
from mercer.kernels import Kernel
from mercer.subspace import Subspace

__all__ = ["BoundPreImage", "PreImageSolver", "PreImages"]


@dataclass(frozen=True)
class PreImages:
    """Points found, and how it went for each.

    Attributes
    ----------
    points : (n, d) array, or n objects
    converged : (n,) bool
    iterations : (n,) int
    objective : (n,) squared feature-space distance ``|phi(z) - P phi(x)|²`` at the point
    status : (n,) str, what happened, e.g. "converged", "restarted", "iteration limit"
    """

    points: Any
    converged: Array
    iterations: Array
    objective: Array
    status: Array


class BoundPreImage(ABC):
    """A solver that has seen the subspace, ready for queries."""

    @abstractmethod
    def solve(self, Z: Array, start: Any = None) -> PreImages:
        """Pre-images of ``mu + sum_k z_k w_k``, one for each row of Z.

        Parameters
        ----------
        Z : (n, q) scores
        start : (n, d), optional
            The points whose projections these are, where they are known (denoising).
        """


class PreImageSolver(Config, ABC):
    """A strategy; :attr:`requires` names the kind of kernel that it needs."""

    requires: ClassVar[type[Kernel]] = Kernel

    @abstractmethod
    def init(self, subspace: Subspace, rng: np.random.Generator) -> BoundPreImage:
        """Look at the subspace once; what this costs is not paid again per query."""

    def check_kernel(self, kernel: Kernel) -> None:
        """Raise for a kernel that the strategy cannot work with."""
        if not isinstance(kernel, self.requires):
            raise KernelError(
                f"{type(self).__name__} needs a {self.requires.__name__}, not {kernel!r}; "
                "use preimage='auto'."
            )
