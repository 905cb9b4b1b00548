"""What commands share: parameters that signatures declare, and modules that are loaded late."""

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from inspect import getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

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
ENDINGS = (
    *(".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow"),
    *(".xlsx", ".xlsm", ".xls", ".ods"),
)
FORMATS = ("csv", "tsv", "npy", "npz", "parquet")


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


def noise_level(text: str) -> Any:
    """A level of noise, one for each column, or the words for noise that is not Gaussian."""
    if text.partition(":")[0] in ("columns", "independent", "poisson", "speckle"):
        return text
    try:
        levels = [float(part) for part in text.split(",")]
    except ValueError:
        levels = []
    if not levels or not all(level > 0 for level in levels):
        raise click.BadParameter(
            f"'{text}' is not a noise level; give a positive number, several separated by commas, "
            "columns, independent, poisson, speckle or speckle:SHARE."
        )
    return levels if len(levels) > 1 else levels[0]


def which_was_meant(word: str, words: Sequence[str]) -> str:
    """``Did you mean 'gaussian'?``, or nothing."""
    guess = closest({"arpack": "lanczos", "rbf": "gaussian"}.get(word, word), words)
    return "" if guess is None else f" Did you mean '{guess}'?"


def option(help: str, default: Any = None, **how: Any) -> Any:
    """The default of a command's parameter, or of a field of its records, that is an option.

    It has the same name unless ``names`` says another, such as ``-n --count``; ``how`` is as click
    has it.
    """
    return field(default=default, metadata={"help": help, **how})


def one_of(help: str, *words: str, **how: Any) -> Any:
    """An option that is one of some words, by default the first."""
    return option(help, words[0], type=OneOf(words), **how)


def argument(**how: Any) -> Any:
    """The same for an argument, which has no dashes."""
    return field(metadata=how)


