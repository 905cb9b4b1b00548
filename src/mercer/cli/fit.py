"""``mercer fit``: from a file of rows to a model file, saying what was chosen and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mercer._base.types import Estimator
from mercer.cli.models import describes_model, model_output, save_to, target_of
from mercer.cli.options import (
    ColumnKinds,
    Reading,
    data_argument,
    encodes,
    reads,
    seed_option,
    speaks,
)

if TYPE_CHECKING:
    from mercer.cli.recipe import Recipe
    from mercer.io import Table
    from mercer.solvers import Plan


NOT_CONVERGED = 5


@click.command(short_help="Fit a model to a file of rows.")
@data_argument
@model_output
@click.option("--force", is_flag=True, help="Replace an existing output or checkpoint.")
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where a fit on landmarks keeps its state.  [default: OUTPUT.checkpoint]",
)
@click.option("--resume", is_flag=True, help="Go on with a fit that was stopped.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do not fit.")
@seed_option
@reads
@encodes
@describes_model
@speaks
def fit(
    data: str,
    output: Path | None,
    force: bool,
    checkpoint: Path | None,
    resume: bool,
    dry_run: bool,
    reading: Reading,
    kinds: ColumnKinds,
    recipe: "Recipe",
    as_json: bool,
    quiet: bool,
) -> int:
    """Fit a model to DATA and write it to a model file.

    DATA is a .csv, .tsv, .npy, .npz, .mtx, .parquet or .zarr file, a folder of Parquet files or PNG
    images, or '-' for standard input; text may be compressed (.gz, .xz, .zst). A table may hold
    categories, dates and numbers of many units: what is done with each column is said, and rows
    that the model gives back have the same columns. Kernel width, solver and number of components
    are chosen from the data unless you say otherwise; what was chosen, and why, is printed.
    """
    import time

    from mercer.cli.console import progress
    from mercer.cli.summary import facts_of_fit, size_of, tell_of_fit
    from mercer.cli.tables import check_target, open_for_fit
    from mercer.model import model_of

    recipe.check()
    target = target_of(data, output)
    state = checkpoint or target.with_name(f"{target.name}.checkpoint")
    if not dry_run:
        check_target(target, force=force)
        _check_state(state, resume=resume, force=force)
    started = time.perf_counter()
    missing = recipe.model == "missing"
    with open_for_fit(data, reading, kinds, allow_nan=missing) as (table, encoder):
        plan = recipe.make().plan(table.rows)
        if dry_run:
            return _show(plan, table, data, as_json=as_json)
        if checkpoint is not None and not plan.resumable:
            raise click.UsageError(f"--checkpoint: a fit by {plan.name} keeps no state")
        kept = state if plan.resumable else None
        size = size_of(*table.rows.shape, None if encoder is None else len(set(encoder.groups_)))
        _announce(plan, f"{data}: {size}", resumed=kept is not None and kept.exists())
        with progress(quiet=quiet):
            model = _run(recipe.make(kept), table, kept)
    if kept is not None:  # a path of today is no part of a model
        model.set_params(solver=recipe.make().solver)
    save_to(target, model, encoder)
    if as_json or not quiet:
        facts = facts_of_fit(model, table.rows, target, time.perf_counter() - started, encoder)
        tell_of_fit(facts, as_json=as_json)
    return 0 if model_of(model).report.converged else NOT_CONVERGED


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


def _show(plan: "Plan", table: "Table", data: str, *, as_json: bool) -> int:
    """What the fit would do, and whether there is room for it."""
    from mercer._base.machine import available_bytes, size_text
    from mercer.cli.console import print_json, summary

    facts: dict[str, Any] = {
        "rows": table.rows.shape[0],
        "columns": table.rows.shape[1],
        "solver": plan.name,
        "reason": plan.reason,
        "components": plan.rule.describe(),
        "bytes": plan.bytes,
        "free_bytes": available_bytes(),
        "loads": plan.loads,
        "resumable": plan.resumable,
    }
    if as_json:
        print_json(facts)
    else:
        facts |= {name: size_text(facts[name]) for name in ("bytes", "free_bytes")}
        summary(f"{data}, not fitted", {name: str(value) for name, value in facts.items()})
    return 0


def _announce(plan: "Plan", what: str, *, resumed: bool) -> None:
    """Say what is going to happen, or that there is no room for it."""
    from mercer._base.machine import available_bytes, size_text
    from mercer.cli.console import remark

    free = available_bytes()
    if plan.bytes > free:
        from mercer.cli.faults import Failure

        raise Failure(
            f"{plan.name} needs about {plan.bytes >> 20:,} MB, and {free >> 20:,} MB are "
            "free. Use --solver landmarks, or fewer rows."
        )
    remark(
        f"{what}; {plan.name}{' (resumed)' * resumed} needs about {size_text(plan.bytes)} of "
        f"{size_text(free)} free memory"
    )


def _run(model: Estimator, table: "Table", kept: Path | None) -> Any:
    """Fit; a fit on landmarks that is stopped says how to go on."""
    from mercer.cli.console import remark

    try:
        return model.fit(table.rows, table.label)
    except BaseException as error:
        if not isinstance(error, Exception) and kept is not None and kept.exists():
            remark(f"the state is kept in '{kept}'; add --resume to go on")
        raise
