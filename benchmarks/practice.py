"""What people wait for in practice: ``python -m benchmarks practice [ROW ...]``.

CPU and wall seconds, minima of interleaved repeats. Run it on a quiet machine and again with two
busy processes beside.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits

from benchmarks._denoise_data import rows_of
from benchmarks.denoise import TOL, batched, manifold
from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.preimage import FixedPoint, fixed_point
from mercer.selection import choose_by_noise, kernels_around

REPEATS = 3
#: Support points, rows and columns of the row "denoise".
SIZES = ((4_000, 1_000, 64), (10_000, 2_000, 64))


def main() -> None:
    """Run the rows that are named, or all."""
    rows = {"tune": tune, "choice": choice, "denoise": denoise}
    named = sys.argv[2:] or list(rows)
    if unknown := set(named) - set(rows):
        sys.exit(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(rows)}")
    for name in named:
        rows[name]()


def tune() -> None:
    """The choice of width and components beside one fit and one denoise."""
    rng = np.random.default_rng(0)
    X = load_digits().data[rng.permutation(1797)] / 16
    held_out = X[1198:] + 0.25 * rng.standard_normal((599, 64))
    model = KernelPCA(512).fit(X)
    calls = {
        "fit of 512 components": lambda: KernelPCA(512).fit(X),
        "denoise of 599 rows": lambda: model.denoise(held_out),
        "tune, 1,797 x 64": lambda: KernelPCA().tune(X, noise=0.25),
        "tune, 1,500 x 64": lambda: KernelPCA().tune(X[:1500], noise=0.25),
    }
    cpu = print_seconds("tune", calls, repeats=2)
    unit = cpu["fit of 512 components"] + cpu["denoise of 599 rows"]
    print(f"  tune is {cpu['tune, 1,797 x 64'] / unit:.1f} x (fit + denoise)")


def choice() -> None:
    """What the search from coarse to fine chooses, beside every cell in full."""
    print("choice, with noise of half the standard deviation")
    for name in ("digits", "USPS", "breast cancer"):
        rows = rows_of(name)
        kernels = kernels_around("gaussian", rows)
        start = time.process_time()
        quick = choose_by_noise(KernelPCA(), rows, kernels=kernels)
        between = time.process_time()
        plain = choose_by_noise(KernelPCA(), rows, kernels=kernels, exhaustive=True)
        seconds = between - start, time.process_time() - between
        same = (quick.kernel.length, quick.n_components) == (
            plain.kernel.length, plain.n_components)  # fmt: skip
        print(
            f"  {name:<14}{len(rows):>5} x {rows.shape[1]:<4} "
            f"{'same' if same else 'OTHER'} choice, error {quick.value / plain.value:.5f} of the "
            f"least, {seconds[0]:.1f} s beside {seconds[1]:.1f} s"
        )


def denoise() -> None:
    """Pre-images in mixed precision beside float64 alone and a NumPy loop."""
    for size in SIZES:
        denoise_one(*size)


def denoise_one(n: int, m: int, d: int) -> None:
    """One size of them."""
    rng = np.random.default_rng(0)
    X, Y = manifold(n, d, rng), manifold(m, d, rng) + 0.15 * rng.standard_normal((m, d))
    kernel = Gaussian(width=3.0)
    subspace = KernelPCA(32, kernel=kernel, solver="davidson", random_state=0).fit(X).subspace_
    Z = subspace.scores(Y)
    mixed, doubles = (FixedPoint(tol=TOL).init(subspace) for _ in range(2))
    with_doubles_alone(doubles)
    # The loop is slow and its points independent: a whole batch of them, scaled up.
    some = min(m, 250)
    G = subspace.expansion(Z[:some])
    step = TOL * mixed.sweep.scale
    calls = {
        "mixed": lambda: mixed.solve(Z, Y),
        "float64": lambda: doubles.solve(Z, Y),
        "NumPy loop, 250 rows": lambda: batched(X, Y[:some], G, 1 / 9.0, step),
    }
    cpu = print_seconds(f"denoise, {n:,} support x {m:,} rows x {d}", calls, REPEATS)
    loop = cpu["NumPy loop, 250 rows"] * m / some
    found, plain = mixed.solve(Z, Y), doubles.solve(Z, Y)
    apart = np.linalg.norm(found.points - plain.points, axis=1) / mixed.sweep.scale
    print(
        f"  loop {loop / cpu['mixed']:.1f} x, float64 alone {cpu['float64'] / cpu['mixed']:.2f} x "
        f"mixed (CPU); same points {np.mean(apart < 10 * TOL):.2%}, most {apart.max():.0e} apart"
    )


def with_doubles_alone(bound: fixed_point._BoundFixedPoint) -> None:
    """Leave the sweeps in float32 out."""
    bound.__dict__["rough"] = None


def print_seconds(
    title: str, calls: dict[str, Callable[[], object]], repeats: int
) -> dict[str, float]:
    """Minima of CPU and wall seconds of each call, the repeats in turn; returns those of CPU."""
    cpu, wall = (dict.fromkeys(calls, np.inf) for _ in range(2))
    for _ in range(repeats):
        for name, call in calls.items():
            clock, cycles = time.perf_counter(), time.process_time()
            call()
            cpu[name] = min(cpu[name], time.process_time() - cycles)
            wall[name] = min(wall[name], time.perf_counter() - clock)
    print(f"{title}\n  {'':<28}{'CPU s':>9}{'wall s':>9}")
    for name in calls:
        print(f"  {name:<28}{cpu[name]:>9.2f}{wall[name]:>9.2f}")
    return cpu
