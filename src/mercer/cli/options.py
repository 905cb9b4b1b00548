"""Options that several commands share, handed to them as small objects."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

__all__ = ["FORMATS", "Output", "Reading", "data_argument", "model_argument", "reads", "speaks"]
__all__ += ["format_option", "output_folder", "seed_option", "writes"]

FORMATS = ("csv", "tsv", "npy", "npz", "parquet")
Command = Callable[..., Any]


@dataclass(frozen=True)
class Reading:
    """What the options say about the table to read."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    label: str | None = None
    array: str | None = None
    format: str = "csv"

    @property
    def chooses(self) -> bool:
        """Whether anything is said about columns or arrays."""
        return bool(self.columns or self.drop or self.label or self.array)


@dataclass(frozen=True)
class Output:
    """Where results go: a path, or None for standard output in a format."""

    path: Path | None
    force: bool = False
    format: str = "csv"


def _split(_context: click.Context, _option: click.Parameter, texts: Any) -> tuple[str, ...]:
    """Names from texts such as ``a,b``; quotes keep a comma."""
    return tuple(name.strip() for line in csv.reader(texts) for name in line)


data_argument = click.argument("data", type=click.Path(allow_dash=True))
model_argument = click.argument("model", type=click.Path(dir_okay=False))
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="For random numbers."
)
format_option = click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="csv",
    show_default=True,
    help="Format of standard input and output, where '-' stands for them.",
)


def output_folder(default: str, what: str) -> Callable[[Command], Command]:
    """``--output`` for commands that fill a folder."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(default),
        show_default=True,
        help=f"Folder for {what}; created if needed.",
    )


def speaks(function: Command) -> Command:
    """``--json``, ``--quiet`` and ``--debug``."""
    for option in (
        click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks."),
        click.option("-q", "--quiet", is_flag=True, help="No progress and no remarks."),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    ):
        function = option(function)
    return function


def reads(function: Command) -> Command:
    """The options of :class:`Reading`, as the argument ``reading``."""

    @click.option(
        "--columns",
        multiple=True,
        callback=_split,
        metavar="A,B,...",
        help="Use these columns only (numbers from 0, such as 0,2-4, where there are no names).",
    )
    @click.option(
        "--drop", multiple=True, callback=_split, metavar="A,B,...", help="Leave these columns out."
    )
    @click.option("--label", metavar="NAME", help="The column that names each row's class.")
    @click.option("--array", metavar="NAME", help="The array of an .npz archive or Zarr store.")
    @format_option
    @functools.wraps(function)
    def wrapper(
        *args: Any,
        columns: tuple[str, ...],
        drop: tuple[str, ...],
        label: str | None,
        array: str | None,
        format: str,
        **rest: Any,
    ) -> Any:
        return function(*args, reading=Reading(columns, drop, label, array, format), **rest)

    return wrapper


def writes(what: str) -> Callable[[Command], Command]:
    """``--output`` and ``--force``, as the argument ``output``; standard output if not given."""

    def decorate(function: Command) -> Command:
        @click.option(
            "-o",
            "--output",
            type=click.Path(allow_dash=True),
            default="-",
            help=f"{what} The ending decides on the format; '-' is standard output.",
        )
        @click.option("--force", is_flag=True, help="Replace an existing output.")
        @functools.wraps(function)
        def wrapper(*args: Any, output: str, force: bool, **rest: Any) -> Any:
            format = rest["reading"].format if "reading" in rest else rest.pop("format", "csv")
            path = None if output == "-" else Path(output)
            return function(*args, output=Output(path, force, format), **rest)

        return wrapper

    return decorate
