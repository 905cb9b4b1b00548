"""``mercer tune``: width and number of components for denoising, by held-out error."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mercer.cli.models import kernel_option, model_output, preimage_option, save_to, target_of
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
    from mercer.selection import Choice


@click.command(short_help="Choose width and components for denoising, and fit.")
@data_argument
@model_output
@click.option("--force", is_flag=True, help="Replace an existing output.")
@click.option(
    "--noise",
    type=click.FloatRange(0, min_open=True),
    metavar="LEVEL",
    help="Standard deviation of the noise to expect, in units of the rows (of their standard "
    "deviations where columns are scaled).  [default: half the standard deviation of the rows]",
)
@kernel_option
@preimage_option
@seed_option
@reads
@encodes
@speaks
def tune(
    data: str,
    output: Path | None,
    force: bool,
    noise: float | None,
    kernel: str,
    preimage: str | None,
    seed: int,
    reading: Reading,
    kinds: ColumnKinds,
    as_json: bool,
    quiet: bool,
) -> None:
    """Choose the kernel's width and the number of components by which DATA is denoised best.

    Noise is added to rows that are held out, and what is left of it after denoising counts, in
    input space. Widths around the median distance and powers of two of components are compared;
    DATA should be as clean as there is. The model is then fitted to all rows, as 'mercer fit' does
    with the choice, and written to a model file for 'mercer denoise' and all other commands.
    """
    import time

    from mercer.cli.console import progress
    from mercer.cli.recipe import Recipe
    from mercer.cli.summary import facts_of_fit, tell_of_fit
    from mercer.cli.tables import check_target, open_for_fit
    from mercer.selection import typical_noise

    recipe = Recipe(kernel=kernel, preimage=preimage, seed=seed)
    recipe.check()
    target = target_of(data, output)
    check_target(target, force=force)
    started = time.perf_counter()
    with open_for_fit(data, reading, kinds, allow_nan=False) as (table, encoder):
        table = table.loaded()
        level = typical_noise(table.rows[:]) if noise is None else noise
        model = recipe.make()
        with progress(quiet=quiet):
            model.tune(table.rows, noise=level)
    save_to(target, model, encoder)
    if as_json or not quiet:
        facts = facts_of_fit(model, table.rows, target, time.perf_counter() - started, encoder)
        found = _found(model.tuning_, level, table.rows.shape[1])
        tell_of_fit(facts | found, _in_words(found), as_json=as_json)


def _found(choice: "Choice", noise: float, d: int) -> dict[str, Any]:
    """What was compared, and what of the noise is left."""
    return {
        "components_asked": "by held-out error of denoising",
        "noise": noise,
        "error": choice.value,
        "error_of_noise": noise**2 * d,
        "compared": [
            {"kernel": repr(kernel), "components": q, "error": error}
            for kernel, q, error in choice.table
        ],
    }


def _in_words(found: dict[str, Any]) -> dict[str, str]:
    error, of = found["error"], found["error_of_noise"]
    text = f"of noise with standard deviation {found['noise']:.4g}, {error / of:.1%} is left in "
    return {"denoising": f"{text}held-out rows (mean squared error {error:.4g} of {of:.4g})"}
