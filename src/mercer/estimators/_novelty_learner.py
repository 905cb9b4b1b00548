"""Fits of the rows of a novelty detector: of all of them, of some, and of what folds leave."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._base.config import Config
from mercer._base.held_out import take
from mercer._base.machine import available_bytes
from mercer._base.numbers import make_rng
from mercer._base.types import Array, ArrayLike, RowsLike
from mercer.estimators.door import verb
from mercer.estimators.learning import learn, plan_of
from mercer.kernels import Gaussian, Kernel, RadialKernel
from mercer.landmarks import Given, random_pivots
from mercer.model import Model
from mercer.novelty import (
    NoveltyScore,
    WidthChoice,
    gram_folds,
    landmark_folds,
    neighbour_kernel,
    novelty_score,
)
from mercer.novelty import select_width as choose_width
from mercer.novelty.width import default_rule
from mercer.solvers import Dense, EigenSolver, Lanczos, Landmarks, Plan, Solver, as_solver
from mercer.solvers.landmarks import as_landmark_rule

#: Up to this many rows ``solver="auto"`` is exact; beyond, components are found on landmarks.
EXACT_UP_TO = 2_000
LANDMARKS = 1_000


@dataclass
class NoveltyLearner:
    """Kernel PCA of some of the rows, and its score.

    Attributes
    ----------
    rows : the rows, checked
    kernel : Kernel, or None for the default of the measure
    n_components, measure, solver : as of :class:`~mercer.KernelNovelty`
    rng : numpy.random.Generator
    model : Model
        Of the last fit whose choices were its own.
    """

    rows: Any
    kernel: Kernel | None
    n_components: Any
    measure: str
    solver: str | Solver
    rng: np.random.Generator
    model: Model = field(init=False)
    _solver: Config = field(default_factory=Dense, init=False)
    _landmarks: Array | None = field(default=None, init=False)

    def __call__(self, rows: Array, like: NoveltyScore | None = None) -> NoveltyScore:
        """Fit the rows with these numbers; with the choices of ``like``, if given."""
        X = take(self.rows, rows)
        if like is None:
            wanted, kernel = self._wanted, self._kernel_for(X).resolve(X)
        else:
            wanted, kernel = like.subspace.n_components, like.subspace.kernel
        plan = plan_of(X, kernel, wanted, self._choose(kernel, X))
        learnt, self._solver = learn(X, kernel, plan, self.rng), plan.solver
        if like is None:
            self.model = learnt
        return novelty_score(self.measure, learnt.subspace, learnt.explained_variance)

    def plan(self) -> Plan:
        """What the fit of all rows is going to do; looks at their number only."""
        n, solver = len(self.rows), self.solver
        if solver == "auto" and n > EXACT_UP_TO:
            solver = Landmarks(min(n, LANDMARKS))
        assert self.kernel is not None
        return plan_of(self.rows, self.kernel, self._wanted, solver)

    def held_out(self, score: NoveltyScore, fold_of: Array) -> Array | None:
        """Each row's score under the model of the other folds, if the fit of all rows helps."""
        solver, n = self._solver, len(self.rows)
        if self._landmarks is not None:
            known_to = fold_of[self._landmarks]
            return landmark_folds(score, self.measure, self.rows, known_to, fold_of)
        if isinstance(solver, Landmarks) and isinstance(as_landmark_rule(solver.select), Given):
            # The user's own points: no fold brings them with it.
            nobody = np.full(score.subspace.n_support, -1)
            return landmark_folds(score, self.measure, self.rows, nobody, fold_of)
        # Davidson is near-exact only, and each fold anew takes it no longer.
        if not isinstance(solver, Dense | Lanczos) or 5 * 8 * n * n > available_bytes() // 2:
            return None
        assert isinstance(solver, EigenSolver)
        return gram_folds(score, self.measure, solver, fold_of, self.rng)

    @property
    def _wanted(self) -> Any:
        if self.n_components is not None:
            return self.n_components
        return default_rule(self.measure, contaminated=False)

    def _kernel_for(self, X: Any) -> Kernel:
        if self.kernel is not None:
            return self.kernel
        # T² of a narrow kernel tells how close a row is to others, and not how far.
        return neighbour_kernel(X) if self.measure == "reconstruction" else Gaussian()

    def _choose(self, kernel: Kernel, X: Any) -> Solver:
        """The solver; ``"auto"`` takes rows as landmarks where there are many."""
        self._landmarks = None
        if self.solver != "auto" or len(X) <= EXACT_UP_TO:
            return as_solver(self.solver)
        self._landmarks = _landmark_rows(kernel, X, LANDMARKS, self.rng)
        return Landmarks(len(self._landmarks), select=Given(take(X, self._landmarks)))


def _landmark_rows(kernel: Kernel, X: Any, m: int, rng: np.random.Generator) -> Array:
    """The numbers of at most m rows, by randomly pivoted Cholesky on a sample.

    Rows and not means: what a fold's model must not know can be left out.
    """
    sample = np.sort(rng.choice(len(X), min(len(X), 5 * m), replace=False))
    exact = kernel.points(X).take(sample).cast(np.float64)
    return np.sort(sample[random_pivots(kernel, exact, m, rng)])


# A search for the width of a novelty detector, kept for those who call it.


#: Widths that ``select_width`` tries, in units of the median distance.
WIDTHS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


@verb("data", needs="a width")
def select_width(self: Any, X: RowsLike, widths: ArrayLike = WIDTHS) -> WidthChoice:
    """Choose the kernel width by normal rows alone; deprecated, because it does not help.

    The default width detects better on the data sets that we tried
    (``python -m benchmarks defaults novelty``); this method will be removed.

    Parameters
    ----------
    X : (n, d) normal rows
    widths : sequence of float
        Candidates, as multiples of the length that this kernel takes on X.

    Returns
    -------
    WidthChoice
        ``kernel`` is the best; ``kernels`` and ``separation`` tell about the others.
    """
    warnings.warn(
        "select_width will be removed: the default width (kernel=None) detects better; leave "
        "the kernel out.",
        FutureWarning,
        stacklevel=2,
    )
    rows, kernel = self._check_fit(X)
    resolved = (kernel or Gaussian()).resolve(rows)
    assert isinstance(resolved, RadialKernel)
    kernels = [resolved.with_length(resolved.length * width) for width in widths]
    rng = make_rng(self.random_state)
    return choose_width(
        lambda kernel, index: self._learner(rows, kernel, rng)(index), rows, kernels, rng
    )
