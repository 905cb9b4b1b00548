"""Only noisy rows: what ``tune`` chooses without a clean one, beside the best choice and rivals.

``python -m benchmarks denoise [--only NAME] [--confirm] [--wrong] [--quick] [--rows N]
[--done FILE]``: errors are squared distances of a row from its clean version, which only the
columns marked * have seen. Cells that FILE has are not computed again, and those that are finished
are added to it, so that a run can be stopped and taken up. ``python -m benchmarks denoise circle``,
``cost`` and ``many``: distances from a circle, what the choice costs, and what many rows take.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.neighbors import NearestNeighbors

from benchmarks._noisy_data import CONFIRMATION, DEVELOPMENT, Cell, cells_of, wrong_cells
from benchmarks._noisy_parts import PARTS
from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.preimage import Shrunk
from mercer.selection.noise_level import noise_of
from mercer.selection.risk import POWERS, Probes
from mercer.selection.search import Denoiser, all_counts, kernels_around

#: The most components of the grid.
MOST = 256
#: Sets whose rows are series, and whose rows are images of a shape.
SERIES = ("ECG windows", "spectra", "chirps")
IMAGES = {"digits": (8, 8), "USPS": (16, 16), "MNIST": (28, 28), "faces": (16, 16)}
#: The second "said" belongs to the level that was estimated.
HEADS = ("noisy", "PCA*", "PCA", "shrunk*", "k-NN*", "wavelet", "NLM", "BM3D", "sklearn*", "ours",
         "said", "σ est.", "said ", "best*", "ratio", "s")  # fmt: skip
NOTES = """
PCA*: the best number of components; PCA: by Stein's estimate; shrunk*: singular values shrunk for
the squared error (Gavish & Donoho 2017), the true level given; k-NN*: the best mean of k; wavelet
(PyWavelets), NLM (non-local means, scikit-image), BM3D: each series or image by itself, the true
level given; sklearn*: the best of 30 settings of its KernelPCA with its own pre-image. ours: the
true level given; σ est.: estimated; said: what risk_ said beside each. best*: the least true error
of a grid of six widths, 2 to 256 components and three powers, and of linear PCA; ratio: ours over
it; s: CPU of one tune."""


def main() -> None:
    """Print the table and what it shows."""
    parser = argparse.ArgumentParser("python -m benchmarks denoise")
    parser.add_argument("name", help="of this benchmark")
    parser.add_argument("part", nargs="?", choices=PARTS)
    parser.add_argument("--only", action="append")
    parser.add_argument("--confirm", action="store_true")
    parser.add_argument("--wrong", action="store_true", help="noise that is not as given")
    parser.add_argument("--quick", action="store_true", help="linear rivals alone, level given")
    parser.add_argument("--done", type=Path, help="a file of finished cells, to go on with")
    parser.add_argument("--rows", type=int, default=1000)
    options = parser.parse_args()
    names = options.only or (CONFIRMATION if options.confirm else DEVELOPMENT)
    seed = 1 if options.confirm else 0
    warnings.simplefilter("ignore")
    if options.part:
        PARTS[options.part]()
        return
    if options.wrong:
        wrong(names, seed, options.rows)
        return
    print(f"{'':<27}" + "".join(f"{head:>9}" for head in HEADS))
    rows = []
    for name in names:
        for cell in cells_of(name, seed, options.rows):
            label = f"{cell.name} {cell.kind} {cell.level}"
            found = resumed(label, options, lambda cell=cell: study(cell, quick=options.quick))
            rows.append((cell, found))
            print(f"{label:<27}" + "".join(_shown(found[head]) for head in HEADS), flush=True)
    summary(rows)
    print(NOTES)
    say_what_is_missing()


def resumed(
    label: str, options: argparse.Namespace, study: Callable[[], dict[str, float]]
) -> dict[str, float]:
    """A row of the file of finished cells, or a new one, which is added to it."""
    if options.done is None:
        return study()
    key = f"{label} {options.rows} rows{' quick' * options.quick}"
    lines = options.done.read_text().splitlines() if options.done.exists() else []
    known = dict(json.loads(line) for line in lines)
    if key not in known:
        known[key] = study()
        with options.done.open("a") as file:
            file.write(json.dumps([key, known[key]]) + "\n")
    return known[key]


def _shown(value: float) -> str:
    return f"{'-':>9}" if np.isnan(value) else f"{value:>9.3g}"


def study(cell: Cell, *, quick: bool) -> dict[str, float]:
    """All columns of a row of the table, by its head."""
    found = dict.fromkeys(HEADS, np.nan)
    found["noisy"] = error(cell, cell.noisy)
    found["PCA*"], found["PCA"] = linear(cell)
    found["shrunk*"] = error(cell, shrunk(cell))
    if not quick:
        found["k-NN*"] = error(cell, *neighbours(cell.noisy))
        found |= by_themselves(cell)
        found["sklearn*"] = error(cell, *sklearn_grid(cell.noisy))
    began = time.process_time()
    model = KernelPCA(random_state=0).tune(cell.noisy, noise=cell.noise, rows="noisy")
    found["s"] = time.process_time() - began
    found["ours"] = error(cell, model.denoise(cell.noisy))
    found["said"], found["±"] = model.risk_.error, model.risk_.deviation
    found["best*"] = best(cell, model)
    found["ratio"] = found["ours"] / found["best*"]
    if quick:
        return found
    if cell.unknown is not False:
        try:
            model = KernelPCA(random_state=0).tune(cell.noisy, noise=cell.unknown, rows="noisy")
        except DataError:  # nothing shows the level
            return found
        found["σ est."] = error(cell, model.denoise(cell.noisy))
        found["said "], found["± "] = model.risk_.error, model.risk_.deviation
    return found


def error(cell: Cell, *ways: np.ndarray) -> float:
    """The least mean squared distance from the clean rows."""
    return min(float(((rows - cell.clean) ** 2).sum(axis=1).mean()) for rows in ways)


def linear(cell: Cell) -> tuple[float, float]:
    """Linear PCA with the best number of components, and with that of Stein's estimate."""
    mean = cell.noisy.mean(axis=0)
    U, s, Vt = np.linalg.svd(cell.noisy - mean, full_matrices=False)
    # Of one component more |x - f|² is less by z² - 2 z (x - μ)ᵀv, with x the clean row.
    left = (cell.clean - mean) @ Vt.T
    gained = ((U * s) ** 2 - 2 * (U * s) * left).sum(axis=0).cumsum() / len(left)
    errors = error(cell, np.broadcast_to(mean, cell.clean.shape)) + gained
    said = Probes.of(cell.noisy, noise_of(cell.noisy, cell.noise)).linear()[POWERS.index(0)]
    return float(errors.min()), float(errors[int(np.argmin(said))])


