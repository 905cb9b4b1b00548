"""The tasks at which something else has won: ours and the rival, each number, on one of two lists.

``python -m benchmarks watch losses [--confirm] [--only=ROW]``: without ``--confirm`` the data on
which settings are chosen; with it others, which are looked at once they are. Nothing is downloaded.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from time import process_time

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.stats import gamma, norm
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from benchmarks import _default_impute as tables
from benchmarks import _default_novelty as outliers
from benchmarks import _novelty_data as novelty
from benchmarks._data import mnist, usps
from benchmarks._default_robust import cluster, trims, turn
from benchmarks._measure import table
from benchmarks._noisy_data import _SETS, CONFIRMATION, DEVELOPMENT
from mercer import KernelPCA, MapModel, ReweightedKernelPCA, SparseKernelPCA, compress
from mercer.landmarks import KMeans
from mercer.solvers import Davidson, Landmarks

#: A line of the table: what was measured, and a number for each method.
Line = tuple[str, dict[str, float]]


def main() -> None:
    """Print the rows that were asked for, or all."""
    warnings.simplefilter("ignore")
    confirm = "--confirm" in sys.argv
    only = [word[7:] for word in sys.argv if word.startswith("--only=")] or list(ROWS)
    print(f"{'Confirmation' if confirm else 'Development'} list.")
    for name in only:
        what, lines = ROWS[name]
        started, found = process_time(), list(lines(confirm))
        print(f"\n{name}: {what}; {process_time() - started:.0f} s of the processor")
        cells = [[data, *(f"{x:.4f}" for x in line.values())] for data, line in found]
        if len(found) > 1:
            means = np.mean([list(line.values()) for _, line in found], axis=0)
            cells.append(["mean", *(f"{x:.4f}" for x in means)])
        table(["", *found[0][1]], cells)


def sets(confirm: bool) -> dict[str, np.ndarray]:
    """At most 300 rows of each real set, and the made ones."""
    real = tables.confirmation() if confirm else tables.development()
    return {name: X for name, (X, _) in real.items()}


#: Images among which one class is rare, and its share.
IMAGES, RARE = 1_000, 0.03


def rare_class(confirm: bool) -> Iterator[Line]:
    """Each digit in turn is the rare one; then the sets of ``defaults novelty``."""
    methods = {
        "mercer": outliers.finders()["mercer auto"],
        "histograms": histograms,
        "forest": outliers.finders()["IForest"],
    }
    X, y = labelled(confirm)
    areas = []
    for rare in range(10):
        case = novelty.pixels("", X, y == rare, rare)
        count = round(RARE / (1 - RARE) * len(case.train))
        rows = np.concatenate([case.train, case.test[case.is_new == 1][:count]])
        is_new = np.arange(len(rows)) >= len(case.train)
        areas.append([outliers._area(is_new, find, rows, rows) for find in methods.values()])
    yield (
        f"digits, the worst of ten for mercer ({np.argmin(areas, axis=0)[0]} is rare)",
        dict(zip(methods, min(areas), strict=True)),
    )
    yield "digits, mean of ten", dict(zip(methods, np.mean(areas, axis=0), strict=True))
    found: dict[str, list[list[float]]] = {}
    cases = list(novelty.confirmation() if confirm else novelty.development())
    for name, rows, _, is_new in outliers.contaminated(cases):
        line = [outliers._area(is_new, find, rows, rows) for find in methods.values()]
        found.setdefault(name, []).append(line)
    means = np.mean([np.mean(lines, axis=0) for lines in found.values()], axis=0)
    yield f"mean of {len(found)} sets", dict(zip(methods, means, strict=True))


def labelled(confirm: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images of 8 × 8 or 14 × 14, and which digits they are."""
    if not confirm:
        X, y = load_digits(return_X_y=True)
        return X / 16, y
    images = mnist(10_000).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
    return images, _mnist_labels()[:10_000]


def histograms(X: np.ndarray, _: np.ndarray) -> np.ndarray:
    """How rare each value is in its column, summed as logarithms (Goldstein & Dengel 2012)."""
    score = np.zeros(len(X))
    for column in X.T:
        density, edges = np.histogram(column, bins=10, density=True)
        place = np.searchsorted(edges[1:-1], column, side="right")
        score -= np.log2(density[place] + 0.1)  # as PyOD has it
    return score


#: Components of robust fits.
COMPONENTS = (4, 16)


def near_cluster(confirm: bool) -> Iterator[Line]:
    """A tight ball of 40 % of the rows, near their mean."""
    for name, X in sets(confirm).items():
        for far in (0.5, 1.0, 1.5):
            rows = np.concatenate([X, cluster(X, 0.4, np.random.default_rng(0), far)])
            for q in COMPONENTS:
                yield f"{name}, {far:g} radii, {q}", _turned(X, rows, q)


