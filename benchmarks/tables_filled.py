"""Mixed tables: what is missing filled in, and novelty of raw and scaled columns, beside others.

``python -m benchmarks tables_filled`` (10 %), ``... tables_filled all`` (10 and 30 %). Values are
hidden at random from whole tables; every method sees the same vectors of a TableEncoder and its
answers are decoded by it, so that all give legal values. Rows of at most 400 per table.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import ExtraTreesRegressor, IsolationForest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks._data import folder as data_folder
from mercer import KernelNovelty, KernelPCA, MissingKernelPCA
from mercer.tables import Category, TableEncoder, TableModel, read_table

MOST = 400
NUMBERS = ("NRMSE of numbers", "error of categories")


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rates = (0.1, 0.3) if "all" in sys.argv else (0.1,)
    for rate in rates:
        imputation(rate)
    novelty()


def imputation(rate: float) -> None:
    """NRMSE of hidden numbers (the mean has 1) and error of hidden categories, method by method."""
    print(f"{rate:.0%} hidden: NRMSE of numbers / error of categories (CPU s of all tables)")
    names = list(METHODS)
    print(f"{'table':16}" + "".join(f"{name:>20}" for name in names))
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    spent = dict.fromkeys(names, 0.0)
    for title, table in tables():
        rng = np.random.default_rng(0)
        holes = {name: rng.random(len(column)) < rate for name, column in table.items()}
        for name, method in METHODS.items():
            started = time.process_time()
            filled = method(_hidden(table, holes))
            spent[name] += time.process_time() - started
            found[name].append(_errors(table, filled, holes))
        line = (f"{found[name][-1][0]:.3f} / {found[name][-1][1]:.3f}" for name in names)
        print(f"{title:16}" + "".join(f"{cell:>20}" for cell in line), flush=True)
    print(f"{'CPU s':16}" + "".join(f"{spent[name]:20.1f}" for name in names))
    for k, what in enumerate(NUMBERS):
        scores = np.array([[pair[k] for pair in found[name]] for name in names])
        known = scores[:, ~np.isnan(scores).any(axis=0)]
        near = (known[0] <= 1.05 * known.min(axis=0) + 1e-12).sum()
        print(f"{what}: ours is best or within 5 % in {near} of {known.shape[1]}")
    print()


def _ours(given: dict[str, Any]) -> Any:
    model = MissingKernelPCA(KernelPCA(0.95), random_state=0)
    return TableModel(model).fit(given).impute(given)


def _by(imputer: Callable[[], Any]) -> Callable[[dict[str, Any]], Any]:
    def fill(given: dict[str, Any]) -> Any:
        encoder = TableEncoder().fit(given)
        return encoder.inverse_transform(imputer().fit_transform(encoder.transform(given)))

    return fill


METHODS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "MissingKernelPCA": _ours,
    "mean, most frequent": _by(SimpleImputer),
    "KNNImputer": _by(KNNImputer),
    "IterativeImputer": _by(lambda: IterativeImputer(random_state=0)),
    "forests": _by(
        lambda: IterativeImputer(
            ExtraTreesRegressor(20, random_state=0), max_iter=3, random_state=0
        )
    ),
}


def _hidden(table: dict[str, Any], holes: dict[str, Any]) -> dict[str, Any]:
    given = {name: column.copy() for name, column in table.items()}
    for name, column in given.items():
        column[holes[name]] = np.nan if column.dtype.kind == "f" else None
    return given


def _errors(table: dict[str, Any], filled: Any, holes: dict[str, Any]) -> tuple[float, float]:
    """Means over the columns; NaN where there is no category."""
    columns = TableEncoder().fit(table).columns_
    numbers, categories = [], []
    for name, column in table.items():
        hidden = holes[name]
        if not columns[name].width or not hidden.any():
            continue
        if isinstance(columns[name], Category):
            categories.append(float((filled[name] != column)[hidden].mean()))
            continue
        spread = column[~hidden].std()
        numbers.append(float(np.sqrt(((filled[name] - column)[hidden] ** 2).mean()) / spread))
    return float(np.mean(numbers)), float(np.mean(categories)) if categories else float("nan")


def tables() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and columns; at most 400 rows without missing values."""
    for title, load in {"iris": datasets.load_iris, "wine": datasets.load_wine}.items():
        data = load()
        table = dict(zip(data.feature_names, data.data.T.copy(), strict=True))
        kinds = np.array([str(name) for name in data.target_names], dtype=object)
        yield title, _few({**table, "kind": kinds[data.target]})
    for path in _files():
        frame = read_table(path)
        whole = np.ones(len(frame), dtype=bool)
        for column in frame.columns.values():
            whole &= np.array([value is not None and value == value for value in column.tolist()])
        kept = {name: column[whole] for name, column in frame.columns.items() if name}
        yield path.stem[:15], _few(kept)


def _files() -> list[Path]:
    folder = data_folder()
    if not folder.exists():
        return []
    return [folder / "Pima.te.csv", *sorted((folder / "tables").glob("*.csv"))]


def _few(table: dict[str, Any]) -> dict[str, Any]:
    n = len(next(iter(table.values())))
    keep = np.random.default_rng(0).permutation(n)[:MOST]
    return {name: column[keep] for name, column in table.items()}


def novelty() -> None:
    """AUC of the class that is not the most frequent, after a fit to rows of that one."""
    print("novelty, area under the curve: the most frequent class is normal")
    heads = ["raw", "scaled by the rule", "IsolationForest", "LOF"]
    print(f"{'table':16}" + "".join(f"{head:>20}" for head in heads))
    found = []
    for title, X, y in _labelled():
        normal = y == max(set(y.tolist()), key=y.tolist().count)
        rng = np.random.default_rng(0)
        train = normal & (rng.random(len(y)) < 0.5)
        new = ~normal[~train]
        encoder = TableEncoder().fit(X[train])
        scaled = encoder.transform(X[train]), encoder.transform(X[~train])
        raw = X[train], X[~train]
        models: list[tuple[Any, Any]] = [
            (KernelNovelty(random_state=0), raw),
            (KernelNovelty(random_state=0), scaled),
            (IsolationForest(random_state=0), scaled),
            (LocalOutlierFactor(novelty=True), scaled),
        ]
        line = [
            float(roc_auc_score(new, -model.fit(old).score_samples(rest)))
            for model, (old, rest) in models
        ]
        found.append(line)
        print(f"{title:16}" + "".join(f"{auc:20.3f}" for auc in line), flush=True)
    scores = np.array(found)
    print(f"{'mean':16}" + "".join(f"{auc:20.3f}" for auc in scores.mean(axis=0)))
    lost = np.maximum(scores[:, 0], scores[:, 1]) - scores[:, 1]
    print(f"the rule loses {lost.mean():.4f} to the better of raw and scaled on the mean")


def _labelled() -> Iterator[tuple[str, Any, Any]]:
    from benchmarks.tables import problems

    for title, (X, y) in problems().items():
        yield title, X[:MOST], y[:MOST]
