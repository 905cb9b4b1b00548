"""What a fit would do with a table, in plain values: the page shows it before the fit starts."""

from typing import Any

from mercer._base.machine import size_text, time_text
from mercer._base.types import Estimator
from mercer.io import Table
from mercer.tables import Category, Date, TableEncoder

#: What columns are called that are not numbers.
KINDS: dict[type, str] = {Category: "category", Date: "date"}
#: Columns that are listed.
MOST_LISTED = 200


def plan_of(table: Table, encoder: TableEncoder | None) -> dict[str, Any]:
    """Rows, columns with their kinds, why some are left out, and the column of classes."""
    n, d = table.rows.shape
    label = next(iter(table.beside), None)
    if encoder is None:
        columns = [_entry(name, "number") for name in table.rows.columns or ()]
    else:
        left = encoder.left_out_
        kinds = {k: KINDS.get(type(c), "number") for k, c in encoder.columns_.items()}
        columns = [_entry(name, kind, left.get(name)) for name, kind in kinds.items()]
    learnt = {entry["name"] for entry in columns}
    if label is not None and label not in learnt:
        columns.append(_entry(label, "category"))
    coloured = {"label": label, "labelLearnt": label in learnt}
    return {"rows": n, "entries": d, "columns": columns[:MOST_LISTED], **coloured}


def solver_of(model: Estimator, table: Table) -> dict[str, Any]:
    """Which solver would fit the model, why, and what that takes; nothing where none is chosen."""
    if not hasattr(model, "plan"):
        return {}
    plan = model.plan(table.rows)
    needs = {"memory": size_text(plan.bytes), "seconds": plan.seconds}
    time = time_text(plan.seconds) if plan.seconds else ""
    return {"solver": {"name": plan.name, "reason": plan.reason, "time": time, **needs}}


def _entry(name: str, kind: str, why: str | None = None) -> dict[str, Any]:
    return {"name": str(name), "kind": kind, "left_out": why}
