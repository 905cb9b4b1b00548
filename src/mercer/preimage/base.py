"""The role of a pre-image solver: from a point of feature space back to a point of input space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from mercer._base import catalogue
from mercer._base.config import Config
from mercer._base.linalg import square_sums
from mercer._base.registry import by_name
from mercer._base.types import Array, Rows
from mercer.exceptions import DataError, KernelError, Remedy
from mercer.kernels import DotProductKernel, Kernel
from mercer.model import Subspace

_MORE = Remedy("raise max_iter of the pre-image solver", shell="fit with another --preimage")


class Status(StrEnum):
    """What happened to one point; equal to its text, and with what can be done about it.

    Examples
    --------
    >>> from mercer.preimage import Status
    >>> Status.LIMIT == "iteration limit", Status.LIMIT.remedy
    (True, 'raise max_iter of the pre-image solver')
    """

    #: What to do about it; empty where nothing is amiss.
    remedy: str

    CONVERGED = "converged", ""
    #: It converged from another start.
    RESTARTED = "restarted", ""
    #: By a formula, which minimises nothing.
    DIRECT = "direct", ""
    #: On purpose.
    EARLY = "stopped early", ""
    #: A point that was at hand is nearer to the projection: on purpose, a smoother smooths.
    NOT_A_MINIMUM = "not a minimum", ""
    LIMIT = "iteration limit", _MORE
    STALLED = "stalled", "raise tol, or use a kernel without kinks, or preimage='smoother'"
    FAILED = "failed", "use another kernel width, or preimage='nearest'"

    def __new__(cls, text: str, remedy: str) -> Status:
        member = str.__new__(cls, text)
        member._value_ = text
        member.remedy = remedy
        return member


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
        What happened: the text of one of the :class:`Status`, whose members know a remedy.
    objective : (n,) array or None
        Squared feature-space distance ``|phi(z) - (mu + sum_k z_k w_k)|²`` between the image of
        the point and what was looked for, once measured. That is the projection of the row, and
        where ``match_noise`` scales its kernel row (by default, for a row with more noise than
        those of fit), the projection that this gives.
    """

    points: Rows
    converged: Array
    iterations: Array
    status: Array
    objective: Array | None = None

    def __len__(self) -> int:
        return len(self.converged)

    @classmethod
    def direct(cls, points: Rows, good: Array | None = None) -> PreImages:
        """For methods that compute their answer without iterating, and whether it is ``good``."""
        good = np.ones(len(points), bool) if good is None else good
        status = np.where(good, Status.DIRECT, Status.FAILED)
        return cls(points, good, np.zeros(len(points), int), status)

    @property
    def missed(self) -> dict[Status, int]:
        """How many points did not get where the method wanted, by status; empty if all did."""
        counts = {end: int((self.status == end).sum()) for end in Status if end.remedy}
        return {end: count for end, count in counts.items() if count}

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


@dataclass(frozen=True)
class FromScores(BoundPreImage):
    """A method that sees only the scores: a function of these."""

    function: Callable[[Array], PreImages]

    def solve(self, Z: Array, start: Array | None = None) -> PreImages:  # noqa: ARG002
        return self.function(check_codes(Z))


class PreImageSolver(Config, ABC):
    """A strategy; :attr:`requires` names what the kernel must be able to do."""

    #: Any of ``"coordinates"``, ``"gradient"``, ``"radial"``, ``"inverse"``, ``"dot product"``.
    requires: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def init(self, subspace: Subspace) -> BoundPreImage:
        """Look at the subspace once; what this costs is not paid again per query."""

    def shrinkage(self, variances: Array) -> Array:
        """Factors of a noisy row's scores before the way back, from their variances, (q,)."""
        return np.ones_like(variances)

    def check_kernel(self, kernel: Kernel) -> None:
        """Raise for a kernel that the strategy cannot work with."""
        for need in self.requires:
            has, words, remedy = _NEEDS[need]
            if not has(kernel):
                lack = f"{type(self).__name__} needs {words}, which {kernel!r} does not have; "
                raise KernelError(lack + remedy + ".")

    def check_subspace(self, subspace: Subspace) -> None:
        """Raise for a model that the strategy cannot work with: its kernel, or sparse rows."""
        self.check_kernel(subspace.kernel)
        subspace.points.vectors(f"preimage={type(self).__name__}")


_NEAREST = Remedy("use preimage='nearest'", shell="fit with --preimage nearest")
_ANY = Remedy("use preimage='auto', 'gradient' or 'nearest'", shell="fit with --preimage auto")
#: Capability → whether a kernel has it, what it is, and what to do without.
_NEEDS: dict[str, tuple[Callable[[Kernel], bool], str, str]] = {
    "coordinates": (lambda kernel: kernel.takes_vectors, "points with coordinates", _NEAREST),
    "gradient": (lambda kernel: kernel.has_gradient, "a gradient", _NEAREST),
    "radial": (
        lambda kernel: kernel.radial is not None,
        "a function of the distance alone (a RadialKernel, or a multiple of one)",
        _ANY,
    ),
    "inverse": (
        lambda kernel: kernel.is_invertible,
        "values from which the distance or the dot product follows (radial, or as for InverseDot)",
        _ANY,
    ),
    "dot product": (
        lambda kernel: kernel.is_invertible and isinstance(kernel, DotProductKernel),
        "values from which the dot product follows (linear, sigmoid, polynomial of odd degree)",
        "use an odd degree, or preimage='gradient'",
    ),
}


def check_codes(Z: Array) -> Array:
    """The scores themselves; an error names the first that is NaN, infinite or overflows."""
    limit = float(np.sqrt(np.finfo(Z.dtype).max)) / 1e3  # squares and their sums stay finite
    bad = ~(np.abs(Z) <= limit)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        score = f"the score in row {row}, column {column} is {Z[row, column]}"
        raise DataError(f"{score}; give finite ones up to {limit:.0e}, as transform returns them.")
    return Z


def as_preimage(preimage: str | PreImageSolver) -> PreImageSolver:
    """A pre-image solver from its name (with default parameters), or the solver itself."""
    return by_name("preimage", preimage, PreImageSolver, catalogue.PREIMAGES, KernelError)
