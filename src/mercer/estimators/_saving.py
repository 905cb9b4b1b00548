"""``save`` for every estimator, and ``load``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._linalg import Array
from mercer._types import Estimator, RowsLike
from mercer.estimators._threads import HeldMixin
from mercer.exceptions import DataError, ModelFileError, Remedy
from mercer.model_file import read_model, write_model
from mercer.model_file.checks import check_loaded, expect
from mercer.model_file.file import Fingerprint
from mercer.novelty import Conformal, NoveltyScore
from mercer.preimage import BoundPreImage, PreImageSolver
from mercer.robust import Filling
from mercer.robust.gaussian import GaussianRows
from mercer.rows import MemoryRows, Rows
from mercer.sparse_rows import same_rows
from mercer.subspace import Subspace

__all__ = ["SaveMixin", "load", "parameters_of", "refuse_seen", "remember_data"]
__all__ += ["was_fitted_to"]


Made = TypeVar("Made")


class SaveMixin(HeldMixin):
    """Saving to a file that holds numbers and names only."""

    #: What prediction needs beside the constructor's parameters, the first of which no fitted model
    #: is without. Attributes of the length of the training data do not belong here, unless the
    #: model is written on them.
    _saved: ClassVar[tuple[str, ...]] = ()
    _data_fingerprint: Fingerprint | None

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
            The model holds code, such as a function as its kernel, or a class that was never
            registered.

        See Also
        --------
        mercer.load : the way back.
        mercer.register : for kernels and solvers of your own.
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
        folder = Path(path).parent
        if not folder.is_dir():
            raise FileNotFoundError(
                f"there is no folder '{folder}'; make it, Path({str(folder)!r}).mkdir("
                "parents=True), or save elsewhere."
            )
        return write_model(self, path)

    def _kept(self, name: str, owner: object, key: object, make: Callable[[], Made]) -> Made:
        """What ``make()`` gives, kept until its owner is another one, or its key another value.

        It can be made again, and is left out of pickles, which it would only make larger.
        """
        store: dict[str, Any] = self.__dict__.setdefault("_made", {})
        if name not in store or store[name][0] is not owner or store[name][1] != key:
            store[name] = (owner, key, make())
        made: Made = store[name][2]
        return made

    def _bound(self, name: str, solver: PreImageSolver, subspace: Subspace) -> BoundPreImage:
        """The solver bound to a subspace, kept until either of them changes."""
        return self._kept(name, subspace, parameters_of(solver), lambda: solver.init(subspace))

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_made"}

    def _restore(self, state: dict[str, Any]) -> None:
        """Take over what a file says of the attributes in ``_saved``."""
        for name, value in state.items():
            setattr(self, name, value)


def parameters_of(part: Estimator) -> tuple[type, str]:
    """All that a solver is, as a key for what is made of it."""
    return type(part), repr(sorted(part.get_params().items()))


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


def remember_data(estimator: SaveMixin, rows: object, *, more: bool = False) -> None:
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


def was_fitted_to(model: Estimator, X: RowsLike, rows: Array) -> bool:
    """Whether these are the rows of the fit, as far as can be known.

    ``X`` as given, ``rows`` as checked: a file is known by itself or by what is in it.
    """
    known = getattr(model, "_data_fingerprint", None)
    sources = [MemoryRows(rows), *([X] if isinstance(X, Rows) else [])]
    same = known is not None and known["sha256"] in [source.fingerprint() for source in sources]
    return same or same_rows(model.subspace_.support, rows)


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


@check_loaded.register
def _check_score(score: NoveltyScore) -> None:
    expect("inside", score.inside, (score.subspace.n_components,))


@check_loaded.register
def _check_conformal(conformal: Conformal) -> None:
    expect("scores", conformal.scores, (None,))
    if not len(conformal.scores) or (np.diff(conformal.scores) < 0).any():
        raise ModelFileError("the calibration scores are not in order")


@check_loaded.register
def _check_gaussian(rows: GaussianRows) -> None:
    expect("location", rows.location, (None,))
    d = len(rows.location)
    expect("scale", rows.scale, (d,))
    expect("moments", rows.moments, (d, d))
    sound = isinstance(rows.shrinkage, float) and 0 < rows.shrinkage <= 1
    if not sound or not (rows.scale > 0).all() or not (np.diagonal(rows.moments) >= 0).all():
        raise ModelFileError("the Gaussian of missing values is none")


@check_loaded.register
def _check_filling(filling: Filling) -> None:
    expect("noise", filling.noise, (None,))
    classes = len(filling.noise)
    expect("edges", filling.edges, (classes - 1,))
    expect("errors", filling.errors, (classes, 2))
    for name in ("share", "spread"):
        expect(name, getattr(filling, name), (classes,))
    known = filling.gaussian is None or isinstance(filling.gaussian, GaussianRows)
    if not known or not isinstance(filling.by_count, bool):
        raise ModelFileError("what was chosen for missing values is not readable")
