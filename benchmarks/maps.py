"""Both ways for maps of other tools: MapModel beside UMAP's own ways, k-NN means and an MLP.

``python -m benchmarks maps [PART ...]`` with PART of ``ways``, ``sure`` and ``size`` (all if none
is given); ``ways --keep`` writes its tables to ``benchmarks/results``. Maps are kept in a temporary
folder, so that a run goes on where the last one ended. UMAP's maps, and those ways of its own, only
where ``umap-learn`` is installed.

Settings were chosen on digits, USPS and Auto; the other sets were looked at once, afterwards.
"""

import sys
import warnings
from importlib.util import find_spec
from time import process_time

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from benchmarks._data import clusters, cover, folder
from benchmarks._maps_ways import both_ways, kept, maps, numbers, sets, standard, tsne
from benchmarks._measure import table_as_done
from mercer import MapModel

#: Random halves of a map: one of them is off by a hundredth, by chance alone.
SPLITS = 5


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
    beat = np.load(folder() / "ecg_mitbih208.npz")["ecg_raw"].astype(float)
    heads = ["map", "back", "forth", "places of transform", "calibrated", "AUC no data"]
    usps = np.load(folder() / "usps.npz")["X_train"] / 1000
    mnist = np.load(folder() / "mnist.npz")["X_train"] / 255
    rows = {
        "digits": load_digits().data / 16,
        "USPS": usps[:4000],
        "MNIST": mnist[:4000],
        "Bikeshare": numbers("Bikeshare.csv")[0][:4000],
        "cover": cover(4000),
        # Looked at once, when all was done.
        "OJ": numbers("OJ.csv")[0],
        "ECG": standard(sliding_window_view(beat, 64)[::27]),
    }
    lines = [_line(name, X) for name, X in rows.items()]
    print("90 % balls of rows held out of t-SNE 2-D: mean (least, most) of five halves")
    table_as_done(heads, lines, 10, 20)
    if find_spec("umap"):
        print(
            "\nat places of umap.transform: as they are, and calibrated with half of the new rows"
        )
        table_as_done(["map", "back", "calibrated", "forth", "calibrated"], _of_umap(), 18, 10)


def _line(name, X):
    X = X[np.random.default_rng(0).permutation(len(X))]
    Z, n = kept(f"{name}, t-SNE of {len(X)}", lambda: tsne(X, len(X)))["known"], len(X) // 2
    found = []
    for split in range(SPLITS):
        rng = np.random.default_rng(split)
        order = rng.permutation(len(X)) if split else np.arange(len(X))
        model = MapModel().fit(X[order[:n]], Z[order[:n]])
        new, places = X[order[n:]], Z[order[n:]]
        placed, some = model.transform(new), len(new) // 4
        shares = [*_inside(model, new, places), _inside(model, new, placed)[0]]
        water = between(Z[order[:n]], rng)
        truth = np.repeat([1, 0], [len(water), len(places)])
        both = np.concatenate([water, places]) if len(water) else places
        auc = roc_auc_score(truth, -model.place_p_values(both)) if len(water) else np.nan
        model.calibrate(new[:some], placed[:some])
        shares.append(_inside(model, new[some:], placed[some:])[0])
        found.append([*shares, auc])
    found = np.array(found)
    means, least, most = found.mean(axis=0), found.min(axis=0), found.max(axis=0)
    return [
        name,
        *(f"{m:.3f} ({a:.3f}, {b:.3f})" for m, a, b in zip(means, least, most, strict=True)),
    ]


def _inside(model, rows, places):
    """The shares of rows, and of places, that are inside."""
    back = np.linalg.norm(model.inverse_transform(places) - rows, axis=1)
    forth = np.linalg.norm(model.transform(rows) - places, axis=1)
    inside = back <= model.row_radius(places), forth <= model.place_radius(rows)
    return [part.mean() for part in inside]


def _of_umap():
    for name, X, _, n in sets():
        for what, Z in maps(name, X, n):
            if what == "UMAP 2-D":
                model, half = MapModel().fit(X[:n], Z["known"]), (len(X) - n) // 2
                rest = X[n + half :], Z["new"][half:]
                before = _inside(model, *rest)
                after = _inside(model.calibrate(X[n : n + half], Z["new"][:half]), *rest)
                pairs = zip(before, after, strict=True)
                yield [name, *(f"{share:.3f}" for pair in pairs for share in pair)]


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
