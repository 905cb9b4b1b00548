"""What commands share: options, as small objects, and modules that are loaded late."""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import mercer
from mercer._base.spelling import closest


class _Late:
    """A module that takes long to load, and is loaded on first use: ``--help`` does not wait."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


if TYPE_CHECKING:
    from mercer.cli import console as console
    from mercer.cli import summary as summary
    from mercer.cli import tables as tables
    from mercer.tables import frames as frames
else:
    console, summary = _Late("mercer.cli.console"), _Late("mercer.cli.summary")
    tables, frames = _Late("mercer.cli.tables"), _Late("mercer.tables.frames")

FORMATS = ("csv", "tsv", "npy", "npz", "parquet")
Command = Callable[..., Any]


class OneOf(click.Choice):  # type: ignore[type-arg]  # click has it since 8.2
    """One of some words; the complaint about another says which may have been meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word, if it is one of them."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = which_was_meant(value, self.choices)
            if isinstance(param, click.Argument) and value.endswith(".mercer"):
                line = f"mercer plot {self.choices[0]} {value}"
                hint = f" {param.metavar} comes before MODEL: '{line}'."
            self.fail(f"{error.message}{hint}", param, ctx)


class Noise(click.FloatRange):
    """A level of noise, or the words by which the library knows other noise than Gaussian."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A number above zero, or the word."""
        is_word = str(value).partition(":")[0] in ("poisson", "speckle")
        return value if is_word else super().convert(value, param, ctx)


def which_was_meant(word: str, words: Sequence[str]) -> str:
    """``Did you mean 'gaussian'?``, or nothing."""
    guess = closest({"arpack": "lanczos", "rbf": "gaussian"}.get(word, word), words)
    return "" if guess is None else f" Did you mean '{guess}'?"