def command(short_help: str, **how: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command that takes what its function takes.

    A parameter is an :func:`option` or :func:`argument` by its default, or a record by its
    annotation: a dataclass, the fields of which are options. Records may share some.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        takes = [(p.name, p.annotation, p.default) for p in signature(function).parameters.values()]

        def run(**values: Any) -> Any:
            return function(**{name: _made(name, kind, values) for name, kind, _ in takes})

        params = {part[0]: _parameter(*part) for part in _flat(takes)}
        texts = {"help": getdoc(function), "short_help": short_help, **how}
        every = [*params.values(), *_FLAGS]
        return click.Command(function.__name__, callback=run, params=every, **texts)

    return decorate


_Declared = tuple[str, Any, Any]  # a name, its annotation and default


def _parts_of(record: Any) -> list[_Declared]:
    return [(p.name, p.type, p) for p in fields(record) if p.metadata or is_dataclass(p.type)]


def _flat(takes: Iterable[_Declared]) -> Iterator[_Declared]:
    """Options and arguments, those of records in their place."""
    for name, kind, default in takes:
        if is_dataclass(kind):
            yield from _flat(_parts_of(kind))
        else:
            yield name, kind, default


def _made(name: str, kind: Any, values: Mapping[str, Any]) -> Any:
    """The value of a parameter, or the record that is made of several."""
    if is_dataclass(kind):
        make: Any = kind
        return make(**{part: _made(part, its, values) for part, its, _ in _parts_of(kind)})
    return values[name]


def _parameter(name: str, annotation: Any, declared: Any) -> click.Parameter:
    """An option or argument as click has it."""
    how = dict(declared.metadata)
    if annotation is bool:
        how["is_flag"] = True
    if Path in (annotation, *get_args(annotation)):
        how.setdefault("type", click.Path(path_type=Path))
    if "help" not in how:
        return click.Argument([name], **how)
    own = "-o --output" if name == "output" else f"--{name.replace('_', '-')}"
    names = how.pop("names", own).split()
    return click.Option([*names, name], default=declared.default, **how)


#: What every command takes, and :func:`mercer.cli.console.asked_for` asks for.
_FLAGS = [
    click.Option(["--json"], is_flag=True, help="Print the result as JSON."),
    click.Option(["-q", "--quiet"], is_flag=True, help="No progress and no remarks."),
    click.Option(["--debug"], is_flag=True, help="Show tracebacks."),
]


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


def _column(help: str, metavar: str = "NAME", **how: Any) -> Any:
    return option(help, shell_complete=_complete_columns, metavar=metavar, **how)


def _columns(help: str) -> Any:
    return _column(help, "A,B,...", default=(), multiple=True, callback=_split)


MODEL = argument(type=click.Path(dir_okay=False))
DATA = argument(type=click.Path(allow_dash=True))
OPTIONAL_DATA = argument(type=click.Path(allow_dash=True), required=False)
NOISE = option(
    "Standard deviation of the noise in the rows, in units of the rows (of their standard "
    "deviations where columns are scaled); or several, such as 0.5,2,0.1, one for each column in "
    "its own unit; 'columns' estimates one for each column; or 'poisson', 'speckle', "
    "'speckle:SHARE', or 'independent' for noise of any kind that columns do not share. Clean "
    "examples get noise of one level, or half their standard deviation.  [default: estimated]",
    type=noise_level,
    metavar="LEVEL",
)
FILE = click.Path(dir_okay=False, path_type=Path)
RATE = click.FloatRange(0, 1, min_open=True, max_open=True)
SEED = option("Seed for random numbers.", 0, type=click.IntRange(0))
FORCE = option("Replace an existing output.")
_FORMAT = "Format of standard input and output, where '-' is used for them."
FORMAT = one_of(_FORMAT, *FORMATS)
_DIGITS = "Decimals of numbers: as many as the columns themselves have, or all."
DIGITS = one_of(_DIGITS, "own", "all")
_MISSING = (
    "Missing values: fill them in, drop such rows, or refuse them; 'auto' fills them in, and "
    "drops rows in which every value is missing."
)


def output_folder(default: str, what: str) -> Any:
    """``--output`` of commands that fill a folder."""
    help = f"Folder for {what}; created if needed."
    return option(help, Path(default), type=click.Path(file_okay=False, path_type=Path))


@dataclass(frozen=True)
class Reading:
    """What the options say about the table to read."""

    columns: tuple[str, ...] = _columns(
        "Use these columns only (numbers from 0, such as 0,2-4, where there are no names)."
    )
    drop: tuple[str, ...] = _columns("Leave these columns out.")
    label: str | None = _column("The column that names each row's class.")
    array: str | None = option("The array of an .npz archive or Zarr store.", metavar="NAME")
    header_row: int | None = option(
        "The line of the file, from 1, that has the names of the columns.",
        type=click.IntRange(1),
        metavar="LINE",
    )
    sheet: str | None = option("The sheet of a workbook, by name or number from 1.", metavar="NAME")
    format: str = FORMAT
    keep: tuple[str, ...] = ()
    id: str | None = None

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


@dataclass(frozen=True)
class Copying(Reading):
    """The same, where columns are copied to the output."""

    keep: tuple[str, ...] = _columns("Columns that are copied to the output unchanged.")
    id: str | None = _column("The column that names the rows; copied to the output, too.")


@dataclass(frozen=True)
class Output:
    """Where results go."""

    output: str = option(
        "Where the results go. The ending determines the format; '-' is standard output.",
        "-",
        type=click.Path(allow_dash=True),
        show_default=False,
    )
    force: bool = FORCE
    format: str = FORMAT

    @property
    def path(self) -> Path | None:
        """The file or folder; None for standard output."""
        return None if self.output == "-" else Path(self.output)


@dataclass(frozen=True)
class Kinds:
    """What the options say about the kinds of columns; each option names some columns."""

    scale: str = one_of(
        "How numbers are scaled; 'auto' does not scale numbers that seem to share a unit.",
        *("auto", "std", "robust", "none"),
    )
    category: tuple[str, ...] = _columns("Columns of categories.")
    number: tuple[str, ...] = _columns("Columns of numbers.")
    date: tuple[str, ...] = _columns(
        "Columns of dates; write since:month or since:weekday+hour for periodic parts."
    )
    index: str | None = _column("The column that names the rows.")
    raw: bool = option("Take the numbers as they are, and no other columns.")
    missing: str = one_of(_MISSING, "auto", "fill", "drop", "refuse")

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
