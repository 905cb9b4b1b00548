"""Mika et al. 1999: Figures 2 to 4, on USPS digits."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from mercer import KernelPCA
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announced
from mercer._base.types import Array, Axes
from mercer.kernels import Gaussian
from mercer.papers.item import Result, Setting, drawing, panel, result, table
from mercer.papers.mika1999 import denoise_with, linear_denoise, mean_error
from mercer.papers.sources import Labelled, Source, read_usps
from mercer.plots._base import PALETTE, show_tiles
from mercer.preimage import FixedPoint, PreImageSolver
from mercer.preimage.noise import matched_scores

SHAPE = (16, 16)
#: c = 0.5 in exp(-r²/(d c)), d = 256.
KERNEL = Gaussian(width=np.sqrt(256 * 0.5))
#: The numbers of components that are tried for the best, and those that Figure 4 draws.
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
DRAWN = (1, 4, 16, 64, 256)

#: Noise of the paper: Gaussian, and speckle in which a share of the pixels turns black or white.
#: The printed p = 0.4 agrees with the printed factor when 20 % of all pixels flip (inferred).
NOISES: Mapping[str, Callable[[Array, np.random.Generator], Array]] = {
    "gaussian 0.5": lambda X, rng: X + 0.5 * rng.standard_normal(X.shape),
    "speckle 20 %": lambda X, rng: _speckle(X, 0.2, rng),
    "speckle 40 %": lambda X, rng: _speckle(X, 0.4, rng),
}


def _speckle(X: Array, share: float, rng: np.random.Generator) -> Array:
    flipped = rng.random(X.shape) < share
    return np.where(flipped, rng.choice([-1.0, 1.0], X.shape), X)


def per_digit(data: Labelled) -> tuple[int, int]:
    """Training and test images of each digit: the paper's 300 and 50, fewer from a stand-in."""
    train, test = (int(np.bincount(y).min()) for y in (data.y, data.y_test))
    return min(300, train), min(50, test)


def usps_digits(
    source: Source, rng: np.random.Generator, *, smooth: bool = True
) -> tuple[Array, Array]:
    """300 training and 50 test images of each digit, in their order, pixels from -1 to 1.

    The paper's c = 0.5 is "twice the variance"; the public digits have 0.47, and smoothed by a
    Gaussian of 0.75 pixels 0.25: the paper must have used those (inferred).

    ``source`` is the folder where ``usps.npz`` is, or the digits; a stand-in may have fewer images.
    """
    data, chosen = read_usps(source), []
    parts = ((data.X, data.y), (data.X_test, data.y_test))
    for (X, y), count in zip(parts, per_digit(data), strict=True):
        rows = [rng.choice(np.flatnonzero(y == digit), count, replace=False) for digit in range(10)]
        images = X[np.concatenate(rows)].reshape(-1, *SHAPE)
        if smooth:
            images = gaussian_filter(images, (0, 0.75, 0.75), mode="constant", cval=-1, truncate=8)
        chosen.append(images.reshape(-1, 256))
    return chosen[0], chosen[1]


def _said(data: Labelled, **more: Any) -> dict[str, Any]:
    """What the items on digits say of their setting."""
    train, test = per_digit(data)
    chosen = {"images": f"{train} + {test} of each digit", **more}
    return {"chosen": chosen, "stands_in": data.stands_in}


