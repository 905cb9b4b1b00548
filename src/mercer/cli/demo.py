"""``mercer demo``: a complete fit on data that everybody has, in a few seconds."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["demo"]

SHARE = 0.8
SHOWN = 10


@click.command(short_help="Fit scikit-learn's digits: spectrum, choices, a picture.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("mercer-demo"),
    show_default=True,
    help="Folder for the picture; created if needed.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def demo(output: Path) -> None:
    """Fit kernel PCA to scikit-learn's 1,797 handwritten digits.

    Prints the spectrum with shares of the true variance, what was chosen and why, and writes the
    embedding as a picture, embedding.svg, into the output folder. Nothing is downloaded.
    """
    from mercer.cli.files import prepare_folder, replace_text

    prepare_folder(output, "--output")

    from sklearn.datasets import load_digits

    from mercer import KernelPCA
    from mercer.cli.console import Terminal
    from mercer.kernels import Gaussian

    digits = load_digits()
    X = digits.data / 16.0  # ink from 0 to 1
    kpca = KernelPCA(n_components=SHARE, kernel=Gaussian(gamma="median"), random_state=0).fit(X)

    terminal = Terminal()
    n, d = X.shape
    terminal.print(f"\n[bold]Kernel PCA of {n:,} handwritten digits[/bold], {d} pixels each\n")
    terminal.print(spectrum_table(kpca))
    print_choices(terminal, kpca)

    picture = output / "embedding.svg"
    replace_text(picture, embedding_picture(kpca, kpca.transform(X), digits.target))
    terminal.print(f"\nPicture: [bold]{picture}[/bold]", soft_wrap=True)
    terminal.print("Next:    from mercer import KernelPCA   (the README has a quick start)\n")


def spectrum_table(kpca: Any) -> "Table":
    """The leading eigenvalues with their shares of the true variance."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    share = kpca.explained_variance_ratio_
    title = f"Spectrum: the first {min(SHOWN, len(share))} of {len(share)} components"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for name in ("component", "eigenvalue", "share", "together"):
        table.add_column(name, justify="right")
    table.add_column("")
    for i in range(min(SHOWN, len(share))):
        table.add_row(
            f"{i + 1}",
            f"{kpca.eigenvalues_[i]:.2f}",
            f"{share[i]:.1%}",
            f"{share[: i + 1].sum():.1%}",
            "█" * max(1, round(24 * share[i] / share[0])),
        )
    return table


def print_choices(terminal: "Console", kpca: Any) -> None:
    """What was chosen, by whom and why: kernel width, number of components, solver, accuracy."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    report = kpca.report_
    table = Table(title="What was chosen", title_justify="left", show_header=False, box=SIMPLE_HEAD)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row(
        "kernel",
        f"Gaussian(gamma={kpca.kernel_.gamma:.4g}), one over the median squared distance",
    )
    table.add_row(
        "components",
        f"{kpca.n_components_}, which hold {kpca.explained_variance_ratio_.sum():.1%} "
        f"of the true variance (asked for {SHARE:.0%})",
    )
    table.add_row("solver", f"{report.solver} ({report.reason})")
    table.add_row("cost", f"{report.seconds:.2f} s, {report.bytes / 1e6:.0f} MB")
    table.add_row("residual", f"{kpca.residuals_.max():.1e} (largest of all eigenpairs)")
    terminal.print(table)


def embedding_picture(kpca: Any, Z: Any, target: Any) -> str:
    """Components 1-2 and 3-4 side by side, as SVG."""
    from mercer.cli.scatter import Panel, scatter_svg

    share = kpca.explained_variance_ratio_
    names = [f"component {i + 1} ({share[i]:.1%} of the variance)" for i in range(4)]
    return scatter_svg(
        [Panel(Z[:, :2], names[0], names[1]), Panel(Z[:, 2:4], names[2], names[3])],
        target,
        title="Handwritten digits under kernel PCA",
        note=(
            f"{len(Z):,} images of 8 × 8 pixels; Gaussian kernel of median width; "
            f"{len(share)} components hold {share.sum():.0%} of the variance."
        ),
    )
