"""``transform``, ``inverse``, ``denoise`` and ``impute``: rows in, rows out, block by block."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from mercer.cli.options import Output, Reading, data_argument, model_argument, reads, speaks, writes

__all__ = ["denoise", "impute", "inverse", "transform"]


@click.command(short_help="Scores of rows: project them onto the components.")
@model_argument
@data_argument
@reads
@writes("Where the scores go.")
@speaks
def transform(
    model: str, data: str, reading: Reading, output: Output, as_json: bool, quiet: bool
) -> None:
    """Project the rows of DATA onto the components of MODEL."""
    from mercer.cli.models import feature_names, load_model, score_names

    fitted = load_model(model, "transform")
    scores = score_names(fitted)
    work = _Work(fitted.transform, feature_names(fitted), scores, len(scores))
    _convert(work, data, reading, output, as_json=as_json, quiet=quiet)


@click.command(short_help="Rows from scores: the way back to input space.")
@model_argument
@click.argument("scores", type=click.Path(allow_dash=True))
@reads
@writes("Where the rows go.")
@speaks
def inverse(
    model: str, scores: str, reading: Reading, output: Output, as_json: bool, quiet: bool
) -> None:
    """Find the rows whose scores under MODEL are those in SCORES, as 'transform' wrote them."""
    from mercer.cli.models import feature_names, load_model, score_names

    fitted = load_model(model, "inverse_transform")
    work = _Work(
        lambda rows: fitted.inverse_transform(rows.X),
        score_names(fitted),
        feature_names(fitted),
        fitted.n_features_in_,
    )
    _convert(work, scores, reading, output, as_json=as_json, quiet=quiet)


@click.command(short_help="Remove noise from rows.")
@model_argument
@data_argument
@click.option(
    "--match-noise",
    is_flag=True,
    help="For a model of clean rows and noisier queries: see KernelPCA.denoise.",
)
@reads
@writes("Where the denoised rows go.")
@speaks
def denoise(
    model: str,
    data: str,
    match_noise: bool,
    reading: Reading,
    output: Output,
    as_json: bool,
    quiet: bool,
) -> None:
    """Project the rows of DATA onto the components of MODEL, and return to input space."""
    from mercer.cli.models import feature_names, load_model

    fitted = load_model(model, "denoise")
    names = feature_names(fitted)
    work = _Work(
        lambda rows: fitted.denoise(rows, match_noise=match_noise),
        names,
        names,
        fitted.n_features_in_,
    )
    _convert(work, data, reading, output, as_json=as_json, quiet=quiet)


@click.command(short_help="Fill in missing values.")
@model_argument
@data_argument
@reads
@writes("Where the filled rows go.")
@speaks
def impute(
    model: str, data: str, reading: Reading, output: Output, as_json: bool, quiet: bool
) -> None:
    """Fill empty fields (also NA, nan, ?) of DATA by what MODEL knows; the others do not change."""
    from mercer.cli.models import feature_names, load_model

    fitted = load_model(model, "impute")
    names = feature_names(fitted)
    work = _Work(fitted.impute, names, names, fitted.n_features_in_, allow_nan=True)
    _convert(work, data, reading, output, as_json=as_json, quiet=quiet)


@dataclass(frozen=True)
class _Work:
    """What is done to each block of rows, and the columns before and after."""

    function: Callable[[Any], Any]
    before: Sequence[str] | None
    after: Sequence[str] | None
    width: int
    allow_nan: bool = False


def _convert(
    work: _Work, data: str, reading: Reading, output: Output, *, as_json: bool, quiet: bool
) -> None:
    """Read, apply the function to each block, and write; nothing as long as the file is kept."""
    from mercer.cli.tables import check_output, open_input, tell, write_output

    check_output(output, work.after, labelled=reading.label is not None)
    with open_input(data, reading, like=work.before, allow_nan=work.allow_nan) as table:
        made = table.map(work.function, work.width, work.after)
        write_output(output, made, as_json=as_json, quiet=quiet)
    n, d = made.rows.shape
    tell(output, f"{n:,} rows, {d:,} columns", as_json=as_json, rows=n, columns=d)
