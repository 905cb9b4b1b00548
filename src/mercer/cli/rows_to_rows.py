"""``transform``, ``inverse``, ``denoise``, ``impute`` and ``sample``: rows out, block by block."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import click

from mercer._base.types import Estimator, RowsLike
from mercer.cli import options
from mercer.cli.models import feature_names, load_model, on_tables, score_names, seen_by
from mercer.cli.options import Output, Reading, console, frames, tables


@dataclass(frozen=True)
class _Names:
    """What stands in for a model where only the names of columns are known."""

    feature_names_in_: Sequence[str]


def _takes_rows(what: str, data: str = "data", *, needs_model: bool = True) -> Callable[[Any], Any]:
    """The arguments and options of all these commands; ``what`` goes to the output."""
    # A single argument without a model is the data; click fills the first one.
    model = options.model_argument if needs_model else click.argument("model", metavar="[MODEL]")
    path = click.Path(allow_dash=True)
    argument = click.argument("data", metavar=data.upper(), type=path, required=needs_model)

    def decorate(function: Any) -> Any:
        written = options.writes(f"Where the {what} go.")(options.speaks(function))
        return model(argument(options.reads(options.keeps(written))))

    return decorate


@click.command(short_help="Scores of rows: project them onto the components.")
@_takes_rows("scores")
def transform(model: str, **how: Any) -> None:
    """Project the rows of DATA onto the components of MODEL."""
    fitted = load_model(model, "transform")
    inner = seen_by(fitted)
    _convert(inner.transform, fitted, score_names(inner), **how)


@click.command(short_help="Rows from scores: the way back to input space.")
@_takes_rows("rows", "scores")
def inverse(model: str, **how: Any) -> None:
    """Find the rows whose scores under MODEL are those in SCORES, as 'transform' wrote them."""
    fitted = load_model(model, "inverse_transform")
    names = score_names(seen_by(fitted))
    with _asking_for_scores(names, model, how["data"]):
        if on_tables(fitted):
            with tables.open_input(how["data"], how["reading"], model=_Names(names)) as scores:
                _give(fitted.inverse_transform(scores.rows[:]), scores.beside, how["output"])
            return

        def back(rows: RowsLike) -> Any:
            return fitted.inverse_transform(rows.X)

        width = fitted.n_features_in_
        _convert(back, _Names(names), feature_names(fitted), width=width, **how)


@contextlib.contextmanager
def _asking_for_scores(names: Sequence[str], model: str, data: str) -> Iterator[None]:
    """Rows where scores belong are answered with the two commands that may have been meant."""
    from mercer.exceptions import ColumnsError, DataError

    try:
        yield
    except ColumnsError as error:
        shown = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        raise DataError(
            f"'{data}' does not hold the scores of this model, {shown}; write them by 'mercer "
            f"transform {quote(model)} DATA -o scores.csv', or, if these are rows, go there and "
            f"back by 'mercer denoise {quote(model)} {quote(data)}'."
        ) from error


@click.command(short_help="Remove noise from rows.")
@click.option(
    "--match-noise/--no-match-noise",
    default=None,
    help="For a model of clean rows and noisier queries: whether kernel values are scaled to those "
    "between clean rows.  [default: where a row is farther from the model's rows than they are "
    "from each other]",
)
@click.option(
    "--noise",
    type=options.Noise(),
    metavar="LEVEL",
    help="Without a MODEL: standard deviation of the noise that the rows carry, in units of the "
    "rows (of their standard deviations where columns are scaled), or poisson, speckle, "
    "speckle:SHARE.  [default: it is estimated]",
)
@_takes_rows("denoised rows", needs_model=False)
def denoise(model: str, data: str | None, match_noise: bool | None, noise: Any, **how: Any) -> None:
    """Project the rows of DATA onto the components of MODEL, and return to input space.

    Without a MODEL, DATA holds noisy rows, and nothing else is needed: kernel, width, components
    and the way back are chosen by an estimate of the error that is left, which is printed.
    """
    if data is None:
        fitted, data = _tuned(model, how["reading"], noise), model
    elif noise is not None:
        raise click.UsageError("--noise is for rows without a MODEL: it knows what noise is")
    else:
        fitted = load_model(model, "denoise")
    match = "auto" if match_noise is None else match_noise
    _to_same_columns(fitted, lambda rows: fitted.denoise(rows, match_noise=match), data=data, **how)


def _tuned(data: str, reading: Reading, noise: Any) -> Estimator:
    """The best denoiser of these noisy rows; says what it leaves of the noise."""
    from mercer import KernelPCA, TableModel

    if data == "-" or data.endswith(".mercer"):
        raise click.UsageError("Missing argument 'DATA'.")
    with tables.open_for_fit(data, reading, options.ColumnKinds()) as (table, encoder):
        model: Estimator = KernelPCA(random_state=0)
        with console.progress():
            model.tune(table.loaded().rows, noise=noise, rows="noisy")
    console.remark(str(model.risk_))
    return model if encoder is None else TableModel.from_fitted(model, encoder)


@click.command(short_help="Fill in missing values.")
@_takes_rows("filled rows")
def impute(model: str, **how: Any) -> None:
    """Fill empty fields (also NA, nan, ?) of DATA by what MODEL knows; the others do not change."""
    fitted, missing = load_model(model, "impute"), frames.MissingValues()
    _to_same_columns(fitted, missing.watch(fitted.impute), allow_nan=True, **how)
    if not console.asked_for("json"):
        console.remark(missing.describe())


def _to_same_columns(
    fitted: Estimator, function: Callable[[Any], Any], *, allow_nan: bool = False, **how: Any
) -> None:
    """Rows that become rows of the same columns."""
    if not on_tables(fitted):
        width = fitted.n_features_in_
        names = feature_names(fitted)
        _convert(function, fitted, names, width=width, allow_nan=allow_nan, **how)
        return
    from mercer.tables.opening import read_for

    reading = how["reading"]
    with tables.located(how["data"], reading) as path:
        frame = read_for(fitted, path, reading.choice(), reading.keep)
        _give(function(frame), frames.kept_columns(frame, reading.keep), how["output"])


def _give(columns: Any, beside: Any, output: Output) -> None:
    """Write columns of any kind, and those of the data that they do not hold already."""
    columns = {**columns, **{k: v for k, v in beside.items() if k not in columns}}
    tables.check_output(output, list(columns), labelled=True)
    made = frames.columns_table(columns)
    tables.write_output(output, made)
    tables.tell_size(output, len(made.rows), len(columns))


def _convert(
    function: Callable[[Any], Any],
    model: Estimator,
    after: Sequence[str] | None,
    *,
    width: int | None = None,
    allow_nan: bool = False,
    data: str,
    reading: Reading,
    output: Output,
) -> None:
    """Read, apply the function to each block, and write; nothing as long as the file is kept.

    ``model`` knows the columns to read; ``after`` names those to write, ``width`` counts them.
    """
    tables.check_output(output, after, labelled=reading.beside)
    with tables.open_input(data, reading, model=model, allow_nan=allow_nan) as table:
        made = table.map(function, width or len(after or ()), after)
        tables.write_output(output, made)
    tables.tell_size(output, *made.rows.shape)


@click.command(short_help="Generate new rows.")
@options.model_argument
@click.option(
    "-n", "--count", type=click.IntRange(1), default=10, show_default=True, help="How many rows."
)
@click.option("--label", metavar="CLASS", help="Rows of this class only.")
@options.format_option
@options.seed_option
@options.writes("Where the rows go.")
@options.speaks
def sample(model: str, count: int, label: str | None, seed: int, output: Output) -> None:
    """Draw new rows from MODEL, which was fitted with '--model generative'.

    A model of images writes images: give a folder as the output. Rows of a class carry it in a
    column 'label'.
    """
    import numpy as np

    from mercer.io import MemoryRows, Table

    fitted = load_model(model, "sample")
    names, mixed = feature_names(fitted), on_tables(fitted)
    tables.check_output(output, names, labelled=mixed)
    wanted = _class_of(seen_by(fitted), label)
    with console.progress():
        rows = fitted.sample(count, label=wanted, random_state=seed)
    made = frames.columns_table(rows) if mixed else Table(MemoryRows(np.asarray(rows), names))
    if wanted is not None and _holds_classes(output):
        column = Table(made.rows, {"label": np.full(count, wanted)}).beside_of(made.names)
        made = replace(made, beside={**made.beside, **column})
    tables.write_output(output, made)
    tables.tell(output, f"{count:,} new rows", rows=count, columns=len(made.names))


def _holds_classes(output: Output) -> bool:
    """Whether there is room for a column of classes: not among pure numbers, nor images."""
    kind = f".{output.format}" if output.path is None else output.path.suffix.lower()
    return kind not in ("", ".npy", ".zarr")


def _class_of(fitted: Estimator, label: str | None) -> Any:
    """The model's own class of this name; classes may be numbers."""
    if label is None:
        return None
    classes = list(fitted.classes_) if hasattr(fitted, "classes_") else []
    if not classes:
        raise click.UsageError("--label: the model was fitted without --label and knows no classes")
    for known in classes:
        if str(known) == label:
            return known
    listed = ", ".join(str(known) for known in classes[:20])
    raise click.UsageError(f"--label: the model knows no class '{label}', but {listed}")
