"""A table of numbers and a category: what is missing is filled in, and every value is legal."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_wine

from mercer import KernelPCA, TableModel
from mercer._base.machine import size_text
from mercer._base.numbers import fixed_rng
from mercer.cli.demo.study import Results

HIDDEN = 0.2


def fill_in() -> str:
    """Wines with their cultivar as a column: a fifth of the values of new ones are hidden."""
    wine, rng = load_wine(), fixed_rng(0)
    order = rng.permutation(len(wine.data))
    names = [str(name) for name in wine.feature_names]
    table = dict(zip(names, wine.data[order].T, strict=True))
    table["cultivar"] = np.array(["Barolo", "Grignolino", "Barbera"], object)[wine.target[order]]
    known, new = ({name: column[part] for name, column in table.items()} for part in _HALVES)
    holes = {name: rng.random(len(column)) < HIDDEN for name, column in new.items()}
    given = {name: column.copy() for name, column in new.items()}
    for name, column in given.items():
        column[holes[name]] = None if name == "cultivar" else np.nan
    filled = TableModel(KernelPCA(16)).fit(known).impute(given)
    hidden = holes["cultivar"]
    right = float((filled["cultivar"] == new["cultivar"])[hidden].mean())
    # In units of a column's own error when its mean is filled in.
    errors = [
        np.sqrt(
            ((filled[name] - new[name])[holes[name]] ** 2).mean()
            / ((known[name].mean() - new[name])[holes[name]] ** 2).mean()
        )
        for name in names
    ]
    return (
        f"of {len(hidden)} new wines with a fifth of their values hidden, {right:.0%} of the "
        f"{int(hidden.sum())} hidden cultivars are filled in right; the error of numbers is "
        f"{float(np.median(errors)):.2f} of that of the column's mean"
    )


_HALVES = (slice(0, 100), slice(100, None))


# The figures of the demo as lines for people.


def in_words(results: Results) -> dict[str, str]:
    """The other figures, as lines."""
    small, made, found = results.compressed, results.generated, results.found
    sizes = [size_text(size) for size in small.file_bytes]
    others = ", ".join(f"{name} {auc:.3f}" for name, auc in list(found.auc.items())[1:])
    return {
        "sparse": f"{small.support[1]} points instead of {small.support[0]:,}; error "
        f"{small.error[1]:.3f} instead of {small.error[0]:.3f}; model file {sizes[1]} instead of "
        f"{sizes[0]}",
        "generated": f"{made.read:.0%} of {len(made.images)} new digits are read as the digit "
        f"asked for; {made.distance:.2f} from the nearest training image (real ones "
        f"{made.real_distance:.2f})",
        "novelty": f"{found.detected:.0%} of the {found.digit}s found by a model that never saw "
        f"one, at {found.false_alarms:.1%} false alarms (asked for {found.asked:.0%}); area under "
        f"the curve, mean of ten digits: {next(iter(found.auc.values())):.3f} ({others})",
        "table": fill_in(),
        "time": f"{results.seconds:.1f} s",
    }
