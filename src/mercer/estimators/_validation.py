"""The door: rows are checked once here, and are clean, two-dimensional and floating below.

scikit-learn's ``validate_data`` does the counting and the conversion. What it would lose in silence
(masks, units of time, imaginary parts, numbers written as text) is refused first, and what it
says is put on one line that names the place and a remedy.
"""

import hashlib
from collections.abc import Iterator, Sequence, Sized
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mercer._base.machine import available_bytes
from mercer._base.types import Array, ArrayLike, Estimator, RowsLike
from mercer.exceptions import ColumnsError, DataError, Remedy
from mercer.io import as_rows, is_source
from mercer.kernels import Kernel
from mercer.model import model_of, names_of
from mercer.model.model import remember
from mercer.points import Points
from mercer.points.source import (
    MemoryRows,
    Source,
    as_source,
    check_no_empty_row,
    remedy_for,
)
from mercer.points.sparse import SparseRows


def check_rows(
    estimator: Estimator,
    X: RowsLike,
    kernel: Kernel,
    *,
    reset: bool,
    allow_nan: bool = False,
    stream: bool = False,
) -> Points:
    """Rows as what they are to the kernel: floating (float32 stays), or objects.

    Files, row sources and dask collections stay where they are if ``stream`` (their blocks are
    checked as they are read), and are loaded otherwise, and wherever they hold kernel values.

    SciPy's sparse matrices and arrays become :class:`~mercer.points.sparse.SparseRows`, if both the
    estimator and the kernel take them.

    Records ``n_features_in_``, ``feature_names_in_`` and a fingerprint of the data when ``reset``,
    and checks the first two otherwise.
    """
    if is_source(X):
        checked = _check_source(estimator, as_rows(X), reset)
        if kernel.is_pairwise or not stream:
            checked = load(checked)
    else:
        checked = _check_table(estimator, X, kernel, reset, allow_nan)
    points = kernel.points(checked)
    if reset:
        remember_data(estimator, points)
    return points


def remember_data(estimator: Estimator, points: Points, *, more: bool = False) -> None:
    """Keep a fingerprint of the rows of a fit, for the model file; ``more``: a further chunk.

    Size, precision, and a hash over a part of the rows: it tells data sets apart, and is cheap.
    """
    source = as_source(points)
    numeric = source.dtype.kind == "f"
    # Rows on a cluster would have to be computed first, and objects have no bytes of their own.
    sha256 = source.fingerprint() if numeric and not hasattr(source, "collection") else None
    n, before = len(source), estimator._data_fingerprint
    if more and before is not None:
        n += before["rows"]
        sha256 = hashlib.sha256(f"{before['sha256']} {sha256}".encode()).hexdigest()
    columns, dtype = source.shape[1], source.dtype.name
    remember(estimator, {"rows": n, "columns": columns, "dtype": dtype, "sha256": sha256})


def _check_table(
    estimator: Estimator, X: RowsLike, kernel: Kernel, reset: bool, allow_nan: bool
) -> Any:
    if kernel.takes_objects and not _is_numeric_table(X):
        return _check_objects(X)
    if isinstance(X, Points):  # an estimator that wraps ours hands on what it has checked
        X = X.for_user()
    refuse_masked(X)
    X = _as_table(X)
    if issparse(X):
        _refuse_sparse(estimator, X, kernel)
    for kind, what in _kinds(X):
        _refuse_kind(kind, what)
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr" if issparse(X) else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
            ensure_all_finite="allow-nan" if allow_nan else True,
        )
        return SparseRows.of(checked) if issparse(checked) else checked
    except (ValueError, OverflowError, TypeError) as error:
        where = "" if allow_nan else describe_not_finite(X)
        if isinstance(error, TypeError) and where:  # pd.NA is no number at all
            raise DataError("Input X contains missing values." + where) from error
        raised = TypeError if isinstance(error, TypeError) else DataError
        raise raised(_one_line(estimator, flat(error), X, reset, where)) from error


def check_missing(estimator: Estimator, X: RowsLike) -> Array:
    """New rows with NaN where values are missing, in the precision of the model."""
    check_is_fitted(estimator, estimator._saved[0])
    subspace = model_of(estimator).subspace
    points = check_rows(estimator, X, subspace.kernel, reset=False, allow_nan=True)
    rows = points.vectors("imputing")
    check_no_empty_row(rows)
    return np.asarray(rows.astype(subspace.coef.dtype, copy=False))


def check_weight(weight: ArrayLike, X: RowsLike) -> Array | None:
    """Non-negative, finite sample weights in float64, or None."""
    if weight is None:
        return None
    rows = np.empty((len(X), 1))
    try:
        checked = _check_sample_weight(weight, rows, dtype=np.float64, ensure_non_negative=True)
    except ValueError as error:
        raise DataError(
            f"sample_weight: {flat(error)} Give one number of 0 or more for each of {len(X)} rows."
        ) from error
    if not checked.any():
        raise DataError("all sample weights are zero; give at least two rows a positive weight.")
    return np.asarray(checked)


