"""Models as commands use them: loaded from a file, asked for what they can do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from mercer._types import Estimator
from mercer.cli.faults import Failure


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
    from mercer._spelling import similar_file
    from mercer.exceptions import ModelFileError
    from mercer.tables.reading import TABLES

    guess = similar_file(Path(path)) or "; check its name."
    data = next((p for p in map(Path(path).with_suffix, TABLES) if p.is_file()), None)
    if path.endswith(".mercer") and data is not None:  # rows to which it was never fitted
        guess = f"; fit it first: mercer fit {quote(str(data))} -o {quote(path)}"
    raise ModelFileError(f"there is no model file '{path}'{guess}")


def feature_names(model: Estimator) -> Sequence[str] | None:
    """The names of the columns that the model was fitted to, if they had any."""
    from mercer.eigen import names_of

    return names_of(model)


def on_tables(model: Estimator) -> bool:
    """Whether it takes and gives tables of all kinds of columns."""
    return hasattr(model, "encoder_")


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
