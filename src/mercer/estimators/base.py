"""What every estimator of this library is: parameters as people spell them, and a file."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from mercer._base.config import Made
from mercer._base.numbers import make_rng
from mercer._base.sklearn import BaseEstimator, Tags
from mercer._base.small_table import SmallTable
from mercer._base.spelling import answer_spelling, closest, other_spelling
from mercer._base.types import Estimator as AnyEstimator
from mercer._base.types import RowsLike, Seed
from mercer.estimators._validation import check_rows
from mercer.estimators.door import next_kernel, verb
from mercer.exceptions import DataError, ModelFileError
from mercer.io.model_file import read_model, write_model
from mercer.kernels import as_kernel
from mercer.model import Model, Subspace, model_of, names_of
from mercer.model.model import PARTS
from mercer.points import Points
from mercer.preimage import BoundPreImage, PreImageSolver

# What an estimator takes and gives: declared once, for the table in the docs and for the tests.


def _can(words: str, usual: bool = False) -> bool:
    """A yes or no with the words of the table's head."""
    able: bool = field(default=usual, metadata={"words": words})
    return able


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What an estimator accepts beside arrays."""

    tables: bool = _can("tables", True)  #: pandas and polars frames, whose names are remembered
    sparse: bool = _can("sparse matrices")  #: SciPy's sparse matrices
    objects: bool = _can("objects")  #: lists of any Python objects, with a kernel of them
    precomputed: bool = _can("kernel matrix")  #: a kernel matrix
    files: bool = _can("files", True)  #: paths and row sources in ``fit``
    dask: bool = _can("dask", True)  #: dask arrays and frames in ``fit``
    missing: bool = _can("missing values")  #: NaN in ``fit``
    weights: bool = _can("weights")  #: ``sample_weight``
    streaming: bool = _can("chunks")  #: ``partial_fit``
    onnx: bool = _can("ONNX")  #: :func:`mercer.export_onnx`
    experimental: bool = _can("experimental")  #: names and defaults may change


#: Arguments, and attributes or methods, that neighbours have → what to write here.
_NEIGHBOURS = json.loads(Path(__file__).with_name("neighbours.json").read_text(encoding="utf-8"))
_HINTS: dict[str, str] = _NEIGHBOURS["arguments"]

#: What a file holds of the columns that a model was fitted to.
OF_COLUMNS = ("n_features_in_", "feature_names_in_")

#: For ``set_params`` and ``GridSearchCV``, which reach into the kernel.
_INSIDE = {
    name: f"write kernel__{name}=." for name in ("gamma", "degree", "coef0", "sigma", "width")
}


class Estimator(BaseEstimator):
    """Named parameters and the result of a fit, which can be saved to a file without code."""

    capabilities: ClassVar[Capabilities]
    random_state: Seed
    _model_: Model

    #: Parameters that may be a name → the function that makes the object.
    _by_name: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"kernel": as_kernel}

    #: Parameters and attributes that neighbours have → what to write here.
    _foreign: ClassVar[Mapping[str, str]] = _HINTS
    _elsewhere: ClassVar[Mapping[str, str]] = _NEIGHBOURS["attributes"]

    #: What prediction needs beside the constructor's parameters, the first of which no fitted model
    #: is without. Attributes of the length of the training data do not belong here, unless the
    #: model is written on them.
    _saved: ClassVar[tuple[str, ...]] = ()
    #: Which rows the fit has seen, for the model file.
    _data_fingerprint: Mapping[str, Any] | None = None

    @verb()
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Save the fitted model to a file, without pickle.

        The file holds the parameters and what prediction needs (support points, coefficients,
        mean), with a checksum over every byte. It is written beside ``path`` and then moved there,
        so that a full disk or a kill leaves an old file as it was.

        Parameters
        ----------
        path : path
            Usually ``*.mercer``; nothing is appended.

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
        mercer.io.model_file.describe : what a file holds.

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
            make = f"Path({str(folder)!r}).mkdir(parents=True)"
            raise FileNotFoundError(f"there is no folder '{folder}'; {make}, or save elsewhere.")
        return write_model(self, path)

    def _cached(self, name: str, owner: object, key: object, make: Callable[[], Made]) -> Made:
        """What ``make()`` gives, cached until its owner is another one, or its key another value.

        It can be made again, and is left out of pickles, which it would only make larger.
        """
        store: dict[str, Any] = self.__dict__.setdefault("_made", {})
        if name not in store or store[name][0] is not owner or store[name][1] != key:
            store[name] = (owner, key, make())
        made: Made = store[name][2]
        return made

    def _bound(self, name: str, solver: PreImageSolver, subspace: Subspace) -> BoundPreImage:
        """The solver bound to a subspace, cached until either of them changes."""
        return self._cached(name, subspace, parameters_of(solver), lambda: solver.init(subspace))

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_made"}

    def _set_model(self, model: Model) -> None:
        """Keep what was learnt, with what the door has seen of the rows."""
        for name in ("tuning_", "risk_"):  # of an earlier choice, on other rows
            vars(self).pop(name, None)
        seen = self._data_fingerprint
        self._model_ = replace(model, names=names_of(self), fingerprint=seen)

    def _restore(self, state: dict[str, Any]) -> None:
        """Take over what a file says of the attributes in ``_saved``, those of a Model as one."""
        parts = parts_in(state) if "subspace_" in self._saved else {}
        for name, value in state.items():
            setattr(self, name, value)
        if parts.get("subspace") is not None:  # else it was saved as a pattern
            lacking = [name for name, part in parts.items() if part is None and name != "residuals"]
            if lacking:
                raise ModelFileError(f"there is no {lacking[0]}_")
            self._set_model(Model.known(**parts))

    def _rows(self, X: RowsLike, stream: bool = False) -> Points:
        """Checked rows in the precision of the model; sources are loaded unless ``stream``."""
        check_is_fitted(self, self._saved[0])
        subspace = model_of(self).subspace
        points = check_rows(self, X, subspace.kernel, reset=False, stream=stream)
        return points.cast(subspace.coef.dtype)

    def _table(self) -> SmallTable | None:
        """What was learnt, for people; None before a fit."""
        try:
            learnt = model_of(self)
        except (NotFittedError, DataError):
            return None
        return SmallTable("", [line for line in learnt.describe().items() if line[1]])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        table = self._table()
        parameters = super().__repr__(N_CHAR_MAX)
        return parameters if table is None else f"{parameters}\n  {table}"

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, and below it what was learnt."""
        diagram: str = estimator_html_repr(self)
        table = self._table()
        return diagram if table is None else diagram + table.html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        html = {"text/html": self._repr_html_inner()} if "text/html" in bundle else {}
        return bundle | html

    def _rng(self) -> np.random.Generator:
        """The random numbers of one fit, from whatever scikit-learn accepts as ``random_state``."""
        return make_rng(self.random_state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if (able := getattr(type(self), "capabilities", None)) is not None:
            kernel = next_kernel(self)
            tags.input_tags.pairwise = kernel is not None and kernel.is_pairwise
            tags.input_tags.sparse = able.sparse and (kernel is None or kernel.takes_sparse)
            tags.input_tags.allow_nan = able.missing
        return tags

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        answer_spelling(cls)

    if not TYPE_CHECKING:  # else every name would have a type

        def __getattr__(self, name: str) -> Any:
            """Only asked for what is not there."""
            if hint := type(self)._elsewhere.get(name):
                raise AttributeError(f"{type(self).__name__} has no {name}; {hint}")
            # scikit-learn asks for columns in every call: a guess costs more than a row.
            if name.endswith("_") and not name.startswith("_") and name not in OF_COLUMNS:
                names = {*dir(type(self)), *vars(self)}
                known = [word for word in names if word.endswith("_") and not word.startswith("_")]
                if name not in known and (guess := closest(name, known)):
                    words = f"{type(self).__name__} has no {name}; did you mean {guess}?"
                    raise AttributeError(words)
            return object.__getattribute__(self, name)  # the error of before

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; ``kernel__gamma`` reaches a kernel that was given by its name, too.

        ``KernelPCA(2).set_params(kernel__gamma=1)`` makes its ``"gaussian"`` a
        ``Gaussian(gamma=1)``.
        """
        names = self._get_param_names()
        for name in [*parameters]:
            part, inside, _ = name.partition("__")
            value = parameters.get(part, getattr(self, part, None))
            if not inside and name not in names:
                remedy = other_spelling(name, names, _HINTS | _INSIDE)
                raise ValueError(f"{type(self).__name__} has no {name}=; {remedy}")
            if inside and (value is None or isinstance(value, str)):
                if part not in self._by_name:
                    words = f"{part}={value!r} is not an object with {name}"
                    raise ValueError(f"{words}; give one as {part}.")
                parameters[part] = self._by_name[part](value)
        super().set_params(**parameters)
        return self


def learnt(name: str, words: str) -> Any:
    """An attribute that shows a part of the Model."""

    def part(self: Estimator) -> Any:
        if "_model_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first.")
        value = getattr(self._model_, name)
        if value is None:
            remedy = "see report_.estimated_error." if name == "residuals" else "fit it again."
            raise AttributeError(f"{type(self).__name__} has no {name}_; {remedy}")
        return value

    return property(part, doc=words)


def parts_in(state: dict[str, Any]) -> dict[str, Any]:
    """What a file says of a Model, taken out of the other attributes."""
    state.pop("kernel_", None)  # the subspace has it
    return {name: state.pop(f"{name}_", None) for name in PARTS}


def take_over(model: AnyEstimator, other: AnyEstimator, *names: str) -> None:
    """Give a model the attributes with these names that another one has."""
    model.__dict__.update({name: vars(other)[name] for name in names if name in vars(other)})


def parameters_of(part: AnyEstimator) -> tuple[type, str]:
    """All that a solver is, as a key for what is made of it."""
    return type(part), repr(sorted(part.get_params().items()))


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that ``model.save(path)`` wrote.

    Predictions equal those of the saved model to the last bit, on the same machine with the same
    versions of the libraries. Nothing in the file is executed or imported: its classes are
    mercer's own and those that you passed to :func:`mercer.register`, and all checksums are
    compared first.

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
    mercer.exceptions.ModelFileError: '...' is not a model ...: it is empty or cut off ...
    """
    return read_model(path)
