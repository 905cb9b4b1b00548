"""``mercer sample``: new rows from a generative model."""

from typing import Any

import click

from mercer._types import Estimator
from mercer.cli.options import Output, format_option, model_argument, seed_option, speaks, writes


@click.command(short_help="Generate new rows.")
@model_argument
@click.option(
    "-n", "--count", type=click.IntRange(1), default=10, show_default=True, help="How many rows."
)
@click.option("--label", metavar="CLASS", help="Rows of this class only.")
@format_option
@seed_option
@writes("Where the rows go.")
@speaks
def sample(
    model: str,
    count: int,
    label: str | None,
    seed: int,
    output: Output,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw new rows from MODEL, which was fitted with '--model generative'.

    A model of images writes images: give a folder as the output. Rows of a class carry it in a
    column 'label'.
    """
    from dataclasses import replace

    import numpy as np

    from mercer.cli.console import progress
    from mercer.cli.models import feature_names, load_model, on_tables, seen_by
    from mercer.cli.tables import check_output, tell, write_output
    from mercer.rows import MemoryRows, Table
    from mercer.tables.frames import columns_table

    fitted = load_model(model, "sample")
    names, mixed = feature_names(fitted), on_tables(fitted)
    check_output(output, names, labelled=mixed)
    wanted = _class_of(seen_by(fitted), label)
    with progress(quiet=quiet):
        rows = fitted.sample(count, label=wanted, random_state=seed)
    made = columns_table(rows) if mixed else Table(MemoryRows(np.asarray(rows), names))
    if wanted is not None and _holds_classes(output):
        column = Table(made.rows, {"label": np.full(count, wanted)}).beside_of(made.names)
        made = replace(made, beside={**made.beside, **column})
    write_output(output, made, as_json=as_json, quiet=quiet)
    n, d = count, len(made.names)
    tell(output, f"{n:,} new rows", as_json=as_json, rows=n, columns=d)


def _holds_classes(output: Output) -> bool:
    """Whether there is room for a column of classes: not among pure numbers, nor images."""
    kind = f".{output.format}" if output.path is None else output.path.suffix.lower()
    return kind not in ("", ".npy", ".zarr")


def _class_of(fitted: Estimator, label: str | None) -> Any:
    """The model's own class of this name; classes may be numbers."""
    if label is None:
        return None
    classes = list(fitted.classes_) if hasattr(fitted, "classes_") else []
    if not classes:
        raise click.UsageError("--label: the model was fitted without --label and knows no classes")
    for known in classes:
        if str(known) == label:
            return known
    listed = ", ".join(str(known) for known in classes[:20])
    raise click.UsageError(f"--label: the model knows no class '{label}', but {listed}")
