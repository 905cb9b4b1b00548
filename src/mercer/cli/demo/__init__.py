"""``mercer demo``: what kernel PCA can do, in about a minute; a table, a report and models."""

from pathlib import Path
from typing import Any

import click

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

    data, errors = results.digits, {}
    for rows in zip(*(study.results for study in results.studies), strict=True):
        errors[rows[0].method] = "   ".join(f"{r.error:.3f} {r.read:6.1%}" for r in rows)
    noises = " and ".join(study.noise for study in results.studies)
    title = f"Denoising of {noises} noise: root mean square error per pixel, and share recognised"
    size = f"{len(data.X):,} handwritten digits, judged by {len(data.X_test):,} others"
    console.summary(f"Kernel PCA on {size}\n\n{title}", errors)
    console.summary("And more", in_words(results))
    places = {
        "Report:": folder / "report.html",
        "Try:": f"{folder / 'live.html'}, an interactive model",
        "Models:": ", ".join(f"{name}.mercer" for name in results.models),
        "Next:": "mercer fit YOURS.csv -o yours.mercer",
    }
    for word, place in places.items():
        click.echo(f"{word:<8} {place}")
