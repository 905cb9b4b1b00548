"""What a command says: results on standard output, progress and remarks on standard error."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from math import isinf
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

import click
from rich import progress as bars
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from mercer._base.machine import peak_bytes, size_text
from mercer._base.numbers import counted, plain_value, shortened
from mercer._base.progress import listen
from mercer._base.types import Estimator
from mercer.exceptions import said
from mercer.model import as_rule, model_of
from mercer.model.model import Detector
from mercer.points.source import Source


class Terminal(Console):
    """A console that reports a closed pipe to :func:`mercer.cli.run.main`."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error again; rich would end the process with status 1."""
        raise BrokenPipeError


def asked_for(option: str) -> Any:
    """The value of an option of the running command: ``"json"``, ``"quiet"`` or ``"digits"``."""
    context = click.get_current_context(silent=True)
    return context and context.params.get(option)


def remark(message: str) -> None:
    """One line on standard error that is not a warning; nothing with ``--quiet``."""
    if not asked_for("quiet"):
        print(f"mercer: {message}", file=sys.stderr, flush=True)  # noqa: T201


def as_json(value: Any) -> bool:
    """With ``--json`` print the result as one document, numpy's numbers as plain ones; else False.

    So that ``if not as_json(facts):`` goes on with words for people.
    """
    is_asked = bool(asked_for("json"))
    if is_asked:
        print(json.dumps(value, indent=2, default=plain_value, ensure_ascii=False))  # noqa: T201
    return is_asked


def summary(title: str, lines: Mapping[str, str]) -> None:
    """A small table of names and values on standard output."""
    columns = Column(style="bold"), Column(overflow="fold")
    table = Table(*columns, show_header=False, box=SIMPLE_HEAD)
    for line in lines.items():
        table.add_row(*line)
    terminal = Terminal(highlight=False)
    terminal.print(f"[bold]{escape(title)}[/bold]", soft_wrap=True)
    terminal.print(table)


@contextlib.contextmanager
def progress() -> Iterator[None]:
    """Show the stages of long work and the time left, if standard error is a terminal."""
    terminal = Terminal(stderr=True)
    if asked_for("quiet") or not terminal.is_terminal:
        yield
        return
    columns = (
        bars.TextColumn("[progress.description]{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),  # of a number that is not known, too
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=terminal, transient=True) as shown:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = shown.add_task(stage, total=None)
            shown.update(tasks[stage], completed=done, total=total or None)

        with listen(show):
            yield


def size_of(rows: int, numbers: int, encoder: Any = None) -> str:
    """Rows and columns in words; of a table also how many numbers are made of its columns."""
    columns = numbers if encoder is None else len(set(encoder.groups_))
    size = f"{counted(rows, 'row')}, {counted(columns, 'column')}"
    return size if columns == numbers else f"{size} as {counted(numbers, 'number')}"


def report_fit(
    model: Estimator,
    rows: Source,
    target: Path,
    started: float,
    encoder: Any,
    more: Mapping[str, Any] | None = None,
    **lines: str,
) -> None:
    """Everything that was chosen and found: for a program, or for a person with ``lines``."""
    if asked_for("quiet") and not asked_for("json"):
        return
    facts = _facts_of_fit(model, rows, target, started, encoder) | dict(more or {})
    if not as_json(facts):
        report = {"data": f"{size_of(*rows.shape, encoder)} ({facts['dtype']})"}
        own: Any = model_of(model).report._table().rows
        report |= _lines_of_fit(facts) | dict(own)
        summary(f"{facts['model']} → {target}", report | _last_lines(facts) | lines)


_OF_THE_REPORT = ("solver", "reason", "estimated_error", "unexplained", "converged")


def _facts_of_fit(
    model: Estimator, rows: Source, target: Path, started: float, encoder: Any
) -> dict[str, Any]:
    """The facts of a fit as plain values."""
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
        "seconds": perf_counter() - started,
        "peak_memory_bytes": peak_bytes(),
        "share_of_variance": float(learnt.explained_variance_ratio.sum()),
        **{name: getattr(report, name) for name in _OF_THE_REPORT},
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
        threshold = -float(model.offset_)  # infinite if no row is new, which JSON cannot express
        facts["threshold"] = None if isinf(threshold) else threshold
        facts["calibration_rows"] = len(model.conformal_.scores)
    return facts


def _lines_of_fit(facts: dict[str, Any]) -> dict[str, str]:
    """What was chosen, as lines of a table."""
    chosen = "" if facts["kernel"] == facts["kernel_asked"] else _why_width(facts["kernel_asked"])
    share = f"which explain {facts['share_of_variance']:.1%} of the true variance"
    limit = f"; {facts['limit_reached']}" if "limit_reached" in facts else ""
    return {
        "kernel": f"{shortened(facts['kernel'])}{chosen}",
        "components": f"{facts['components']:,} ({facts['components_asked']}), {share}{limit}",
        "support": f"{facts['support_points']:,} points",
    }


def _last_lines(facts: dict[str, Any]) -> dict[str, str]:
    """What follows on the report of the fit."""
    lines = {"advice": facts["advice"]} if facts["advice"] else {}
    if "threshold" in facts:
        rate = f"{facts['false_alarm_rate']:.1%} false alarms"
        held_out = f"{facts['calibration_rows']:,} held-out scores"
        lines["threshold"] = (
            f"none: {held_out} cannot promise {rate}, and no row will be called new"
            if facts["threshold"] is None
            else f"{facts['threshold']:.4g}, for {rate}, from {held_out}"
        )
    lines["cost"] = f"{facts['seconds']:.2f} s, peak memory {size_text(facts['peak_memory_bytes'])}"
    lines["file"] = f"{facts['output']}, {size_text(facts['file_bytes'])}"
    return lines


def _describe_rule(model: Estimator, components: Any) -> str:
    if components is None and isinstance(model, Detector):
        from mercer.novelty.score import default_rule

        default = default_rule(model.measure, contaminated=model.contamination is not None)
        return f"auto: {default.describe()}"
    rule = as_rule(components)
    return f"{'asked for' if rule.is_request else 'by rule:'} {rule.describe()}"


def _limit_reached(rule: Any, facts: dict[str, Any]) -> str | None:
    """Why there are fewer components than the share of the variance needs, if there are."""
    share, limit = getattr(rule, "share", 0.0), getattr(rule, "limit", None)
    if limit is None or facts["share_of_variance"] >= share:
        return None
    why = f"one component for every four of {facts['rows']:,} rows"
    if facts["components"] >= limit:
        why = f"the limit of {limit}"
    return f"stopped at {why}, short of {share:.4g}; --components {share:.4g} removes this limit"


def _why_width(parameters: str) -> str:
    if "scale" in parameters and "length_scale" not in parameters:
        return ", from the number of columns and their variance"
    # A novelty model without a kernel looks at near neighbours, too.
    return f", from the {'distances' if parameters == 'None' else 'median distance'} between rows"
