"""The terminal: rich's console, made to keep the command line's law on closed pipes."""

from typing import NoReturn

from rich.console import Console

__all__ = ["Terminal"]


class Terminal(Console):
    """A console that reports a closed pipe to :func:`mercer.cli.run.main`."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error again; rich would end the process with status 1."""
        raise BrokenPipeError
