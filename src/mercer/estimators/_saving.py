"""``save`` for every estimator, and ``load``: the table of classes that a model file may name."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import generative, novelty, robust, sparse
from mercer.exceptions import ModelFileError
from mercer.generative.densities import (
    FittedInterpolate,
    FittedKDE,
    FittedLocal,
    FittedMixture,
    FittedNormal,
)
from mercer.model_file import BELOW, CHECKS, Table, read_model, write_model
from mercer.model_file.checks import expect
from mercer.rows import MemoryRows, Rows

__all__ = ["SaveMixin", "load", "remember_data"]

#: Every estimator that can be saved, and where it lives. A file names one of these words.
_ESTIMATORS = {
    "DeepGenerativeKernelPCA": "mercer.estimators",
    "GenerativeKernelPCA": "mercer.estimators",
    "IncrementalKernelPCA": "mercer.estimators",
    "KernelNovelty": "mercer.estimators",
    "KernelPCA": "mercer.estimators",
    "MissingKernelPCA": "mercer.estimators",
    "RKMClassifier": "mercer.estimators",
    "RKMRegressor": "mercer.estimators",
    "ReweightedKernelPCA": "mercer.estimators",
    "SparseKernelPCA": "mercer.estimators",
    "alternatives.BottleneckAutoencoder": "mercer.alternatives",
    "alternatives.MultilinearPCA": "mercer.alternatives",
    "alternatives.NonNegativeMultilinearPCA": "mercer.alternatives",
    "alternatives.PrincipalCurve": "mercer.alternatives",
    "alternatives.PrincipalSurface": "mercer.alternatives",
    "alternatives.RobustMultilinearPCA": "mercer.alternatives",
    "alternatives.RobustPCA": "mercer.alternatives",
    "alternatives.UncorrelatedMultilinearPCA": "mercer.alternatives",
    "compat.KernelPCA": "mercer.compat",
}

#: Parts of those that lie above this layer.
_PARTS_ABOVE = {
    "alternatives.Mesh": "mercer.alternatives._mesh",
    "alternatives.Polyline": "mercer.alternatives._polyline",
}

#: Their parts from the layers between the model file and the estimators.
_PARTS: dict[str, type] = {
    "generative.FittedInterpolate": FittedInterpolate,
    "generative.FittedKDE": FittedKDE,
    "generative.FittedLocal": FittedLocal,
    "generative.FittedMixture": FittedMixture,
    "generative.FittedNormal": FittedNormal,
    "generative.Interpolate": generative.Interpolate,
    "generative.KDE": generative.KDE,
    "generative.KernelSmoother": generative.KernelSmoother,
    "generative.LeastSquaresMachine": generative.LeastSquaresMachine,
    "generative.Local": generative.Local,
    "generative.LocalRidge": generative.LocalRidge,
    "generative.Mixture": generative.Mixture,
    "generative.Normal": generative.Normal,
    "generative.RKM": generative.RKM,
    "novelty.Conformal": novelty.Conformal,
    "novelty.CrossFit": novelty.CrossFit,
    "novelty.NoveltyScore": novelty.NoveltyScore,
    "novelty.ShareUpTo": novelty.ShareUpTo,
    "novelty.Split": novelty.Split,
    "robust.Hampel": robust.Hampel,
    "robust.Tukey": robust.Tukey,
    "sparse.Auto": sparse.Auto,
    "sparse.Centres": sparse.Centres,
    "sparse.ColumnGeneration": sparse.ColumnGeneration,
    "sparse.EM": sparse.EM,
    "sparse.Fast": sparse.Fast,
    "sparse.Greedy": sparse.Greedy,
    "sparse.MM": sparse.MM,
}


class SaveMixin:
    """Saving to a file that holds numbers and names only."""

    #: What prediction needs beside the constructor's parameters, the first of which no fitted model
    #: is without. Attributes of the length of the training data do not belong here, unless the
    #: model is written on them.
    _saved: ClassVar[tuple[str, ...]] = ()
    _data_fingerprint: dict[str, Any] | None

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Save the fitted model to a file, without pickle.

        The file holds the parameters and what prediction needs (support points, coefficients,
        mean), with a checksum over every byte. It is written beside ``path`` and then moved there,
        so that a full disk or a kill leaves an old file as it was.

        Parameters
        ----------
        path : path
            By custom ``*.mercer``; nothing is appended.

        Returns
        -------
        Path

        Raises
        ------
        ModelFileError
            The model holds code, such as a function as its kernel.

        See Also
        --------
        mercer.load : the way back.
        mercer.model_file.describe : what a file holds.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import mercer
        >>> X = np.random.default_rng(0).standard_normal((100, 3))
        >>> model = mercer.KernelPCA(4).fit(X)
        >>> path = model.save(pathlib.Path(tempfile.mkdtemp()) / "model.mercer")
        >>> bool((mercer.load(path).transform(X) == model.transform(X)).all())
        True
        """
        check_is_fitted(self, self._saved[0])
        return write_model(self, path, _table())


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that ``model.save(path)`` wrote.

    Predictions are those of the saved model to the last bit, on the same machine with the same
    versions of the libraries. Nothing that the file says is executed or imported: its classes come
    from a fixed table, and every checksum is compared first.

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
    return read_model(path, _table())


def remember_data(estimator: Any, rows: Any, *, more: bool = False) -> None:
    """Keep a fingerprint of the rows of a fit, for the model file; ``more``: a further chunk.

    Size, precision, and a hash over a part of the rows: it tells data sets apart, and is cheap.
    """
    source = rows if isinstance(rows, Rows) else MemoryRows(rows)
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


@cache
def _table() -> Table:
    checks: dict[type, Any] = {
        **CHECKS,
        novelty.NoveltyScore: _check_score,
        novelty.Conformal: _check_conformal,
    }
    return Table({**BELOW, **_PARTS}, {**_ESTIMATORS, **_PARTS_ABOVE}, checks)


def _check_score(score: novelty.NoveltyScore) -> None:
    expect("inside", score.inside, (score.subspace.n_components,))


def _check_conformal(conformal: novelty.Conformal) -> None:
    expect("scores", conformal.scores, (None,))
    if not len(conformal.scores) or (np.diff(conformal.scores) < 0).any():
        raise ModelFileError("the calibration scores are not in order")