def shrunk(cell: Cell) -> np.ndarray:
    """Gavish & Donoho 2017: η(y) = sqrt((y² - β - 1)² - 4β) / y above the edge 1 + √β."""
    mean = cell.noisy.mean(axis=0)
    U, s, Vt = np.linalg.svd(cell.noisy - mean, full_matrices=False)
    sigma = np.sqrt(noise_of(cell.noisy, cell.noise).variance(cell.noisy).mean())
    short, long = sorted(cell.noisy.shape)
    beta, y = short / long, s / (sigma * np.sqrt(long))
    inside = np.maximum((y**2 - beta - 1) ** 2 - 4 * beta, 0)
    kept = np.where(y > 1 + np.sqrt(beta), np.sqrt(inside) / np.maximum(y, 1e-12), 0)
    return mean + (U * (kept * sigma * np.sqrt(long))) @ Vt


def neighbours(X: np.ndarray) -> list[np.ndarray]:
    """Means of the k nearest rows, the row itself among them."""
    order = NearestNeighbors(n_neighbors=64).fit(X).kneighbors(X, return_distance=False)
    return [X[order[:, :k]].mean(axis=1) for k in (2, 4, 8, 16, 32, 64)]


def by_themselves(cell: Cell) -> dict[str, float]:
    """What knows a series or an image, and looks at one at a time; what is installed of it."""
    sigma = float(np.sqrt(noise_of(cell.noisy, cell.noise).variance(cell.noisy).mean()))
    rivals = (
        ("wavelet", "pywt", SERIES, wavelets),
        ("NLM", "skimage", IMAGES, non_local_means),
        ("BM3D", "bm3d", IMAGES.keys() - {"digits"}, block_matching),  # 8 × 8 crash it
    )
    return {
        name: error(cell, method(cell, sigma))
        for name, module, sets, method in rivals
        if cell.name in sets and find_spec(module)
    }


def say_what_is_missing() -> None:
    """A line for each rival that is not installed."""
    for module in ("pywt", "skimage", "bm3d"):
        if find_spec(module) is None:
            print(f"{module} is not installed, and is left out; see the group 'bench'.")


def wavelets(cell: Cell, sigma: float) -> np.ndarray:
    """Soft thresholds of Donoho & Johnstone."""
    import pywt

    d = cell.noisy.shape[1]
    first, *rest = pywt.wavedec(cell.noisy, "db4", axis=1)
    rest = [pywt.threshold(part, sigma * np.sqrt(2 * np.log(d)), "soft") for part in rest]
    return np.asarray(pywt.waverec([first, *rest], "db4", axis=1)[:, :d])


def non_local_means(cell: Cell, sigma: float) -> np.ndarray:
    """Buades, Coll & Morel 2005."""
    from skimage.restoration import denoise_nl_means

    images = cell.noisy.reshape(len(cell.noisy), *IMAGES[cell.name])
    how = {"patch_size": 3, "patch_distance": 5, "h": 0.8 * sigma, "fast_mode": False}
    found = [denoise_nl_means(image, sigma=sigma, **how) for image in images]
    return np.reshape(found, cell.noisy.shape)


