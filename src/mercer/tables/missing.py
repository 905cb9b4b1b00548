"""Missing values of a table: filled in before a model sees the rows, or the rows are left out.

A model learns from rows whose missing values are *drawn*, given the others: expected values would
make variances too small, new rows too alike, and thresholds too low. Rows that it is asked about
get expected values, which make nothing look stranger than it is.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import get_tags

from mercer._base.numbers import counted, fixed_rng
from mercer._base.types import Array, Estimator
from mercer.estimators import KernelPCA, MapModel, MissingKernelPCA
from mercer.exceptions import DataError, Remedy
from mercer.io.files import names_text
from mercer.model import model_of, names_of
from mercer.model.model import of_vectors
from mercer.model.rank import usual_rule
from mercer.points.source import MemoryRows, check_no_empty_row
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame

#: What a row is called in a message.
Place: TypeAlias = Callable[[int], str]
WAYS = ("auto", "fill", "drop", "refuse")
#: So many rows are enough to learn how values depend on each other.
MOST_ROWS = 1000


def takes_missing(model: Estimator) -> bool:
    """Whether the model handles NaN itself."""
    return model is not None and bool(get_tags(model).input_tags.allow_nan)


def refuse_missing(rows: Array, encoder: TableEncoder, place: Place = "row {}".format) -> None:
    """Raise an error that says where values are missing."""
    (name, missing), *others = _where(rows, encoder).items()
    count = counted(int(missing.sum()), "value")
    more = f" (and others of {names_text([name for name, _ in others])})" if others else ""
    first = f"in column {name!r}, the first in {place(int(missing.argmax()))}{more}"
    raise DataError(f"Input X contains NaN: {count} missing {first}. " + _REMEDY)


_REMEDY = Remedy(
    "Fill them in or leave such rows out: TableModel(model, missing='auto') or 'drop'.",
    shell="Fill them in by --missing auto, leave such rows out by --missing drop, or fill them in "
    "by a model of other rows ('mercer impute MODEL DATA').",
    page="Fill them in, or remove such rows.",
)


def filler_of(rows: Array) -> MissingKernelPCA:
    """A model that fills in missing values, learnt from the most complete rows."""
    order = fixed_rng(0).permutation(len(rows))
    fewest = order[np.argsort(np.isnan(rows[order]).sum(axis=1), kind="stable")][:MOST_ROWS]
    model = KernelPCA(usual_rule(), random_state=0)
    return MissingKernelPCA(model, random_state=0).fit(rows[np.sort(fewest)])


def completed(model: Any, rows: Array, place: Place = "row {}".format) -> Array:
    """New vectors, in which a fitted model has filled in missing values by expected ones."""
    if not np.isnan(rows).any():
        return rows
    inner = vars(model).get("filler_") or of_vectors(model)  # older files have none
    filler = model._cached("filler", inner, None, lambda: _filler_for(inner))
    if inner is model:
        names = names_of(model)
        return np.asarray(filler.impute(MemoryRows(rows, names and tuple(names))))
    if model.missing == "refuse":
        refuse_missing(rows, model.encoder_, place)
    check_no_empty_row(rows, place)
    return filled(rows, filler.impute, model.encoder_)


def _filler_for(model: Any) -> Any:
    """What fills in new rows for a model: itself, or a model of the rows that it keeps."""
    if hasattr(model, "impute"):
        return model
    if isinstance(model, MapModel):
        kept = model.forth_.known.rows
    else:
        kept = model_of(model).subspace.points.vectors("missing data")
    return filler_of(np.asarray(kept, dtype=np.float64))


def filled(rows: Array, guess: Callable[[Array], Array], encoder: TableEncoder) -> Array:
    """Rows with guesses of what is missing, moved to the nearest legal values (one category)."""
    complete, some = rows.copy(), np.isnan(rows).any(axis=1)
    legal = encoder.blocks(Frame(encoder.decode(guess(rows[some]))))
    complete[some] = np.where(np.isnan(rows[some]), np.hstack([*legal.values()]), rows[some])
    return complete


def draw_by(filler: MissingKernelPCA) -> Callable[[Array], Array]:
    """Draws of what is missing; expected values if there are too few rows to know a spread."""
    if filler._filling().gaussian is None:
        return filler.impute
    return lambda rows: filler.imputation_draws(rows, 1, random_state=0)[0]


def _where(rows: Array, encoder: TableEncoder) -> Mapping[str, Array]:
    """Columns with missing values → the rows in which they are missing, (n,) bool."""
    groups, missing = np.array(encoder.groups_), np.isnan(rows)
    names = dict.fromkeys(encoder.groups_)
    masks = {name: np.asarray(missing[:, groups == name].any(axis=1)) for name in names}
    return {name: where for name, where in masks.items() if where.any()}


def note_of(rows: Array, encoder: TableEncoder, way: str, left_out: Array) -> str:
    """What was done about missing values, in one line."""
    where = _where(rows, encoder)
    values = sum(int(missing.sum()) for missing in where.values())
    of = int(np.logical_or.reduce([*where.values()]).sum())
    count = f"{counted(values, 'missing value')} in {of:,} of {counted(len(rows), 'row')}"
    columns = f"({names_text([*where])})"
    out = f"{counted(int(left_out.sum()), 'row')} left out"
    if way == "drop":
        return f"{count} {columns}: {out}"
    done = "filled in from the other values of their rows"
    return f"{count} {columns}: {done}" + (f"; {out} without any value" if left_out.any() else "")
