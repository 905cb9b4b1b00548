"""``plot`` and ``explore``: pictures of a model, and the live page with Python behind it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from shlex import quote
from typing import Any

import click

import mercer
from mercer._base.optional import require
from mercer._base.spelling import similar_file
from mercer._base.types import Estimator, Targets
from mercer.cli import maps, options
from mercer.cli.faults import Failure
from mercer.cli.models import load_model
from mercer.cli.options import argument, command, console, learnt, option, tables
from mercer.cli.stop import stopped_by

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
    "roc": ("NoveltyRocDisplay", "detection against false alarms; --label says what is new"),
    "traversal": ("TraversalDisplay", "images along the components"),
    "samples": ("SampleSheetDisplay", "images that a generative model draws"),
    "vectors": ("RepresentingVectorsDisplay", "what a sparse model keeps"),
    "trust": ("TrustDisplay", "a map of another tool, coloured by what it keeps of the rows"),
    "widths": ("WidthSpectrumDisplay", "the spectrum against the kernel width"),
    "live": ("", "an interactive page (.html): drag a point and see its pre-image"),
}
ENDINGS = (".png", ".svg", ".pdf", ".jpg", ".webp")
#: What is noted in a picture's metadata.
MAKER = "mercer plot"
_PICTURE = f"The picture; one of {', '.join(ENDINGS)}, and .html for live."
_HELP = "\n".join(f"  {kind:<11} {text}" for kind, (_, text) in KINDS.items())


def _shape(text: str) -> tuple[int, ...]:
    parts = text.lower().replace(",", "x").split("x")
    if not all(part.strip().isdigit() for part in parts) or len(parts) not in (2, 3):
        raise click.BadParameter(f"'{text}' is not a size such as 28x28, or 32x32x3 for colours")
    return tuple(map(int, parts))


def _components(text: str) -> int | list[int]:
    parts = text.split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise click.BadParameter(f"'{text}' is neither a number nor a list such as 0,2")
    return int(text) if len(parts) == 1 else [int(part) for part in parts]


@dataclass(frozen=True)
class Style:
    """How a picture looks, as the options say."""

    dpi: int = option("Dots per inch.", 150, type=click.IntRange(10, 1200))
    intervals: bool = option(
        "For scree and relevance: what another sample of rows would give (95 %)."
    )
    image_shape: tuple[int, ...] | None = option(
        "For rows that are images.  [default: as a folder of images says, else a square, for 16 "
        "columns or more with values from 0 to 255]",
        type=_shape,
        metavar="HxW[x3]",
    )
    cmap: str | None = option("matplotlib's colours of images, e.g. gray.", metavar="NAME")
    components: int | Sequence[int] | None = option(
        "How many of the first, or which, counted from 0.", type=_components, metavar="N|I,J,..."
    )
    title: str | None = option("Title above the picture.")
    positive: str | None = option("For roc: the class of --label that is new.", metavar="CLASS")


@command("Draw a picture of a model.", epilog=f"\b\nKinds:\n{_HELP}")
def plot(
    *,
    kind: str = argument(type=options.OneOf(list(KINDS)), metavar="KIND"),
    model: str = options.MODEL,
    data: str | None = options.OPTIONAL_DATA,
    output: Path = option(_PICTURE, type=options.FILE, required=True),
    force: bool = options.FORCE,
    style: Style,
    reading: options.Reading,
) -> None:
    """Draw a picture of MODEL, of the rows in DATA where they are given.

    Two components keep few neighbours together. To see groups, make a map by UMAP or t-SNE, and
    fit with --map.

    Needs matplotlib (pip install matplotlib); live needs nothing more.
    """
    endings = (".html",) if kind == "live" else ENDINGS
    if output.suffix.lower() not in endings:
        raise click.UsageError(f"--output: give a name that ends in {', '.join(endings)}")
    if kind == "roc" and reading.label is None:
        raise click.UsageError("a ROC curve needs the true classes: name their column with --label")
    tables.check_target(output, force=force or _is_ours(output))
    if kind != "live":
        _pyplot()  # reports a missing package before the model is read
    fitted = load_model(model)
    if kind not in ("trust", "live") and isinstance(learnt.of_vectors(fitted), mercer.MapModel):
        raise Failure(f"'{model}' holds a map of another tool; draw it as trust, or as live.")
    with console.progress():
        if kind == "live":
            drawn = _page(fitted, data, reading, style, Path(data or model).name)
        else:
            figure = _draw(kind, fitted, data, reading, style)
            if style.title is not None:
                figure.suptitle(style.title)
            drawn = _picture(figure, output.suffix[1:].lower(), style.dpi)
    with mercer.io.atomic_file(output) as file:
        file.write(drawn)
    tables.report(options.Output(str(output)), kind, kind=kind)


def _pyplot() -> Any:
    """matplotlib without a screen."""
    matplotlib = require("matplotlib", "plot")
    matplotlib.use("Agg")
    return require("matplotlib.pyplot", "plot")


def _is_ours(path: Path) -> bool:
    """Whether a picture says that this command drew it, and may be drawn anew."""
    return path.is_file() and MAKER.encode() in path.read_bytes()


def _picture(figure: Any, ending: str, dpi: int) -> bytes:
    """The figure as a file."""
    file = io.BytesIO()
    key = "Software" if ending == "png" else "Creator"
    figure.savefig(file, dpi=dpi, format=ending, bbox_inches="tight", metadata={key: MAKER})
    _pyplot().close(figure)
    return file.getvalue()


def _draw(
    kind: str, fitted: Estimator, data: str | None, reading: options.Reading, style: Style
) -> Any:
    from mercer.exceptions import warn
    from mercer.plots._tables import model_inside, nameless_rows

    names = learnt.names_of(fitted)
    model, seen = fitted, names or ()
    if isinstance(fitted, learnt.OnTables):
        model, seen = model_inside(fitted), fitted.encoder_.groups_
    display = _display(kind)
    takes = signature(display).parameters
    settings = _options(kind, takes, style)
    if "image_shape" in takes:
        settings.setdefault("image_shape", mercer.io.image_shape(names))
        if kind == "relevance" and settings["image_shape"] is not None:
            settings["kind"] = "images"
    with tables.open_if_named(data, reading, fitted) as table, nameless_rows():
        if "uncertainty" in settings:
            settings["uncertainty"] = model.uncertainty(None if table is None else table.rows)
        if table is None:
            return display(model, **settings).figure_
        if kind == "roc" and reading.label in seen:
            fit = f"'mercer fit DATA --label {quote(str(reading.label))}'"
            known = f"{reading.label!r} is one of the columns that the model has learnt from"
            warn(f"{known}, so it knows the truth. Fit without it: {fit}.")
        if reading.label is not None and "label_name" in takes:
            settings["label_name"] = reading.label
        return display(model, table.rows[:], y=_as_numbers(table.label), **settings).figure_


def _display(kind: str) -> Any:
    return getattr(mercer.plots, KINDS[kind][0]).from_estimator


def _options(kind: str, takes: Any, style: Style) -> dict[str, Any]:
    """Options of the display; those that this kind of picture does not use are refused."""
    names = ("image_shape", "cmap", "components", "positive")
    settings = {name: value for name in names if (value := getattr(style, name)) is not None}
    settings |= {"uncertainty": None} if style.intervals else {}
    for name in settings:
        if name not in takes:
            fits = [k for k in KINDS if k != "live" and name in signature(_display(k)).parameters]
            said = "--intervals" if name == "uncertainty" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{said} goes with {', '.join(fits)}, not with {kind}")
    if kind == "biplot" and isinstance(settings.get("components"), int):
        raise click.UsageError("--components of a biplot must be two, such as 0,1")
    if "cmap" in settings:
        from matplotlib import colormaps

        if (name := settings["cmap"]) not in colormaps:
            raise click.UsageError(f"--cmap: matplotlib has no '{name}', but gray, viridis, ...")
    return settings


def _as_numbers(labels: Targets) -> Any:
    """Labels as numbers if all of them are, so that many different ones become a scale."""
    import numpy as np

    if labels is None or labels.dtype.kind in "iu":
        return labels
    try:
        return np.where(labels == "", "nan", labels).astype(float)
    except ValueError:
        return labels


def _page(
    fitted: Estimator, data: str | None, reading: options.Reading, style: Style, name: str
) -> bytes:
    """The live page of a model, and of the rows where they are given."""
    from mercer.live.page import page_of
    from mercer.plots._tables import nameless_rows

    names = learnt.names_of(fitted)
    given = _options("live", ("image_shape",), style)
    images = given.get("image_shape") or mercer.io.image_shape(names)
    look = {"names": names, "encoder": vars(fitted).get("encoder_"), "title": style.title or name}
    with tables.open_if_named(data, reading, fitted) as table, nameless_rows():
        rows, labels = (None, None) if table is None else (table.rows, _as_numbers(table.label))
        return page_of(learnt.of_vectors(fitted), rows, labels, images, **look).encode()


@command("Explore data or a model in the browser.")
def explore(
    *,
    source: Path | None = argument(required=False, metavar="[DATA|MODEL]"),
    host: str = option("The address to listen on.", "127.0.0.1"),
    port: int = option("The port; 0 takes any free one.", 0, type=click.IntRange(0, 65535)),
    token: str | None = option("A secret for the address; needed where others can reach --host."),
    no_browser: bool = option("Print the address without opening a browser."),
    places: Path | None = maps.MAP,
) -> None:
    """Explore DATA or a MODEL in the browser, or files that you drop on the page.

    Two components keep few neighbours together; with --map the page shows a map that UMAP or t-SNE
    has made. Then, and of a model that was fitted with it, the page is a file beside, named by the
    data: it needs no server.

    Only this machine can reach the page, and only with the token in its address. Stop with Ctrl-C.
    It needs more packages: pip install starlette uvicorn websockets.
    """
    if source is not None and not source.exists():
        raise Failure(f"there is no file '{source}'{similar_file(source) or '; check its name.'}")
    if source is not None and source.is_dir() and not any(source.glob("*.png")):
        from mercer.io.arrays import parquet_files

        parquet_files(source)  # reports it if there are none
    if places is not None and source is None:
        raise click.UsageError("--map is the map of some rows; name their file, too")
    model = source is not None and source.suffix == ".mercer"
    if source is not None and (places is not None or (model and maps.holds_map(source))):
        page = maps.page_of(source, places).resolve()  # which needs no server
        maps.show_address(page.as_uri(), no_browser)
        return
    for package in ("starlette", "uvicorn", "websockets"):
        require(package, "explore")
    from mercer.live.server import is_loopback, open_server

    if token is None and not is_loopback(host):
        raise click.UsageError(f"others can reach '{host}'; give a secret with --token")
    with open_server(source, host=host, port=port, token=token) as served:
        maps.show_address(served.url, no_browser)
        console.remark("stop with Ctrl-C")
        with stopped_by(served.stop):
            served.run()
