"""Both ways for maps of other tools: MapModel beside UMAP's own ways, k-NN means and an MLP.

``python -m benchmarks maps [PART ...]`` with PART of ``ways``, ``sure`` and ``size`` (all if none
is given). UMAP's maps, and those ways of its own, only where ``umap-learn`` is installed; it is no
dependency of this project: ``uv run --with umap-learn --group bench python -m benchmarks maps``.

Settings were chosen on digits, USPS and Auto; the other sets were looked at once, afterwards.
"""

import sys
import warnings
from time import process_time

import numpy as np
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from benchmarks._data import clusters, cover, folder
from benchmarks._maps_ways import both_ways, numbers
from mercer import MapModel


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
        "Bikeshare": numbers("Bikeshare.csv")[0][:4000],
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
    words = [word for word in sys.argv[2:] if word != "--keep"]
    parts = {"ways": lambda: both_ways("--keep" in sys.argv), "sure": sure, "size": size}
    for name in words or parts:
        parts[name]()
