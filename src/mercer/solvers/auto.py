"""Which solver for which problem."""

import os
from collections.abc import Iterator
from dataclasses import KW_ONLY, replace

from mercer._base.config import with_parameters
from mercer._base.machine import LONG, available_bytes, time_text
from mercer.exceptions import DataError
from mercer.model import All, Count
from mercer.model.model import Model
from mercer.solvers.base import SUMS, Problem, Solver
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
#: Rows up to which two cores find near-exact components in minutes.
NEAR_UP_TO = 150_000
#: With fewer landmarks than this, or than twice the components, a fit says little.
FEWEST_LANDMARKS = 100
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

    Copies of other rows do not count if there are enough of them to be merged.
    Up to 20,000 rows of a file or a dask collection are loaded; more go to landmarks, or to
    :class:`Davidson` on the workers of a dask cluster: up to 150,000 rows on two cores, 1,200,000
    on 128. A solver
    whose estimated memory exceeds the budget is passed over. With ``n_components=None``, all
    components are kept up to 3,000 rows and the leading 32 beyond. The choice and its reason are
    in ``report_``, with the estimated time if it is seconds or more.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative error of the eigenvalues that is accepted from :class:`Davidson`.
    memory : int, optional
        Budget in bytes for the solver's own arrays; half of the free memory if not given.
    checkpoint : path, optional
        For :class:`Landmarks` and :class:`Davidson`, where they are chosen.
    seconds : float, optional
        Time budget. Solvers that are estimated to take longer are passed over, in the end for fewer
        landmarks; if nothing fits, ``plan`` and ``fit`` raise at once. The estimate is for an idle
        machine, and is not a promise.
    """

    tol: float = 1e-6
    _: KW_ONLY
    memory: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    seconds: float | None = None

    def fit(self, problem: Problem) -> Model:
        plan = self.plan(problem)
        return plan.fit(replace(problem, rule=plan.rule))

    def plan(self, problem: Problem) -> Plan:
        if isinstance(problem.rule, All) and problem.n > ALL_COMPONENTS_UP_TO:
            problem = replace(problem, rule=Count(DEFAULT_COMPONENTS))
        points = problem.points
        size = problem.n * problem.d * problem.dtype.itemsize
        # Few rows in a file are better read once and solved exactly.
        is_small = problem.n <= LOAD_UP_TO and size <= self._budget() // 4
        loads = not points.is_here and (problem.rule.needs_all_rows or is_small)
        if loads:
            problem = replace(problem, points=stand_in(points))
        distinct = problem if loads else problem.merged()[0]
        solver, reason = self.choose(distinct)
        plan = solver.plan(distinct)
        needed = plan.bytes + (size if loads else 0)
        return replace(plan, reason=f"auto: {reason}", bytes=needed, loads=loads or plan.loads)

    def estimate_bytes(self, problem: Problem, k: int) -> int:
        return self.choose(problem)[0].estimate_bytes(problem, k)

    def choose(self, problem: Problem) -> tuple[Solver, str]:
        """The solver for a problem, and why."""
        n, k = problem.n, problem.rule.guess(problem.rank_limit)
        size = f"{problem.rule.describe()} of {n} rows"
        if not problem.points.is_here:
            near = self._on_cluster(problem, k)
            return near or self._landmarks(problem, k, f"{n} rows that are not in memory")
        for solver, fitting, reason in self._ladder(n, k, problem.dtype.itemsize):
            if not fitting:
                continue
            name, needed = type(solver).__name__, solver.estimate_bytes(problem, k)
            seconds = solver.estimate_seconds(problem, k)
            if needed > self._budget():
                size += f", {name} would take {needed >> 20} MB"
            elif self._in_time(seconds):
                return solver, f"{size}, {reason}{_cost(problem, k, solver)}"
            elif name not in size:
                size += f", {name} would take {time_text(seconds)}"
        if not problem.points.is_open:
            return Davidson(self.tol), f"{size}, a precomputed matrix"
        return self._landmarks(problem, k, f"{size}, landmarks in one pass")

    def _on_cluster(self, problem: Problem, k: int) -> tuple[Solver, str] | None:
        """Davidson, where it takes a cluster no longer than it takes two cores for their most."""
        n, cores = problem.n, problem.points.cores
        solver = Davidson(self.tol, checkpoint=self.checkpoint)
        seconds = solver.estimate_seconds(problem, k)
        quick = 2 * n**2 <= cores * NEAR_UP_TO**2 and self._in_time(seconds)
        rows = n * problem.d * problem.dtype.itemsize
        fits = rows + solver.estimate_bytes(problem, k) <= self._budget()
        if not (quick and fits and 10 * k <= n):
            return None
        near = f"near-exact to {self.tol:g} by {cores} cores of a cluster in {time_text(seconds)}"
        return solver, f"{problem.rule.describe()} of {n} rows, {near}"

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
        fitting, kept = n <= NEAR_UP_TO and few, self.checkpoint
        yield Davidson(self.tol, checkpoint=kept), fitting, near
        yield Davidson(self.tol, keep=False, checkpoint=kept), fitting, near

    def _budget(self) -> int:
        return available_bytes() // 2 if self.memory is None else self.memory

    def _in_time(self, seconds: float) -> bool:
        return self.seconds is None or seconds <= self.seconds

    def _landmarks(self, problem: Problem, k: int, why: str) -> tuple[Landmarks, str]:
        """As many as are usual, or halves of that until they fit into the budget of time."""
        usual, fewest = max(1000, 4 * k), max(FEWEST_LANDMARKS, 2 * k)
        for halvings in range(usual.bit_length()):
            m = max(fewest, usual >> halvings)
            solver = Landmarks(m, checkpoint=self.checkpoint)
            seconds = solver.estimate_seconds(problem, k)
            if self._in_time(seconds):
                return solver, why + f", {m} to stay within {self.seconds or 0:g} s" * (m < usual)
        raise DataError(
            f"{m} landmarks of {problem.n} rows already take {time_text(seconds)}, and "
            f"{self.seconds:g} s are allowed; allow more, give fewer rows, or ask for "
            "fewer components."
        )


def _cost(problem: Problem, k: int, solver: Solver) -> str:
    """What many components of many rows cost, and what is far cheaper; empty if that is little."""
    n, m = problem.n, 4 * k
    exact = Dense().estimate_seconds(problem, k)
    if isinstance(solver, Davidson) or exact < LONG:
        return ""
    rough = n * m * (2 * problem.d + m) / SUMS
    return (
        f"; up to {exact:.0f} s of processor time where the spectrum is flat, "
        f"Landmarks({m}) would take about {rough:.2g}"
    )
