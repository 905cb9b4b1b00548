"""Denoising USPS digits as in Mika et al. 1999: the paper, mercer's variants, scikit-learn."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from mercer import listen
from mercer.papers.mika1999_digits import NOISES, factors, usps, usps_digits
from mercer.preimage import Distances, FixedPoint, Ridge

SEEDS = (1, 2, 3)
COUNTS = (8, 16, 32, 64, 128, 256, 512, 1024)
VARIANTS = {
    "smoothed, centred": {},
    "smoothed, uncentred": {"center": False},
    "raw, centred (literal text)": {"smooth": False, "counts": (*COUNTS, 2048)},
    "Distances(10)": {"solver": Distances(10), "counts": (16, 32, 64, 128, 256)},
    "Ridge": {"solver": Ridge(), "counts": (16, 32, 64, 128, 256)},
    "input_weight=0.03": {
        "solver": FixedPoint(input_weight=0.03),
        "counts": (16, 32, 128, 256, 512),
    },
}


def main() -> None:
    """Print best against best, the optimal numbers of components, the largest factor at equal n."""
    folder = Path(os.environ.get("MERCER_DATA", "../shared/data"))
    print("paper: gaussian 1.6 (n 32 / 512), speckle 1.2 (n 32 / 256), up to 8 at equal n")
    head = f"{'variant':<38}{'noise':<14}{'best/best':>10}{'matched':>9}{'n lin':>7}{'n ker':>7}"
    print(head + f"{'same n':>8}")
    for name, options in VARIANTS.items():
        # The variants beside the main one need one seed to be seen.
        for seed in SEEDS if not options else SEEDS[:1]:
            with listen(progress):
                rows, _ = usps(folder, seed, **{"counts": COUNTS, **options})
            for noise in NOISES:
                show(f"{name}, seed {seed}", noise, rows)
    for noise, errors in sklearn_errors(folder).items():
        cells = "  ".join(f"alpha={alpha:g}: {error:.1f}" for alpha, error in errors.items())
        print(f"scikit-learn's inverse, n = 256, {noise}: mean squared error {cells}")


def show(name: str, noise: str, rows: list) -> None:
    plain, matched = factors(rows, noise), factors(rows, noise, "kernel, noise matched")
    print(
        f"{name:<38}{noise:<14}{plain['best/best']:10.3f}{matched['best/best']:9.3f}"
        f"{plain['n linear']:7}{plain['n kernel']:7}{plain['largest same n']:8.2f}",
        flush=True,
    )


def sklearn_errors(folder: Path) -> dict[str, dict[float, float]]:
    """At its default penalty and others; the best on the test set is an oracle's."""
    rng = np.random.default_rng(SEEDS[0])
    train, test = usps_digits(folder, rng)
    noisy = {name: make(test, rng) for name, make in NOISES.items()}
    errors: dict[str, dict[float, float]] = {name: {} for name in noisy}
    for alpha in (1.0, 1e-1, 1e-2, 1e-3):
        model = SklearnKernelPCA(
            256, kernel="rbf", gamma=1 / 128, fit_inverse_transform=True, alpha=alpha,
            eigen_solver="arpack", random_state=0,
        ).fit(train)  # fmt: skip
        for name, X in noisy.items():
            points = model.inverse_transform(model.transform(X))
            errors[name][alpha] = float(((points - test) ** 2).sum(axis=1).mean())
    return errors


def progress(stage: str, done: int, total: int) -> None:
    if stage == "usps":
        print(f"\r{stage}: {done} of {total}\r", end="", file=sys.stderr, flush=True)
