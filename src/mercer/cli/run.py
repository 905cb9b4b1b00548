"""The entry point, and the law that it keeps for every command.

A command either succeeds or prints one line that names the cause and a remedy. No traceback is
shown unless ``--debug`` asks for it.

====== ===========================================
status meaning
====== ===========================================
0      done
1      failed
2      wrong usage
3      the data cannot be used
4      the model file cannot be used
5      a solver did not converge
6      rows have drifted (``mercer drift``)
130    interrupted with Ctrl-C
141    the reader of the output went away
143    terminated (SIGTERM), after cleaning up
====== ===========================================
"""

import contextlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import click

from mercer import __version__
from mercer.cli.demo import demo
from mercer.cli.drift import drift
from mercer.cli.faults import describe, instead_of
from mercer.cli.fit import fit, tune
from mercer.cli.info import convert, info
from mercer.cli.judge import novelty, relevance, score
from mercer.cli.plot import explore, plot
from mercer.cli.reproduce import reproduce
from mercer.cli.rows_to_rows import denoise, impute, inverse, sample, transform
from mercer.cli.stop import Terminated, interruptible


class _InOrder(click.Group):
    """Lists the commands in the order in which they are used, not alphabetically."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command, or what to type instead of one that people try."""
        if args[0] not in self.commands and (instead := instead_of("commands", args[0])):
            ctx.fail(f"No such command '{args[0]}'; {instead}.")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_InOrder,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    invoke_without_command=True,
    commands=[
        *(demo, fit, tune, transform, inverse, denoise, impute, score, novelty, drift, relevance),
        *(sample, info, plot, explore, convert, reproduce),
    ],
    epilog="Start with: mercer demo",
)
@click.version_option(__version__, prog_name="mercer")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def mercer(context: click.Context) -> None:
    """Kernel PCA for real work: embed, denoise, generate, fill in and find what is new."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


CLOSED_PIPE = 141
#: How a signal ends a command: a word for it, and the exit status.
_ENDS = {KeyboardInterrupt: ("interrupted", 130), Terminated: ("terminated", 143)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``mercer`` with ``argv`` (default: the process's arguments) and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name.

    Returns
    -------
    int
        One of the statuses in the table of :mod:`mercer.cli.run`.

    Examples
    --------
    >>> from mercer.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    mercer, version ...
    0
    """
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        with _plain_warnings():
            return interruptible(lambda: _run(args), hurry=_leave)
    except (KeyboardInterrupt, Terminated) as error:
        if argv is None:  # the process ends now; a second Ctrl-C must not change its status
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return _end(error)
    except BrokenPipeError:
        # Python's own last flush goes nowhere, and raises nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE


def _run(args: list[str]) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An ASCII-only terminal gets "?" for a bar of the spectrum instead of an error.
        sys.stdout.reconfigure(errors="replace")
    if instruction := os.environ.get("_MERCER_COMPLETE"):
        from click.shell_completion import shell_complete

        return shell_complete(mercer, {}, "mercer", "_MERCER_COMPLETE", instruction)
    try:
        with mercer.make_context("mercer", list(args)) as context:
            status = mercer.invoke(context)
        sys.stdout.flush()  # a closed pipe or a full disk must be noticed here, not at exit
    except click.exceptions.Exit as done:  # --help and --version end in this way
        sys.stdout.flush()
        return done.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        raise
    except Exception as error:
        # Looked up in the raw arguments, because parsing them may be what failed (and click
        # empties the list that it parses).
        if "--debug" in args:
            import traceback

            traceback.print_exc()
        text, status = describe(error)
        _say(f"error: {text}")
        return status
    return status if isinstance(status, int) else 0


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print a warning as one line, once, without the file and line that Python adds."""
    shown = set()

    def show(message: Warning | str, *_where: object, **_how: object) -> None:
        from mercer.exceptions import said

        if (text := said(message, "shell")) not in shown:
            shown.add(text)
            _say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _leave(error: BaseException) -> None:
    """End the process now, since the work does not react."""
    status = _end(error)
    if (atomic := sys.modules.get("mercer._base.files")) is not None:  # else nothing was written
        atomic.remove_temporary()
    os._exit(status)


def _end(error: BaseException) -> int:
    word, status = _ENDS[type(error)]
    _say(word)
    return status


def _say(message: str) -> None:
    """Print one line on standard error; it does not matter if that is closed."""
    with contextlib.suppress(OSError):
        print(f"mercer: {' '.join(message.split())}", file=sys.stderr, flush=True)  # noqa: T201
