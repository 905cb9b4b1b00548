"""``mercer reproduce``: the papers' tables and figures, run again, with a verdict for each."""

from pathlib import Path
from typing import Any

import click

from mercer.cli.options import SEED, argument, command, console, option, output_folder, tables


@command("Reproduce the papers' tables and figures, with a verdict for each.")
def reproduce(
    what: tuple[str, ...] = argument(nargs=-1, metavar="[all | PAPER[/ITEM]]..."),
    fast: bool = option(
        "As few draws as the verdicts need, or as many as the documentation shows.",
        True,
        names="--fast/--full",
    ),
    data: Path | None = option(
        "Folder with usps.npz, mnist.npz, Pima.tr.csv and Pima.te.csv.",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        envvar="MERCER_DATA",
        show_envvar=True,
    ),
    offline: bool = option("Fetch nothing from OpenML; what is missing is replaced by a stand-in."),
    output: Path = output_folder("mercer-papers", "pictures, numbers and report.html"),
    seed: int = SEED,
) -> None:
    """Run tables and figures of the papers again, and compare.

    Names are 'all', a paper (mika1999) or one item (mika1999/table1); without any, the items are
    listed. Each prints a verdict that is computed from its numbers, and leaves a picture, the
    numbers and the paper's own beside them in the output folder, with report.html over all.

    USPS, MNIST and Pima are not part of mercer: they come from --data, else from OpenML, else
    scikit-learn's own data stand in and the verdict says so.
    """  # fmt: skip
    from mercer import papers

    if not what:
        _list(papers.ITEMS)
        return
    from mercer.exceptions import MercerError
    from mercer.papers.report import record

    try:
        items = papers.select(*what)
    except MercerError as error:
        raise click.UsageError(str(error)) from error
    tables.prepare_folder(output)
    setting = papers.Setting(not fast, papers.Sources(data, offline), seed)
    silent = console.asked_for("quiet") or console.asked_for("json")
    with console.progress():
        outcomes = papers.reproduce(items, setting, output, *(() if silent else (_print,)))
    if not console.as_json([record(outcome) for outcome in outcomes]) and not silent:
        good = sum(outcome.result.verdict.reproduced for outcome in outcomes)
        click.echo(f"\n{good} of {len(outcomes)} reproduced. Report: {output / 'report.html'}")


def _print(outcome: Any) -> None:
    seconds = f"({outcome.seconds:.1f} s)"
    click.echo(f"{outcome.item.key:<22} {outcome.result.verdict} {seconds}")


def _list(items: Any) -> None:
    if not console.as_json([{"item": item.key, "title": item.title} for item in items]):
        lines = [f"{item.key:<22} {item.title}" for item in items]
        click.echo("\n".join([*lines, "\nRun one, all of a paper, or all: mercer reproduce all"]))
