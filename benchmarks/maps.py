"""Both ways for maps of other tools: MapModel beside UMAP's own ways, k-NN means and an MLP.

``python -m benchmarks maps [PART ...]`` with PART of ``ways``, ``sure`` and ``size`` (all if none
is given). UMAP's maps, and those ways of its own, only where ``umap-learn`` is installed; it is no
dependency of this project: ``uv run --with umap-learn --group bench python -m benchmarks maps``.

Settings were chosen on digits, USPS and Auto; the other sets were looked at once, afterwards.
"""

import sys
import warnings
from importlib.util import find_spec
from time import process_time

import numpy as np
import pandas as pd
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.manifold import TSNE
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.neural_network import MLPRegressor

from benchmarks._data import clusters, cover, folder
from mercer import MapModel

#: Rows that UMAP's own inverse is asked for: it takes seconds for each hundred in 3-D.
INVERSE = {2: 300, 3: 100}


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def table(name, drop=()):
    numbers = pd.read_csv(folder() / "tables" / name).drop(columns=list(drop))
    return standard(numbers.select_dtypes("number").to_numpy(float))


def sets():
    """Name → rows in a random order, classes or None, and how many of the rows are learnt from."""
    digits, cancer = load_digits(), load_breast_cancer()
    usps, mnist = np.load(folder() / "usps.npz"), np.load(folder() / "mnist.npz")
    few = np.random.default_rng(0).permutation(len(usps["X_train"]))[:1800]
    both = [np.concatenate([mnist[f"{k}_train"][:5000], mnist[f"{k}_test"][:500]]) for k in "Xy"]
    found = {
        "digits": (digits.data / 16, digits.target, 1497),
        "USPS": (usps["X_train"][few] / 1000, usps["y_train"][few], 1500),
        "Auto": (table("Auto.csv"), None, 300),
        "MNIST": (both[0] / 255, both[1], 5000),
        "cancer": (standard(cancer.data), cancer.target, 469),
        "Bikeshare": (table("Bikeshare.csv")[:2400], None, 2000),
    }
    for name, (X, y, n) in found.items():
        order = np.random.default_rng(0).permutation(len(X)) if name != "MNIST" else slice(None)
        yield name, X[order], None if y is None else y[order], n


def umap_of(q):
    from umap import UMAP

    return UMAP(n_components=q, random_state=0, n_jobs=1)


def error(rows, truth):
    return float(((rows - truth[: len(rows)]) ** 2).sum(axis=1).mean())


def votes(Z, y, placed, truth):
    return KNeighborsClassifier(10).fit(Z, y).score(placed, truth)


def regressors():
    return {
        "5-NN mean": KNeighborsRegressor(5),
        "10-NN, by distance": KNeighborsRegressor(10, weights="distance"),
        "MLP 100": MLPRegressor(random_state=0, max_iter=300),
    }


def ways(name, X, y, n, what, Z, Z_new, own=None):
    """Errors back, and votes forth, of everybody; own: UMAP's rows from the first places."""
    first = len(own) if own is not None else len(Z_new)
    model = MapModel().fit(X[:n], Z)
    back = {"MapModel": model.inverse_transform(Z_new[:first])}
    forth = {"MapModel": model.transform(X[n:])}
    for rival, regressor in regressors().items():
        back[rival] = regressor.fit(Z, X[:n]).predict(Z_new[:first])
        forth[rival] = regressor.fit(X[:n], Z).predict(X[n:])
    back = {key: error(rows, X[n:]) for key, rows in back.items()}
    umap = error(own, X[n:]) if own is not None else None
    shown = " | ".join(f"{value:.3g}" for value in back.values())
    ratio = "| |" if umap is None else f"| {umap:.3g} | {back['MapModel'] / umap:.2f} |"
    if y is None:
        scores = ["–"] * 5
    else:
        scores = [f"{votes(Z, y[:n], placed, y[n:]):.3f}" for placed in forth.values()]
        scores.append(f"{votes(Z, y[:n], Z_new, y[n:]):.3f}")
    print(f"| {name}, {what} | {shown} {ratio} {' | '.join(scores)} |", flush=True)


