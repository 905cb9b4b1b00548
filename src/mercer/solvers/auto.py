"""Which solver for which problem."""

import os
from collections.abc import Iterator
from dataclasses import KW_ONLY, replace

from mercer._base.config import with_parameters
from mercer._base.machine import available_bytes
from mercer.model import All, Count
from mercer.model.model import Model
from mercer.points import Points
from mercer.solvers.base import Problem, Solver
from mercer.solvers.davidson import Davidson
from mercer.solvers.dense import Dense
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.landmarks import Landmarks
from mercer.solvers.plan import Plan, stand_in

#: With ``n_components=None`` on more rows than this, the leading components only.
ALL_COMPONENTS_UP_TO = 3_000
DEFAULT_COMPONENTS = 32
#: Rows up to which Lanczos on a kept matrix is worth its time, by the bytes of a number: in float32
#: it gives no more digits than Davidson, which is quicker from here on.
EXACT_UP_TO = {8: 4_000, 4: 3_000}
#: Components from n / MANY on, of up to so many rows, by Lanczos, too: Davidson's search space is
#: then so wide that where the spectrum falls slowly its own algebra takes longer than LAPACK.
MANY, MANY_UP_TO = 15, 10_000
#: Operations a second, as measured on one core: n³ of LAPACK's eigenvectors, and of landmark sums;
#: and the seconds from which on a cheaper way is named.
LAPACK, SUMS, LONG = 6e9, 1e10, 5.0
#: Rows of a file that are simply loaded.
LOAD_UP_TO = 20_000


@with_parameters
class Auto(Solver):
    """Exact where that is quick, near-exact where it fits, landmarks beyond.

    ====================  =============  ==========================================================
    rows n                components k   solver
    ====================  =============  ==========================================================
    ≤ 500                 any            :class:`Dense`, exact
    ≤ 4,000; in float32   ≤ n/10         :class:`Lanczos`, exact
    ≤ 3,000
    ≤ 10,000              n/15 to n/10   :class:`Lanczos`, exact
    ≤ 20,000              > n/10         :class:`Dense`, exact
    ≤ 150,000             ≤ n/10         :class:`Davidson` to ``tol``
    more, or not in       any            :class:`Landmarks` (1,000, or 4 k if that is more)
    memory
    ====================  =============  ==========================================================

    Up to 20,000 rows of a file or a dask collection are loaded; more go to landmarks. A solver
    whose estimated memory exceeds the budget is passed over. With ``n_components=None``, all
    components are kept up to 3,000 rows and the leading 32 beyond. The choice and its reason are
    in ``report_``, and what it may cost if that is seconds.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative error of the eigenvalues that is accepted from :class:`Davidson`.
    memory : int, optional
        Budget in bytes for the solver's own arrays; half of the free memory if not given.
    checkpoint : path, optional
        For :class:`Landmarks`, where they are chosen.
    """

    tol: float = 1e-6
    _: KW_ONLY
    memory: int | None = None
    checkpoint: str | os.PathLike[str] | None = None

    def fit(self, problem: Problem) -> Model:
        plan = self.plan(problem)
        return plan.fit(replace(problem, rule=plan.rule))

    def plan(self, problem: Problem) -> Plan:
        if isinstance(problem.rule, All) and problem.n > ALL_COMPONENTS_UP_TO:
            problem = replace(problem, rule=Count(DEFAULT_COMPONENTS))
        points = problem.points
        loads = not points.is_here and (problem.rule.needs_all_rows or self._may_load(points))
        if loads:
            problem = replace(problem, points=stand_in(points))
        solver, reason = self.choose(problem)
        plan = solver.plan(problem)
        needed = plan.bytes + (problem.X.nbytes if loads else 0)
        return replace(plan, reason=f"auto: {reason}", bytes=needed, loads=loads)

    def estimate_bytes(self, problem: Problem, k: int) -> int:
        return self.choose(problem)[0].estimate_bytes(problem, k)

    def choose(self, problem: Problem) -> tuple[Solver, str]:
        """The solver for a problem, and why."""
        n, k = problem.n, problem.rule.guess(problem.rank_limit)
        size = f"{problem.rule.describe()} of {n} rows"
        if not problem.points.is_here:
            return self._landmarks(k), f"{n} rows that are not in memory"
        for solver, fitting, reason in self._ladder(n, k, problem.dtype.itemsize):
            if not fitting:
                continue
            needed = solver.estimate_bytes(problem, k)
            if needed <= self._budget():
                return solver, f"{size}, {reason}{_cost(problem, k, solver)}"
            size += f", {type(solver).__name__} would take {needed >> 20} MB"
        if not problem.points.is_open:
            return Davidson(self.tol), f"{size}, a precomputed matrix"
        return self._landmarks(k), f"{size}, landmarks in one pass"

    def _may_load(self, rows: Points) -> bool:
        """Few rows in a file are better read once and solved exactly."""
        size = len(rows) * rows.width * rows.dtype.itemsize
        return len(rows) <= LOAD_UP_TO and size <= self._budget() // 4

    def _ladder(
        self, n: int, k: int, itemsize: int
    ) -> Iterator[tuple[Dense | Lanczos | Davidson, bool, str]]:
        """Solvers from exact to near-exact, whether they suit the size, and why."""
        few = 10 * k <= n
        many = few and MANY * k > n
        near = f"near-exact to {self.tol:g} in few passes"
        yield Dense(), n <= 500 or (n <= 20_000 and not few), "LAPACK on the full matrix"
        yield Lanczos(), n <= EXACT_UP_TO[itemsize] and few, "exact by Lanczos"
        yield Lanczos(keep=True), n <= MANY_UP_TO and many, "exact by Lanczos"
        yield Davidson(self.tol), n <= 150_000 and few, near
        yield Davidson(self.tol, keep=False), n <= 150_000 and few, near

    def _budget(self) -> int:
        return available_bytes() // 2 if self.memory is None else self.memory

    def _landmarks(self, k: int) -> Landmarks:
        return Landmarks(max(1000, 4 * k), checkpoint=self.checkpoint)


def _cost(problem: Problem, k: int, solver: Solver) -> str:
    """What many components of many rows cost, and what is far cheaper; empty if that is little."""
    n, m = problem.n, 4 * k
    exact = n**3 / LAPACK
    if isinstance(solver, Davidson) or exact < LONG:
        return ""
    rough = n * m * (2 * problem.d + m) / SUMS
    return (
        f"; up to {exact:.0f} s of processor time where the spectrum is flat, "
        f"Landmarks({m}) would take about {rough:.2g}"
    )