def block_matching(cell: Cell, sigma: float) -> np.ndarray:
    """BM3D (Dabov et al. 2007), by its authors."""
    from bm3d import bm3d

    images = cell.noisy.reshape(len(cell.noisy), *IMAGES[cell.name])
    return np.reshape([bm3d(image, sigma) for image in images], cell.noisy.shape)


def sklearn_grid(X: np.ndarray) -> list[np.ndarray]:
    """scikit-learn's KernelPCA at 5 widths, 3 counts and 2 ridges."""
    typical = 2 * X.var(axis=0).sum()
    found = []
    for factor in (0.25, 0.5, 1.0, 2.0, 4.0):
        for alpha in (0.01, 1.0):
            for count in (4, 16, 64):
                model = SklearnKernelPCA(
                    count, kernel="rbf", gamma=1 / (factor * typical), alpha=alpha,
                    fit_inverse_transform=True, eigen_solver="randomized", random_state=0,
                )  # fmt: skip
                found.append(model.inverse_transform(model.fit_transform(X)))
    return found


def best(cell: Cell, model: KernelPCA) -> float:
    """The least error of a grid, of the chosen cell and of linear PCA."""
    errors = [error(cell, model.denoise(cell.noisy)), linear(cell)[0]]
    most = min(MOST, len(cell.noisy) - 1)
    for kernel in kernels_around("gaussian", cell.noisy):
        fitted = KernelPCA(most, kernel=kernel, random_state=0).fit(cell.noisy)
        plain = Denoiser.of(fitted, cell.noisy, "auto")
        for power in POWERS:
            way = replace(plain, solver=Shrunk(power=power))
            errors += [error(cell, way(q, False).rows) for q in all_counts(most)]
    return min(errors)


def summary(rows: list[tuple[Cell, dict[str, float]]]) -> None:
    """The lines that say whether the choice is good."""

    def share(what: str, values: list[float], bar: float) -> None:
        values = [value for value in values if not np.isnan(value)]
        if not values:
            return
        good, of = sum(value <= bar for value in values), len(values)
        print(f"{what}: {good} of {of} ({good / of:.0%}); worst {max(values):.3f}")

    print()
    found = [row for _, row in rows]
    share("ours ≤ 1.05 × best cell", [row["ratio"] for row in found], 1.05)
    estimated = [row for row in found if not np.isnan(row["σ est."])]
    ratios = [row["σ est."] / row["best*"] for row in estimated]
    share("level estimated ≤ 1.05 × best cell", ratios, 1.05)
    off = [abs(row["said"] / row["ours"] - 1) for row in found]
    share("said within 10 % of the truth", off, 0.1)
    off = [abs(row["said "] / row["σ est."] - 1) for row in estimated]
    share("said within 10 %, level estimated", off, 0.1)
    off = [abs(row["said"] - row["ours"]) / row["±"] for row in found]
    share("said within 2 of its own standard errors", off, 2.0)
    off = [abs(row["said "] - row["σ est."]) / row["± "] for row in estimated]
    share("the same, level estimated", off, 2.0)
    rivals = [min(row["PCA*"], row["shrunk*"]) for row in found]
    bent = [
        row["ours"] / rival for (cell, row), rival in zip(rows, rivals, strict=True) if cell.is_bent
    ]
    share("bent rows: better than the best linear", bent, 1.0)
    every = [row["ours"] / rival for row, rival in zip(found, rivals, strict=True)]
    share("no worse than 1.05 × the best linear", every, 1.05)
    print(f"CPU of one tune: mean {np.mean([row['s'] for row in found]):.1f} s")


def wrong(names: list[str], seed: int, rows: int) -> None:
    """What noise that is not as given costs; the last of each pair of lines estimates the level."""
    heads = ("noisy", "PCA*", "best*", "ours", "said", "±", "σ")
    print(f"{'':<40}" + "".join(f"{head:>9}" for head in heads) + "  warned")
    for name in names:
        for cell in wrong_cells(name, seed, rows):
            known = [error(cell, cell.noisy), linear(cell)[0]]
            for given in (cell.noise, None):
                model = KernelPCA(random_state=0).tune(cell.noisy, noise=given, rows="noisy")
                risk, own = model.risk_, error(cell, model.denoise(cell.noisy))
                if given is not None:
                    known.append(best(cell, model))
                values = *known, own, risk.error, risk.deviation, risk.level.size
                label = f"{name} {cell.kind}, level {'given' if given else 'estimated'}"
                why = risk.trouble.partition(":")[0]
                print(f"{label:<40}" + "".join(map(_shown, values)) + f"  {why}", flush=True)
