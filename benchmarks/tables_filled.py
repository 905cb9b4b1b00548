"""Mixed tables: what is missing filled in, and novelty of raw and scaled columns, beside others.

``python -m benchmarks tables_filled`` (10 and 30 % hidden, and novelty); ``... tables_filled
novelty`` that part alone, with ``--confirm`` on tables that the rule for scaling was not chosen on;
``... tables_filled more DIR`` fills the CSV files of a folder. Values
are hidden at random from whole tables, three times, with one left in each row; every method sees
the same vectors of a TableEncoder and its answers are decoded by it, so that all give legal values.
Rows of at most 400 per table.

Rivals are given what suits them: the iterative imputer a slot less for each category, because
slots that add up to one tell it that a missing category is what it was filled with first; forests
whole columns, by classifiers for categories (missForest, Stekhoven & Bühlmann 2012).
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
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, IsolationForest
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks._data import folder as data_folder
from benchmarks._tables_confirm import confirm
from mercer import KernelNovelty, KernelPCA, MissingKernelPCA
from mercer.tables import Category, TableEncoder, TableModel, read_table

MOST = 400
REPEATS = 3
#: Of normal rows into rows to learn and rows to test on.
SPLITS = 5
NUMBERS = ("NRMSE of numbers", "error of categories")


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if "novelty" in sys.argv:
        confirm() if "--confirm" in sys.argv else novelty()
        return
    others = Path(sys.argv[sys.argv.index("more") + 1]) if "more" in sys.argv else None
    given = list(tables() if others is None else _of_files(sorted(others.glob("*.csv"))))
    for rate in (0.1, 0.3):
        imputation(rate, given)
    if others is None:
        novelty()


def imputation(rate: float, given: list[tuple[str, dict[str, Any]]]) -> None:
    """NRMSE of hidden numbers (the mean has 1) and error of hidden categories, method by method."""
    print(f"{rate:.0%} hidden: NRMSE of numbers / error of categories")
    names = list(METHODS)
    print(f"{'table':16}" + "".join(f"{name:>20}" for name in names))
    means = np.empty((len(names), len(given), 2))
    spent = dict.fromkeys(names, 0.0)
    for t, (title, table) in enumerate(given):
        found = np.empty((len(names), REPEATS, 2))
        for seed in range(REPEATS):
            holes = _holes(table, rate, np.random.default_rng(seed))
            for k, (name, method) in enumerate(METHODS.items()):
                started = time.process_time()
                filled = method(_hidden(table, holes))
                spent[name] += time.process_time() - started
                found[k, seed] = _errors(table, filled, holes)
        means[:, t] = found.mean(axis=1)
        line = (f"{numbers:.3f} / {categories:.3f}" for numbers, categories in means[:, t])
        print(f"{title:16}" + "".join(f"{cell:>20}" for cell in line), flush=True)
    print(f"{'CPU s':16}" + "".join(f"{spent[name]:20.1f}" for name in names))
    for k, what in enumerate(NUMBERS):
        scores = means[:, ~np.isnan(means[:, :, k]).any(axis=0), k]
        near = (scores <= 1.05 * scores.min(axis=0) + 1e-12).sum(axis=1)
        words = ", ".join(f"{name} {count}" for name, count in zip(names, near, strict=True))
        print(f"{what}: best or within 5 % of the best, of {scores.shape[1]} tables: {words}")
    print()


def _ours(given: dict[str, Any]) -> Any:
    model = MissingKernelPCA(KernelPCA(0.95), random_state=0)
    return TableModel(model).fit(given).impute(given)


def _by(imputer: Callable[[], Any]) -> Callable[[dict[str, Any]], Any]:
    def fill(given: dict[str, Any]) -> Any:
        encoder = TableEncoder().fit(given)
        return encoder.inverse_transform(imputer().fit_transform(encoder.transform(given)))

    return fill


def _iterative(given: dict[str, Any]) -> Any:
    """Without the last slot of each category, which the others tell."""
    encoder = TableEncoder().fit(given)
    rows, edges = encoder.transform(given), _edges(encoder)
    last = [stop - 1 for _, stop, column in edges if isinstance(column, Category)]
    kept = np.delete(np.arange(rows.shape[1]), last)
    rows[:, kept] = IterativeImputer(random_state=0).fit_transform(rows[:, kept])
    for start, stop, column in edges:
        if isinstance(column, Category):
            rows[:, stop - 1] = column.gain - rows[:, start : stop - 1].sum(axis=1)
    return encoder.inverse_transform(rows)


def _forests(given: dict[str, Any]) -> Any:
    """missForest: each column from all others in turns, those with fewest holes first."""
    encoder = TableEncoder().fit(given)
    rows, edges = encoder.transform(given), _edges(encoder)
    missing = np.isnan(rows)
    rows = SimpleImputer().fit_transform(rows)
    order = sorted(edges, key=lambda edge: missing[:, edge[0]].sum())
    for _ in range(4):
        for start, stop, column in order:
            holes = missing[:, start]
            if not holes.any():
                continue
            rest = np.delete(rows, np.s_[start:stop], axis=1)
            known, wanted = rows[~holes, start:stop], np.flatnonzero(holes)
            if isinstance(column, Category):
                forest = ExtraTreesClassifier(50, random_state=0)
                found = forest.fit(rest[~holes], known.argmax(axis=1)).predict(rest[holes])
                rows[wanted, start:stop] = 0
                rows[wanted, start + found] = column.gain
            else:
                forest = ExtraTreesRegressor(50, random_state=0)
                rows[wanted, start] = forest.fit(rest[~holes], known[:, 0]).predict(rest[holes])
    return encoder.inverse_transform(rows)


def _edges(encoder: TableEncoder) -> list[tuple[int, int, Any]]:
    """Where the block of each column begins and ends in a vector."""
    used = [column for column in encoder.columns_.values() if column.width]
    ends = np.cumsum([column.width for column in used]).tolist()
    return [(end - c.width, end, c) for end, c in zip(ends, used, strict=True)]


METHODS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "MissingKernelPCA": _ours,
    "mean, most frequent": _by(SimpleImputer),
    "KNNImputer": _by(KNNImputer),
    "IterativeImputer": _iterative,
    "missForest": _forests,
}


def _holes(table: dict[str, Any], rate: float, rng: np.random.Generator) -> dict[str, Any]:
    """Values to hide; one that a method sees is left in each row."""
    columns = TableEncoder().fit(table).columns_
    holes = {name: rng.random(len(column)) < rate for name, column in table.items()}
    used = [name for name in table if columns[name].width]
    for row in np.flatnonzero(np.all([holes[name] for name in used], axis=0)):
        holes[used[rng.integers(len(used))]][row] = False
    return holes


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
    loaders = {
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "breast cancer": datasets.load_breast_cancer,
    }
    for title, load in loaders.items():
        data = load()
        table = dict(zip(data.feature_names, data.data.T.copy(), strict=True))
        kinds = np.array([str(name) for name in data.target_names], dtype=object)
        yield title, _few({**table, "kind": kinds[data.target]})
    data = datasets.load_diabetes(scaled=False)
    table = dict(zip(data.feature_names, data.data.T.copy(), strict=True))
    table["sex"] = np.array(["a", "b"], dtype=object)[(table["sex"] > 1.5).astype(int)]
    yield "diabetes", _few({**table, "progression": data.target.copy()})
    yield from _of_files(_files())


def _of_files(paths: list[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in paths:
        frame = read_table(path)
        whole = np.ones(len(frame), dtype=bool)
        for column in frame.columns.values():
            whole &= np.array([value is not None and value == value for value in column.tolist()])
        kept = {name: column[whole] for name, column in frame.columns.items() if name}
        if path.stem == "Auto":  # numbers that stand for names
            kept["origin"] = np.array([f"part {x:.0f}" for x in kept["origin"]], dtype=object)
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
    """AUC of the classes that are not the most frequent, after a fit to rows of that one."""
    print(f"novelty, area under the curve: the most frequent class is normal; {SPLITS} splits")
    heads = ["raw", "scaled", "by the rule", "IsolationForest", "LOF"]
    print(f"{'table':16}" + "".join(f"{head:>20}" for head in heads))
    found = []
    for title, X, y in _labelled():
        line = np.mean([_areas(X, y, seed) for seed in range(SPLITS)], axis=0)
        found.append(line)
        print(f"{title:16}" + "".join(f"{auc:20.3f}" for auc in line), flush=True)
    scores = np.array(found)
    print(f"{'mean':16}" + "".join(f"{auc:20.3f}" for auc in scores.mean(axis=0)))
    lost = scores[:, :2].max(axis=1) - scores[:, 2]
    print(
        f"the rule loses {lost.mean():.4f} to the better of raw and scaled, table by table "
        f"(most {lost.max():.4f}); {scores[:, :2].mean(axis=0).max() - scores[:, 2].mean():.4f} "
        "to the better mean"
    )


def _areas(X: Any, y: Any, seed: int) -> list[float]:
    """Of mercer on raw and scaled columns and by the rule, and of the others on the rule's."""
    normal = y == max(set(y.tolist()), key=y.tolist().count)
    train = normal & (np.random.default_rng(seed).random(len(y)) < 0.5)
    new = ~normal[~train]
    encoders = {scale: TableEncoder(scale=scale).fit(X[train]) for scale in ("robust", "auto")}
    raw = X[train], X[~train]
    scaled, ruled = (tuple(map(encoder.transform, raw)) for encoder in encoders.values())
    models: list[tuple[Any, Any]] = [
        (KernelNovelty(random_state=0), raw),
        (KernelNovelty(random_state=0), scaled),
        (KernelNovelty(random_state=0), ruled),
        (IsolationForest(random_state=0), ruled),
        (LocalOutlierFactor(novelty=True), ruled),
    ]
    return [
        float(roc_auc_score(new, -model.fit(old).score_samples(rest)))
        for model, (old, rest) in models
    ]


def _labelled() -> Iterator[tuple[str, Any, Any]]:
    from benchmarks.tables import problems

    for title, (X, y) in problems().items():
        yield title, X[:MOST], y[:MOST]