@dataclass(frozen=True)
class Reading:
    """What the options say about the table to read."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    label: str | None = None
    array: str | None = None
    format: str = "csv"
    keep: tuple[str, ...] = ()

    @property
    def beside(self) -> bool:
        """Whether columns go beside the results."""
        return bool(self.label or self.keep)

    def choice(self, like: Sequence[str] | None = None) -> Any:
        """The columns to read, or those that a model is like: a :class:`mercer.io.Choice`."""
        return mercer.io.Choice(self.columns, self.drop, self.label, like)


@dataclass(frozen=True)
class ColumnKinds:
    """What the options of ``mercer fit`` say about the columns of a table."""

    scale: str = "auto"
    kinds: Mapping[str, str] = field(default_factory=dict)
    raw: bool = False

    def encoder(self) -> Any:
        """The encoder that they ask for."""
        return mercer.TableEncoder(dict(self.kinds), scale=self.scale)


@dataclass(frozen=True)
class Output:
    """Where results go: a path, or None for standard output in a format."""

    path: Path | None
    force: bool = False
    format: str = "csv"


def _split(_context: click.Context, _option: click.Parameter, texts: Any) -> tuple[str, ...]:
    """Names from texts such as ``a,b``; quotes keep a comma."""
    return tuple(name.strip() for line in csv.reader(texts) for name in line)


def _complete_columns(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    """For the shell: the columns of the data, each after what stands before the last comma."""
    from click.shell_completion import split_arg_string

    from mercer.exceptions import DataError
    from mercer.io.look import TEXT, Look

    # click drops the arguments before an option without a value; the shell has the whole line.
    words = map(Path, split_arg_string(os.environ.get("COMP_WORDS", "")))
    files = [word for word in words if word.suffix.lower() in TEXT and word.is_file()]
    before, comma, begun = text.rpartition(",")
    try:
        names = [name for path in files[:1] for name in Look(path).names]
    except DataError:  # the command itself will say what is wrong
        return []
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


data_argument = click.argument("data", type=click.Path(allow_dash=True))
model_argument = click.argument("model", type=click.Path(dir_okay=False))
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="For random numbers."
)


def force_option(help: str = "Replace an existing output.") -> Callable[[Command], Command]:
    """``--force``."""
    return click.option("--force", is_flag=True, help=help)


format_option = click.option(
    "--format",
    type=OneOf(FORMATS),
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
    """``--json``, ``--quiet`` and ``--debug``; :mod:`mercer.cli.console` asks for the first two."""

    def flag(*names: str, help: str) -> Callable[[Command], Command]:
        return click.option(*names, is_flag=True, expose_value=False, callback=_note, help=help)

    function = flag("--debug", help="Show tracebacks.")(function)
    function = flag("-q", "--quiet", help="No progress and no remarks.")(function)
    return flag("--json", help="Print the result as JSON.")(function)


def _note(context: click.Context, option: click.Parameter, value: bool) -> None:
    context.meta[f"mercer.{option.name}"] = value


def reads(function: Command) -> Command:
    """The options of :class:`Reading`, as the argument ``reading``."""

    @_names_option(
        "--columns",
        "Use these columns only (numbers from 0, such as 0,2-4, where there are no names).",
    )
    @_names_option("--drop", "Leave these columns out.")
    @_name_option("--label", help="The column that names each row's class.")
    @click.option("--array", metavar="NAME", help="The array of an .npz archive or Zarr store.")
    @format_option
    @functools.wraps(function)
    def wrapper(*args: Any, **rest: Any) -> Any:
        names = ("columns", "drop", "label", "array", "format")
        reading = Reading(**{name: rest.pop(name) for name in names})
        return function(*args, reading=reading, **rest)

    return wrapper


def keeps(function: Command) -> Command:
    """``--id`` and ``--keep``, as a part of the argument ``reading``; belongs below ``reads``."""

    @_names_option("--keep", "Columns that go to the output as they are.")
    @click.option(
        "--id", "index", metavar="NAME", help="The column that names the rows; kept, too."
    )
    @functools.wraps(function)
    def wrapper(*args: Any, index: str | None, keep: tuple[str, ...], **rest: Any) -> Any:
        named = (*(() if index is None else (index,)), *keep)
        reading = replace(rest.pop("reading"), keep=tuple(dict.fromkeys(named)))
        return function(*args, reading=reading, **rest)

    return wrapper


def encodes(function: Command) -> Command:
    """The options of :class:`ColumnKinds`, as the argument ``kinds``."""

    @click.option(
        "--scale",
        type=OneOf(["auto", "std", "robust", "none"]),
        default="auto",
        show_default=True,
        help="Of numbers; 'auto' leaves those alone that seem to have one unit.",
    )
    @_names_option("--category", "Columns of categories.")
    @_names_option("--number", "Columns of numbers.")
    @_names_option(
        "--date", "Columns of dates; since:month, since:weekday+hour for parts that come again."
    )
    @_name_option("--index", help="The column that names the rows.")
    @click.option("--raw", is_flag=True, help="Take the numbers as they are; no other columns.")
    @functools.wraps(function)
    def wrapper(*args: Any, scale: str, index: str | None, raw: bool, **rest: Any) -> Any:
        kinds = {name: kind for kind in ("category", "number") for name in rest.pop(kind)}
        kinds |= dict(_date_kind(name) for name in rest.pop("date"))
        kinds |= {} if index is None else {index: "index"}
        if raw and (kinds or scale != "auto"):
            raise click.UsageError("--raw takes numbers as they are; leave the other options out")
        return function(*args, kinds=ColumnKinds(scale, kinds, raw), **rest)

    return wrapper


def _date_kind(text: str) -> tuple[str, str]:
    """``since:month`` as the column ``since`` of the kind ``date:month``; others are names."""
    name, _, parts = text.rpartition(":")
    # Written out, because --help shall not import the library.
    if name and set(parts.split("+")) <= {"month", "weekday", "hour"}:
        return name, f"date:{parts}"
    return text, "date"


def _names_option(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(
        name,
        multiple=True,
        callback=_split,
        shell_complete=_complete_columns,
        metavar="A,B,...",
        help=text,
    )


def _name_option(*names: str, help: str) -> Callable[[Command], Command]:
    return click.option(*names, shell_complete=_complete_columns, metavar="NAME", help=help)


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
        @force_option()
        @functools.wraps(function)
        def wrapper(*args: Any, output: str, force: bool, **rest: Any) -> Any:
            format = rest["reading"].format if "reading" in rest else rest.pop("format", "csv")
            path = None if output == "-" else Path(output)
            return function(*args, output=Output(path, force, format), **rest)

        return wrapper

    return decorate
