"""Frames in, frames out: rows that methods give in input space, as ``set_output`` asks for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec

import numpy as np
from sklearn.utils._set_output import ADAPTERS_MANAGER, _get_output_config

from mercer.eigen import names_of
from mercer.sparse_rows import SparseRows

__all__ = ["as_asked", "framed"]

P = ParamSpec("P")


def framed(method: Callable[P, Any]) -> Callable[P, Any]:
    """A method that gives rows of the model's columns: a frame of them if ``set_output`` says so.

    Sparse rows come as SciPy's sparse array, whatever ``set_output`` says.

    The index is that of the frame that was given, if it was one.
    """

    @functools.wraps(method)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
        rows, estimator = method(*args, **kwargs), args[0]
        if isinstance(rows, SparseRows):
            return rows.to_scipy()
        if np.ndim(rows) != 2:
            return rows
        given = args[1] if len(args) > 1 else kwargs.get("X", kwargs.get("Z"))
        columns = names_of(estimator) or [f"x{j}" for j in range(rows.shape[1])]
        return as_asked(estimator, rows, given, columns)

    return wrapper


def as_asked(estimator: Any, rows: Any, given: Any, columns: Iterable[str]) -> Any:
    """Rows of these columns as ``set_output`` says; the index is that of what was given."""
    kind = _get_output_config("transform", estimator)["dense"]
    if kind == "default":
        return rows
    return ADAPTERS_MANAGER.adapters[kind].create_container(rows, given, columns=list(columns))