def run_figure2(setting: Setting) -> Result:
    """Components as images; leading ones show strokes, late ones fine texture."""
    data = setting.sources.usps()
    train, _ = usps_digits(data, fixed_rng(setting.seed))
    shown = COUNTS[:9]  # these components, counted from 1 as in the paper
    at, each = np.array(shown) - 1, np.arange(len(shown))
    model = KernelPCA(256, kernel=KERNEL, preimage=FixedPoint()).fit(train)
    # One unit of a component alone is a point in feature space that has no scale of its own; the
    # score of the training image that goes furthest along it has the data's scale.
    scores = model.transform(train)[:, at]
    codes = np.zeros((len(at), 256))
    codes[each, at] = scores[np.abs(scores).argmax(axis=0), each]
    linear = np.linalg.svd(train - train.mean(axis=0), full_matrices=False)[2][at]
    preimages = np.asarray(model.inverse_transform(codes))
    # Pixel i is the score of the canonical basis vector e_i.
    projections = np.asarray(model.transform(np.eye(256))[:, at].T)
    images = np.stack([linear, preimages, projections])
    rough = np.array([[_roughness(image) for image in X] for X in images])
    ways = ("linear", "pre-image", "projections")
    columns = {f"roughness, {way}": values for way, values in zip(ways, rough, strict=True)}

    @drawing((8.6, 3.2))
    def draw(ax: Axes) -> None:
        low, high = images.min(axis=2, keepdims=True), images.max(axis=2, keepdims=True)
        names = ["linear PCA", "kernel PCA:\npre-image", "kernel PCA:\nprojections of eᵢ"]
        scaled = (images - low) / (high - low)  # each with its own scale
        show_tiles(ax, scaled, SHAPE, limits=(0, 1), row_labels=names, column_labels=shown)

    found = {
        "linear": rough[0, -1] / rough[0, 0],
        "projections": rough[2, -1] / rough[2, 0],
        "agree": np.abs(np.corrcoef(linear[0], projections[0])[0, 1]),
        "finite": np.isfinite(preimages).mean(),
        "largest": np.abs(preimages).max(),
    }
    numbers = table({"eigenvector": shown, **columns})
    return result("mika1999/figure2", numbers, draw, found, **_said(data))


def _roughness(image: Array) -> float:
    """Mean squared difference of neighbouring pixels, in units of the image's variance."""
    grid = image.reshape(SHAPE)
    steps = np.concatenate([np.diff(grid, axis=axis).ravel() for axis in (0, 1)])
    return float((steps**2).mean() / grid.var())


def run_figure3(setting: Setting) -> Result:
    """Clean digits from 1 to 20 components: linear PCA is better beyond ten or so.

    Started at the digit itself, as in denoising. The text allows that for denoising only; which of
    the two was drawn, it does not say.
    """
    data = setting.sources.usps()
    train, test = usps_digits(data, fixed_rng(setting.seed))
    model, ways = KernelPCA(20, kernel=KERNEL).fit(train), np.empty((2, 20, *test.shape))
    for i in announced("figure 3", range(20)):
        ways[0, i] = linear_denoise(train, test, i + 1)
        ways[1, i] = denoise_with(FixedPoint())(model.subspace_.leading(i + 1), test)
    squares = ((ways - test) ** 2).sum(axis=3)
    linear, kernel = squares.mean(axis=2)
    ratio = kernel / linear
    digit = 3 * (len(test) // 10)  # the first three
    of_shown = squares[1, :, digit] / squares[0, :, digit]
    columns = {"n": range(1, 21), "linear": linear, "kernel": kernel, "kernel / linear": ratio}
    numbers = table({**columns, "shown digit": of_shown})

    @drawing((11.5, 1.7))
    def draw(ax: Axes) -> None:
        tiles = np.concatenate([ways[:, :, digit], np.tile(test[digit], (2, 1, 1))], axis=1)
        names, above = ["linear PCA", "kernel PCA"], [*range(1, 21), "digit"]
        show_tiles(ax, tiles, SHAPE, limits=(-1, 1), row_labels=names, column_labels=above)
        place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "top"}
        place |= {"textcoords": "offset points", "annotation_clip": False, "fontsize": 8}
        for at, value in zip(ax.get_xticks(), of_shown, strict=False):
            ax.annotate(f"{value:.2f}", (at, 0), (0, -4), **place)

    found = {"one": ratio[0], "five": ratio[4], "ten": ratio[9], "twenty": ratio[19]}
    found["first"] = min((i + 1 for i in range(20) if ratio[i] > 1.1), default=99)
    return result("mika1999/figure3", numbers, draw, found, **_said(data))


