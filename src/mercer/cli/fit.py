"""``mercer fit`` and ``mercer tune``: from a file of rows to a model file, and what was chosen."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import mercer
from mercer._base.types import Estimator
from mercer.cli import options
from mercer.cli.faults import Failure
from mercer.cli.maps import MAP, fit_map, refuse_others, save_map
from mercer.cli.models import KERNEL, PREIMAGE, Recipe
from mercer.cli.options import command, console, one_of, option, tables

NOT_CONVERGED = 5
#: Endings of other programs' files, which a model must not have.
_OTHERS = {".csv", ".tsv", ".txt", ".npy", ".npz", ".mtx", ".parquet", ".feather", ".xlsx"}
_OTHERS |= {".json", ".jsonl", ".png", ".svg", ".pdf", ".jpg", ".html", ".onnx", ".pkl", ".zarr"}

_OUTPUT = option("The model file to write.  [default: the data's name with .mercer]")


@command("Fit a model to a file of rows.")
def fit(
    *,
    data: str = options.DATA,
    output: Path | None = _OUTPUT,
    force: bool = option("Replace an existing output or checkpoint."),
    checkpoint: Path | None = option(
        "Where a fit that can be resumed saves its state.  [default: OUTPUT.checkpoint]",
        type=options.FILE,
    ),
    resume: bool = option("Resume a fit that was stopped."),
    dry_run: bool = option("Print what would be done, without fitting."),
    places: Path | None = MAP,
    reading: options.Reading,
    kinds: options.Kinds,
    recipe: Recipe,
) -> int:
    """Fit a model to DATA and write it to a model file.

    DATA is a .csv, .tsv, .xlsx, .jsonl, .parquet, .npy, .npz, .mtx or .zarr file, a folder of
    Parquet files or PNG images, or '-' for standard input; text may be compressed (.gz, .xz,
    .zst). A table may hold categories, dates and numbers of many units. The command prints what
    it does with each column, and rows that the model gives back have the same columns. The
    kernel's width, the solver and the number of components are chosen from the data unless you
    set them; what was chosen, and why, is printed. With --map the model goes
    both ways between the rows and a map that you have.
    """
    from mercer.model import model_of

    recipe.check()
    target = _target_of(data, output)
    state = checkpoint or target.with_name(f"{target.name}.checkpoint")
    if not dry_run:
        tables.check_target(target, force=force)
        _check_state(state, resume=resume, force=force)
    started = time.perf_counter()
    if places is not None:
        refuse_others(recipe, dry_run)
        save_map(*fit_map(data, places, reading, kinds, recipe.seed), target, started)
        return 0
    asked = recipe.make()
    with tables.open_for_fit(data, reading, kinds.encoder(), asked, kinds.missing) as opened:
        table, encoder = opened.table, opened.encoder
        plan = asked.plan(table.rows)
        plan = replace(plan, seconds=recipe.fits * plan.seconds)
        _check_time(plan, recipe, table.rows.shape[0])
        if dry_run:
            _show(plan, table, data)
            return 0
        if checkpoint is not None and not plan.resumable:
            raise click.UsageError(f"--checkpoint: {plan.name} cannot be resumed, so it needs none")
        kept = state if plan.resumable else None
        n, d = table.rows.shape
        size = console.size_of(n, d, encoder)
        _announce(plan, f"{data}: {size}", resumed=kept is not None and kept.exists())
        with console.progress():
            model = _run(recipe.make(kept), table, kept)
    if kept is not None:  # the path of a checkpoint is not part of a model
        model.set_params(solver=asked.solver)
    opened.whole(model).save(target)
    console.report_fit(model, table.rows, target, started, encoder)
    return 0 if model_of(model).report.converged else NOT_CONVERGED


def _check_time(plan: Any, recipe: Recipe, n: int) -> None:
    """Refuse a sparse fit that takes too long; other models have chosen a solver in time."""
    if recipe.model != "sparse" or recipe.time is None or plan.seconds <= recipe.time:
        return
    from mercer._base.machine import time_text
    from mercer.exceptions import DataError
    from mercer.sparse.noise import estimate_seconds

    # The time grows with the square of their number.
    kernels = int((recipe.time / estimate_seconds(plan.solver, n, 1)) ** 0.5)
    remedy = f"ask for {kernels} of them by --kernels" if kernels else "give fewer rows"
    raise DataError(
        f"choosing the kernels of {n:,} rows is estimated to take {time_text(plan.seconds)}, and "
        f"{time_text(recipe.time).removeprefix('about ')} is allowed; allow more, or {remedy}."
    )


def _check_state(state: Path, *, resume: bool, force: bool) -> None:
    """Refuse to resume or to discard the state of a stopped fit unless asked to."""
    if state.exists() and not (resume or force):
        raise Failure(
            f"'{state}' was left by a fit that was stopped. Add --resume to continue it, or "
            "--force to start over."
        )
    if not resume:
        state.unlink(missing_ok=True)


def _show(plan: Any, table: Any, data: str) -> None:
    """What the fit would do, and whether there is room for it."""
    from mercer._base.machine import available_bytes, size_text

    (n, d), free = table.rows.shape, available_bytes()
    planned = {name: getattr(plan, name) for name in ("reason", "bytes", "seconds", "loads")}
    facts = {"rows": n, "columns": d, "solver": plan.name, **planned, "free_bytes": free}
    facts |= {"components": plan.rule.describe(), "resumable": plan.resumable}
    if not console.as_json(facts):
        size = {"data": console.size_of(n, d), "free memory": size_text(free)}
        console.summary(f"{data}, not fitted", {**size, **dict(plan._table().rows)})


def _announce(plan: Any, what: str, *, resumed: bool) -> None:
    """Say what is going to happen, and how long it may take, or that there is no room for it."""
    from mercer._base.machine import LONG, available_bytes, size_text, time_text

    free = available_bytes()
    if plan.bytes > free:
        need = f"{plan.name} needs about {plan.bytes >> 20:,} MB, and {free >> 20:,} MB are free"
        raise Failure(f"{need}. Use --solver landmarks, or fewer rows.")
    room = f"about {size_text(plan.bytes)} of {size_text(free)} free memory"
    console.remark(f"{what}; {plan.name}{' (resumed)' * resumed} needs {room}")
    if plan.seconds > LONG:
        quicker = "fewer --landmarks are" if plan.name == "Landmarks" else "--solver landmarks is"
        if isinstance(plan.solver, mercer.sparse.SparseSolver):
            quicker = "fewer --kernels are"
        took = f"estimated to take {time_text(plan.seconds)} on an idle machine"
        console.remark(f"this is {took}; --time sets a limit, {quicker} quicker")


def _run(model: Estimator, table: Any, kept: Path | None) -> Any:
    """Fit; if the fit is stopped, say how to resume it."""
    try:
        return model.fit(table.rows, table.label)
    except BaseException as error:
        if not isinstance(error, Exception) and kept is not None and kept.exists():
            console.remark(f"the state is kept in '{kept}'; add --resume to continue")
        raise


@command("Choose width and components for denoising, and fit.")
def tune(
    *,
    data: str = options.DATA,
    output: Path | None = _OUTPUT,
    force: bool = options.FORCE,
    noise: Any = options.NOISE,
    rows: str = one_of(
        "Whether DATA are the noisy rows themselves ('auto', too), or clean examples.",
        *("auto", "noisy", "clean"),
    ),
    kernel: str = KERNEL,
    preimage: str | None = PREIMAGE,
    seed: int = options.SEED,
    reading: options.Reading,
    kinds: options.Kinds,
) -> None:
    """Choose the kernel's width and the number of components that denoise DATA best.

    DATA are the noisy rows themselves. Models are compared by the noise that is left after
    denoising, which can be estimated without any clean row. If the rows are clean examples (--rows
    clean), noise is added to them. The candidates are several widths around the median distance,
    and powers of two of components. The best model is then fitted to all rows, and written to a
    model file for 'mercer denoise' and all other commands.
    """
    recipe = Recipe(kernel=kernel, preimage=preimage, seed=seed)
    recipe.check()
    target, model = _target_of(data, output), recipe.make()
    tables.check_target(target, force=force)
    started = time.perf_counter()
    with tables.open_for_fit(data, reading, kinds.encoder(), model, kinds.missing) as opened:
        table, encoder = opened.table.loaded(), opened.encoder
        if noise is None and rows == "clean":
            noise = mercer.selection.typical_noise(table.rows[:])
        noise = tables.noise_of_vectors(noise, encoder)
        with console.progress():
            model.tune(table.rows, noise=noise, rows=rows)
    opened.whole(model).save(target)
    facts, line = _outcome(model.tuning_, noise, table.rows.shape[1])
    console.report_fit(model, table.rows, target, started, encoder, facts, denoising=line)


def _outcome(choice: Any, noise: Any, d: int) -> tuple[dict[str, Any], str]:
    """What was compared, and how much noise is left: as facts, and in one line."""
    if isinstance(choice, mercer.selection.NoisyChoice):
        how, line = "estimated", str(choice.risk)
        level, error, of = choice.risk.level.size, choice.risk.error, choice.risk.noise
    else:
        how, level, error, of = "held-out", noise, choice.value, noise**2 * d
        line = (
            f"of noise with standard deviation {noise:.4g}, {error / of:.1%} is left in held-out "
            f"rows (mean squared error {error:.4g} of {of:.4g})"
        )
    compared = [{"kernel": repr(k), "components": q, "error": e} for k, q, e in choice.table]
    asked = f"by {how} error of denoising"
    facts = {"components_asked": asked, "noise": level, "error": error, "error_of_noise": of}
    return {**facts, "compared": compared}, line


def _target_of(data: str, output: Path | None) -> Path:
    """The model file to write, by the name of the data if none is given; these must be there."""
    from mercer.io.files import check_there, plain_name
    from mercer.tables.reading import is_pattern

    if data != "-" and not is_pattern(data):
        check_there(Path(data))
    if output is not None and str(output) != "-":
        if output.suffix.lower() in _OTHERS:
            better = output.with_suffix(".mercer")
            raise click.UsageError(f"a model is not a {output.suffix} file; name it {better}")
        return output
    if data == "-" or output is not None:
        raise click.UsageError("a model is written to a file; name it with --output")
    return Path(plain_name(Path(data).resolve()).stem + ".mercer")
