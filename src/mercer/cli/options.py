"""What commands share: options, as small objects, and modules that are loaded late."""

import csv
import functools
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

import mercer
from mercer._base.spelling import closest
from mercer._base.types import Names


class _Late:
    """A module that takes long to load, and is loaded on first use: ``--help`` does not wait."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


if TYPE_CHECKING:
    from mercer.cli import console as console
    from mercer.cli import tables as tables
    from mercer.model import model
    from mercer.tables import frames as frames
    from mercer.tables import missing as missing
    from mercer.tables import opening as opening

    learnt = model
else:
    console, tables = _Late("mercer.cli.console"), _Late("mercer.cli.tables")
    frames, opening = _Late("mercer.tables.frames"), _Late("mercer.tables.opening")
    missing, learnt = _Late("mercer.tables.missing"), _Late("mercer.model.model")

#: Endings of tables; written out here, so that --help need not import the library.
DATA = (
    *(".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow"),
    *(".xlsx", ".xlsm", ".xls", ".ods"),
)
FORMATS = ("csv", "tsv", "npy", "npz", "parquet")
Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


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
    """A level of noise, one for each column, or the words for noise that is not Gaussian."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A positive number, several of them, or one of the words."""
        if str(value).partition(":")[0] in ("columns", "independent", "poisson", "speckle"):
            return value
        parts: list[Any] = str(value).split(",")
        try:
            [float(part) for part in parts]
        except ValueError:
            words = "columns, independent, poisson, speckle or speckle:SHARE"
            known = f"a number, several separated by commas, {words}"
            self.fail(f"'{value}' is not a noise level; give {known}.", param, ctx)
        levels = [super(Noise, self).convert(part, param, ctx) for part in parts]
        return levels if len(levels) > 1 else levels[0]


def which_was_meant(word: str, words: Sequence[str]) -> str:
    """``Did you mean 'gaussian'?``, or nothing."""
    guess = closest({"arpack": "lanczos", "rbf": "gaussian"}.get(word, word), words)
    return "" if guess is None else f" Did you mean '{guess}'?"


def as_one(
    argument: str, make: Any, *options: Decorator, then: Callable[[Any], Any] = lambda made: made
) -> Decorator:
    """Options that reach a command as one argument: ``then(make(...))`` of their values."""
    names = inspect.signature(make).parameters

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def wrapper(**values: Any) -> Any:
            taken = {name: values.pop(name) for name in names if name in values}
            return function(**{argument: then(make(**taken))}, **values)

        command: Command = wrapper
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_FLAGS = {
    "--json": "Print the result as JSON.",
    "-q --quiet": "No progress and no remarks.",
    "--debug": "Show tracebacks.",
}


class _Speaking(click.Command):
    """With ``--json``, ``--quiet`` and ``--debug``, which :mod:`mercer.cli.console` asks for."""

    def __init__(self, **attributes: Any) -> None:
        kind: Any = {"is_flag": True, "expose_value": False, "callback": _note}
        flags = [click.Option(names.split(), help=help, **kind) for names, help in _FLAGS.items()]
        attributes["params"] = [*attributes["params"], *flags]
        super().__init__(**attributes)


#: What every command is declared with.
command = functools.partial(click.command, cls=_Speaking)


def _note(context: click.Context, option: click.Parameter, value: Any) -> None:
    context.meta[f"mercer.{option.name}"] = value


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
    except DataError:  # the command itself reports what is wrong
        return []
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


def option(default: Any = None, **how: Any) -> Any:
    """A field of a dataclass that is an option of the same name; ``how`` is as click has it."""
    return field(default=default, metadata=how)


def options_of(record: Any, *names: str) -> list[Decorator]:
    """The options that the fields of a dataclass declare; some by name, or all."""
    decorators: list[Decorator] = []
    for part in fields(record):
        if part.metadata and (not names or part.name in names):
            how = {"default": part.default or None, **part.metadata}
            decorators.append(click.option(f"--{part.name.replace('_', '-')}", **how))
    return decorators


def _column(help: str, metavar: str = "NAME", **how: Any) -> Any:
    return option(shell_complete=_complete_columns, metavar=metavar, help=help, **how)


def _columns(help: str) -> Any:
    return _column(help, "A,B,...", default=(), multiple=True, callback=_split)


data_argument = click.argument("data", type=click.Path(allow_dash=True))
optional_data = click.argument("data", type=click.Path(allow_dash=True), required=False)
model_argument = click.argument("model", type=click.Path(dir_okay=False))
_SEED: Any = {"type": click.IntRange(0), "default": 0, "help": "Seed for random numbers."}
seed_option = click.option("--seed", **_SEED)


def _one_of(words: Sequence[str], help: str) -> dict[str, Any]:
    """Settings of an option that takes one of some words, by default the first."""
    return {"type": OneOf(words), "default": words[0], "help": help}


def _noted(name: str, **how: Any) -> Decorator:
    """An option that :func:`mercer.cli.console.asked_for` asks for, as the flags are."""
    return click.option(name, expose_value=False, callback=_note, **how)


_MISSING = (
    "Missing values: fill them in, drop such rows, or refuse them; 'auto' fills them in, and "
    "drops rows in which every value is missing."
)
missing_option = click.option("--missing", **_one_of(["auto", "fill", "drop", "refuse"], _MISSING))
_FORMAT = "Format of standard input and output, where '-' is used for them."
format_option = _noted("--format", **_one_of(FORMATS, _FORMAT))
_DIGITS = "Decimals of numbers: as many as the columns themselves have, or all."
digits_option = _noted("--digits", **_one_of(["own", "all"], _DIGITS))


