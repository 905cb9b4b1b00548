"""``transform``, ``inverse``, ``denoise``, ``impute`` and ``sample``: rows out, block by block."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

import mercer
from mercer._base.types import Estimator, Names
from mercer.cli import options
from mercer.cli.models import load_model
from mercer.cli.options import argument, command, console, frames, learnt, opening, option, tables


def _score_names(model: Estimator) -> list[str]:
    """What ``transform`` calls its columns."""
    return [str(name) for name in learnt.of_vectors(model).get_feature_names_out()]


@dataclass(frozen=True, kw_only=True)
class Work:
    """Rows, how they are read, and where the results go."""

    data: str = options.DATA
    reading: options.Copying
    output: options.Output


@command("Compute scores: project rows onto the components.")
def transform(*, model: str = options.MODEL, work: Work) -> None:
    """Project the rows of DATA onto the components of MODEL."""
    fitted = load_model(model, "transform")
    _convert(work, learnt.of_vectors(fitted).transform, _score_names(fitted), model=fitted)


@command("Turn scores back into rows.")
def inverse(
    *,
    model: str = options.MODEL,
    data: str = argument(type=click.Path(allow_dash=True), metavar="SCORES"),
    reading: options.Copying,
    output: options.Output,
    digits: str = options.DIGITS,
) -> None:
    """Find the rows whose scores under MODEL are those in SCORES, as 'transform' wrote them."""
    from mercer.exceptions import ColumnsError, DataError

    fitted = _with_digits(load_model(model, "inverse_transform"), digits)
    names = _score_names(fitted)
    try:
        if learnt.of_vectors(fitted) is not fitted:
            with tables.open_input(data, reading, like=names) as scores:
                _give(fitted.inverse_transform(scores.rows[:]), scores.beside, output)
            return
        back, own = lambda rows: fitted.inverse_transform(rows.X), learnt.names_of(fitted)
        work = Work(data=data, reading=reading, output=output)
        _convert(work, back, own, width=fitted.n_features_in_, like=names)
    except ColumnsError as error:  # rows where scores belong
        shown = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        what = f"'{data}' does not hold the scores of this model, {shown}"
        write = f"write them by 'mercer transform {quote(model)} DATA -o scores.csv'"
        use = f"use 'mercer denoise {quote(model)} {quote(data)}'."
        raise DataError(f"{what}; {write}, or, if these are rows, {use}") from error


@command("Remove noise from rows.")
def denoise(
    *,
    model: str | None = argument(metavar="[MODEL]", required=False),
    # A single argument is the data; click fills the first one.
    data: str | None = argument(type=click.Path(allow_dash=True), metavar="DATA", required=False),
    match_noise: bool | None = option(
        "For a model of clean rows and noisier queries: whether kernel values are scaled to those "
        "between clean rows.  [default: where a row is farther from the model's rows than they are "
        "from each other]",
        names="--match-noise/--no-match-noise",
    ),
    noise: Any = options.NOISE,
    reading: options.Copying,
    output: options.Output,
    digits: str = options.DIGITS,
) -> None:
    """Project the rows of DATA onto the components of MODEL, and return to input space.

    Without a MODEL, DATA holds noisy rows, and nothing else is needed: kernel, width, components
    and the way back are chosen by an estimate of the error that is left, which is printed.
    """
    if model is None or (data is None and (model == "-" or model.endswith(".mercer"))):
        raise click.UsageError("Missing argument 'DATA'.")
    if data is None:
        if output.path is not None:  # before any long work
            tables.check_target(output.path, force=output.force)
        fitted, reading = _tuned(model, reading, noise)
        data = model
    elif not model.endswith(".mercer") and not (data == "-" or Path(data).exists()):
        none = f"there is no file '{data}' to denoise"
        raise click.UsageError(f"{none}; if it is to be written, give '-o {quote(data)}'")
    elif noise is not None:
        only = "--noise is only for denoising without a MODEL"
        raise click.UsageError(f"{only}; a model knows the noise")
    else:
        fitted = load_model(model, "denoise")
    match = {} if match_noise is None else {"match_noise": match_noise}
    work = Work(data=data, reading=reading, output=output)
    _to_same_columns(work, fitted, lambda rows: fitted.denoise(rows, **match), digits)


def _tuned(data: str, reading: options.Copying, noise: Any) -> tuple[Estimator, options.Copying]:
    """The best denoiser of these noisy rows, and what to copy; reports how much noise it leaves."""
    model: Estimator = mercer.KernelPCA(random_state=0)
    encoder = mercer.TableEncoder(kinds=dict.fromkeys(reading.kept, "index"))
    opened_rows = tables.open_for_fit(data, reading, encoder, model, are_noisy=True)
    with opened_rows as opened, console.progress():
        noise = tables.noise_of_vectors(noise, opened.encoder)
        model.tune(opened.table.loaded().rows, noise=noise, rows="noisy")
    if not model.risk_.trouble:  # otherwise a warning has said so
        console.remark(str(model.risk_))
    return opened.whole(model), replace(reading, keep=(*reading.keep, *opened.left_out))


@command("Fill in missing values.")
def impute(*, model: str = options.MODEL, work: Work, digits: str = options.DIGITS) -> None:
    """Fill in the empty fields of DATA (also NA, nan, ?) with MODEL; others do not change."""
    fitted = load_model(model, "impute")
    before, after = Counter[str](), Counter[str]()

    def fill(rows: Any) -> Any:
        filled = fitted.impute(rows)
        before.update(frames.missing_in(rows))
        after.update(frames.missing_in(filled))
        return filled

    _to_same_columns(work, fitted, fill, digits, allow_nan=True)
    if not console.asked_for("json"):
        console.remark(_what_was_filled(before, after))


def _what_was_filled(before: Counter[str], after: Counter[str]) -> str:
    """How many missing values were filled in, and which columns still have some."""
    from mercer._base.numbers import counted
    from mercer.io.files import names_text

    n, names = (before - after).total(), [name for name, count in after.items() if count]
    nothing = "nothing was filled in" if names else "nothing was missing"
    done = f"{counted(n, 'value')} filled in" if n else nothing
    unseen = f"{after.total():,} left empty, in columns that the model does not use"
    return f"{done}; {unseen}: {names_text(names)}" if names else done


def _to_same_columns(
    work: Work, fitted: Estimator, function: Callable[[Any], Any], digits: str, **how: Any
) -> None:
    """Turn rows into rows with the same columns."""
    fitted = _with_digits(fitted, digits)
    if learnt.of_vectors(fitted) is fitted:
        if digits != "all" and _is_text(work):
            function = _with_decimals_of_rows(function)
        width, names = fitted.n_features_in_, learnt.names_of(fitted)
        _convert(work, function, names, width=width, model=fitted, **how)
        return
    with tables.located(work.data, work.reading) as look:
        choice = tables.choice_of(look, work.reading)
        frame = opening.read_for(fitted, look, choice)
        _give(function(frame), frames.kept_columns(frame, choice.keep), work.output)


def _with_digits(fitted: Estimator, digits: str) -> Estimator:
    """The model; a model of tables returns all digits of its numbers if asked to."""
    if isinstance(fitted, learnt.OnTables) and digits == "all":
        fitted.encoder_.keep_all_digits()
    return fitted


def _is_text(work: Work) -> bool:
    from mercer.io.files import plain_name
    from mercer.io.look import TEXT

    name = f"-.{work.reading.format}" if work.data == "-" else work.data
    return plain_name(Path(name)).suffix.lower() in TEXT


def _with_decimals_of_rows(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function, with its numbers rounded to the decimals that the rows' columns have."""
    import numpy as np

    from mercer._base.numbers import decimals

    def rounded(rows: Any) -> Any:
        made = np.array(function(rows))
        for before, after in zip(np.asarray(rows.X).T, made.T, strict=True):
            if (digits := decimals(before)) is not None:
                after[:] = np.round(after, digits)
        return made

    return rounded


