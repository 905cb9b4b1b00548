"""The door: rows are checked once here, and are clean, two-dimensional and floating below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import _check_sample_weight, validate_data

from mercer._linalg import Array
from mercer.exceptions import DataError
from mercer.kernels import Kernel

__all__ = ["check_rows", "check_weight", "describe_not_finite"]


def check_rows(
    estimator: Any, X: Any, kernel: Kernel, *, reset: bool, allow_nan: bool = False
) -> Any:
    """Rows as a floating array (float32 stays), or as a list for kernels of objects.

    Records ``n_features_in_`` and ``feature_names_in_`` when ``reset``, and checks them otherwise.
    """
    if kernel.takes_objects and not _is_numeric_table(X):
        return _check_objects(X)
    if isinstance(X, np.ma.MaskedArray):
        raise DataError(
            "masked arrays are not accepted, because the mask would be lost; "
            "use X.filled(np.nan) with impute, or X.data to ignore the mask."
        )
    finite = "allow-nan" if allow_nan else True
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
            ensure_all_finite=finite,
        )
    except ValueError as error:
        where = "" if allow_nan else describe_not_finite(X)
        raise DataError(f"{error}{where}") from error


def check_weight(weight: Any, X: Any) -> Array | None:
    """Non-negative sample weights in float64, or None."""
    if weight is None:
        return None
    checked = np.asarray(
        _check_sample_weight(weight, np.empty((len(X), 1)), dtype=np.float64, ensure_non_negative=True)
    )
    if not checked.any():
        raise DataError("all sample weights are zero; give at least two rows a positive weight.")
    return checked


def describe_not_finite(X: Any) -> str:
    """Where the first NaN or infinity is, as the end of a sentence; empty if there is none."""
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return ""
    bad = np.argwhere(~np.isfinite(values)) if values.ndim == 2 else np.empty((0, 2))
    if not len(bad):
        return ""
    row, column = bad[0]
    names = getattr(X, "columns", None)
    label = f"{column}" if names is None else f"{column} ({list(names)[column]!r})"
    return (
        f" The first is at row {row}, column {label}. "
        "Remove such rows, or fill them with an imputer."
    )


def _is_numeric_table(X: Any) -> bool:
    return issparse(X) or (getattr(X, "ndim", 0) == 2 and np.asarray(X).dtype.kind in "fiub")


def _check_objects(X: Any) -> Sequence[Any]:
    if isinstance(X, str | bytes) or not hasattr(X, "__len__"):
        raise DataError(f"expected a sequence of objects, not {type(X).__name__}; give a list.")
    if len(X) == 0:
        raise DataError("there are 0 rows; give at least 2.")
    return list(X)
