"""The ``mercer`` group: its options, and one line per command."""

from typing import Any

import click

from mercer import __version__
from mercer.cli.convert import convert
from mercer.cli.demo import demo
from mercer.cli.explore import explore
from mercer.cli.fit import fit
from mercer.cli.info import info
from mercer.cli.judge import novelty, score
from mercer.cli.plot import plot
from mercer.cli.relevance import relevance
from mercer.cli.reproduce import reproduce
from mercer.cli.rows_to_rows import denoise, impute, inverse, transform
from mercer.cli.sample import sample
from mercer.cli.tune import tune
from mercer.cli.usage import COMMANDS


class _InOrder(click.Group):
    """Lists the commands in the order in which they are used, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command, or what to type instead of one that people try."""
        if (instead := COMMANDS.get(args[0].lower())) and args[0] not in self.commands:
            ctx.fail(f"No such command '{args[0]}'; {instead}.")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_InOrder,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog="Start with: mercer demo",
)
@click.version_option(__version__, prog_name="mercer")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def mercer(context: click.Context) -> None:
    """Kernel PCA for real work: embed, denoise, generate, fill in and find what is new."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    *(demo, fit, tune, transform, inverse, denoise, impute, score, novelty, relevance, sample),
    *(info, plot, explore, convert, reproduce),
):
    mercer.add_command(command)
