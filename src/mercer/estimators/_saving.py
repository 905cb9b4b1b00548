"""``load``, and the rows that a model was fitted to."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from mercer._base.types import Array, Estimator, RowsLike
from mercer.exceptions import DataError, Remedy
from mercer.io.model_file import read_model
from mercer.model import model_of
from mercer.points import as_points
from mercer.points.source import MemoryRows, Source


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that ``model.save(path)`` wrote.

    Predictions are those of the saved model to the last bit, on the same machine with the same
    versions of the libraries. Nothing that the file says is executed or imported: its classes are
    mercer's own and those that you gave to :func:`mercer.register`, and every checksum is compared
    first.

    Parameters
    ----------
    path : path

    Returns
    -------
    the fitted estimator

    Raises
    ------
    ModelFileError
        The file is damaged, cut off, foreign, of another version, or makes no sense; the message
        says what was found.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import mercer
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.mercer"
    >>> _ = path.write_bytes(b"")
    >>> mercer.load(path)
    Traceback (most recent call last):
        ...
    mercer.exceptions.ModelFileError: '...' is not a model ...: it is empty; save the model again.
    """
    return read_model(path)


def remember_data(estimator: Estimator, rows: object, *, more: bool = False) -> None:
    """Keep a fingerprint of the rows of a fit, for the model file; ``more``: a further chunk.

    Size, precision, and a hash over a part of the rows: it tells data sets apart, and is cheap.
    """
    source = rows if isinstance(rows, Source) else MemoryRows(rows)
    numeric = source.dtype.kind == "f"
    # Rows on a cluster would have to be computed first, and objects have no bytes of their own.
    sha256 = source.fingerprint() if numeric and not hasattr(source, "collection") else None
    n, before = len(source), getattr(estimator, "_data_fingerprint", None)
    if more and before is not None:
        n += before["rows"]
        sha256 = hashlib.sha256(f"{before['sha256']} {sha256}".encode()).hexdigest()
    estimator._data_fingerprint = {
        "rows": n,
        "columns": source.shape[1],
        "dtype": source.dtype.name,
        "sha256": sha256,
    }


def was_fitted_to(model: Estimator, X: RowsLike, rows: Array) -> bool:
    """Whether these are the rows of the fit, as far as can be known.

    ``X`` as given, ``rows`` as checked: a file is known by itself or by what is in it.
    """
    known = getattr(model, "_data_fingerprint", None)
    sources = [MemoryRows(rows), *([X] if isinstance(X, Source) else [])]
    same = known is not None and known["sha256"] in [source.fingerprint() for source in sources]
    return same or as_points(model_of(model).subspace.support).equals(as_points(rows))


def refuse_seen(model: Estimator, X: RowsLike, rows: Array) -> None:
    """Refuse the rows that the model was fitted to, for its judgement."""
    if was_fitted_to(model, X, rows):
        raise DataError(
            f"these {len(rows)} rows are those that the model was fitted to; they are less new to "
            "it than others, and a threshold from them would give more false alarms than asked "
            "for. Give normal rows that it has not seen, or fit "
            + Remedy(
                "KernelNovelty to all of them.",
                shell="all of them with 'mercer fit DATA --model novelty'.",
            )
        )
