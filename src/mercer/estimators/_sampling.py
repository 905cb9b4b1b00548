"""Hidden units from a density, of all rows or of one class, for the estimators that generate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target

from mercer._base.numbers import check_count, fixed_rng, make_rng
from mercer._base.types import Array, ArrayLike, Estimator, RowsLike, Seed, Targets
from mercer.estimators._validation import check_codes
from mercer.exceptions import DataError
from mercer.generative import FittedDensity, as_density


def keep_labels(model: Estimator, y: Targets, n: int) -> None:
    """Remember classes; y that is not a class for each row is none of our business."""
    for name in ("classes_", "labels_"):
        model.__dict__.pop(name, None)
    if y is None:
        return
    y = np.asarray(y)
    check_consistent_length(np.empty(n), y)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise DataError("Input y contains NaN; give a class for each row, or leave y out.")
    if y.ndim == 1 and type_of_target(y) in ("binary", "multiclass"):
        model.classes_, model.labels_ = np.unique(y, return_inverse=True)


def draw(model: Estimator, n: Any, label: ArrayLike, random_state: Seed) -> Array:
    """(n, q) scores from the density, or from those of the classes in ``label``."""
    n = check_count("n_samples", n)
    rng = make_rng(model.random_state if random_state is None else random_state)
    if label is None:
        drawn: Array = model.density_.sample(n, rng)
        return drawn
    wanted = _class_numbers(model, label, n)
    parts = {k: np.flatnonzero(wanted == k) for k in np.unique(wanted).tolist()}
    parted = {k: _class_density(model, k).sample(len(rows), rng) for k, rows in parts.items()}
    Z = np.concatenate(list(parted.values()))
    return np.asarray(Z[np.argsort(np.concatenate(list(parts.values())))])


def _class_numbers(model: Estimator, label: ArrayLike, n: int) -> Array:
    """For each sample the number of its class."""
    if not hasattr(model, "classes_"):
        raise DataError(
            f"label={label!r}, but the model was fitted without classes; give them as y: fit(X, y)."
        )
    labels = np.atleast_1d(np.asarray(label))
    if labels.ndim != 1 or len(labels) not in (1, n):
        raise DataError(
            f"label has shape {np.shape(label)} for {n} samples; give one class, or {n}."
        )
    known = model.classes_.tolist()
    unknown = [one for one in labels.tolist() if one not in known]
    if unknown:
        shown = ", ".join(map(repr, known[:20]))
        raise DataError(f"label {unknown[0]!r} is not among the classes; give one of {shown}.")
    return np.broadcast_to([known.index(one) for one in labels.tolist()], (n,))


def _class_density(model: Estimator, number: int) -> FittedDensity:
    """The density of one class, fitted when it is first asked for."""

    def fit() -> FittedDensity:
        Z = model.scores_[model.labels_ == number]
        if len(Z) < 2:
            raise DataError(
                f"class {model.classes_.tolist()[number]!r} has 1 training row, and no spread "
                "can be taken from it; give at least 2 rows."
            )
        return as_density(model.density).fit(Z, fixed_rng(number))

    density: FittedDensity = model._kept(
        f"density of class {number}", model.labels_, repr(model.density), fit
    )
    return density


def check_hidden(H: ArrayLike, q: int, dtype: np.dtype) -> Array:
    """Finite hidden units with q columns, in the precision of the model."""
    return check_codes("H_star", H, q, "hidden units", "hidden_units").astype(dtype)


def one_row(x: RowsLike) -> Any:
    """A table of one row from a row, a table, or an object."""
    is_table = not isinstance(x, str) and (hasattr(x, "columns") or np.ndim(x) == 2)
    rows = x if is_table else [x]
    if len(rows) != 1:
        raise DataError(f"got {len(rows)} rows where one is needed; give a single row.")
    return rows
