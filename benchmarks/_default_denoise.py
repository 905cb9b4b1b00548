"""Denoising with nothing set: ``tune`` and ``score`` against the best cell of a grid, and rivals.

The noise is half the standard deviation of the rows, as ``tune`` and ``score`` take it. Models are
fitted to two thirds of the rows; every error is the mean squared distance in input space between
the denoised and the clean versions of the other third, which nothing was chosen on.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors

from benchmarks._denoise_data import CONFIRMATION, DEVELOPMENT, rows_of
from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.selection import kernels_around, typical_noise

FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
#: Components that widths are compared at by ``score``, as people do it.
FIXED = 64
NOTES = f"""
all comps: KernelPCA() as it comes. clean score: the width with the best reconstruction of clean
rows at {FIXED} components (what score was). score, width: GridSearchCV by score over six widths,
beside the best of these at the same components; both: over widths and counts. PCA: the best number
of components. sklearn: the best of 36 settings of its KernelPCA. k-NN mean: the best of eight k.
The last three are chosen on the test rows, ours are not."""


def main(*, confirm: bool = False) -> None:
    """Print both tables for the development list, or for the one that is looked at last."""
    names = CONFIRMATION if confirm else DEVELOPMENT
    print(
        f"{'confirmation' if confirm else 'development'} list; errors over the best grid cell's\n"
    )
    heads = ("tune()", "all comps", "clean score", "score, width", "score, both", "PCA", "sklearn",
             "k-NN mean")  # fmt: skip
    print(f"{'':<18}{'best cell':>10}" + "".join(f"{head:>14}" for head in heads))
    rows = []
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best, others = study(name)
        rows.append(others)
        print(f"{name:<18}{best:>10.4g}" + "".join(f"{x:>14.3f}" for x in others), flush=True)
    means = np.exp(np.log(rows).mean(axis=0))
    print(f"{'geometric mean':<28}" + "".join(f"{x:>14.3f}" for x in means))
    print(NOTES)


def study(name: str) -> tuple[float, list[float]]:
    """The best error of a grid on the test rows, and the others' as multiples of it."""
    X = rows_of(name)
    n = 2 * len(X) // 3
    train, test = X[:n], X[n:]
    noise = typical_noise(train)
    noisy = test + noise * np.random.default_rng(1).standard_normal(test.shape)

    def error(model: KernelPCA) -> float:
        return mean_square(np.asarray(model.denoise(noisy)) - test)

    counts = [2**k for k in range(1, 10) if 2**k < n]
    kernels = kernels_around("gaussian", train, FACTORS)
    grid = {(i, q): 0.0 for i in range(len(kernels)) for q in counts}
    for i, q in grid:
        grid[i, q] = error(KernelPCA(q, kernel=kernels[i]).fit(train))
    best = min(grid.values())

    q = min(FIXED, counts[-1])
    widths = {"kernel__gamma": [1 / kernel.length**2 for kernel in kernels]}
    base = KernelPCA(q, kernel=Gaussian())
    clean = GridSearchCV(base, widths, scoring=keeps, cv=3, refit=False).fit(train)
    own = GridSearchCV(base, widths, cv=3, refit=False).fit(train)
    both = GridSearchCV(base, {**widths, "n_components": counts}, cv=3, refit=False).fit(train)
    fixed = min(grid[i, q] for i in range(len(kernels)))
    return best, [
        error(KernelPCA().tune(train, rows="clean")) / best,
        error(KernelPCA().fit(train)) / best,
        error(clone(base).set_params(**clean.best_params_).fit(train)) / fixed,
        error(clone(base).set_params(**own.best_params_).fit(train)) / fixed,
        error(clone(base).set_params(**both.best_params_).fit(train)) / best,
        best_pca(train, test, noisy, counts) / best,
        best_sklearn(train, test, noisy, counts) / best,
        best_neighbours(train, test, noisy) / best,
    ]


def keeps(model: KernelPCA, X: np.ndarray, y: object = None) -> float:  # noqa: ARG001
    """Minus the error of clean rows from their scores."""
    return -mean_square(np.asarray(model.reconstruct(X)) - X)


def best_pca(train: np.ndarray, test: np.ndarray, noisy: np.ndarray, counts: list[int]) -> float:
    """Linear PCA with the number of components that the test rows like best."""
    most = min(train.shape)
    errors = []
    for q in sorted({min(q, most) for q in [*counts, *range(1, 9)]}):
        pca = PCA(q).fit(train)
        errors.append(mean_square(pca.inverse_transform(pca.transform(noisy)) - test))
    return min(errors)


def best_sklearn(
    train: np.ndarray, test: np.ndarray, noisy: np.ndarray, counts: list[int]
) -> float:
    """scikit-learn's KernelPCA at the best of four widths, three counts and three penalties."""
    median = Gaussian("median").resolve(train).gamma
    errors = []
    for factor in (1.0, 1.4, 2.0, 2.8):
        for q in counts[-4:-1]:
            for alpha in (0.01, 0.1, 1.0):
                model = SklearnKernelPCA(
                    q, kernel="rbf", gamma=median / factor**2, fit_inverse_transform=True,
                    alpha=alpha, eigen_solver="dense",
                ).fit(train)  # fmt: skip
                errors.append(mean_square(model.inverse_transform(model.transform(noisy)) - test))
    return min(errors)


def best_neighbours(train: np.ndarray, test: np.ndarray, noisy: np.ndarray) -> float:
    """The mean of the k nearest training rows, for the best k."""
    near = NearestNeighbors(n_neighbors=50).fit(train).kneighbors(noisy)[1]
    return min(
        mean_square(train[near[:, :k]].mean(axis=1) - test) for k in (1, 2, 3, 5, 8, 13, 25, 50)
    )


def mean_square(difference: np.ndarray) -> float:
    """Mean over rows of the squared length."""
    return float((difference**2).sum(axis=1).mean())
