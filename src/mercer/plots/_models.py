"""What the displays ask of a fitted model and of the rows that come with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from mercer import model as models
from mercer._base.types import Array, Estimator, RowsLike, Targets
from mercer.estimators._validation import check_rows
from mercer.exceptions import DataError, KernelError, Remedy, argument
from mercer.model import Subspace, model_of

#: More different numbers than this in ``y`` are a scale, not classes.
MOST_CLASSES = 20


def subspace_of(estimator: Estimator) -> Subspace:
    """The Subspace of a fitted model of this library."""
    if hasattr(estimator, "steps"):
        raise DataError(
            f"{type(estimator).__name__}: a display draws one model; give pipeline[-1], and "
            "pipeline[:-1].transform(X) as rows."
        )
    return model_of(estimator).subspace


def rows_of(estimator: Estimator, X: RowsLike) -> Array:
    """The rows given, checked; or the model's support points, all that it keeps of its data."""
    subspace = subspace_of(estimator)
    kernel = subspace.kernel
    if not subspace.points.has_coordinates:
        raise KernelError(
            f"{kernel!r} has no input space that could be drawn; use a kernel of vectors."
        )
    if X is None:
        return subspace.points.vectors("a picture")
    if get_tags(estimator).input_tags.allow_nan:
        X = estimator.impute(X)  # as its transform does
    rows = check_rows(estimator, X, kernel, reset=False)
    return np.asarray(rows, dtype=subspace.coef.dtype)


#: For models without a threshold.
A_DETECTOR = Remedy(
    "give a KernelNovelty, or KernelNovelty.from_fitted(model, X).",
    shell="fit one with 'mercer fit DATA --model novelty'.",
)


def require_preimages(estimator: Estimator) -> None:
    """Refuse a model that cannot return to input space."""
    if not hasattr(estimator, "inverse_transform"):
        raise DataError(
            f"{type(estimator).__name__} has no way back to input space; "
            + Remedy("give a KernelPCA.", shell="fit one with 'mercer fit DATA'.")
        )


@contextmanager
def nameless_rows() -> Iterator[None]:
    """Rows that were checked already are arrays, whose columns have no names any more."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def check_labels(y: Targets, n: int, name: str = "y") -> Array | None:
    """One label for each of n rows, or None."""
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != n:
        raise DataError(
            f"{name} has shape {labels.shape}, and there are {n} rows; give one label per row."
        )
    return labels


def classes_of(labels: Array | None) -> list[tuple[str | None, Any]]:
    """Name and rows of each class; all rows, without a name, where there are none."""
    if labels is None:
        return [(None, slice(None))]
    return [(str(name), labels == name) for name in np.unique(labels)]


def is_scale(labels: Array | None) -> bool:
    """Whether labels are numbers with so many values that they are a scale, not classes."""
    if labels is None or labels.dtype.kind not in "fiu":
        return False
    return len(np.unique(labels)) > MOST_CLASSES


def check_components(components: Any, available: int, default: int, at_least: int = 1) -> list[int]:
    """Components counted from 0: a list of them, how many of the first, or a usual number."""
    if components is None:
        components = min(default, available)
    if isinstance(components, int | np.integer):
        wanted = list(range(int(components)))
    else:
        wanted = [int(k) for k in components]
    if available < at_least:
        raise DataError(
            f"the model has {available} component{'s' * (available != 1)}, and this picture shows "
            f"{at_least} or more; fit again with " + argument("n_components", at_least) + "."
        )
    if len(wanted) < at_least or len(set(wanted)) < len(wanted):
        raise DataError(
            argument("components", components) + f" with {available} in the model; "
            f"give at least {at_least}, each once."
        )
    if not all(0 <= k < available for k in wanted):
        raise DataError(
            argument("components", components) + f": the model has {available}; "
            f"count from 0 to {available - 1}."
        )
    return wanted


def names_of(estimator: Estimator, columns: Iterable[int]) -> tuple[str, ...]:
    """Names of variables, as they were in ``fit``."""
    names = models.names_of(estimator)
    return tuple(f"x{j}" if names is None else names[j] for j in columns)


def shares_if_known(estimator: Estimator) -> Array | None:
    """Shares of the true variance, or None: a detector of an old file does not keep them."""
    return model_of(estimator).explained_variance_ratio
