"""``mercer demo``: what kernel PCA can do, in about a minute; a table, a report and models."""

from pathlib import Path
from typing import Any

from mercer.cli.options import command, console, output_folder, tables


@command("See what mercer does with images of digits; writes a report.")
def demo(output: Path = output_folder("mercer-demo", "the report and the models")) -> None:
    """Show what kernel PCA does to scikit-learn's 1,797 handwritten digits.

    Embeds them, removes noise beside linear PCA and scikit-learn's kernel PCA, with clean images to
    learn from and without, compresses the model, generates new digits and finds a digit that it has
    never seen. Prints the figures, and writes report.html and the models into the output folder.
    Nothing is downloaded.
    """
    tables.prepare_folder(output)  # before anything takes time

    from mercer._base.machine import one_blas_thread
    from mercer.cli.demo.report import write
    from mercer.cli.demo.study import facts_of, run

    # On matrices this small several BLAS threads lose more by waiting than they gain.
    with console.progress(), one_blas_thread():
        results = run()
    write(results, output)
    facts = {**facts_of(results), "report": str(output / "report.html")}
    if not console.as_json(facts) and not console.asked_for("quiet"):
        _print(results, output)


def _print(results: Any, folder: Path) -> None:
    from mercer.cli.demo.report import in_words

    terminal = console.Terminal(highlight=False)
    data = results.digits
    terminal.print(
        f"\n[bold]Kernel PCA on {len(data.X):,} handwritten digits[/bold], judged by "
        f"{len(data.X_test):,} others\n"
    )
    terminal.print(_denoising_table(results.studies))
    console.summary("And more", in_words(results))
    terminal.print(f"Report:  [bold]{folder / 'report.html'}[/bold]", soft_wrap=True)
    terminal.print(f"Try:     {folder / 'live.html'}, an interactive model", soft_wrap=True)
    names = ", ".join(f"{name}.mercer" for name in results.models)
    terminal.print(f"Models:  {names}", soft_wrap=True)
    terminal.print("Next:    mercer fit YOURS.csv -o yours.mercer\n", soft_wrap=True)


def _denoising_table(studies: Any) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = "Denoising: root mean square error per pixel, and share recognised correctly"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("method")
    for study in studies:
        table.add_column(f"{study.noise} noise", justify="right")
        table.add_column("read", justify="right")
    for results in zip(*(study.results for study in studies), strict=True):
        cells = [cell for r in results for cell in (f"{r.error:.3f}", f"{r.read:.1%}")]
        ours = results[0].method.startswith("mercer")
        table.add_row(results[0].method, *cells, style="bold" if ours else None)
    return table