def force_option(help: str = "Replace an existing output.") -> Decorator:
    """``--force``."""
    return click.option("--force", is_flag=True, help=help)


def output_folder(default: str, what: str) -> Decorator:
    """``--output`` for commands that fill a folder."""
    kind: Any = {"type": click.Path(file_okay=False, path_type=Path), "default": Path(default)}
    return click.option("-o", "--output", help=f"Folder for {what}; created if needed.", **kind)


@dataclass(frozen=True)
class Reading:
    """What the options say about the table to read."""

    columns: tuple[str, ...] = _columns(
        "Use these columns only (numbers from 0, such as 0,2-4, where there are no names)."
    )
    drop: tuple[str, ...] = _columns("Leave these columns out.")
    label: str | None = _column("The column that names each row's class.")
    array: str | None = option(metavar="NAME", help="The array of an .npz archive or Zarr store.")
    keep: tuple[str, ...] = _columns("Columns that are copied to the output unchanged.")
    id: str | None = _column("The column that names the rows; copied to the output, too.")

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that go to the output as they are: the names of the rows first."""
        return tuple(dict.fromkeys((*(() if self.id is None else (self.id,)), *self.keep)))

    @property
    def beside(self) -> bool:
        """Whether columns go beside the results."""
        return bool(self.label or self.kept)

    def choice(self, like: Names | None = None, keep: Sequence[str] = ()) -> Any:
        """The columns to read, or those that a model is like: a :class:`mercer.io.Choice`."""
        return mercer.io.Choice(self.columns, self.drop, self.label, like, keep)


_HEADER_ROW = "The line of the file, from 1, that has the names of the columns."
#: What else is said about a file, wherever one is read: by :func:`mercer.cli.tables.located`.
_FILE = (
    format_option,
    _noted("--header-row", type=click.IntRange(1), metavar="LINE", help=_HEADER_ROW),
    _noted("--sheet", metavar="NAME", help="The sheet of a workbook, by name or number from 1."),
)
_READS = ("columns", "drop", "label", "array")
reads = as_one("reading", Reading, *options_of(Reading, *_READS), *_FILE)
reads_and_keeps = as_one("reading", Reading, *options_of(Reading), *_FILE)


@dataclass(frozen=True)
class Kinds:
    """What the options say about the kinds of columns; each option names some columns."""

    scale: str = option(
        "auto",
        type=OneOf(["auto", "std", "robust", "none"]),
        help="How numbers are scaled; 'auto' does not scale numbers that seem to share a unit.",
    )
    category: tuple[str, ...] = _columns("Columns of categories.")
    number: tuple[str, ...] = _columns("Columns of numbers.")
    date: tuple[str, ...] = _columns(
        "Columns of dates; write since:month or since:weekday+hour for periodic parts."
    )
    index: str | None = _column("The column that names the rows.")
    raw: bool = option(is_flag=True, help="Take the numbers as they are, and no other columns.")

    def encoder(self) -> Any:
        """The encoder that the options describe; None for raw numbers."""
        kinds = dict.fromkeys(self.category, "category") | dict.fromkeys(self.number, "number")
        kinds |= dict(map(_date_kind, self.date))
        kinds |= {} if self.index is None else {self.index: "index"}
        if self.raw and (kinds or self.scale != "auto"):
            raise click.UsageError("--raw takes numbers as they are; leave the other options out")
        return None if self.raw else mercer.TableEncoder(kinds, scale=self.scale)


def _date_kind(text: str) -> tuple[str, str]:
    """``since:month`` as the column ``since`` of the kind ``date:month``; others are names."""
    name, _, parts = text.rpartition(":")
    # Written out here, so that --help need not import the library.
    if name and set(parts.split("+")) <= {"month", "weekday", "hour"}:
        return name, f"date:{parts}"
    return text, "date"


encodes = as_one("encoder", Kinds, *options_of(Kinds), then=Kinds.encoder)


@dataclass(frozen=True)
class Output:
    """Where results go: a path, or None for standard output."""

    path: Path | None
    force: bool = False

    @classmethod
    def of(cls, output: str, force: bool) -> Self:
        """From the options; ``-`` is standard output."""
        return cls(None if output == "-" else Path(output), force)


def writes(what: str) -> Decorator:
    """``--output`` and ``--force``, as the argument ``output``; standard output if not given."""
    kind: Any = {"type": click.Path(allow_dash=True), "default": "-", "show_default": False}
    help = f"{what} The ending determines the format; '-' is standard output."
    path = click.option("-o", "--output", help=help, **kind)
    return as_one("output", Output.of, path, force_option())


def takes_rows(what: str, data: str = "data", *, needs_model: bool = True) -> Decorator:
    """A model and rows, and all that is said about these; ``what`` goes to the output."""
    # A single argument without a model is the data; click fills the first one.
    model = model_argument
    if not needs_model:
        model = click.argument("model", metavar="[MODEL]", required=False)
    path = click.Path(allow_dash=True)
    argument = click.argument("data", metavar=data.upper(), type=path, required=needs_model)

    def decorate(function: Command) -> Command:
        return model(argument(reads_and_keeps(writes(f"Where the {what} go.")(function))))

    return decorate
