"""``drift``: whether batches of rows come from where the rows of the model came from."""

from typing import Any

import click

from mercer.cli import options
from mercer.cli.judge import columns_of, top_columns
from mercer.cli.models import load_model
from mercer.cli.options import argument, command, console, learnt, option, tables

#: The exit status where a batch has drifted.
DRIFTED = 6


@command("Test whether batches of rows have drifted.")
def drift(
    *,
    model: str = options.MODEL,
    data: tuple[str, ...] = argument(nargs=-1, required=True, type=click.Path(allow_dash=True)),
    level: float | None = option(
        "The p-value up to which a batch counts as drifted.  [default: the model's, 0.05]",
        type=options.RATE,
    ),
    reading: options.Reading,
) -> int:
    """Test whether the rows of each file DATA come from where those of MODEL came from.

    MODEL was fitted with '--model drift'. Of several files, p-values are adjusted, so that among
    those that are called drifted the share of false alarms is at most the level, 0.05 by default.
    Prints the p-value of each file, and which columns have moved most. For pipelines: the exit
    status is 6 if a batch has drifted, and 0 if none has.
    """
    from scipy.stats import false_discovery_control

    fitted = load_model(model, "test")
    inner = learnt.of_vectors(fitted)
    level = inner.level if level is None else level
    with console.progress():
        batches = [_compared(fitted, inner, path, reading) for path in data]
    rates = false_discovery_control([facts["p_value"] for facts in batches])
    for facts, rate in zip(batches, rates.tolist(), strict=True):
        facts |= {"adjusted": rate, "drifted": rate <= level}
    drifted = sum(facts["drifted"] for facts in batches)
    if not console.as_json({"level": level, "batches": batches}):
        for facts in batches:
            verdict = f"drifted, by {facts['why']}" if facts["drifted"] else "not drifted"
            several = f", {facts['adjusted']:.2g} among {len(batches)}" if len(batches) > 1 else ""
            console.remark(f"{facts['data']}: p = {facts['p_value']:.2g}{several}, {verdict}")
    return DRIFTED if drifted else 0


def _compared(fitted: Any, inner: Any, path: str, reading: options.Reading) -> dict[str, Any]:
    with tables.open_input(path, reading, model=fitted) as table:
        rows = table.rows
        result = inner.test(rows)
        why = ""
        if hasattr(inner, "contributions"):
            (why,) = top_columns(inner.contributions(rows)[None], columns_of(fitted, table))
    facts = {"data": path, "rows": len(rows), "mmd_squared": result.statistic}
    return {**facts, "p_value": result.p_value, "why": why}
