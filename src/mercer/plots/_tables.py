"""Displays of models of tables: they draw the model inside, by the names of the table."""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from mercer._base.types import Estimator
from mercer.model.model import OnTables


def of_tables(draw: Callable[..., Any]) -> Callable[..., Any]:
    """``from_estimator`` that also takes a model of tables, and draws the model inside it."""

    @functools.wraps(draw)
    def from_estimator(cls: type, estimator: Estimator, *args: Any, **options: Any) -> Any:
        # A picture of one row asks for its contributions, which are those of columns.
        if not isinstance(estimator, OnTables) or "row" in inspect.signature(draw).parameters:
            return draw(cls, estimator, *args, **options)
        given = inspect.signature(draw).bind(cls, model_inside(estimator), *args, **options)
        for name in {"X", "X_new", "X_noisy"} & set(given.arguments):
            if (rows := given.arguments[name]) is not None:
                given.arguments[name] = estimator.vectors(rows)
        with nameless_rows():
            return draw(*given.args, **given.kwargs)

    return from_estimator


def model_inside(table: OnTables) -> Any:
    """The model of vectors, with the names of their entries: ``city=Oslo``."""
    model = copy(table.model_)
    model.feature_names_in_ = table.encoder_.get_feature_names_out()
    return model


@contextmanager
def nameless_rows() -> Iterator[None]:
    """Rows that were checked already are arrays, whose columns have no names any more."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
