"""The terminal: results on standard output, progress and remarks on standard error."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table


class Terminal(Console):
    """A console that reports a closed pipe to :func:`mercer.cli.run.main`."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error again; rich would end the process with status 1."""
        raise BrokenPipeError


def asked_for(option: str) -> bool:
    """Whether the command that runs was given ``"json"`` or ``"quiet"``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(f"mercer.{option}"))


def remark(message: str) -> None:
    """One line on standard error that is not a warning; nothing with ``--quiet``."""
    if not asked_for("quiet"):
        print(f"mercer: {message}", file=sys.stderr, flush=True)  # noqa: T201


def as_json(value: Any) -> bool:
    """With ``--json`` print the result as one document, numpy's numbers as plain ones; else False.

    So that ``if not as_json(facts):`` goes on with words for people.
    """
    if asked_for("json"):
        print(json.dumps(value, indent=2, default=_plain, ensure_ascii=False))  # noqa: T201
    return asked_for("json")


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def summary(title: str, lines: Mapping[str, str]) -> None:
    """A small table of names and values on standard output."""
    table = Table(show_header=False, box=SIMPLE_HEAD)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in lines.items():
        table.add_row(name, value)
    terminal = Terminal(highlight=False)
    terminal.print(f"[bold]{escape(title)}[/bold]", soft_wrap=True)
    terminal.print(table)


@contextlib.contextmanager
def progress() -> Iterator[None]:
    """Show the stages of long work with the time left, if a person watches standard error."""
    terminal = Terminal(stderr=True)
    if asked_for("quiet") or not terminal.is_terminal:
        yield
        return
    from mercer import listen

    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=terminal, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=None)
            bars.update(tasks[stage], completed=done, total=total or None)

        with listen(show):
            yield