def both_ways():
    rivals = " | ".join(regressors())
    print(f"| back: squared error; forth: votes | MapModel | {rivals} | UMAP | ratio |"
          f" MapModel | {rivals} | the map itself |")  # fmt: skip
    print("|---|" + "---:|" * 11)
    for name, X, y, n in sets():
        if name in ("digits", "USPS"):
            Z = TSNE(random_state=0).fit_transform(X)
            ways(name, X, y, n, "t-SNE 2-D", Z[:n], Z[n:])
        if not find_spec("umap"):
            continue
        for q in (2, 3, 8, 16) if name == "digits" else (2, 3):
            tool = umap_of(q).fit(X[:n])
            Z_new = tool.transform(X[n:])
            own = tool.inverse_transform(Z_new[: INVERSE[q]]) if q in INVERSE else None
            ways(name, X, y, n, f"UMAP {q}-D", tool.embedding_, Z_new, own)


def between(Z, rng, count=200):
    """Places in the middle half of the way from an island to the nearest other one."""
    apart = NearestNeighbors(n_neighbors=6).fit(Z).kneighbors()[0][:, -1]
    island = DBSCAN(eps=3 * np.median(apart), min_samples=5).fit_predict(Z)
    kinds = [k for k in np.unique(island) if k >= 0 and (island == k).sum() >= 20]
    found = []
    for k in kinds if len(kinds) > 1 else []:
        others = np.flatnonzero((island >= 0) & (island != k))
        search = NearestNeighbors(n_neighbors=1).fit(Z[others])
        gap, to = search.kneighbors(Z[island == k])
        for i in np.argsort(gap[:, 0])[:10]:
            a, b = Z[island == k][i], Z[others[to[i, 0]]]
            found += [a + t * (b - a) for t in rng.uniform(0.25, 0.75, 20)]
    return rng.permutation(found)[:count]


def sure():
    """Coverage of 90 % balls for rows held out of a map of all, and places without data."""
    print("| t-SNE 2-D of all rows, half held out | back | forth | there and back | AUC no data |")
    print("|---|---:|---:|---:|---:|")
    usps = np.load(folder() / "usps.npz")["X_train"] / 1000
    mnist = np.load(folder() / "mnist.npz")["X_train"] / 255
    rows = {
        "digits": load_digits().data / 16,
        "USPS": usps[:4000],
        "MNIST": mnist[:4000],
        "Bikeshare": table("Bikeshare.csv")[:4000],
        "cover": cover(4000),
    }
    for name, X in rows.items():
        rng = np.random.default_rng(0)
        X = X[rng.permutation(len(X))]
        Z, n = TSNE(random_state=0).fit_transform(X), len(X) // 2
        model = MapModel().fit(X[:n], Z[:n])
        new, places = X[n:], Z[n:]
        inside = [
            np.linalg.norm(model.inverse_transform(places) - new, axis=1)
            <= model.row_radius(places),
            np.linalg.norm(model.transform(new) - places, axis=1) <= model.place_radius(new),
            np.linalg.norm(model.denoise(new) - new, axis=1)
            <= model.row_radius(model.transform(new)),
        ]
        water = between(Z[:n], rng)
        truth = np.repeat([1, 0], [len(water), len(places)])
        both = np.concatenate([water, places]) if len(water) else places
        auc = roc_auc_score(truth, -model.place_p_values(both)) if len(water) else np.nan
        shares = " | ".join(f"{part.mean():.3f}" for part in inside)
        print(f"| {name} | {shares} | {auc:.3f} |", flush=True)


def size():
    """100,000 × 64 rows on 1,000 landmarks, in processor seconds."""
    X = clusters(110_000, 64, "float64")
    Z = X @ np.random.default_rng(1).standard_normal((64, 2))
    start = process_time()
    model = MapModel(n_landmarks=1000).fit(X[:100_000], Z[:100_000])
    fitted, new = process_time() - start, X[100_000:]
    model.transform(new[:100])
    start = process_time()
    model.transform(new)
    print(f"fit {fitted:.1f} CPU s; transform {(process_time() - start) / 1e4 * 1e6:.0f} µs a row")


def main():
    warnings.filterwarnings("ignore")
    parts = {"ways": both_ways, "sure": sure, "size": size}
    for name in sys.argv[2:] or parts:
        parts[name]()
