"""Kernels for a noise that is given, or for a number of them: a search on log σ²."""

from dataclasses import dataclass, field, replace

import numpy as np

from mercer._base.held_out import take
from mercer._base.machine import one_blas_thread
from mercer._base.progress import announce
from mercer.exceptions import DataError, RankWarning, warn
from mercer.sparse.base import BoundSelection, Selection, SparseSolver, selection_of
from mercer.sparse.likelihood import Ascent, KernelRows, Likelihood, ascend
from mercer.sparse.pool import Centres

#: Without other wish, directions below this share of the mean k(x, x) are noise.
DEFAULT_SHARE = 0.01
#: The search goes down to this share of the largest useful σ².
SMALLEST_SHARE = 1e-9
#: Fits for one search, and fits that look for a second root once the first is found.
MAX_FITS = 11
MORE_FITS = 3
#: Of more rows than this, and than so many for each kernel, as many are drawn for the search.
SEARCHED_ROWS, ROWS_PER_KERNEL = 3000, 10
#: A search takes as long as so many fits with the number of kernels that is looked for.
SEARCH = 15
#: So many kernels are planned for where the data decide.
USUAL_KERNELS = 100


def estimate_seconds(solver: SparseSolver, n: int, n_kernels: int | None) -> float:
    """About how long the kernels of n rows take on an idle machine; 0 if nobody knows.

    Within a factor of 2.2 of fourteen fits of 400 to 10,000 rows with 20 to 65 kernels.
    """
    m = min(n_kernels or USUAL_KERNELS, n)
    searched = min(n, max(SEARCHED_ROWS, ROWS_PER_KERNEL * m))
    rows = n if n_kernels is None else SEARCH * searched + (n if n > searched else 0)
    return solver.cost * m**2 * rows


def refuse_more_than_rows(n_kernels: int | None, n: int) -> None:
    """Kernels are chosen among rows, and the search for as many would take long."""
    if n_kernels is not None and n_kernels > n:
        raise DataError(f"{n_kernels} kernels cannot be chosen from {n} rows; ask for fewer.")


def choose_kernels(
    rows: KernelRows, solver: SparseSolver, n_kernels: int | None, noise: float | None
) -> tuple[Selection, int]:
    """The kernels for a number of them or for a noise, and the number of fits that it took."""
    if not (rows.diag > 0).any():
        raise DataError("kernel has no variance: k(x, x) is 0 for all rows; give other rows.")
    refuse_more_than_rows(n_kernels, rows.n)
    bound = solver.bind(rows, None if n_kernels is None else int(n_kernels))
    if n_kernels is not None and not isinstance(solver, Centres):
        return _for_count_of_many(bound, solver, int(n_kernels))
    variance = default_variance(bound) if noise is None else float(noise) ** 2
    return bound.solve(variance), 1


def default_variance(bound: BoundSelection) -> float:
    """σ² when the user gives neither noise nor a number of kernels: 1 % of the mean k(x, x).

    Where no direction reaches that (a very narrow kernel), a tenth of the largest useful value.
    """
    share = DEFAULT_SHARE * float(bound.rows.diag.mean())
    return min(share, 0.1 * bound.largest_variance)


def _for_count_of_many(
    bound: BoundSelection, solver: SparseSolver, n_kernels: int
) -> tuple[Selection, int]:
    """The same for any number of rows: what a sample of many finds is nearly right for all.

    At its σ², or at a little less, all rows have at least as many kernels; the rest is thinned.
    """
    rows, size = bound.rows, max(SEARCHED_ROWS, ROWS_PER_KERNEL * n_kernels)
    if rows.n <= size:
        return for_count(bound, n_kernels)
    some = replace(rows, X=rows.data.subset(np.sort(rows.rng.permutation(rows.n)[:size])).rows)
    selection, searched = for_count(solver.bind(some, n_kernels), n_kernels)
    fits, log_var, step = _Fits(bound, n_kernels), float(np.log(selection.variance)), np.log(1.1)
    least = np.log(bound.largest_variance * SMALLEST_SHARE)
    while fits.count(log_var) < n_kernels and log_var > least:
        log_var, step = log_var - step, 2 * step
    return _ended(fits, n_kernels), searched + len(fits.found)


