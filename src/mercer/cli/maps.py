"""``--map`` of ``mercer fit`` and ``mercer explore``: a map that another tool has made."""

import time
from pathlib import Path
from typing import Any

import click

import mercer
from mercer.cli.models import Recipe
from mercer.cli.options import FILE, Kinds, Reading, console, learnt, option, tables

MAP = option(
    "A map of the rows that another tool has made (UMAP, t-SNE, ...): one place for each row, in "
    "their order. The model then goes both ways between rows and places.",
    names="--map",
    type=FILE,
    metavar="FILE",
)


def fit_map(data: str, places: Path, reading: Reading, kinds: Kinds, seed: int) -> tuple[Any, Any]:
    """The model of both ways, on tables if the rows are one; and the rows."""
    plain = _without_names(places)
    with tables.open_input(str(places), plain, allow_nan=True) as table:
        Z, names = table.rows[:], table.rows.columns
    model = mercer.MapModel(random_state=seed)
    opening = tables.open_for_fit(data, reading, kinds.encoder(), model, kinds.missing)
    with opening as opened, console.progress():
        model.fit(opened.table.rows[:], opened.part(Z))
    model.map_names_ = None if names is None else [str(name) for name in names]
    return opened.whole(model), opened.table.rows


def _without_names(places: Path) -> Reading:
    """Coordinates, without row numbers (as pandas writes them) and classes; says what is unused."""
    from mercer.tables.deciding import is_id_name

    with tables.located(str(places), Reading()) as look:
        names = look.names if look.has_names else []
        aside = [name for name in names if name in look.non_numeric or is_id_name(name)]
    if not aside or len(aside) == len(names):
        return Reading()
    shown = mercer.io.files.names_text(aside)
    console.remark(f"{shown} in '{places}' {'is' if len(aside) == 1 else 'are'} not used")
    return Reading(drop=tuple(aside))


def save_map(fitted: Any, rows: Any, target: Path, started: float) -> None:
    """Write the model, and say what was chosen."""
    fitted.save(target)
    model = learnt.of_vectors(fitted)
    back, sure = model.back_, model.certainty_
    facts = {
        "model": type(model).__name__,
        "output": str(target),
        "rows": rows.shape[0],
        "columns": rows.shape[1],
        "dimensions": model.embedding_.shape[1],
        "kernel": repr(back.kernel),
        "alpha": back.alpha,
        "landmarks": len(back.centres),
        "n_neighbors": model.forth_.count,
        "error_back": float((sure.missed**2).mean() ** 0.5),
        "seconds": time.perf_counter() - started,
    }
    if not console.as_json(facts):
        lines = dict(model._table().rows)
        console.summary(f"MapModel → {target}", {**lines, "took": f"{facts['seconds']:.2g} s"})


def refuse_others(recipe: Recipe, dry_run: bool) -> None:
    """What is said about kernel PCA means nothing to a map that is there already."""
    if recipe != Recipe(seed=recipe.seed) or dry_run:
        others = "--model, --dry-run and the options of kernel, components and solver"
        raise click.UsageError(f"--map brings a finished map; leave {others} out")


def holds_map(path: Path) -> bool:
    """Whether the file holds such a model, by the names of its arrays."""
    from mercer.io.model_file import describe

    return any("back.centres" in tensor.name for tensor in describe(path).tensors)


def page_of(source: Path, places: Path | None) -> Path:
    """Write the page of a model, or of rows and their map, beside the source; its path."""
    from mercer.live import write_html

    target = Path(source.stem + ".html")
    ours = target.is_file() and b'"entry": "map_page"' in target.read_bytes()
    tables.check_target(target, force=ours)
    if places is None:
        fitted = mercer.load(source)
    else:
        fitted, _ = fit_map(str(source), places, Reading(), Kinds(), 0)
    names = None if isinstance(fitted, learnt.OnTables) else learnt.names_of(fitted)
    return write_html(fitted, target, images=mercer.io.image_shape(names))


def show_address(address: str, no_browser: bool) -> None:
    """Say where a page is, and open it."""
    if not console.as_json({"url": address}):
        click.echo(address)
    if not no_browser:
        import webbrowser

        webbrowser.open(address)
