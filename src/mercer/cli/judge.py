"""``score`` and ``novelty``: how well a model describes rows, and which rows are new to it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from mercer._base.types import Estimator
from mercer.cli.options import (
    Output,
    Reading,
    data_argument,
    keeps,
    model_argument,
    reads,
    speaks,
    writes,
)

if TYPE_CHECKING:
    from mercer.io import Table


#: Rows that are compared with those of the fit; more might not fit into memory.
MOST_COMPARED = 200_000


@click.command(short_help="How well the model denoises and keeps rows.")
@model_argument
@data_argument
@reads
@speaks
def score(model: str, data: str, reading: Reading, as_json: bool, quiet: bool) -> None:
    """Measure how well MODEL restores the rows of DATA after noise was added to them.

    On rows that the model has not seen, so that models of different kernels can be compared: the
    score is minus the mean squared error, in input space, that is left of noise with half the
    standard deviation of the rows, and more is better. Beside it stands how far clean rows are
    from their reconstructions, which is less for every wider kernel and every further component:
    what a model keeps, and no way to choose one.
    """
    from dataclasses import asdict

    from mercer.cli.console import print_json, progress, summary
    from mercer.cli.models import load_model, seen_by
    from mercer.cli.tables import open_input
    from mercer.selection import assess

    fitted = load_model(model, "score")
    with open_input(data, reading, model=fitted) as table, progress(quiet=quiet):
        found = assess(seen_by(fitted), table)
    if as_json:
        print_json(asdict(found))
        return
    lines = {
        "rows": f"{found.rows:,}",
        "score": f"{found.score:.6g} (minus the mean squared error after denoising; "
        f"{found.noise_left:.1%} of noise with standard deviation {found.noise:.4g})",
        "kept": f"{found.root_mean_square_error:.6g} (root mean square error per entry of clean "
        "rows from their scores)",
        "feature space": f"{found.reconstruction_error:.6g} (mean squared distance)",
    }
    summary(f"{type(seen_by(fitted)).__name__} on {data}", lines)


@click.command(short_help="How new each row is to the model.")
@model_argument
@data_argument
@click.option(
    "--normal",
    metavar="FILE",
    type=click.Path(exists=True),
    help="Normal rows that the model has not seen, to give any model a threshold.",
)
@click.option(
    "--false-alarm-rate",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="With --normal: the share of normal rows that may be called new.  [default: 0.05]",
)
@reads
@keeps
@writes("Where the scores go.")
@speaks
def novelty(
    model: str,
    data: str,
    normal: str | None,
    false_alarm_rate: float | None,
    reading: Reading,
    output: Output,
    as_json: bool,
    quiet: bool,
) -> None:
    """Score the rows of DATA by how new they are to MODEL.

    Writes each row's score (larger is newer), its p-value, and whether it is new. A model that was
    fitted without '--model novelty' has no threshold: give it one with --normal, or get the scores
    alone.
    """
    from mercer._base.numbers import counted
    from mercer.cli.console import print_json, progress, remark
    from mercer.cli.models import load_model, seen_by
    from mercer.cli.tables import check_output, open_input, write_output
    from mercer.novelty import judge

    if false_alarm_rate is not None and normal is None:
        raise click.UsageError("--false-alarm-rate goes with --normal; else the model has its own")
    fitted = load_model(model)
    check_output(output, ["score"], labelled=reading.beside)
    detector = seen_by(fitted)
    if normal is not None:
        detector = _calibrate(fitted, normal, reading, false_alarm_rate or 0.05)
    with open_input(data, reading, model=fitted) as table, progress(quiet=quiet):
        judged = judge(detector, table)
        found = int(judged.beside["new"].sum()) if hasattr(detector, "p_values") else None
        if found is not None and detector.contamination is None:
            _tell_of_seen_rows(detector, table)
    write_output(output, judged, as_json=as_json, quiet=quiet)
    if as_json and output.path is not None:
        print_json({"output": str(output.path), "rows": len(judged.rows), "new": found})
    else:
        called = "no threshold, see --normal" if found is None else f"{found:,} new"
        where = "" if output.path is None else f" → {output.path}"
        remark(f"{counted(len(judged.rows), 'row')}, {called}{where}")


def _tell_of_seen_rows(detector: Any, table: "Table") -> None:
    from mercer.cli.console import remark
    from mercer.estimators._saving import was_fitted_to

    if len(table.rows) <= MOST_COMPARED and was_fitted_to(detector, table.rows, table.rows[:]):
        remark(
            "these are the rows that the model was fitted to, less new to it than others: "
            "p-values and verdicts hold for other rows. To find outliers among these, fit with "
            "'--model novelty --contamination auto'."
        )


def _calibrate(fitted: Estimator, normal: str, reading: Reading, rate: float) -> Any:
    from mercer import KernelNovelty
    from mercer.cli.models import seen_by
    from mercer.cli.tables import open_input

    if hasattr(fitted, "p_values"):
        raise click.UsageError("--normal: the model has a threshold already")
    with open_input(normal, replace(reading, keep=()), model=fitted) as table:
        return KernelNovelty.from_fitted(seen_by(fitted), table.rows, false_alarm_rate=rate)