def for_count(bound: BoundSelection, n_kernels: int) -> tuple[Selection, int]:
    """The selection of exactly ``n_kernels`` kernels, and the number of fits that it took.

    The number of kernels falls with σ² on the whole but not in every detail: several values of σ²
    may give the same number. Once one is found, three more fits, a tenth of a decade apart, look
    for another at smaller σ²; of those found, the one is returned whose kernels have the larger
    likelihood when all are given the same noise. If the number is jumped over, the next larger
    model is thinned one kernel at a time.
    """
    fits = _Fits(bound, n_kernels)
    high = np.log(bound.largest_variance)
    least, low = high + np.log(SMALLEST_SHARE), high - np.log(10)
    while fits.count(low) < n_kernels:
        low -= np.log(10)
        if low < least:
            return _ended(fits, n_kernels), len(fits.found)
    high = min((x for x in fits.found if fits.count(x) < n_kernels), default=high)
    while not fits.roots and len(fits.found) < MAX_FITS and high - low > 1e-3:
        middle = fits.between(low, high)
        low, high = (middle, high) if fits.count(middle) >= n_kernels else (low, middle)
    if not fits.roots:
        return _ended(fits, n_kernels), len(fits.found)
    # Another root at smaller σ², where the same number of kernels explains more.
    root = min(x for x, fit in fits.found.items() if len(fit) == n_kernels)
    for step in range(1, MORE_FITS + 1):
        fits.count(root - 0.1 * step * np.log(10))
    return _best(fits.roots), len(fits.found)


@dataclass
class _Fits:
    """Fits along a search, by log σ²."""

    bound: BoundSelection
    wanted: int
    found: dict[float, Selection] = field(default_factory=dict)

    def count(self, log_var: float) -> int:
        """Number of kernels at this σ²."""
        if log_var not in self.found:
            announce("noise", len(self.found) + 1, MAX_FITS)
            # A fit with far more kernels than wanted says all it has to say before it is finished.
            enough = 2 * self.wanted + 20
            above = [x for x, fit in self.found.items() if x > log_var and len(fit) <= enough]
            start = self.found[min(above)] if above else None
            self.found[log_var] = self.bound.solve(float(np.exp(log_var)), enough, start)
        return len(self.found[log_var])

    @property
    def roots(self) -> list[Selection]:
        """The fits with the number of kernels that is wanted."""
        return [fit for fit in self.found.values() if len(fit) == self.wanted]

    def between(self, low: float, high: float) -> float:
        """Where a straight line in log M would put the root, but not near an end of the bracket."""
        few = len(self.found[high]) if high in self.found else 0
        many = len(self.found[low])
        share = np.log((many + 0.5) / (self.wanted + 0.5)) / np.log((many + 0.5) / (few + 0.5))
        return low + float(np.clip(share, 0.2, 0.8)) * (high - low)


def _best(roots: list[Selection]) -> Selection:
    """The kernels with the largest likelihood at a common noise, the smallest of theirs."""
    variance = min(root.variance for root in roots)

    def value(root: Selection) -> float:
        with one_blas_thread():
            at = Likelihood(root.pool, np.arange(len(root)), root.weights, variance)
            return ascend(at, tol=1e-6, may_prune=False).at.value

    return max(roots, key=value)


def _ended(fits: _Fits, n_kernels: int) -> Selection:
    """The smallest model with enough kernels, without the ones whose loss matters least."""
    enough = [fit for fit in fits.found.values() if len(fit) >= n_kernels]
    if not enough:
        most = max(fits.found.values(), key=len)
        m, noise = len(most), f"noise={np.sqrt(most.variance):.2g}"
        few = f"only {m} of {n_kernels} kernels are worth their place even at {noise}"
        warn(f"{few}; kept {m}. Ask for at most {m}.", RankWarning)
        return most
    larger = min(enough, key=len)
    if len(larger) == n_kernels:
        return larger
    at = larger.likelihood
    with one_blas_thread():
        while len(at.active) > n_kernels:
            keep = np.arange(len(at.active)) != at.worth.argmin()
            at = ascend(at.keep(keep), may_prune=False).at
        ended = Ascent(at, larger.steps, larger.converged)
        assert larger.indices is not None
        points, indices = take(larger.points, at.active), larger.indices[at.active]
        thinned = selection_of(ended, points, indices, at.weights, larger.pool.subset(at.active))
    return replace(thinned, note=f"thinned from {len(larger)} kernels")
