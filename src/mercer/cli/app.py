"""The ``mercer`` group: its options, and one line per command."""

import click

from mercer import __version__
from mercer.cli.demo import demo

__all__ = ["mercer"]


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog="Start with: mercer demo",
)
@click.version_option(__version__, prog_name="mercer")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def mercer(context: click.Context) -> None:
    """Kernel PCA for real work: embed, denoise and measure novelty."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


mercer.add_command(demo)
