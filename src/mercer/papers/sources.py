"""Where the papers' data come from: a folder, OpenML, or a stand-in that says so.

None of them is part of the package. What a folder must hold: ``usps.npz`` and ``mnist.npz`` with
``X_train``, ``y_train``, ``X_test``, ``y_test`` (and ``scale`` for USPS), ``Pima.tr.csv`` and
``Pima.te.csv`` of the R package MASS. Every set is checked by the counts of its classes.
"""

import functools
import socket
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import zoom
from sklearn import datasets

from mercer._base.files import packaged
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.exceptions import DataError, MercerWarning, warn

#: Rows of each class in the training and test parts.
COUNTS: Mapping[str, list[list[int]]] = tomllib.loads(packaged("mercer.papers", "sets.toml"))
#: Seconds to wait for another machine before a stand-in is used.
PATIENCE = 20.0


@dataclass(frozen=True)
class Labelled:
    """Rows with classes (whole numbers), in a training and a test part."""

    name: str  #: the set that the paper used
    X: Array
    y: Array
    X_test: Array
    y_test: Array
    stands_in: str = ""  #: what this is if it is not that set; empty if it is

    def checked(self) -> "Labelled":
        """The same, if the counts of the classes are those of the set."""
        counts = [np.bincount(y).tolist() for y in (self.y, self.y_test)]
        if counts != COUNTS[self.name]:
            raise DataError(
                f"this is not {self.name}: its classes have {counts} training and test rows, not "
                f"{COUNTS[self.name]}; give the original files in their original order."
            )
        return self


@dataclass(frozen=True)
class Sources:
    """Finds each set: in a folder, else at OpenML, else a stand-in with a warning.

    Parameters
    ----------
    folder : path, optional
    offline : bool
        Ask no other machine.

    Examples
    --------
    >>> import warnings
    >>> from mercer.papers import Sources
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     digits = Sources(offline=True).usps()
    >>> digits.X.shape[1], digits.stands_in
    (256, "the data are scikit-learn's digits, not USPS")
    """

    folder: Path | None = None
    offline: bool = False

    def usps(self) -> Labelled:
        """Digits of 16 × 16 pixels from -1 (paper) to 1 (ink)."""
        return self._found("USPS")

    def mnist(self) -> Labelled:
        """Digits of 28 × 28 pixels from 0 (paper) to 255 (ink)."""
        return self._found("MNIST")

    def pima(self) -> Labelled:
        """Seven measurements of a person, and whether she is diabetic (1)."""
        return self._found("Pima")

    def _found(self, name: str) -> Labelled:
        source, why = _find(name, self.folder, self.offline)
        if why:
            remedy = f"verdicts say so. Give the folder that holds {name} with --data."
            warn(f"{name} is not here: {why}; {source.stands_in}, and {remedy}", MercerWarning)
        return source


#: The folder where a set is, or the set itself.
Source = str | Path | Labelled


def read(name: str, source: Source) -> Labelled:
    """A set from its files in a folder; ``usps.npz``, or ``Pima.tr.csv`` and ``Pima.te.csv``."""
    if isinstance(source, Labelled):
        return source
    if name == "Pima":
        train, test = (read_pima_part(Path(source) / f"Pima.{part}.csv") for part in ("tr", "te"))
        return Labelled(name, *train, *test).checked()
    with np.load(Path(source) / f"{name.lower()}.npz") as data:
        X, X_test = (data[part].reshape(len(data[part]), -1) for part in ("X_train", "X_test"))
        if "scale" in data:
            X, X_test = X / float(data["scale"]), X_test / float(data["scale"])
        return Labelled(name, X, data["y_train"], X_test, data["y_test"]).checked()


read_usps, read_mnist, read_pima = (functools.partial(read, name) for name in COUNTS)


