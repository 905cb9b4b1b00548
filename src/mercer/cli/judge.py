"""``score`` and ``novelty``: how well a model describes rows, and which rows are new to it."""

from dataclasses import replace
from typing import Any

import click

from mercer._types import Estimator, RowsLike
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

__all__ = ["novelty", "score"]


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
    import warnings

    import numpy as np

    from mercer._random import fixed_rng
    from mercer.cli.console import print_json, progress, summary
    from mercer.cli.models import load_model, seen_by
    from mercer.cli.tables import open_input
    from mercer.exceptions import DenoisingWarning
    from mercer.rows import MemoryRows
    from mercer.selection import add_noise

    fitted = load_model(model, "score")
    with open_input(data, reading, model=fitted) as table, progress(quiet=quiet):
        sums, inner = np.zeros(3), seen_by(fitted)
        noise = _typical_noise(table)
        for i, block in enumerate(table.blocks()):
            rows = block[:]
            noisy = MemoryRows(add_noise(rows, noise, fixed_rng(i)), block.columns)
            with warnings.catch_warnings():  # the error itself tells that the model keeps too much
                warnings.simplefilter("ignore", DenoisingWarning)
                found = inner.denoise(noisy), inner.reconstruct(block)
            left, kept = (((np.asarray(x) - rows) ** 2).sum(dtype=np.float64) for x in found)
            sums += -left, -kept, inner.reconstruction_error(block).sum(dtype=np.float64)
        n, d = table.rows.shape
    result = {
        "rows": n,
        "score": sums[0] / n,
        "noise": noise,
        "root_mean_square_error": float(np.sqrt(max(-sums[1] / n / d, 0.0))),
        "reconstruction_error": sums[2] / n,
    }
    if as_json:
        print_json(result)
        return
    left = -result["score"] / (noise**2 * d)
    lines = {
        "rows": f"{n:,}",
        "score": f"{result['score']:.6g} (minus the mean squared error after denoising; "
        f"{left:.1%} of noise with standard deviation {noise:.4g})",
        "kept": f"{result['root_mean_square_error']:.6g} (root mean square error per entry of "
        "clean rows from their scores)",
        "feature space": f"{result['reconstruction_error']:.6g} (mean squared distance)",
    }
    summary(f"{type(inner).__name__} on {data}", lines)


def _typical_noise(table: Any) -> float:
    """Half the standard deviation of all rows, from one pass over their blocks."""
    import numpy as np

    from mercer.exceptions import DataError

    n, d = table.rows.shape
    mean, square = np.zeros(d), np.zeros(d)
    shift = None
    for rows in table.blocks():
        block = np.asarray(rows[:], dtype=np.float64)
        shift = block[0] if shift is None else shift  # sums of squares around a row lose no digits
        mean += (block - shift).sum(axis=0)
        square += ((block - shift) ** 2).sum(axis=0)
    noise = 0.5 * float(np.sqrt(max((square / n - (mean / n) ** 2).mean(), 0.0)))
    if not noise > 0:
        raise DataError(f"the {n} row(s) do not differ; give rows that differ to be scored.")
    return noise


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
    from mercer.cli.console import print_json, progress, remark
    from mercer.cli.models import load_model, seen_by
    from mercer.cli.tables import check_output, open_input, write_output

    if false_alarm_rate is not None and normal is None:
        raise click.UsageError("--false-alarm-rate goes with --normal; else the model has its own")
    fitted = load_model(model)
    check_output(output, ["score"], labelled=reading.beside)
    judge = seen_by(fitted)
    if normal is not None:
        judge = _calibrate(fitted, normal, reading, false_alarm_rate or 0.05)
    with open_input(data, reading, model=fitted) as table, progress(quiet=quiet):
        judged, found = _judge(judge, table)
    write_output(output, judged, as_json=as_json, quiet=quiet)
    if as_json and output.path is not None:
        print_json({"output": str(output.path), "rows": len(judged.rows), "new": found})
    else:
        called = "no threshold, see --normal" if found is None else f"{found:,} new"
        where = "" if output.path is None else f" → {output.path}"
        remark(f"{len(judged.rows):,} rows, {called}{where}")


def _calibrate(fitted: Estimator, normal: str, reading: Reading, rate: float) -> Any:
    from mercer import KernelNovelty
    from mercer.cli.models import seen_by
    from mercer.cli.tables import open_input

    if hasattr(fitted, "p_values"):
        raise click.UsageError("--normal: the model has a threshold already")
    with open_input(normal, replace(reading, keep=()), model=fitted) as table:
        return KernelNovelty.from_fitted(seen_by(fitted), table.rows, false_alarm_rate=rate)


def _judge(fitted: Estimator, table: RowsLike) -> tuple[Any, int | None]:
    """A table of scores, and how many rows are new (None without a threshold)."""
    import numpy as np

    from mercer.rows import MemoryRows, Table

    judged = hasattr(fitted, "p_values")
    parts, new = [], []
    for rows in table.blocks():
        if judged:
            score = -fitted.score_samples(rows)
            parts.append(np.column_stack([score, fitted.conformal_.p_values(score)]))
            new.append(score > -fitted.offset_)
        else:
            parts.append(fitted.reconstruction_error(rows)[:, None])
    names = ["score", "p_value"] if judged else ["score"]
    scores, beside = MemoryRows(np.concatenate(parts), names), table.beside_of([*names, "new"])
    if not judged:
        return Table(scores, beside), None
    called = np.concatenate(new)
    return Table(scores, {"new": called, **beside}), int(called.sum())
