"""``mercer relevance``: which variables matter in each component, and how sure that is."""

from typing import Any

import click

from mercer._base.types import Estimator
from mercer.cli.options import Output, Reading, model_argument, reads, speaks, writes


@click.command(short_help="Which variables matter in each component.")
@model_argument
@click.argument("data", type=click.Path(allow_dash=True), required=False)
@click.option(
    "--unit",
    type=click.Choice(["share", "std", "raw"]),
    default="share",
    show_default=True,
    help="Shares in each component; per standard deviation of a variable; or per unit of it.",
)
@click.option(
    "--intervals", is_flag=True, help="Also what another sample of rows would give (95 %)."
)
@reads
@writes("Where the table goes: a row for each variable.")
@speaks
def relevance(
    model: str,
    data: str | None,
    unit: str,
    intervals: bool,
    reading: Reading,
    output: Output,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure how much each variable matters in each component of MODEL, over the rows of DATA.

    Without DATA the rows or landmarks that the model keeps are taken. The columns of the table are
    the components, all of them together, and the reconstruction error: which variables carry what
    the model cannot explain.
    """
    from mercer.cli.console import print_json, progress, remark
    from mercer.cli.models import load_model
    from mercer.cli.tables import check_output, write_output

    if intervals and unit != "share":
        raise click.UsageError("--intervals are of shares; leave --unit out")
    fitted = load_model(model, "relevance")
    check_output(output, ["overall"], labelled=True)
    with progress(quiet=quiet):
        found, sure = _measure(fitted, data, reading, unit, intervals=intervals)
    write_output(output, _table(found, sure), as_json=as_json, quiet=quiet)
    count = len(found.names)
    if quiet or (as_json and output.path is None):
        return
    if as_json:
        advice = {} if sure is None else {"advice": sure.advice}
        print_json({"output": str(output.path), "variables": count, **advice})
        return
    for line in [*found.describe(), *([] if sure is None else sure.advice)]:
        remark(line)
    if output.path is not None:
        remark(f"{count:,} variables → {output.path}")


def _measure(
    fitted: Estimator, data: str | None, reading: Reading, unit: str, *, intervals: bool
) -> tuple[Any, Any]:
    from mercer.cli.models import on_tables, seen_by
    from mercer.cli.tables import open_input

    model, groups = seen_by(fitted), fitted.encoder_.groups_ if on_tables(fitted) else None
    if groups is not None and intervals:
        raise click.UsageError("--intervals are of single variables; a model of tables has groups")
    model.set_output(transform="default") if hasattr(model, "set_output") else None
    if data is None:
        found = model.relevance(unit=unit, groups=groups)
        return found, model.uncertainty() if intervals else None
    with open_input(data, reading, model=fitted) as table:
        sure = model.uncertainty(table.rows) if intervals else None
        if sure is not None:
            _ = sure.relevance
        return model.relevance(table.rows, unit=unit, groups=groups), sure


def _table(found: Any, sure: Any) -> Any:
    """A row for each variable: components, all together, the error; limits, if there are any."""
    import numpy as np

    from mercer.io import Table
    from mercer.points.source import MemoryRows

    q = len(found.components)
    names = [f"component {k}" for k in range(q)] + ["overall", "error"]
    columns = found.table.T
    if sure is not None:
        for word, limits in (("low", sure.relevance.low), ("high", sure.relevance.high)):
            names += [f"component {k} {word}" for k in range(len(limits))]
            columns = np.hstack([columns, limits.T])
    return Table(MemoryRows(columns, names), {"variable": np.array(found.names)})
