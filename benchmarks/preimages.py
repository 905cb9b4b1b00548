"""Every pre-image method on scikit-learn's digits: denoising / reconstruction from scores alone."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.exceptions import KernelError
from mercer.kernels import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial
from mercer.model import Subspace
from mercer.preimage import (
    Distances,
    FixedPoint,
    Gradient,
    InverseDot,
    Nearest,
    PreImageSolver,
    Ridge,
    Smoother,
)

SOLVERS: tuple[PreImageSolver, ...] = (
    *(FixedPoint(), Gradient(), Distances(), Ridge(), Smoother(10, by="nearest"), Smoother()),
    *(InverseDot(), Nearest()),
)
CASES = (
    ("Gaussian", Gaussian(), 20),
    ("Gaussian", Gaussian(), 100),
    ("Matern 3/2", Matern(nu=1.5), 100),
    ("Laplacian", Laplacian(), 100),
    ("polynomial 3", Polynomial(3, gamma="scale"), 20),
    ("polynomial 3", Polynomial(3, gamma="scale"), 100),
    ("linear", Linear(), 20),
    ("cosine", Cosine(), 100),
)


def main() -> None:
    """Print squared errors per image; ! marks methods that did not converge everywhere."""
    rng = np.random.default_rng(0)
    X = load_digits().data[rng.permutation(1797)] / 16
    train, test = X[:1200], X[1200:1280]
    noisy = test + 0.3 * rng.standard_normal(test.shape)
    print(f"{'kernel':<14}{'q':>4}" + "".join(f"{type(s).__name__:>14}" for s in SOLVERS))
    for name, kernel, q in CASES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            subspace = KernelPCA(q, kernel=kernel, solver="dense").fit(train).subspace_
        cells = [errors(solver, subspace, noisy, test) for solver in SOLVERS]
        print(f"{name:<14}{q:>4}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def errors(solver: PreImageSolver, subspace: Subspace, noisy: np.ndarray, test: np.ndarray) -> str:
    try:
        bound = solver.init(subspace)
    except KernelError:
        return "-"
    found = bound.solve(subspace.scores(noisy), noisy)
    alone = bound.solve(subspace.scores(test))
    both = [((f.points - test) ** 2).sum(axis=1).mean() for f in (found, alone)]
    mark = "" if found.converged.all() and alone.converged.all() else "!"
    return f"{both[0]:.2f} / {both[1]:.2f}{mark}"
