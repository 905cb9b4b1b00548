"""When to scale: nearest neighbours in the scores of kernel PCA, on raw, scaled and chosen columns.

The rule of ``TableEncoder(scale="auto")`` should never lose much to the better of raw and scaled.
"""

from __future__ import annotations

import csv

import numpy as np
from sklearn import datasets
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from benchmarks._data import folder as data_folder
from mercer import KernelPCA
from mercer.tables import TableEncoder

MOST = 1000


def main(_arguments: list[str] | None = None) -> None:
    print(f"{'data':16}{'rows':>6}{'cols':>6}{'raw':>8}{'std':>8}{'robust':>8}{'auto':>8}  auto is")
    table = []
    for name, (X, y) in problems().items():
        errors = {scale: error(X, y, scale) for scale in ("none", "std", "robust", "auto")}
        chosen = TableEncoder(scale="auto").fit(X).scale_
        table.append([*errors.values()])
        shown = "".join(f"{value:8.3f}" for value in errors.values())
        print(f"{name:16}{len(X):6}{X.shape[1]:6}{shown}  {chosen}")
    found = np.array(table)
    best = np.minimum(found[:, 0], found[:, 2])
    print(f"{'mean':28}" + "".join(f"{value:8.3f}" for value in found.mean(axis=0)))
    loss = found[:, 3] - best
    print(f"auto loses to the better of raw and robust: {loss.mean():.4f}, most {loss.max():.4f}")


def error(X: np.ndarray, y: np.ndarray, scale: str) -> float:
    """Error of 5 nearest neighbours in 10 scores, by cross-validation in 5 parts."""
    steps = TableEncoder(scale=scale), KernelPCA(10, random_state=0), KNeighborsClassifier(5)
    return float(1 - cross_val_score(make_pipeline(*steps), X, y, cv=5).mean())


def problems() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name → rows and classes; at most 1,000 rows of each."""
    found = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": datasets.load_digits(return_X_y=True),
    }
    X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    found["diabetes"] = X, (y > np.median(y)).astype(int)
    folder = data_folder()
    if folder.exists():
        usps = np.load(folder / "usps.npz")
        found["usps"] = usps["X_train"] / 1000.0, usps["y_train"]
        faces = np.load(folder / "olivetti_faces.npz")
        found["faces"] = faces["X"][:, ::16] / 255.0, faces["y"]
        cover = np.load(folder / "odds_cover.npz")
        rows = np.flatnonzero(cover["y"])[:500]
        rows = np.concatenate([rows, np.flatnonzero(cover["y"] == 0)[::400][:500]])
        found["cover"] = cover["X"][rows].astype(float), cover["y"][rows]
        found["pima"] = _table(folder / "Pima.te.csv", "type")
        found["biopsy"] = _table(folder / "breast_cancer_biopsy.csv", "class", {"ID"})
        found["auto"] = _table(folder / "tables" / "Auto.csv", "origin", {"name"})
        found["orange juice"] = _table(folder / "tables" / "OJ.csv", "Purchase", {"Store7"})
    return {name: _few(np.asarray(X, dtype=float), np.asarray(y)) for name, (X, y) in found.items()}


def _few(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    keep = np.random.default_rng(0).permutation(len(X))[:MOST]
    return X[keep], y[keep]


def _table(path, label: str, drop: frozenset[str] | set[str] = frozenset()):
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if "" not in row.values()]
    rows = [row for row in rows if "NA" not in row.values()]
    names = [name for name in rows[0] if name and name != label and name not in drop]
    return np.array([[float(r[n]) for n in names] for r in rows]), np.array(
        [r[label] for r in rows]
    )


if __name__ == "__main__":
    main()
