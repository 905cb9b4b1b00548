r"""Every problem is solved with kernel values near one, whatever units the rows have.

Squares of kernel values leave float64 at 1e154, and eigenvalues are made of such squares. Those of
:math:`4^{-e} k` and of weights :math:`2^{-f} w` are :math:`4^{-e} 2^{-f}` times those of k and w,
and division by a power of two does not round: the problem is scaled before it is solved, and the
fit afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mercer._linalg import SQUARABLE, power_of_two
from mercer.eigen.policy import refuse_magnitude
from mercer.eigen.result import Model
from mercer.kernels import Kernel, Scaled
from mercer.points import Points
from mercer.rows import Rows

if TYPE_CHECKING:
    from mercer.eigen.base import Problem

#: Rows of a source that tell the size of the kernel: a pass over all of them costs too much.
HEAD = 256


@dataclass(frozen=True)
class Unit:
    """What the kernel and the weights of a problem are divided by: ``root²`` and ``weight``."""

    kernel: Kernel
    points: Points
    root: float
    weight: float

    @classmethod
    def of(cls, problem: Problem) -> Unit:
        """The largest k(x, x) and the largest weight, where their squares are out of range."""
        kernel, X, weight = problem.kernel, problem.X, problem.weight
        points = kernel.points(X[:HEAD] if isinstance(X, Rows) else X)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            largest = float(np.abs(kernel.diag(points.rows)).max(initial=0.0))
        # No value of a Mercer kernel is larger; where that is zero, so have to be the rows.
        is_lost = largest > 0 or (kernel.is_mercer and points.largest > 0)
        if not largest <= 1 or (is_lost and len(points) == len(X)):
            refuse_magnitude(points, largest)
        heaviest = 1.0 if weight is None else float(weight.max())
        return cls(kernel, points, _unit(largest, np.sqrt(largest)), _unit(heaviest, heaviest))

    def divide(self, problem: Problem) -> Problem:
        """The problem in this unit."""
        if self.root != 1:
            problem = replace(problem, kernel=Scaled(self.root**-2, self.kernel))
        if self.weight != 1 and problem.weight is not None:
            problem = replace(problem, weight=problem.weight / self.weight)
        return problem

    def multiply(self, fit: Model) -> Model:
        """The fit of the problem that was divided, as that of the problem itself."""
        if self.root == self.weight == 1:
            return fit
        dtype, square, subspace = fit.eigenvalues.dtype, self.root**2, fit.subspace
        with np.errstate(over="ignore"):
            values = fit.eigenvalues.astype(np.float64) * self.weight * square
        ends = float(values[0]), float(values[-1])
        refuse_magnitude(self.points, *ends, weight=self.weight)
        # w = Φ B keeps its length, so that B shrinks as Φ grows; b = Bᵀ K c grows with it.
        return replace(
            fit,
            subspace=replace(
                subspace,
                kernel=self.kernel,
                coef=subspace.coef / self.root,
                offset=subspace.offset * self.root,
                mean_square=subspace.mean_square * square,
            ),
            eigenvalues=values.astype(dtype),
            explained_variance=fit.explained_variance * square,
            residuals=None if fit.residuals is None else fit.residuals * self.weight * square,
            n_rows=fit.n_rows * self.weight,
        )


def _unit(size: float, unit: float) -> float:
    """A power of two near the unit; 1 where squares of the size, and sums of them, are in range."""
    in_range = size == 0 or 1 / SQUARABLE < size < SQUARABLE
    return 1.0 if in_range else float(power_of_two(unit))
