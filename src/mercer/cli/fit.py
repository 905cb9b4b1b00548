"""``mercer fit``: from a file of rows to a model file, saying what was chosen and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mercer.cli.model_options import describes_model
from mercer.cli.options import Reading, data_argument, reads, seed_option, speaks

if TYPE_CHECKING:
    from mercer.cli.recipe import Plan, Recipe
    from mercer.cli.tables import Table

__all__ = ["fit"]

NOT_CONVERGED = 5


@click.command(short_help="Fit a model to a file of rows.")
@data_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The model file to write.  [default: the data's name with .mercer]",
)
@click.option("--force", is_flag=True, help="Replace an existing output or checkpoint.")
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where a fit on landmarks keeps its state.  [default: OUTPUT.checkpoint]",
)
@click.option("--resume", is_flag=True, help="Go on with a fit that was stopped.")
@seed_option
@reads
@describes_model
@speaks
def fit(
    data: str,
    output: Path | None,
    force: bool,
    checkpoint: Path | None,
    resume: bool,
    reading: Reading,
    recipe: "Recipe",
    as_json: bool,
    quiet: bool,
) -> int:
    """Fit a model to DATA and write it to a model file.

    DATA is a .csv, .tsv, .npy, .npz, .parquet or .zarr file, a folder of Parquet files or PNG
    images, or '-' for standard input. Kernel width, solver and number of components are chosen from
    the data unless you say otherwise; what was chosen, and why, is printed.
    """
    import time

    from mercer.cli.console import progress
    from mercer.cli.files import check_target
    from mercer.cli.tables import open_table

    recipe.check()
    target = _target(data, output)
    check_target(target, force=force)
    state = checkpoint or target.with_name(f"{target.name}.checkpoint")
    _check_state(state, resume=resume, force=force)
    started = time.perf_counter()
    with open_table(data, reading, allow_nan=recipe.model == "missing") as table:
        if recipe.loads:
            table = table.loaded()
        plan = recipe.plan(table.rows, state)
        plan.check_memory()
        if checkpoint is not None and plan.checkpoint is None:
            raise click.UsageError(f"--checkpoint: a fit by {plan.solver} keeps no state")
        _announce(plan, table, data, quiet=quiet)
        with progress(quiet=quiet):
            model = _run(plan, table)
    model.save(target)
    _report(
        model, table, target, seconds=time.perf_counter() - started, as_json=as_json, quiet=quiet
    )
    report = getattr(model, "report_", None)
    return 0 if report is None or report.converged else NOT_CONVERGED


def _target(data: str, output: Path | None) -> Path:
    if output is not None and str(output) != "-":
        return output
    if data == "-" or output is not None:
        raise click.UsageError("a model is written to a file; name it with --output")
    return Path(Path(data).resolve().stem + ".mercer")


def _check_state(state: Path, *, resume: bool, force: bool) -> None:
    """What a stopped fit has left is neither resumed nor thrown away without a word."""
    if not state.exists() or resume:
        return
    if not force:
        from mercer.cli.faults import Failure

        raise Failure(
            f"'{state}' was left by a fit that was stopped. Add --resume to go on with it, or "
            "--force to start anew."
        )
    state.unlink()


def _announce(plan: "Plan", table: "Table", data: str, *, quiet: bool) -> None:
    from mercer._memory import available_bytes
    from mercer.cli.console import remark
    from mercer.cli.models import size_text

    if quiet:
        return
    n, d = table.rows.shape
    resumed = " (resumed)" if plan.checkpoint is not None and plan.checkpoint.exists() else ""
    remark(
        f"{data}: {n:,} rows, {d:,} columns; {plan.solver}{resumed} needs about "
        f"{size_text(plan.bytes)} of {size_text(available_bytes())} free memory"
    )


def _run(plan: "Plan", table: "Table") -> Any:
    """Fit; a fit on landmarks that is stopped says how to go on."""
    from dataclasses import replace

    from mercer.cli.console import remark

    model, label = plan.model, table.label
    try:
        model.fit(table.rows) if label is None else model.fit(table.rows, label[1])
    except BaseException as error:
        stopped = not isinstance(error, Exception)
        if stopped and plan.checkpoint is not None and plan.checkpoint.exists():
            remark(f"the state is kept in '{plan.checkpoint}'; add --resume to go on")
        raise
    if plan.checkpoint is not None:
        model.solver.set_params(checkpoint=None)  # a path of today is no part of the model
        if plan.reason != "asked for":
            model.set_params(solver="auto")
            model.report_ = replace(model.report_, reason=f"auto: {plan.reason}")
    return model


def _report(
    model: Any, table: "Table", target: Path, *, seconds: float, as_json: bool, quiet: bool
) -> None:
    from mercer.cli.console import print_json, summary
    from mercer.cli.summary import facts_of_fit, lines_of_fit

    if quiet and not as_json:
        return
    facts = facts_of_fit(model, table.rows, target, seconds)
    if as_json:
        print_json(facts)
    else:
        summary(f"{facts['model']} → {target}", lines_of_fit(facts))
