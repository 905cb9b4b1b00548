"""Generated rows of ten mixed tables, beside a Gaussian copula, SMOTE and copies.

``python -m benchmarks samples`` needs the folder that MERCER_DATA names, and takes some minutes;
``python -m benchmarks samples development`` leaves the tables for confirmation alone. TVAE and
CTGAN take part where the package ``ctgan`` is installed.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import astuple, fields
from importlib.util import find_spec

import numpy as np
import pandas as pd

from benchmarks._measure import table_as_done
from benchmarks._samples_data import Task, confirmation, development
from benchmarks._samples_measures import Worth, judge
from benchmarks._samples_rivals import RIVALS, Generator
from mercer import GenerativeKernelPCA
from mercer.tables import TableModel

SEEDS = (0, 1, 2)
NAMES = [field.name for field in fields(Worth)]
Found = dict[str, dict[str, np.ndarray]]


def main() -> None:
    """Print a table for each generator and table, the means, and the bars."""
    warnings.simplefilter("ignore")
    generators = {"mercer": mercer, **RIVALS, **networks()}
    print(f"Half of each table is learnt from, half held out; means of {len(SEEDS)} splits.")
    found = measure(development(), generators)
    if "development" not in sys.argv:
        print("\nTables that no setting was chosen on.")
        found |= measure(confirmation(), generators)
    print(f"\nMeans over {len(found)} tables.")
    means = {
        g: np.mean([one[g].mean(axis=0) for one in found.values()], axis=0) for g in generators
    }
    table_as_done(["generator", *NAMES], ([g, *_shown(row)] for g, row in means.items()), 22, 9)
    print()
    ours, copula = (dict(zip(NAMES, means[name], strict=True)) for name in ("mercer", "copula"))
    bars(found, ours, copula)


def mercer(train: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """With nothing set."""
    return TableModel(GenerativeKernelPCA()).fit(train).sample(n, random_state=seed)


def networks() -> dict[str, Generator]:
    """TVAE and CTGAN of the package ``ctgan``, as their authors set them."""
    if find_spec("ctgan") is None:
        print("TVAE and CTGAN are left out: the package 'ctgan' is not installed.")
        return {}
    import ctgan

    def generator(cls: type) -> Generator:
        def generate(train: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
            model = cls()
            model.set_random_state(seed)
            texts = [c for c in train if not pd.api.types.is_numeric_dtype(train[c])]
            model.fit(train, texts)
            return model.sample(n)

        return generate

    return {name: generator(getattr(ctgan, name)) for name in ("TVAE", "CTGAN")}


def measure(tasks: list[Task], generators: dict[str, Generator]) -> Found:
    """Table → generator → (splits, measures), printed as they are done."""
    found: Found = {task.name: {} for task in tasks}

    def lines():
        for task in tasks:
            for name, generate in generators.items():
                worths = [astuple(judge(task, generate, seed)) for seed in SEEDS]
                found[task.name][name] = np.array(worths)
                yield [f"{task.name}, {name}", *_shown(np.mean(worths, axis=0))]

    table_as_done(["table, generator", *NAMES], lines(), 22, 9)
    return found


def _shown(row: np.ndarray) -> list[str]:
    return [f"{value:.3f}" for value in row]


def bars(found: Found, ours: dict[str, float], copula: dict[str, float]) -> None:
    """Each bar, met or missed; range and spread by the worst split, copies by the worst table."""
    at = {name: k for k, name in enumerate(NAMES)}
    each = {name: one["mercer"].mean(axis=0) for name, one in found.items()}
    for what, limit in (("outside", 0.01), ("spread", 0.10)):
        value, task = max((one["mercer"][:, at[what]].max(), t) for t, one in found.items())
        bar(f"{what}, worst split of the worst table ({task})", value, "<=", limit)
    # Where a table has few levels, rows that nobody copied are equal to others by chance.
    for of, name, natural in (("rows that occur once", "copies", "natural"),
                              ("any row", "equal", "equal_natural")):  # fmt: skip
        value, task = max((row[at[name]], task) for task, row in each.items())
        bar(f"near-copies of {of}, worst table ({task})", value, "<=", 0.01)
        value, task = max((row[at[name]] - row[at[natural]], task) for task, row in each.items())
        bar(f"the same beyond those of held-out rows, worst table ({task})", value, "<=", 0.01)
    bar("correlation error, mean", ours["correlation"], "<=", copula["correlation"])
    for what in ("coverage", "precision", "density"):
        bar(f"{what}, mean", ours[what], ">=", copula[what])
    k = at["accuracy"]
    wins = sum(one["mercer"][:, k].mean() >= one["copula"][:, k].mean() for one in found.values())
    bar("tables with an accuracy no worse than the copula's", wins, ">=", round(0.7 * len(found)))


def bar(what: str, value: float, sign: str, limit: float) -> None:
    """One line per bar."""
    met = value <= limit if sign == "<=" else value >= limit
    print(f"{'met' if met else 'MISSED'}: {what} {value:.3f} {sign} {limit:.3f}")
