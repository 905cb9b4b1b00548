"""``mercer plot``: pictures of a model, by :mod:`mercer.plots`."""

import io
import warnings
from pathlib import Path
from typing import Any

import click

from mercer.cli.options import Reading, model_argument, reads, speaks

__all__ = ["plot"]

# What is drawn → (class of mercer.plots, what it shows); written out for --help.
KINDS = {
    "scree": ("ScreeDisplay", "shares of the true variance"),
    "embedding": ("EmbeddingDisplay", "the rows by their scores, coloured by --label"),
    "biplot": ("BiplotDisplay", "the rows by their scores, and where the variables push them"),
    "relevance": ("RelevanceDisplay", "which variables matter in each component"),
    "components": ("ComponentsDisplay", "contours of the components (two columns)"),
    "gallery": ("PreImageGalleryDisplay", "images rebuilt from more and more components"),
    "denoising": ("DenoisingDisplay", "images: clean, noisy, linear PCA, kernel PCA"),
    "novelty": ("NoveltyDisplay", "contours of a novelty score (two columns)"),
    "roc": ("NoveltyRocDisplay", "detection against false alarms; --label tells what is new"),
    "traversal": ("TraversalDisplay", "images along the components"),
    "samples": ("SampleSheetDisplay", "images that a generative model draws"),
    "vectors": ("RepresentingVectorsDisplay", "what a sparse model keeps"),
    "widths": ("WidthSpectrumDisplay", "the spectrum against the kernel width"),
    "live": ("", "a page (.html) that computes: drag a point, see its pre-image"),
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
    help=f"The picture; one of {', '.join(ENDINGS)}, and .html for live.",
)
@click.option("--force", is_flag=True, help="Replace an existing output.")
@click.option(
    "--dpi", type=click.IntRange(10, 1200), default=150, show_default=True, help="Dots per inch."
)
@click.option(
    "--intervals",
    is_flag=True,
    help="For scree and relevance: what another sample of rows would give (95 %).",
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
    intervals: bool,
    reading: Reading,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw a picture of MODEL, of the rows in DATA where they are given.

    Needs matplotlib: pip install 'mercer[plot]'; live needs nothing more.
    """
    from mercer.cli.console import print_json, progress, remark
    from mercer.cli.models import load_model
    from mercer.cli.tables import check_target
    from mercer.rows import whole_file

    endings = (".html",) if kind == "live" else ENDINGS
    if output.suffix.lower() not in endings:
        raise click.UsageError(f"--output: give a name that ends in {', '.join(endings)}")
    if intervals and kind not in ("scree", "relevance"):
        raise click.UsageError(f"--intervals goes with scree and relevance, not with {kind}")
    check_target(output, force=force)
    if kind != "live":
        _pyplot()  # says what is missing before the model is read
    fitted = load_model(model)
    with progress(quiet=quiet):
        if kind == "live":
            drawn = _page(fitted, data, reading)
        else:
            figure = _draw(kind, fitted, data, reading, intervals=intervals)
            drawn = _picture(figure, output.suffix[1:].lower(), dpi)
    with whole_file(output) as file:
        file.write(drawn)
    if as_json:
        print_json({"output": str(output), "kind": kind})
    else:
        remark(f"{kind} → {output}")


def _pyplot() -> Any:
    """matplotlib without a screen."""
    from mercer.rows.files import require

    matplotlib = require("matplotlib", "plot")
    matplotlib.use("Agg")
    return require("matplotlib.pyplot", "plot")


def _picture(figure: Any, ending: str, dpi: int) -> bytes:
    """The figure as a file."""
    file = io.BytesIO()
    figure.savefig(file, dpi=dpi, format=ending, bbox_inches="tight")
    _pyplot().close(figure)
    return file.getvalue()


def _draw(kind: str, fitted: Any, data: str | None, reading: Reading, *, intervals: bool) -> Any:
    import inspect

    import mercer.plots
    from mercer.cli.models import feature_names, seen_by
    from mercer.cli.tables import open_input
    from mercer.rows import image_shape

    model = seen_by(fitted)
    display = getattr(mercer.plots, KINDS[kind][0]).from_estimator
    options: dict[str, Any] = {}
    if "image_shape" in inspect.signature(display).parameters:
        options["image_shape"] = image_shape(feature_names(fitted))
        if kind == "relevance" and options["image_shape"] is not None:
            options["kind"] = "images"
    if intervals and data is None:
        options["uncertainty"] = model.uncertainty()
    if data is None:
        return _figure(display(model, **options))
    with open_input(data, reading, model=fitted) as table, warnings.catch_warnings():
        # The columns were checked by name; the arrays that are drawn have none.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        if intervals:
            options["uncertainty"] = model.uncertainty(table.rows)
        return _figure(display(model, table.rows[:], y=table.label, **options))


def _page(fitted: Any, data: str | None, reading: Reading) -> bytes:
    """The live page of a model, and of the rows where they are given."""
    from mercer.cli.models import feature_names, on_tables, seen_by
    from mercer.cli.tables import open_input
    from mercer.live import describe, render
    from mercer.rows.images import image_shape

    model, names = seen_by(fitted), feature_names(fitted)
    if on_tables(fitted):
        names = list(fitted.encoder_.get_feature_names_out())
    options: dict[str, Any] = {"images": image_shape(names), "names": names}
    if data is None:
        return render(describe(model, **options)).encode()
    with open_input(data, reading, model=fitted) as table, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return render(describe(model, table.rows[:], table.label, **options)).encode()


def _figure(display: Any) -> Any:
    return getattr(display, "figure_", None) or display.ax_.figure