def check_codes(name: str, Z: ArrayLike, q: int, what: str, method: str) -> Array:
    """Finite scores, hidden units or codes (``what``) of a model with q of them for each row."""
    try:
        codes = np.asarray(check_array(Z, dtype=[np.float64, np.float32], input_name=name))
    except ValueError as error:
        raise DataError(f"{flat(error)} Give finite {what}, as {method} returns.") from error
    if codes.shape[1] != q:
        raise ColumnsError(
            f"{name} has {codes.shape[1]} columns, but the model has {q} components; "
            f"give {what} of this model, as {method} returns."
        )
    return codes


def describe_not_finite(X: RowsLike) -> str:
    """Where the first NaN or infinity is, as the end of a sentence; empty if there is none."""
    if issparse(X):
        return _describe_sparse(X)
    values = _floats(X)
    bad = np.argwhere(~np.isfinite(values)) if values.ndim == 2 else np.empty((0, 2))
    if not len(bad):
        return ""
    row, column = bad[0]
    names = getattr(X, "columns", None)
    label = f"{column}" if names is None else f"{column} ({list(names)[column]!r})"
    return f" The first is at row {row}, column {label}; " + remedy_for(values[row, column]) + "."


def _describe_sparse(X: Any) -> str:
    entries = X.tocoo()
    bad = np.flatnonzero(~np.isfinite(entries.data))
    if not len(bad):
        return ""
    row, column = entries.coords[0][bad[0]], entries.coords[1][bad[0]]
    return f" The first is at row {row}, column {column}. Remove such rows or entries."


def _check_source(estimator: Estimator, rows: Source, reset: bool) -> Any:
    """A row source whose size and names fit the estimator; an array if it is in memory already."""
    if len(rows) < (2 if reset else 1):
        raise DataError(f"kernel PCA needs at least 2 rows, not {len(rows)}; give more rows.")
    names = None if rows.columns is None else np.array(rows.columns, dtype=object)
    remedy = "give the columns that were there in fit"
    if reset:
        estimator.n_features_in_ = rows.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
    elif rows.shape[1] != estimator.n_features_in_:
        expecting = f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features"
        raise DataError(f"X has {rows.shape[1]} features, but {expecting} as input; {remedy}.")
    elif names is not None and list(names) != (names_of(estimator) or list(names)):
        differ = "The feature names should match those that were passed during fit"
        raise DataError(f"{differ}; {remedy}, in the same order.")
    return rows.X if isinstance(rows, MemoryRows) else rows


def load(rows: RowsLike) -> Any:
    """Rows in memory, if they fit."""
    if not isinstance(rows, Source):
        return rows if isinstance(rows, Points) else np.asarray(rows)
    needed = len(rows) * rows.shape[1] * rows.dtype.itemsize
    if needed > available_bytes() // 2:
        raise DataError(
            f"{len(rows)} rows would take {needed >> 20} MB in memory, which this step needs; "
            "give it a part of them, " + Remedy("rows[:n].", shell="fewer rows.")
        )
    return rows[:]


def refuse_masked(X: Any) -> None:
    """Masked arrays, whose mask a conversion would lose."""
    rows = X if isinstance(X, list | tuple) else [X]
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        remedy = "use X.filled(np.nan) with impute, or X.data to ignore the mask."
        raise DataError(f"masked arrays are refused, because the mask would be lost; {remedy}")


def _refuse_sparse(estimator: Estimator, X: Any, kernel: Kernel) -> None:
    """Sparse rows where the estimator or the kernel could only make them dense."""
    able = getattr(type(estimator), "capabilities", None)
    if able is None or not able.sparse:
        why = f"{type(estimator).__name__} moves rows or looks at single entries"
        instead = "give the rows to KernelPCA"
    elif not kernel.takes_sparse:
        why = f"{kernel!r} is not a function of distances or dot products alone"
        instead = "use kernel='gaussian' or another of these"
    else:
        return _refuse_kind(
            X.dtype.kind, f"got a sparse matrix of shape {X.shape} and dtype {X.dtype}"
        )
    megabytes = X.shape[0] * np.prod(X.shape[1:]) * 8 // (1 << 20)
    raise TypeError(
        f"Sparse data was passed, which is never made dense in silence, and {why}; {instead}, or "
        f"X.toarray() if {megabytes:.0f} MB are acceptable."
    )


def _as_table(X: RowsLike) -> Any:
    """Lists as arrays, so that their kind of number can be seen; the rest as it is."""
    if X is None:
        raise DataError("X is None; give a two-dimensional array of numbers.")
    try:
        return np.asarray(X) if isinstance(X, list | tuple) else X
    except ValueError as error:
        raise DataError(
            f"the {len(X)} rows cannot form a table, they differ in length or shape; "
            "give rows of equal length, or use FunctionKernel for objects."
        ) from error