def read_pima_part(path: str | Path) -> tuple[Array, Array]:
    """The seven columns and the class (1 = diabetic) of ``Pima.tr.csv`` or ``Pima.te.csv``."""
    if not Path(path).is_file():  # NumPy's own error does not name the file in the usual place
        raise FileNotFoundError(2, "No such file or directory", str(path))
    text = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
    return text[:, :7].astype(np.float64), (np.char.strip(text[:, 7], '"') == "Yes").astype(int)


@functools.lru_cache(maxsize=3)
def _find(name: str, folder: Path | None, offline: bool) -> tuple[Labelled, str]:
    """A set, and why it is only a stand-in (empty if it is not)."""
    missing, unreachable = "no folder was given", "nothing was to be fetched"
    if folder is not None:
        try:
            return read(name, folder), ""
        except FileNotFoundError as error:
            missing = f"there is no '{error.filename}'"
    if not offline:
        try:
            return _fetched(name), ""
        except (OSError, ValueError) as error:
            unreachable = f"OpenML did not answer ({type(error).__name__})"
    return _stand_in(name), f"{missing}, and {unreachable}"


def _fetch(data_id: int) -> tuple[Array, Array]:
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(PATIENCE)
    try:
        # What is ignored: that it tries again; failure is told by the caller.
        with warnings.catch_warnings(action="ignore"):
            bunch = datasets.fetch_openml(data_id=data_id, as_frame=False, n_retries=1)
    finally:
        socket.setdefaulttimeout(before)
    return np.asarray(bunch.data), np.asarray(bunch.target)


#: A set of digits → its number at OpenML, the class that means 0, and its first rows, which are
#: for training.
_AT_OPENML = {"USPS": (41082, 1, 7291), "MNIST": (554, 0, 60_000)}


def _split(name: str, X: Array, y: Array, n: int, why: str = "") -> Labelled:
    return Labelled(name, X[:n], y[:n], X[n:], y[n:], why)


def _fetched(name: str) -> Labelled:
    if name == "Pima":
        return _fetch_pima()
    data_id, zero, n = _AT_OPENML[name]
    X, y = _fetch(data_id)
    return _split(name, X, y.astype(int) - zero, n).checked()


def _fetch_pima() -> Labelled:
    """OpenML has all 768 rows; MASS has the 532 complete ones, in a split that is only there."""
    X, y = _fetch(37)
    columns = X[:, [0, 1, 2, 3, 5, 6, 7]].astype(np.float64)
    kept = (columns[:, 1:5] != 0).all(axis=1)
    X, y = columns[kept], (y[kept] == "tested_positive").astype(int)
    if tuple(np.bincount(y)) != (355, 177):
        raise DataError(f"Pima from OpenML has classes of {np.bincount(y)} rows, not 355 and 177.")
    rng = fixed_rng(0)
    chosen = np.zeros(len(y), dtype=bool)
    for value, count in enumerate(COUNTS["Pima"][0]):
        chosen[rng.permutation(np.flatnonzero(y == value))[:count]] = True
    why = "the 200 training rows of Pima are drawn anew (OpenML has no split)"
    return Labelled("Pima", X[chosen], y[chosen], X[~chosen], y[~chosen], why)


def _stand_in(name: str) -> Labelled:
    """Digits of 8 × 8 pixels, enlarged, or as many rows and columns of another medical table."""
    if name == "Pima":
        table = datasets.load_breast_cancer()
        rows = fixed_rng(0).permutation(len(table.target))[:532]
        why = "the data are scikit-learn's breast cancer table, not Pima"
        return _split(name, table.data[rows, :7], 1 - table.target[rows], 200, why)
    small, side = datasets.load_digits(), 16 if name == "USPS" else 28
    ink = np.clip(zoom(small.images / 16, (1, side / 8, side / 8), order=1), 0, 1)
    X = 2 * ink - 1 if name == "USPS" else np.rint(255 * ink).astype(np.uint8)
    why = f"the data are scikit-learn's digits, not {name}"
    return _split(name, X.reshape(len(X), -1), small.target, 1197, why)
