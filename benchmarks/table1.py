"""Table 1 of Mika et al. 1999: the paper, every solver of mercer, scikit-learn's inverse."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from mercer import listen
from mercer.kernels import Gaussian
from mercer.model import Subspace
from mercer.papers.mika1999 import PAPER_TABLE1, Denoiser, denoise_with, table1
from mercer.preimage import Distances, FixedPoint, Gradient, Nearest, Ridge, Smoother

DRAWS = 10
ALPHAS = (1e-2, 1.0, 100.0)


def main() -> None:
    """Print medians for eq. (10) beside the paper, then one line per cell row and solver."""
    with listen(progress):
        found = table1(DRAWS, denoisers=methods())
    print(f"\nError of linear PCA / error of the method, medians of {DRAWS} draws, n = 1..9")
    reference = found["eq. (10)"]
    for sigma, printed in PAPER_TABLE1.items():
        print(f"\nsigma = {sigma}")
        print(line("paper", np.array(printed)))
        for name, ratios in found.items():
            print(line(name, np.median(ratios[sigma], axis=0)))
    print("\nError relative to eq. (10): geometric mean over cells and draws; share better")
    for name, ratios in found.items():
        relative = np.concatenate([(reference[s] / ratios[s]).ravel() for s in reference])
        print(f"  {name:<22}{np.exp(np.log(relative).mean()):8.2f}{(relative < 0.99).mean():8.0%}")


def methods() -> Mapping[str, Denoiser]:
    return {
        "eq. (10)": denoise_with(FixedPoint()),
        "... plain steps": denoise_with(FixedPoint(accelerate=False)),
        "... one step": denoise_with(FixedPoint(early_stop=1)),
        "... input_weight=0.03": denoise_with(FixedPoint(input_weight=0.03)),
        "Gradient": denoise_with(Gradient()),
        "Distances(10)": denoise_with(Distances(10)),
        "Distances(30)": denoise_with(Distances(30)),
        "Smoother()": denoise_with(Smoother()),
        "Smoother(10, nearest)": denoise_with(Smoother(10, by="nearest")),
        "Smoother(100)": denoise_with(Smoother(100)),
        "Ridge": denoise_with(Ridge()),
        "Nearest": denoise_with(Nearest()),
        "scikit-learn": sklearn_default,
        "scikit-learn, tuned": sklearn_tuned,
    }


def sklearn_default(subspace: Subspace, X: np.ndarray) -> np.ndarray:
    return sklearn_inverse(subspace, subspace.support, X, alpha=1.0)


def sklearn_tuned(subspace: Subspace, X: np.ndarray) -> np.ndarray:
    """The penalty by the reconstruction error on held-out training rows."""
    S = subspace.support
    held, rest = S[::4], np.delete(S, np.s_[::4], axis=0)
    errors = [((sklearn_inverse(subspace, rest, held, a) - held) ** 2).mean() for a in ALPHAS]
    return sklearn_inverse(subspace, S, X, ALPHAS[int(np.argmin(errors))])


def sklearn_inverse(
    subspace: Subspace, train: np.ndarray, X: np.ndarray, alpha: float
) -> np.ndarray:
    kernel = subspace.kernel
    assert isinstance(kernel, Gaussian)
    model = SklearnKernelPCA(
        subspace.n_components,
        kernel="rbf",
        gamma=1 / kernel.length**2,
        fit_inverse_transform=True,
        alpha=alpha,
        eigen_solver="arpack",
        random_state=0,
    ).fit(train)
    return model.inverse_transform(model.transform(X))


def line(name: str, values: np.ndarray) -> str:
    return f"  {name:<22}" + "".join(f"{value:9.4g}" for value in values)


def progress(stage: str, done: int, total: int) -> None:
    if stage == "table 1":
        print(f"\r{stage}: {done} of {total}", end="", file=sys.stderr, flush=True)