def _kinds(X: RowsLike) -> Iterator[tuple[str, str]]:
    """Kinds of entries, and what has them: those that a conversion might change without a word."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            written = str(dtype).lower()
            if written.startswith("date"):
                yield "D", f"column {name!r} holds dates (dtype {dtype})"
            elif written.startswith(("str", "categor", "enum")) or _holds_text(X[name], dtype):
                yield "U", f"column {name!r} holds text or categories (dtype {dtype})"
            else:
                yield getattr(dtype, "kind", "f"), f"got column {name!r} of dtype {dtype}"
    elif isinstance(X, np.ndarray):
        if X.dtype.kind == "O" and any(isinstance(entry, str | bytes) for entry in X.flat):
            yield "U", f"got an object array of shape {X.shape} that holds text"
        yield X.dtype.kind, f"got an array of shape {X.shape} and dtype {X.dtype}"


def _holds_text(column: Any, dtype: Any) -> bool:
    """Before version 3 pandas keeps text as objects."""
    return str(dtype) == "object" and any(isinstance(x, str) for x in np.asarray(column).flat)


def _refuse_kind(kind: str, what: str) -> None:
    for kinds, (wrong, remedy) in _LOSSY.items():
        if kind in kinds:
            raise DataError(f"{wrong}: {what}; " + remedy)


_ENCODE = Remedy(
    "give the table to TableModel(model), from mercer, encode this as numbers first, or use "
    "FunctionKernel for objects.",
    shell="leave such columns out with --drop.",
)
#: Kinds of entries that are not numbers → what is wrong with them, and what to do.
_LOSSY = {
    "c": ("Complex data not supported", "give X.real and X.imag as columns of their own."),
    "mM": ("times have no unit as numbers", "give, for example, the days since the earliest."),
    "D": ("dates have no unit as numbers", _ENCODE),  # of frames
    "US": ("could not convert string to float", _ENCODE),
}


def _one_line(estimator: Estimator, text: str, X: RowsLike, reset: bool, where: str) -> str:
    """What scikit-learn said, with the place, shape and dtype, and a remedy.

    The remedy follows from the rows, not from the words: these change from version to version.
    """
    shape = getattr(X, "shape", None)
    if shape is None:
        return f"{text}; give a two-dimensional table of numbers."
    if len(shape) < 2:
        return (
            f"Expected 2D array, got shape {shape} and dtype {np.asarray(X).dtype} instead. "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample."
        )
    if len(shape) > 2:
        return f"{text} Flatten each sample to one row: X.reshape(len(X), -1)."
    names = None if reset else names_of(estimator)
    if names is not None and list(getattr(X, "columns", names)) != names:
        return f"{text} Give the columns that were there in fit, in the same order."
    if where:
        return text.partition(". ")[0].removesuffix(".") + "." + where
    if shape[0] < 2 and (reset or not shape[0]):
        return f"{text} Give more rows."
    if not shape[1]:
        return f"{text} Give at least one column."
    if not reset and shape[1] != (expected := estimator.n_features_in_):
        if shape[0] == expected:
            return f"{text} X seems to be transposed: give X.T, with one sample per row."
        return f"{text} Give the columns that were there in fit."
    kind = f" and dtype {X.dtype}" if hasattr(X, "dtype") else ""
    return f"{text} (X has shape {shape}{kind}); give a two-dimensional table of numbers."


def flat(error: Exception) -> str:
    """What an error says, on one line."""
    return " ".join(str(error).split())


def _floats(X: RowsLike) -> Array:
    """Entries as float64 for a look at them, missing ones as NaN; empty if that is not possible."""
    try:
        values = np.asarray(X, dtype=object if hasattr(X, "columns") else None)
        if values.dtype.kind == "c":
            return np.empty(0)
        if values.dtype.kind == "O":
            entries = [np.nan if _is_missing(entry) else entry for entry in values.flat]
            return np.array(entries, dtype=np.float64).reshape(values.shape)
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)


def _is_missing(entry: Any) -> bool:
    return entry is None or type(entry).__name__ in ("NAType", "NaTType")


def _is_numeric_table(X: RowsLike) -> bool:
    return issparse(X) or (getattr(X, "ndim", 0) == 2 and np.asarray(X).dtype.kind in "fiub")


def _check_objects(X: RowsLike) -> Sequence[Any]:
    has_rows = isinstance(X, Sized) and not isinstance(X, str | bytes)
    if not has_rows:
        raise DataError(f"expected a sequence of objects, not {type(X).__name__}; give a list.")
    if len(X) == 0:
        raise DataError("there are 0 rows; give at least 2.")
    return list(X)