def permuted(confirm: bool) -> Iterator[Line]:
    """A fifth of the rows have values that belong to different rows."""
    for name, X in sets(confirm).items():
        rng = np.random.default_rng(0)
        odd = np.column_stack([rng.permutation(column) for column in X.T])[: len(X) // 4]
        rows = np.concatenate([X, odd])
        keep = trims()["forest, told"](rows, 0.2)
        for q in COMPONENTS:
            forest = turn(KernelPCA(q).fit_transform(X), KernelPCA(q).fit(rows[keep]), X)
            yield f"{name}, {q}", _turned(X, rows, q) | {"forest, given the share": forest}


def _turned(X: np.ndarray, rows: np.ndarray, q: int) -> dict[str, float]:
    """By how many degrees the components turn, robust and plain, and how many rows are lost."""
    clean = KernelPCA(q).fit_transform(X)
    robust = ReweightedKernelPCA(KernelPCA(q), random_state=0).fit(rows)
    return {
        "mercer": turn(clean, robust, X),
        "plain": turn(clean, KernelPCA(q).fit(rows), X),
        "clean rows lost, %": 100 * float((robust.weights_[: len(X)] == 0).mean()),
        "others kept, %": 100 * float((robust.weights_[len(X) :] > 0).mean()),
    }


def groups(confirm: bool) -> Iterator[Line]:
    """Variables that say the same among independent ones, to be found by their relevance."""
    sizes, alone, noise = ((12, 8), 20, 0.5) if confirm else ((30,), 16, 0.3)
    areas = []
    for seed in range(10):
        rng = np.random.default_rng([confirm, seed])
        shared = [
            rng.standard_normal((300, 1)) + noise * rng.standard_normal((300, k)) for k in sizes
        ]
        X = np.hstack([*shared, rng.standard_normal((300, alone))])
        planted = np.arange(X.shape[1]) < sum(sizes)
        model = KernelPCA(5).fit(X)
        Z = model.transform(X)
        squared = np.corrcoef(Z.T, X.T)[: Z.shape[1], Z.shape[1] :] ** 2
        found = [
            model.relevance(X, unit="correlation").overall,
            model.relevance(X, unit="share").overall,
            Z.var(axis=0) @ squared,
        ]
        areas.append([roc_auc_score(planted, overall) for overall in found])
    names = ['mercer, unit="correlation"', "mercer, derivatives", "squared correlation"]
    yield "mean of ten draws", dict(zip(names, np.mean(areas, axis=0), strict=True))


#: Kernels of a sparse model, and components whose scores are compared.
KERNELS, SCORES = 20, 5


def sparse(confirm: bool) -> Iterator[Line]:
    """Scores of new rows by 20 kernels and by all, up to a rotation: the share that differs."""
    for name, X in sets(confirm).items():
        cut = 2 * len(X) // 3
        full = KernelPCA(SCORES, center=False).fit(X[:cut])
        truth = full.transform(X[cut:])

        def error(
            small: SparseKernelPCA, new: np.ndarray = X[cut:], Z: np.ndarray = truth
        ) -> float:
            found = small.transform(new)
            R, _ = orthogonal_procrustes(found, Z)
            return float(((found @ R - Z) ** 2).sum() / (Z**2).sum())

        def chosen(way: str, rows: np.ndarray = X[:cut], kernel=full.kernel_) -> SparseKernelPCA:
            model = SparseKernelPCA(
                KERNELS, n_components=SCORES, kernel=kernel, solver=way, random_state=0
            )
            return model.fit(rows)

        yield (
            name,
            {
                "SparseKernelPCA": error(chosen("auto")),
                "its k-means": error(chosen("kmeans")),
                "compress": error(compress(full, KERNELS, random_state=0)),
                "compress, rows": error(compress(full, KERNELS, solver="greedy")),
            },
        )


def screening(confirm: bool) -> Iterator[Line]:
    """Six skewed columns of a screening, a tenth missing."""
    for seed in range(8):
        X = screened(600, np.random.default_rng([confirm, seed]), confirm)
        yield f"draw {seed}", _filled(tables.scaled(X), "10%")


def other_tables(confirm: bool) -> Iterator[Line]:
    """What nearest rows as a third answer would change elsewhere."""
    for name, X in sets(confirm).items():
        if X.shape[1] <= MOST_COLUMNS:
            for kind in ("10%", "block"):
                yield f"{name}, {kind}", _filled(X, kind)


#: Of a table; images have more.
MOST_COLUMNS = 30


def _filled(X: np.ndarray, kind: str) -> dict[str, float]:
    """The error of each method, and of ours mixed with the nearest rows' answer."""
    missing = tables.holes(X.shape, kind, None, np.random.default_rng(0))
    holed = np.where(missing, np.nan, X)
    names = ("mercer", "KNN, 15", "KNN, 5", "iterative", "mean")
    answers = {name: tables.methods(own=True)[name](holed, holed) for name in names}
    ours, nearest = answers["mercer"], answers["KNN, 15"]
    answers["mercer and KNN, 15"] = ours + _share_of_nearest(holed) * (nearest - ours)
    return {
        name: float(np.sqrt(((filled - X)[missing] ** 2).mean()))
        for name, filled in answers.items()
    }


def _share_of_nearest(holed: np.ndarray, repeats: int = 3) -> float:
    """How much the nearest rows' answer should count, by values that are hidden for the purpose."""
    rng, patterns = np.random.default_rng(9), np.isnan(holed)[np.isnan(holed).any(axis=1)]
    product = square = 0.0
    for _ in range(repeats):
        hidden = np.zeros(holed.shape, dtype=bool)
        rows = rng.permutation(len(holed))[: len(holed) // 3]
        hidden[rows] = patterns[rng.integers(0, len(patterns), len(rows))]
        hidden &= ~np.isnan(holed)
        hidden[(hidden | np.isnan(holed)).all(axis=1)] = False
        known = np.where(hidden, np.nan, holed)
        ours, nearest = (tables.methods(own=True)[n](known, known) for n in ("mercer", "KNN, 15"))
        away, off = (nearest - ours)[hidden], (holed - ours)[hidden]
        product, square = product + away @ off, square + away @ away
    return float(np.clip(product / square, 0, 1))


def screened(n: int, rng: np.random.Generator, by_rank: bool) -> np.ndarray:
    """Age, weight, sugar, insulin, fat and pressure, or so: two causes, three kinds of people."""
    frame, kind = rng.standard_normal((3, 2, 6)), rng.choice(3, n, p=[0.6, 0.3, 0.1])
    causes = rng.standard_normal((n, 2))
    level = np.einsum("nk,nkd->nd", causes, frame[kind]) / np.sqrt(2) + 0.6 * kind[:, None]
    level += 0.6 * rng.standard_normal((n, 6))
    if not by_rank:
        return np.exp(np.linspace(0.3, 0.9, 6) * level)
    rank = norm.cdf((level - level.mean(axis=0)) / level.std(axis=0))
    return gamma.ppf(rank, np.linspace(0.5, 3, 6))


#: So few landmarks.
FEW = (10, 20, 30)


def few_landmarks(confirm: bool) -> Iterator[Line]:
    """Largest error of the five leading eigenvalues."""
    made = {name: _SETS[name][0] for name in (CONFIRMATION if confirm else DEVELOPMENT)}
    made = {name: rows for name, rows in made.items() if name not in ("digits", "USPS", "MNIST")}
    for name, rows in made.items():
        yield from _few(name, rows(np.random.default_rng([confirm, 7]), 600))
    for name, X in sets(confirm).items():
        yield from _few(name, X)


def _few(name: str, X: np.ndarray) -> Iterator[Line]:
    exact = KernelPCA(5, solver=Davidson()).fit(X)
    rules = {"mercer": "kmeans", "converged k-means": KMeans(steps=20)}
    for m in FEW:
        errors = {}
        for rule, select in rules.items():
            worst = []
            for seed in range(5):
                solver = Landmarks(m, select=select)
                model = KernelPCA(5, kernel=exact.kernel_, solver=solver, random_state=seed).fit(X)
                q = model.n_components_
                worst.append(np.abs(model.eigenvalues_ / exact.eigenvalues_[:q] - 1).max())
            errors[rule] = float(np.mean(worst))
        yield f"{name}, {m}", errors


def picture(confirm: bool) -> Iterator[Line]:
    """Two dimensions: how often five neighbours in the picture say which digit a new row is."""
    from umap import UMAP

    data = {"digits": labelled(False)}
    if confirm:
        labels = np.load(tables.folder() / "usps.npz")
        y = np.concatenate([labels["y_train"], labels["y_test"]])
        data = {"MNIST": labelled(True), "USPS": (usps(), y)}
    for name, (X, y) in data.items():
        order = np.random.default_rng(0).permutation(len(X))
        old, new = order[:1_000], order[1_000:1_500]
        umap = UMAP(n_jobs=1, random_state=0)
        places = umap.fit_transform(X[old])
        ours, two = MapModel().fit(X[old], places), KernelPCA(2).fit(X[old])
        Z = two.transform(X[old])
        pictures = {
            "KernelPCA(2)": (Z, two.transform(X[new])),
            "MapModel of UMAP": (places, ours.transform(X[new])),
            "UMAP": (places, umap.transform(X[new])),
        }
        yield (
            name,
            {
                way: float(KNeighborsClassifier(5).fit(seen, y[old]).score(shown, y[new]))
                for way, (seen, shown) in pictures.items()
            },
        )


def _mnist_labels() -> np.ndarray:
    return np.load(tables.folder() / "mnist.npz")["y_train"]


ROWS: dict[str, tuple[str, Callable[[bool], Iterator[Line]]]] = {
    "rare": ("outliers among the training rows, area under the curve", rare_class),
    "near": ("a near cluster of 40 %, angle in degrees", near_cluster),
    "permuted": ("rows of permuted columns, 20 %, angle in degrees", permuted),
    "groups": ("relevance of variables that say the same, area under the curve", groups),
    "sparse": (f"error of {SCORES} scores by {KERNELS} kernels", sparse),
    "screening": ("imputation of six skewed columns, error", screening),
    "tables": ("imputation of other tables, error", other_tables),
    "landmarks": ("few landmarks, largest error of five eigenvalues", few_landmarks),
    "picture": ("two components for a picture, 5-NN accuracy", picture),
}
