"""Everybody's way back from a map, and forth into it; maps are kept in a temporary folder."""

import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

from benchmarks._data import folder
from benchmarks._measure import table_as_done
from benchmarks._practice import keep
from mercer import MapModel

#: Rows that UMAP's own inverse is asked for: it takes seconds for each hundred in 3-D.
INVERSE = {2: 300, 3: 100}
#: What UMAP's own error may be multiplied by, and by how many votes we may be behind.
BETTER, BEHIND = 0.75, 0.03
COMMAND = "python -m benchmarks maps ways"


def standard(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def numbers(name, kind=None):
    """The columns of numbers of a table, standardised, and one of them as classes."""
    table = pd.read_csv(folder() / "tables" / name).select_dtypes("number")
    return standard(table.to_numpy(float)), None if kind is None else table[kind].to_numpy()


def sets():
    """Name → rows in a random order, classes, and how many of the rows are learnt from."""
    digits, cancer = load_digits(), load_breast_cancer()
    usps, mnist = np.load(folder() / "usps.npz"), np.load(folder() / "mnist.npz")
    few = np.random.default_rng(0).permutation(len(usps["X_train"]))[:1800]
    both = [np.concatenate([mnist[f"{k}_train"][:5000], mnist[f"{k}_test"][:500]]) for k in "Xy"]
    auto, bikes = numbers("Auto.csv", "origin"), numbers("Bikeshare.csv", "season")
    rows = {
        "digits": (digits.data / 16, digits.target, 1497),
        "USPS": (usps["X_train"][few] / 1000, usps["y_train"][few], 1500),
        "Auto": (*auto, 300),
        "MNIST": (both[0] / 255, both[1], 5000),
        "cancer": (standard(cancer.data), cancer.target, 469),
        "Bikeshare": (bikes[0][:2400], bikes[1][:2400], 2000),
    }
    for name, (X, y, n) in rows.items():
        order = np.random.default_rng(0).permutation(len(X)) if name != "MNIST" else slice(None)
        yield name, X[order], y[order], n


def kept(name, make):
    """A dictionary of arrays that is made once, and read from a temporary folder ever after."""
    place = Path(tempfile.gettempdir()) / "mercer-maps"
    path = place / f"{name}, {version('scikit-learn')}.npz"
    if not path.exists():
        place.mkdir(exist_ok=True)
        np.savez(part := path.with_suffix(".part.npz"), **make())
        part.replace(path)
    return dict(np.load(path))


def tsne(X, n):
    Z = TSNE(random_state=0).fit_transform(X)
    return {"known": Z[:n], "new": Z[n:]}


def umap(X, n, q):
    from umap import UMAP

    tool = UMAP(n_components=q, random_state=0, n_jobs=1).fit(X[:n])
    found = {"known": tool.embedding_, "new": tool.transform(X[n:])}
    if q in INVERSE:
        start = process_time()
        found["rows"] = tool.inverse_transform(found["new"][: INVERSE[q]])
        found["seconds"] = process_time() - start
    return found


def maps(name, X, n):
    """What it is → places that were learnt from, places of new rows, and UMAP's way back."""
    if name in ("digits", "USPS"):
        yield "t-SNE 2-D", kept(f"{name}, t-SNE", lambda: tsne(X, n))
    for q in (2, 3, 8, 16) if name in ("digits", "USPS") else (2, 3):
        if find_spec("umap"):
            yield f"UMAP {q}-D", kept(f"{name}, UMAP {q}", lambda q=q: umap(X, n, q))


def rivals():
    return {
        "5-NN mean": KNeighborsRegressor(5, weights="uniform"),
        "10-NN by distance": KNeighborsRegressor(10, weights="distance"),
        "MLP of 100": MLPRegressor(random_state=0, max_iter=300),
    }


def back_and_forth(name, X, y, n, Z):
    """Errors of the way back, and shares of right votes of the way forth, by contender."""
    known, new = Z["known"], Z["new"]
    first = new[: len(Z["rows"])] if "rows" in Z else new
    model = MapModel().fit(X[:n], known)
    back = {"MapModel": error(model.inverse_transform(first), X[n:])}
    forth = {"MapModel": votes(known, y[:n], model.transform(X[n:]), y[n:])}
    for rival, regressor in rivals().items():
        made = kept(f"{name}, {rival}", lambda it=regressor: predicted(it, X, n, known, new))
        back[rival] = error(made["rows"][: len(first)], X[n:])
        forth[rival] = votes(known, y[:n], made["places"], y[n:])
    back["the mean"] = error(np.tile(X[:n].mean(axis=0), (len(first), 1)), X[n:])
    back["UMAP's own"] = error(Z["rows"], X[n:]) if "rows" in Z else np.nan
    forth["the tool's own"] = votes(known, y[:n], new, y[n:])
    return back, forth


def predicted(regressor, X, n, known, new):
    """Both ways of another's regressor, which learns from places of size one, as networks like."""
    middle, size = known.mean(axis=0), known.std()
    back = regressor.fit((known - middle) / size, X[:n]).predict((new - middle) / size)
    forth = regressor.fit(X[:n], (known - middle) / size).predict(X[n:])
    return {"rows": back, "places": forth * size + middle}


def error(rows, truth):
    return float(((rows - truth[: len(rows)]) ** 2).sum(axis=1).mean())


def votes(Z, y, placed, truth):
    return KNeighborsClassifier(10).fit(Z, y).score(placed, truth)


def line(name, values, best, form, verdict):
    """A row of the table, the best in bold."""
    shown = [format(value, form) if np.isfinite(value) else "–" for value in values]
    marked = [f"**{s}**" if v == best else s for s, v in zip(shown, values, strict=True)]
    return [name, *marked, verdict]


def back_line(name, back):
    ours, own = back["MapModel"], back["UMAP's own"]
    said = "" if np.isnan(own) else f"{ours / own:.2f}" + (" (missed)" * (ours > BETTER * own))
    return line(name, [*back.values()], np.nanmin([*back.values()]), "#.3g", said)


def forth_line(name, forth):
    ours, own = forth["MapModel"], forth["the tool's own"]
    # t-SNE has no way of its own: its places are those of a map of all rows.
    missed = ours < (0.95 if name == "digits, t-SNE 2-D" else own - BEHIND)
    bar = "t-SNE" not in name or name == "digits, t-SNE 2-D"
    said = f"{100 * (ours - own):+.1f}" + " (missed)" * (bar and missed)
    rest = [value for key, value in forth.items() if "t-SNE" not in name or key != "the tool's own"]
    return line(name, [*forth.values()], max(rest), ".3f", said)


def tally(lines, width):
    """How often MapModel is the best."""
    won = sum(row[1].startswith("**") for row in lines)
    missed = sum("missed" in row[width] for row in lines)
    return f"MapModel is the best, or as good, in {won} of {len(lines)}; bars missed: {missed}."


def both_ways(save=False):
    """Print both tables, a line when it is done, and write them where the documentation reads."""
    names = ["MapModel", *rivals()]
    heads = {
        "back": ["map", *names, "the mean", "UMAP's own", "ratio to UMAP's"],
        "forth": ["map", *names, "the tool's own", "points"],
    }
    lines = {"back": [], "forth": []}

    def measured():
        for name, X, y, n in sets():
            for what, Z in maps(name, X, n):
                back, forth = back_and_forth(f"{name}, {what}", X, y, n, Z)
                lines["forth"].append(forth_line(f"{name}, {what}", forth))
                lines["back"].append(back_line(f"{name}, {what}", back))
                yield lines["back"][-1]

    print("back: squared error of rows from their places")
    table_as_done(heads["back"], measured(), 22, 10)
    print("\nforth: share of new rows whose ten neighbours in the map vote right")
    table_as_done(heads["forth"], lines["forth"], 22, 10)
    for way, found in lines.items():
        print(way, tally(found, len(heads[way]) - 1))
    if save:
        _save(heads, lines)


def _save(heads, lines):
    tools = [f"umap-learn {version('umap-learn')}, which is no dependency of mercer."]
    what = {
        "back": "Squared errors of new rows brought back from their places. UMAP's own inverse was "
        f"asked for {INVERSE[2]} rows in 2-D and {INVERSE[3]} in 3-D, and all others for the same; "
        "it does not end above. Of t-SNE all rows were mapped, and the new ones then held out.",
        "forth": "Places of new rows: the share whose ten neighbours in the map vote right. UMAP's "
        "own are those of `umap.transform`; t-SNE has no way forth, and *own* are the places of "
        "these rows in a map of all. 5-NN and 10-NN are KNeighborsRegressor, MLP is "
        "MLPRegressor with one hidden layer, all of scikit-learn.",
    }
    for way, found in lines.items():
        notes = [tally(found, len(heads[way]) - 1), *tools]
        keep(f"maps_{way}", what[way], heads[way], found, "busy", f"{COMMAND} --keep", notes)
