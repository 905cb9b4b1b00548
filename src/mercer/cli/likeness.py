"""What ``mercer sample`` says about its rows: how they compare with those of the fit."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer._base.linalg import evenly
from mercer._base.numbers import counted
from mercer._base.types import Array, Estimator
from mercer.estimators.generative import rows_to_mix
from mercer.generative.densities import LARGEST
from mercer.model.model import OnTables, names_of, of_vectors

#: Rows that are drawn for the comparison, at least, and columns that are shown.
ENOUGH, SHOWN = 1000, 12


def likeness(fitted: Estimator, label: Any, seed: int, count: int) -> dict[str, Any]:
    """Each column in the data and in new rows, and how much correlations differ.

    Nothing for a model that does not keep rows to compare with.
    """
    model = of_vectors(fitted)
    if (rows := rows_to_mix(model)) is None:
        return {}
    if label is not None:
        rows = rows[model.classes_[evenly(model.labels_, LARGEST)] == label]
    drawn = model.sample(max(count, ENOUGH), label=label, random_state=seed)
    data, made = _columns(fitted, rows), _columns(fitted, drawn)
    columns = {name: _pair(data[name], made[name]) for name in data}
    apart = np.abs(_correlations(drawn) - _correlations(rows))
    return {
        "compared_rows": len(drawn),
        "columns_compared": columns,
        "correlation_error": float(apart.mean()) if apart.size else 0.0,
        "largest_correlation_error": float(apart.max(initial=0.0)),
    }


def lines(facts: Mapping[str, Any]) -> dict[str, str]:
    """The same in words: the columns that differ most, and a line for the correlations."""
    columns = facts["columns_compared"]
    shown = sorted(columns, key=lambda name: -columns[name]["difference"])[:SHOWN]
    comparison = {
        name: f"{_words(pair, 'data')} in the data, {_words(pair, 'new')} here"
        for name, pair in columns.items()
        if name in shown
    }
    if len(columns) > SHOWN:
        comparison["others"] = f"{counted(len(columns) - SHOWN, 'column')}, which differ less"
    error, largest = facts["correlation_error"], facts["largest_correlation_error"]
    if len(columns) > 1:
        comparison["correlations"] = f"differ by {error:.3f} on average, by {largest:.2f} at most"
    return comparison


def _columns(fitted: Estimator, vectors: Array) -> dict[str, Array]:
    """Name → values, in the person's units; columns that the model does not see are left out."""
    if isinstance(fitted, OnTables):
        values, columns = fitted.encoder_.decode(vectors), fitted.encoder_.columns_
        return {name: values[name] for name in values if columns[name].width}
    names = names_of(fitted) or [f"x{j}" for j in range(vectors.shape[1])]
    return dict(zip(names, vectors.T, strict=True))


def _pair(data: Array, new: Array) -> dict[str, Any]:
    """Data and new rows in a few numbers, and how far they are apart in spreads or shares."""
    if data.dtype.kind == "f":
        return _numbers(data, new)
    if data.dtype.kind == "M":
        first, day = data.min(), np.timedelta64(1, "D")
        middle, other = (np.sort(x)[len(x) // 2] for x in (data, new))
        apart = _numbers((data - first) / day, (new - first) / day)["difference"]
        return {"data": str(middle), "new": str(other), "difference": apart}
    values, counts = np.unique(data.astype(str), return_counts=True)
    top = values[counts.argmax()]
    known, made = (float((x.astype(str) == top).mean()) for x in (data, new))
    return {"value": str(top), "data": known, "new": made, "difference": abs(made - known)}


def _numbers(data: Array, new: Array) -> dict[str, Any]:
    known, made = ({"mean": float(x.mean()), "std": float(x.std())} for x in (data, new))
    apart = max(abs(made[what] - known[what]) for what in known) / (known["std"] or 1.0)
    return {"data": known, "new": made, "difference": apart}


def _words(pair: Mapping[str, Any], which: str) -> str:
    part = pair[which]
    if isinstance(part, dict):
        return f"{part['mean']:.4g} ± {part['std']:.4g}"
    return f"{part:.1%} {pair['value']}" if "value" in pair else str(part)


def _correlations(vectors: Array) -> Array:
    """Between all pairs of entries of the vectors; 0 where one is constant."""
    with np.errstate(divide="ignore", invalid="ignore"):
        matrix = np.atleast_2d(np.corrcoef(vectors.T.astype(np.float64)))
    return np.nan_to_num(matrix[np.triu_indices(len(matrix), 1)])