def usps(
    source: Source,
    seed: int = 0,
    *,
    counts: Sequence[int] = COUNTS,
    smooth: bool = True,
    center: bool = True,
    solver: PreImageSolver | None = None,
) -> tuple[list[dict[str, Any]], dict[tuple[str, str, int], Array]]:
    """Figure 4: denoise USPS digits for several numbers of components; see :func:`factors`.

    Smoothed and centred reproduces the paper. The solver is eq. (10) if none is given, and
    ``source`` the folder where ``usps.npz`` is, or the digits.

    Returns
    -------
    rows : list of dict
        Mean squared errors per digit, for each number of components and each noise.
    images : dict
        Noise, way and number of components → the first test image of each digit, (10, 256).
    """
    rng = fixed_rng(seed)
    train, test = usps_digits(source, rng, smooth=smooth)
    noisy = {name: make(test, rng) for name, make in NOISES.items()}
    model = KernelPCA(max(counts), kernel=KERNEL, center=center, solver="dense").fit(train)
    first = np.arange(10) * (len(test) // 10)
    rows, images = [], {}
    for q in announced("usps", counts):
        subspace = model.subspace_.leading(q)
        bound = (FixedPoint() if solver is None else solver).init(subspace)
        for noise, X in noisy.items():
            Z = subspace.scores(X)
            ways = {
                "linear": linear_denoise(train, X, q) if q <= 256 else X,
                "kernel": bound.solve(Z, X).points,
                "kernel, noise matched": bound.solve(matched_scores(subspace, X, True), X).points,
            }
            errors = {way: mean_error(points, test) for way, points in ways.items()}
            rows.append({"noise": noise, "n": q, **errors})
            for way, points in {"digit": test, "noisy": X, **ways}.items():
                images[noise, way, q] = points[first]
    return rows, images


def factors(
    rows: Sequence[Mapping[str, Any]], noise: str, method: str = "kernel"
) -> dict[str, float]:
    """Best against best, the optimal numbers of components, the largest factor at equal ones."""
    own = [row for row in rows if row["noise"] == noise]
    few = [row for row in own if row["n"] <= 256]
    linear = min(few, key=lambda row: row["linear"])
    kernel = min(own, key=lambda row: row[method])
    return {
        "best/best": linear["linear"] / kernel[method],
        "n linear": linear["n"],
        "n kernel": kernel["n"],
        "largest same n": max(row["linear"] / row[method] for row in few),
    }


def run_figure4(setting: Setting) -> Result:
    """Best against best, the numbers of components where they lie, the factor at equal ones."""
    data = setting.sources.usps()
    seeds = [setting.seed + i for i in range(setting.choose(1, 5))]
    studies = [usps(data, seed) for seed in seeds]
    every = [rows for rows, _ in studies]
    numbers = [{**r, "seed": seed} for seed, rows in zip(seeds, every, strict=True) for r in rows]

    gauss, speckle, _ = NOISES

    def median(noise: str, what: str, method: str = "kernel") -> float:
        return float(np.median([factors(rows, noise, method)[what] for rows in every]))

    @drawing((11.5, 4.5), "ABC", width_ratios=[1, 1, 0.9])
    def draw(left: Axes, middle: Axes, ax: Axes) -> None:
        rows, images = studies[0]
        ways = [("digit", 1), ("noisy", 1), *product(("linear", "kernel"), DRAWN)]
        labels = ["digit", "noisy", *(f"{way} {q}" for way, q in ways[2:])]
        panels = ((left, gauss, PALETTE[0], labels), (middle, speckle, PALETTE[2], [""] * 12))
        for sheet, noise, color, names in panels:
            tiles = np.stack([images[noise, way, q] for way, q in ways])
            show_tiles(sheet, tiles, SHAPE, limits=(-1, 1), row_labels=names)
            sheet.set_title(noise, fontsize=10)
            for way, style, most in (("kernel", "-", 1024), ("linear", "--", 256)):
                own = [(r["n"], r[way]) for r in rows if r["noise"] == noise and r["n"] <= most]
                ax.plot(*zip(*own, strict=True), style, color=color, label=f"{way}, {noise}")
        ax.set_xscale("log", base=2)
        ax.legend(frameon=False, fontsize=8)
        panel(ax, yscale="log", xlabel="number of components n", ylabel="mean squared error")

    found = {"equal": median(gauss, "largest same n")}
    for name, noise in (("gauss", gauss), ("speckle", speckle)):
        found[name] = median(noise, "best/best")
        found |= {f"{name}_{way}": median(noise, f"n {way}") for way in ("linear", "kernel")}
    for name, noise in zip(("gauss", "speckle", "twice"), NOISES, strict=True):
        found[f"{name}_matched"] = median(noise, "best/best", "kernel, noise matched")
    said = _said(data, seeds=len(seeds), n=", ".join(map(str, COUNTS)))
    return result("mika1999/figure4", numbers, draw, found, **said)
