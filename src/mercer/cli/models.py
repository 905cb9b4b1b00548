"""Models as commands use them: loaded from a file, or described by options of ``mercer fit``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from shlex import quote
from typing import Any

import click

from mercer._base.catalogue import DENSITIES, MODELS, PREIMAGES, SOLVERS, SPARSE_SOLVERS
from mercer._base.catalogue import KERNELS as ALL_KERNELS
from mercer._base.types import Estimator
from mercer.cli.faults import Failure
from mercer.cli.options import OneOf, which_was_meant


def load_model(path: str, *abilities: str) -> Any:
    """The model in a file, which must have the methods named; :class:`Failure` if it has not."""
    from mercer import load

    model = load(existing(path))
    for ability in abilities:
        inner = seen_by(model)
        if not hasattr(inner, ability):
            raise Failure(
                f"'{path}' holds a {type(inner).__name__}, which cannot {_WORDS[ability]}. "
                f"Fit one that can: mercer fit DATA --model {_MODELS[ability]}."
            )
    return model


def existing(path: str) -> str:
    """The path, if there is something."""
    if Path(path).exists():
        return path
    from mercer._base.spelling import similar_file
    from mercer.exceptions import ModelFileError
    from mercer.tables.reading import TABLES

    guess = similar_file(Path(path)) or "; check its name."
    data = next((p for p in map(Path(path).with_suffix, TABLES) if p.is_file()), None)
    if path.endswith(".mercer") and data is not None:  # rows to which it was never fitted
        guess = f"; fit it first: mercer fit {quote(str(data))} -o {quote(path)}"
    raise ModelFileError(f"there is no model file '{path}'{guess}")


def feature_names(model: Estimator) -> Sequence[str] | None:
    """The names of the columns that the model was fitted to, if they had any."""
    from mercer.model import names_of

    return names_of(model)


def on_tables(model: Estimator) -> bool:
    """Whether it takes and gives tables of all kinds of columns."""
    from mercer.model.model import OnTables

    return isinstance(model, OnTables)


def seen_by(model: Estimator) -> Any:
    """The model of vectors inside a model of tables; any other as it is."""
    return model.model_ if on_tables(model) else model


def score_names(model: Estimator) -> Sequence[str]:
    """What ``transform`` calls its columns."""
    return [str(name) for name in model.get_feature_names_out()]


_WORDS = {
    "transform": "give scores",
    "inverse_transform": "return from scores to rows",
    "denoise": "denoise",
    "score": "score a reconstruction",
    "impute": "fill in missing values",
    "sample": "generate rows",
    "relevance": "tell which variables matter",
    "explained_variance_ratio_": "tell the shares of the variance",
}
_MODELS = dict.fromkeys(_WORDS, "kpca") | {"sample": "generative"}


KERNELS = [name for name in ALL_KERNELS if name != "precomputed"]  # no columns of numbers


def _check_kernel(_context: click.Context, _option: click.Parameter, text: str) -> str:
    name = text.partition(":")[0]
    if name not in (*KERNELS, "rbf", "poly"):  # scikit-learn's names of two of them
        guess = which_was_meant(name, KERNELS)
        raise click.BadParameter(f"'{name}' is not one of {', '.join(KERNELS)}.{guess}")
    return text


def _number_or_rule(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    if text is None or text in ("median", "scale"):
        return text
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a number, 'median' nor 'scale'") from None


def _share_or_auto(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    if text is None or text == "auto":
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 0.5:
        raise click.BadParameter(f"{text!r} is neither 'auto' nor a share from 0 to 0.5")
    return share


kernel_option = click.option(
    "--kernel",
    default="gaussian",
    show_default=True,
    callback=_check_kernel,
    shell_complete=lambda _context, _option, text: [k for k in KERNELS if k.startswith(text)],
    metavar="NAME[:P=V,...]",
    help="The kernel, e.g. polynomial:degree=2.",
)
preimage_option = click.option(
    "--preimage",
    type=OneOf([*PREIMAGES]),
    help="The way back to input space.  [default: the model's own]",
)


def describes_model(function: Any) -> Any:
    """The options of :class:`~mercer.cli.recipe.Recipe`, as the argument ``recipe``."""

    @click.option(
        "--model",
        type=OneOf([*MODELS]),
        default="kpca",
        show_default=True,
        help="The estimator.",
    )
    @kernel_option
    @click.option(
        "--gamma",
        callback=_number_or_rule,
        metavar="NUMBER|median|scale",
        help="Width as exp(-gamma r²); 'median' if no width is given (narrower for novelty).",
    )
    @click.option("--sigma", type=float, help="Width as exp(-r²/2 sigma²).")
    @click.option("--width", type=float, help="Width as exp(-r²/width²), or a length scale.")
    @click.option(
        "--components",
        default="auto",
        show_default=True,
        metavar="N|SHARE|auto|all|parallel",
        help="How many: a count, a share of the variance, or a rule.",
    )
    @click.option(
        "--solver",
        type=OneOf(sorted({*SOLVERS, *SPARSE_SOLVERS})),
        help="How to find the components.  [default: auto]",
    )
    @click.option("--landmarks", type=click.IntRange(2), help="Fit on so many landmarks.")
    @click.option("--kernels", type=click.IntRange(1), help="Representing rows of a sparse model.")
    @preimage_option
    @click.option(
        "--false-alarm-rate",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Of a novelty model.  [default: 0.05]",
    )
    @click.option(
        "--contamination",
        callback=_share_or_auto,
        metavar="SHARE|auto",
        help="Share of outliers among the rows of a novelty model, up to 0.5.  [default: none]",
    )
    @click.option(
        "--density",
        type=OneOf([*DENSITIES]),
        help="Where a generative model draws from.  [default: local]",
    )
    @functools.wraps(function)
    def wrapper(*args: Any, **rest: Any) -> Any:
        from mercer.cli.recipe import Recipe

        widths = {name: rest.pop(name) for name in ("gamma", "sigma", "width")}
        given = {part.name: rest.pop(part.name) for part in fields(Recipe) if part.name in rest}
        return function(*args, recipe=Recipe(widths=widths, **given), **rest)

    return wrapper
