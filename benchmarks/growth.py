"""How every estimator grows: ``python -m benchmarks growth [NAME ...] [ROWS ...] [--keep]``.

Seconds of CPU and peak memory for 1,000 to 100,000 rows of 64 columns (digits of MNIST, averaged to
8 x 8 pixels; the rows beyond its 70,000 are the first ones again with a little noise), and between
two neighbouring sizes the exponent of the growth. A fifth of the values is missing where that is
what the estimator is for, and a tenth of the rows are outliers where it is for these. ``--keep``
writes what was measured into ``benchmarks/results``, beside what is there.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import _data
from benchmarks._measure import Contender, compare, table_as_done
from benchmarks._practice import beside_kept, keep

MODULE, COMMAND = "benchmarks.growth", "python -m benchmarks growth"
HEAD = "s CPU (MB), growth"
WHAT = (
    "Processor seconds of a fit to rows of 64 columns, the peak memory of its process in MB, and "
    "the exponent by which the seconds grew since the size to the left."
)
STATE = "one core, busy machine; each fit once, in a process of its own"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
Work = Callable[[], dict[str, Any]]


def main() -> None:
    """Print one row for each estimator, all of them if none is named."""
    given = [argument for argument in sys.argv[2:] if argument != "--keep"]
    sizes = [int(argument) for argument in given if argument.isdigit()]
    names = [name for name in given if not name.isdigit()] or list(ESTIMATORS)
    unknown = sorted(set(names) - set(ESTIMATORS))
    if unknown:
        sys.exit(f"{', '.join(unknown)} is not known; give some of {', '.join(ESTIMATORS)}")
    if "--keep" in sys.argv and sizes:
        sys.exit("--keep keeps rows with all sizes; name none beside it.")
    heads, found = [HEAD, *(f"{n:,}" for n in sizes or SIZES)], []

    def rows() -> Iterator[list[str]]:
        for name in names:
            found.append([name, *cells(name, sizes or SIZES)])
            yield found[-1]

    table_as_done(heads, rows(), len(HEAD), 18)
    if "--keep" in sys.argv:
        keep("growth", WHAT, heads, beside_kept("growth", found), STATE, COMMAND)


def cells(name: str, sizes: Sequence[int]) -> list[str]:
    """What each size takes, and how much faster than the rows it grew since the one before."""
    found, before = [], None
    for n in sizes:
        run = compare(MODULE, {name: Contender("fit", {"name": name, "n": n})}, repeats=1)[name]
        cell = f"{run.cpu:.1f} ({run.peak:.0f})"
        if before is not None:
            cell += f" {np.log(run.cpu / before[1]) / np.log(n / before[0]):.1f}"
        found.append(cell)
        before = n, run.cpu
    return found


def fit(name: str, n: int) -> Work:
    """The fit of one estimator to n rows."""
    warnings.simplefilter("ignore")
    X, make = images(n), ESTIMATORS[name]
    rng = np.random.default_rng(0)
    if name == "missing":
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    if name == "reweighted":
        X[: n // 10] = rng.uniform(0, 1, (n // 10, X.shape[1]))

    def work() -> dict[str, Any]:
        make(X)
        return {}

    return work


def images(n: int) -> np.ndarray:
    """Digits of 8 x 8 pixels."""
    whole = _data.mnist(min(n, 60_000)).reshape(-1, 28, 28)[:, 2:26, 2:26]
    small = whole.reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4)).reshape(-1, 64)
    rng = np.random.default_rng(1)
    again = small[: n - len(small)]
    return np.concatenate([small, again + 0.02 * rng.standard_normal(again.shape)])


def _fit_of(name: str, *args: Any, **options: Any) -> Callable[[np.ndarray], Any]:
    def make(X: np.ndarray) -> Any:
        import mercer

        return getattr(mercer, name)(*args, random_state=0, **options).fit(X)

    return make


def _tuned(X: np.ndarray) -> Any:
    import mercer

    noisy = X + 0.1 * np.random.default_rng(2).standard_normal(X.shape)
    return mercer.KernelPCA(random_state=0).tune(noisy, noise=0.1)


ESTIMATORS: dict[str, Callable[[np.ndarray], Any]] = {
    "kernel_pca": _fit_of("KernelPCA", 20),
    "novelty": _fit_of("KernelNovelty"),
    "sparse_noise": _fit_of("SparseKernelPCA", noise=0.1),
    "sparse_kernels": _fit_of("SparseKernelPCA", n_kernels=100),
    "missing": _fit_of("MissingKernelPCA"),
    "reweighted": _fit_of("ReweightedKernelPCA"),
    "generative": _fit_of("GenerativeKernelPCA"),
    "tune": _tuned,
}


if __name__ == "__main__":
    main()
