"""``mercer plot``: pictures of a model, by :mod:`mercer.plots`."""

import warnings
from pathlib import Path
from typing import Any

import click

from mercer._types import Estimator
from mercer.cli.options import Reading, model_argument, reads, speaks

__all__ = ["plot"]

# What is drawn → (class of mercer.plots, what it shows); written out for --help.
KINDS = {
    "scree": ("ScreeDisplay", "shares of the true variance"),
    "embedding": ("EmbeddingDisplay", "the rows by their scores, coloured by --label"),
    "components": ("ComponentsDisplay", "contours of the components (two columns)"),
    "gallery": ("PreImageGalleryDisplay", "images rebuilt from more and more components"),
    "denoising": ("DenoisingDisplay", "images: clean, noisy, linear PCA, kernel PCA"),
    "novelty": ("NoveltyDisplay", "contours of a novelty score (two columns)"),
    "roc": ("NoveltyRocDisplay", "detection against false alarms; --label tells what is new"),
    "traversal": ("TraversalDisplay", "images along the components"),
    "samples": ("SampleSheetDisplay", "images that a generative model draws"),
    "vectors": ("RepresentingVectorsDisplay", "what a sparse model keeps"),
    "widths": ("WidthSpectrumDisplay", "the spectrum against the kernel width"),
}
ENDINGS = (".png", ".svg", ".pdf", ".jpg", ".webp")
_HELP = "\n".join(f"  {kind:<11} {text}" for kind, (_, text) in KINDS.items())


@click.command(
    short_help="Draw a picture of a model.",
    epilog=f"\b\nKinds:\n{_HELP}",
)
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@model_argument
@click.argument("data", type=click.Path(allow_dash=True), required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help=f"The picture; one of {', '.join(ENDINGS)}.",
)
@click.option("--force", is_flag=True, help="Replace an existing output.")
@click.option(
    "--dpi", type=click.IntRange(10, 1200), default=150, show_default=True, help="Dots per inch."
)
@reads
@speaks
def plot(
    kind: str,
    model: str,
    data: str | None,
    output: Path,
    force: bool,
    dpi: int,
    reading: Reading,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw a picture of MODEL, of the rows in DATA where they are given.

    Needs matplotlib: pip install 'mercer[plot]'.
    """
    from mercer.cli.console import print_json, progress, remark
    from mercer.cli.models import load_model
    from mercer.cli.tables import check_target
    from mercer.rows import whole_file
    from mercer.rows.files import require

    if output.suffix.lower() not in ENDINGS:
        raise click.UsageError(f"--output: give a name that ends in {', '.join(ENDINGS)}")
    check_target(output, force=force)
    require("matplotlib", "plot").use("Agg")  # without a screen
    pyplot = require("matplotlib.pyplot", "plot")
    fitted = load_model(model)
    with progress(quiet=quiet):
        figure = _draw(kind, fitted, data, reading)
    with whole_file(output) as file:
        figure.savefig(file, dpi=dpi, format=output.suffix[1:].lower(), bbox_inches="tight")
    pyplot.close(figure)
    if as_json:
        print_json({"output": str(output), "kind": kind})
    else:
        remark(f"{kind} → {output}")


def _draw(kind: str, fitted: Estimator, data: str | None, reading: Reading) -> Any:
    import inspect

    import mercer.plots
    from mercer.cli.models import feature_names
    from mercer.cli.tables import open_input
    from mercer.rows import image_shape

    display = getattr(mercer.plots, KINDS[kind][0]).from_estimator
    options: dict[str, Any] = {}
    if "image_shape" in inspect.signature(display).parameters:
        options["image_shape"] = image_shape(feature_names(fitted))
    if data is None:
        return _figure(display(fitted, **options))
    with open_input(data, reading, like=feature_names(fitted)) as table, warnings.catch_warnings():
        # The columns were checked by name; the arrays that are drawn have none.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return _figure(display(fitted, table.rows[:], y=table.label, **options))


def _figure(display: Any) -> Any:
    return getattr(display, "figure_", None) or display.ax_.figure