def _give(columns: Any, beside: Any, output: options.Output) -> None:
    """Write columns of any kind, and columns of the data that are not among them."""
    columns = {**columns, **{k: v for k, v in beside.items() if k not in columns}}
    made = frames.columns_table(columns, tables.ending_of(output))
    tables.check_output(output, list(columns), labelled=bool(made.beside))
    tables.write_output(output, made)
    tables.report_size(output, len(made.rows), len(columns))


def _convert(
    work: Work,
    function: Callable[[Any], Any],
    names: Names | None,
    *,
    width: int | None = None,
    **how: Any,
) -> None:
    """Read, apply the function to each block, and write; nothing as long as the file is kept.

    ``names`` are those of the columns to write, ``width`` counts them; ``how`` says which to
    read, as for :func:`mercer.cli.tables.open_input`.
    """
    tables.check_output(work.output, names, labelled=work.reading.beside)
    with tables.open_input(work.data, work.reading, **how) as table:
        made = table.map(function, width or len(names or ()), names)
        tables.write_output(work.output, made)
    tables.report_size(work.output, *made.rows.shape)


@command("Generate new rows.")
def sample(
    *,
    model: str = options.MODEL,
    count: int = option("How many rows.", 10, names="-n --count", type=click.IntRange(1)),
    label: str | None = option("Rows of this class only.", metavar="CLASS"),
    seed: int = options.SEED,
    output: options.Output,
) -> None:
    """Draw new rows from MODEL, which was fitted with '--model generative'.

    A model of images writes images: give a folder as the output. Rows of a class carry it in a
    column 'label'. A short table compares the columns and their correlations with those of the
    data, of 1,000 rows if fewer are asked for.
    """
    import numpy as np

    from mercer.cli.likeness import likeness, lines

    fitted = load_model(model, "sample")
    names, mixed = learnt.names_of(fitted), isinstance(fitted, learnt.OnTables)
    tables.check_output(output, names, labelled=mixed and not fitted.encoder_.is_numeric_)
    one_class = None if label is None else _class_of(learnt.of_vectors(fitted), label)
    with console.progress():
        rows = fitted.sample(count, label=one_class, random_state=seed)
    kind = tables.ending_of(output)
    if mixed:
        made = frames.columns_table(rows, kind)
    else:
        made = mercer.io.Table(mercer.io.MemoryRows(np.asarray(rows), names))
    # There is no room for a column of classes among pure numbers, nor beside images.
    if one_class is not None and kind not in ("", ".npy", ".zarr"):
        column = replace(made, beside={"label": np.full(count, one_class)}).beside_of(made.names)
        made = replace(made, beside={**made.beside, **column})
    tables.write_output(output, made)
    alike = {} if output.path is None else likeness(fitted, one_class, seed, count)
    tables.report(output, f"{count:,} new rows", rows=count, columns=len(made.names), **alike)
    if alike and not console.asked_for("json") and not console.asked_for("quiet"):
        draws = f"{alike['compared_rows']:,} draws"
        console.summary(
            f"{draws} compared with the data (mean ± deviation, or share)", lines(alike)
        )


def _class_of(fitted: Estimator, label: str) -> Any:
    """The model's own class of this name; classes may be numbers."""
    classes = {str(known): known for known in vars(fitted).get("classes_", ())}
    if not classes:
        raise click.UsageError("--label: the model was fitted without --label and knows no classes")
    if label not in classes:
        listed = ", ".join([*classes][:20])
        raise click.UsageError(f"--label: the model knows no class '{label}', but {listed}")
    return classes[label]
