"""Mika et al. 1999, "Kernel PCA and de-noising in feature spaces": Table 1 and Figure 1.

Where the text and the printed numbers disagree, the settings here are those that reproduce the
numbers; they are inferences, and each is marked. Ratios are the error of linear PCA over that of
kernel PCA with the same number of components, unless said otherwise. Figures 2 to 4 are in
``mika1999_digits``.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA

from mercer import KernelPCA
from mercer._base.linalg import square_sums
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announced
from mercer._base.types import Array, Axes
from mercer.alternatives import BottleneckAutoencoder, PrincipalCurve
from mercer.kernels import Gaussian
from mercer.model import Subspace
from mercer.papers import item
from mercer.papers.item import INK, PALE, Check, Result, Setting, drawing, on_circle, result
from mercer.plots._base import PALETTE
from mercer.preimage import FixedPoint, PreImageSolver

#: Denoised points from a subspace and noisy points.
Denoiser = Callable[[Subspace, Array], Array]


def denoise_with(solver: PreImageSolver) -> Denoiser:
    """Project, and go back by the given method, starting at the noisy points."""

    def denoise(subspace: Subspace, X: Array) -> Array:
        return np.asarray(solver.init(subspace).solve(subspace.scores(X), X).points)

    return denoise


def linear_denoise(train: Array, X: Array, q: int) -> Array:
    """Centred linear PCA with q components."""
    pca = PCA(q, svd_solver="covariance_eigh").fit(train)  # "auto" may draw random numbers
    return np.asarray(pca.inverse_transform(pca.transform(X)))


def mean_error(points: Array, truth: Array) -> float:
    """Mean squared distance of points to the truth."""
    return float(square_sums(points - truth).mean())


#: σ → the nine ratios printed in Table 1, and the lower bars for ours.
PAPER_TABLE1, TABLE1_BARS = (
    {float(sigma): row for sigma, row in item.FACTS["mika1999"]["table1"][part].items()}
    for part in ("printed", "bars")
)


class Draw(NamedTuple):
    """One draw of the eleven Gaussians: training rows, test rows, and the centres of the latter."""

    train: Array
    test: Array
    centres: Array


def gaussians(sigma: float, rng: np.random.Generator) -> Draw:
    """Eleven Gaussians in ten dimensions, 100 training and 33 test points each.

    The text says that the centres lie in [-1, 1]^10; [-0.5, 0.5]^10, as here, gives the printed
    numbers, and the printed box gives each row of half the σ.
    """
    centres = rng.uniform(-0.5, 0.5, (11, 10))
    train, test = np.repeat(centres, 100, axis=0), np.repeat(centres, 33, axis=0)
    first, second = (X + sigma * rng.standard_normal(X.shape) for X in (train, test))
    return Draw(first, second, test)


def table1(
    draws: int = 10,
    *,
    denoisers: Mapping[str, Denoiser] | None = None,
    sigmas: Sequence[float] = tuple(PAPER_TABLE1),
    center: bool = True,
    seed: int = 0,
) -> dict[str, dict[float, Array]]:
    """Table 1: the error ratios linear / kernel for 1 to 9 components.

    By the name of each denoiser (by default the paper's, eq. (10) from the noisy point) and by σ a
    (draws, 9) array; take medians over the draws. Centred in feature space unless ``center`` is
    false.
    """
    methods = denoisers or {"fixed point": denoise_with(FixedPoint())}
    ratios = {name: {sigma: np.empty((draws, 9)) for sigma in sigmas} for name in methods}
    for sigma, i in announced("table 1", [*product(sigmas, range(draws))]):
        data = gaussians(sigma, fixed_rng([seed, i, int(1000 * sigma)]))
        # c = 2σ² in exp(-r²/(d c)), d = 10
        model = KernelPCA(9, kernel=Gaussian(width=np.sqrt(20) * sigma), center=center)
        subspace = model.fit(data.train).subspace_
        for q in range(1, 10):
            straight = mean_error(linear_denoise(data.train, data.test, q), data.centres)
            for name, method in methods.items():
                bent = mean_error(method(subspace.leading(q), data.test), data.centres)
                ratios[name][sigma][i, q - 1] = straight / bent
    return ratios


class Curve(NamedTuple):
    """Noisy points on a curve in the plane, and the curve itself as a fine polygon."""

    points: Array
    curve: Array

    def squared_distance(self, points: Array) -> float:
        """Mean squared distance of points to the curve."""
        return float(cdist(points, self.curve, "sqeuclidean").min(axis=1).mean())

    def coverage(self, points: Array, bins: int = 40) -> float:
        """Share of the curve's pieces that a point lies nearest to: collapse is not denoising."""
        nearest = cdist(points, self.curve).argmin(axis=1)
        return len(np.unique(nearest * bins // len(self.curve))) / bins


def half_circle(rng: np.random.Generator, n: int = 200, noise: float = 0.1) -> Curve:
    """Points on the upper half of the unit circle."""
    return _curve(on_circle(np.linspace(0, np.pi, 2000)), rng, n, noise)


def square(rng: np.random.Generator, n: int = 200, noise: float = 0.1) -> Curve:
    """Points on the sides of the square [-1, 1]²."""
    side, one = np.linspace(-1, 1, 500), np.ones(500)
    sides = [(side, -one), (one, side), (-side, one), (-one, -side)]
    return _curve(np.concatenate([np.column_stack(s) for s in sides]), rng, n, noise)


def figure1(curve: Curve, q: int, *, c: float = 0.5) -> dict[str, Array]:
    """Figure 1: the points denoised by linear PCA (one component) and kernel PCA (q components)."""
    X, kernel = curve.points, Gaussian(width=np.sqrt(2 * c))  # exp(-r²/(d c)), d = 2
    model = KernelPCA(q, kernel=kernel, preimage=FixedPoint()).fit(X)
    return {"noisy": X, "linear": linear_denoise(X, X, 1), "kernel": model.denoise(X)}


def _curve(fine: Array, rng: np.random.Generator, n: int, noise: float) -> Curve:
    points = fine[rng.integers(len(fine), size=n)]
    return Curve(points + noise * rng.standard_normal(points.shape), fine)


def run_table1(setting: Setting) -> Result:
    """Error of linear PCA over that of kernel PCA: all 45 cells, median and spread of draws."""
    draws = setting.choose(10, 40)
    ratios = table1(draws, seed=setting.seed)["fixed point"]
    numbers, checks = [], []
    for (sigma, printed), q in product(PAPER_TABLE1.items(), range(1, 10)):
        theirs, bar = printed[q - 1], TABLE1_BARS[sigma][q - 1]
        low, median, high = np.quantile(ratios[sigma][:, q - 1], (0, 0.5, 1))
        cell = {"sigma": sigma, "n": q, "paper": theirs, "median": median}
        numbers.append({**cell, "min": low, "max": high})
        checks.append(Check(f"σ = {sigma}, n = {q}", float(median), low=bar, paper=theirs))
    inside = sum(row["min"] <= row["paper"] <= row["max"] for row in numbers)

    @drawing((11, 2.9), "ABCDE", sharex=True)
    def draw(*panels: Axes) -> None:
        n = np.arange(1, 10)
        for ax, (sigma, own), color in zip(panels, ratios.items(), PALETTE, strict=False):
            ax.fill_between(n, own.min(axis=0), own.max(axis=0), color=color, alpha=0.2, lw=0)
            ax.plot(n, np.median(own, axis=0), color=color, label="mercer, median")
            ax.plot(n, PAPER_TABLE1[sigma], "o", color=INK, ms=4, label="paper")
            ax.axhline(1, color=PALE, lw=0.8, zorder=0)
            item.panel(ax, f"σ = {sigma}", yscale="log", xticks=[1, 3, 5, 7, 9])
        panels[0].set_ylabel("error, linear / kernel")
        panels[2].set_xlabel("number of components n")
        panels[0].legend(frameon=False, fontsize=8)

    found, chosen = {"inside": inside}, {"draws": draws}
    return result("mika1999/table1", numbers, draw, found, *checks, chosen=chosen)


def run_figure1(setting: Setting) -> Result:
    """The half circle and the square: mean squared distance to the truth, and coverage."""
    rng = fixed_rng(setting.seed)
    curves = {"half circle": half_circle(rng), "square": square(rng)}
    models = {
        "autoencoder": BottleneckAutoencoder(random_state=setting.seed),
        "principal curve": PrincipalCurve(),
    }
    # A curve that ends where it begins is fitted to the square as well: 1989's could not.
    closed = {"closed curve": PrincipalCurve(closed=True)}
    points: dict[tuple[str, str], Array] = {}
    for name, counts, others in (
        ("half circle", (4,), models),
        ("square", (4, 8), models | closed),
    ):
        X = curves[name].points
        for q in counts:
            points[name, f"kernel PCA, n = {q}"] = figure1(curves[name], q)["kernel"]
        for method, model in others.items():
            points[name, method] = model.fit(X).denoise(X)
        points |= {(name, "linear PCA"): linear_denoise(X, X, 1), (name, "noisy"): X}
    distance = {(c, m): curves[c].squared_distance(X) for (c, m), X in points.items()}
    coverage = {(c, m): curves[c].coverage(X) for (c, m), X in points.items()}
    numbers = [
        {"curve": c, "method": m, "squared distance": distance[c, m], "coverage": coverage[c, m]}
        for c, m in points
    ]

    pairs = {}
    # The square has two kernel PCAs and two curves: the better one and the paper's are drawn.
    for name, best in (("half circle", "kernel PCA, n = 4"), ("square", "kernel PCA, n = 8")):
        for method in (best, *models, "linear PCA"):
            title = f"{name}, {method}\n{distance[name, method]:.4f}"
            pairs[title] = curves[name].points, points[name, method]
    half, eight = distance["half circle", "kernel PCA, n = 4"], ("square", "kernel PCA, n = 8")
    found = {
        "half": half,
        "half_noisy": distance["half circle", "noisy"] / half,
        "half_linear": distance["half circle", "linear PCA"] / half,
        "square": distance[eight],
        "square_linear": distance["square", "linear PCA"] / distance[eight],
        "closed": coverage[eight],
    }
    return result("mika1999/figure1", numbers, item.denoised(pairs, 10, columns=4), found)
