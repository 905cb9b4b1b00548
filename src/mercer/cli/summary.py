"""What ``mercer fit`` tells about a fit: facts for programs, lines for people."""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mercer._base.machine import peak_bytes, size_text
from mercer._base.numbers import counted, shortened
from mercer._base.types import Estimator
from mercer.cli.console import as_json, asked_for, summary
from mercer.exceptions import said
from mercer.model import model_of
from mercer.model.model import Detector
from mercer.points.source import Source

if TYPE_CHECKING:
    from mercer.tables import TableEncoder


def size_of(rows: int, numbers: int, columns: int | None = None) -> str:
    """Rows and columns in words; of a table also how many numbers are made of its columns."""
    if columns is None or columns == numbers:
        return f"{counted(rows, 'row')}, {counted(numbers, 'column')}"
    return f"{counted(rows, 'row')}, {counted(columns, 'column')} as {counted(numbers, 'number')}"


def facts_of_fit(
    model: Estimator, rows: Source, target: Path, seconds: float, encoder: TableEncoder | None
) -> dict[str, Any]:
    """Everything that was chosen and found, as plain values."""
    learnt, inner = model_of(model), getattr(model, "estimator", None) or model
    subspace, report = learnt.subspace, learnt.report
    facts: dict[str, Any] = {
        "model": type(model).__name__,
        "output": str(target),
        "file_bytes": target.stat().st_size if target.is_file() else 0,
        "rows": rows.shape[0],
        "columns": rows.shape[1],
        "dtype": str(subspace.coef.dtype),
        "kernel": repr(subspace.kernel),
        "kernel_asked": repr(inner.kernel),
        "components": subspace.n_components,
        "components_asked": _describe_rule(model, inner.n_components),
        "support_points": subspace.n_support,
        "seconds": seconds,
        "peak_memory_bytes": peak_bytes(),
        "share_of_variance": float(learnt.explained_variance_ratio.sum()),
        "solver": report.solver,
        "reason": report.reason,
        "estimated_error": report.estimated_error,
        "unexplained": report.unexplained,
        "converged": report.converged,
        "solver_seconds": report.seconds,
        "solver_bytes": report.bytes,
        # Models of tables have no 'relevance --intervals'.
        "advice": said(report.advice, "shell" if encoder is None else "table"),
    }
    if (limit := _limit_reached(inner.n_components, facts)) is not None:
        facts["limit_reached"] = limit
    if encoder is not None:
        facts["table_columns"] = len(set(encoder.groups_))
    for name in ("false_alarm_rate", "n_iter_", "noise_"):
        if hasattr(model, name):
            facts[name.rstrip("_")] = getattr(model, name)
    if isinstance(model, Detector):
        threshold = -float(model.offset_)  # infinite: no row is new, and JSON has no word for it
        facts["threshold"] = None if isinf(threshold) else threshold
        facts["calibration_rows"] = len(model.conformal_.scores)
    return facts


def tell_of_fit(
    model: Estimator,
    rows: Source,
    target: Path,
    started: float,
    encoder: TableEncoder | None,
    more: Mapping[str, Any] = MappingProxyType({}),
    **lines: str,
) -> None:
    """The facts for a program, or lines for a person; ``more`` of both, if there are any."""
    if asked_for("quiet") and not asked_for("json"):
        return
    facts = facts_of_fit(model, rows, target, perf_counter() - started, encoder) | dict(more)
    if not as_json(facts):
        summary(f"{facts['model']} → {facts['output']}", lines_of_fit(facts) | lines)


def lines_of_fit(facts: dict[str, Any]) -> dict[str, str]:
    """The same as lines of a table."""
    size = size_of(facts["rows"], facts["columns"], facts.get("table_columns"))
    chosen = "" if facts["kernel"] == facts["kernel_asked"] else _why_width(facts["kernel_asked"])
    count = (
        f"{facts['components']:,} ({facts['components_asked']}), which hold "
        f"{facts['share_of_variance']:.1%} of the true variance"
    )
    limit = facts.get("limit_reached")
    lines = {
        "data": f"{size} ({facts['dtype']})",
        "kernel": f"{shortened(facts['kernel'])}{chosen}",
        "components": f"{count}; {limit}" if limit else count,
        "support": f"{facts['support_points']:,} points",
        "solver": f"{facts['solver']} ({facts['reason']})",
        "error": f"{facts['estimated_error']:.1e}, estimated, relative, of the eigenvalues",
    }
    if facts["unexplained"] > 1e-9:
        lines["unseen"] = f"{facts['unexplained']:.2%} of the variance lies outside the span"
    if facts["advice"]:
        lines["advice"] = facts["advice"]
    if not facts["converged"]:
        lines["warning"] = "did not converge; the model holds what was found"
    if "threshold" in facts:
        asked = f"{facts['false_alarm_rate']:.1%} false alarms"
        held_out = f"{facts['calibration_rows']:,} held-out scores"
        lines["threshold"] = (
            f"none: {held_out} cannot promise {asked}, and no row will be called new"
            if facts["threshold"] is None
            else f"{facts['threshold']:.4g}, for {asked}, from {held_out}"
        )
    lines["cost"] = f"{facts['seconds']:.2f} s, peak memory {size_text(facts['peak_memory_bytes'])}"
    lines["file"] = f"{facts['output']}, {size_text(facts['file_bytes'])}"
    return lines


def _describe_rule(model: Estimator, asked: Any) -> str:
    from mercer.model import as_rule

    if asked is None and isinstance(model, Detector):
        from mercer.novelty.score import default_rule

        default = default_rule(model.measure, contaminated=model.contamination is not None)
        return f"auto: {default.describe()}"
    rule = as_rule(asked)
    return f"asked for {rule.describe()}" if rule.is_request else f"by rule: {rule.describe()}"


def _limit_reached(rule: Any, facts: dict[str, Any]) -> str | None:
    """Why there are fewer components than the share of the variance asks for, if it is so."""
    share, limit = getattr(rule, "share", 0.0), getattr(rule, "limit", None)
    if limit is None or facts["share_of_variance"] >= share:
        return None
    count, rows = facts["components"], facts["rows"]
    why = f"the limit of {limit}" if count >= limit else f"one component for four of {rows:,} rows"
    return f"stopped at {why}, short of {share:.4g}: --components {share:.4g} takes what it needs"


def _why_width(asked: str) -> str:
    if "scale" in asked and "length_scale" not in asked:
        return ", from the number of columns and their variance"
    # A novelty model without a kernel looks at near neighbours, too.
    return f", from the {'distances' if asked == 'None' else 'median distance'} between rows"
