"""Between objects and what a file can hold: JSON with references to tensors.

Numbers, texts, None and lists stand for themselves; everything else is an object with one tag:

=====================================  =================================================
``{"array": name, "order": "F"}``      a tensor; stored transposed if it lay so in memory
``{"names": name, "kind": "text"}``    texts, as a tensor of JSON; of any length without a kind
``{"scalar": "float64", "value": x}``  a NumPy number, whose type decides how sums are rounded
``{"float": "inf"}``                   what JSON has no word for
``{"tuple": [...]}, {"dict": {...}}``
``{"dtype": "float32"}``
``{"sparse": {...}}``                  a matrix of SciPy's, around our own sparse rows
``{"random": "Generator"}``            a source of random numbers: read as None
``{"object": word, "with": {...}}``    a registered class with its parameters or fields
=====================================  =================================================

Estimators have ``"state"``, too; objects in ``DERIVED`` have ``"derived"``.
"""

import json
import math
import os
import warnings
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse

from mercer._base import registry as _registry
from mercer._base.config import Config
from mercer._base.sklearn import BaseEstimator
from mercer._base.types import Array
from mercer.exceptions import MercerWarning, ModelFileError
from mercer.gram import LandmarkFeatures
from mercer.io.model_file.checks import check_loaded, check_model
from mercer.io.model_file.container import Reader, parse_json
from mercer.kernels import FunctionKernel
from mercer.points.sparse import SparseRows

#: Levels of objects in objects; how many Python itself bears differs from version to version.
DEEPEST = 150
_SCALARS = ("float64", "float32", "int64", "int32", "bool")
#: Of smoothers that averaged as many of the nearest support points, with other weights.
_CENTRED = (
    "similarities are centred since this model was saved, as in the paper: rows that its Smoother "
    "returns differ a little; save it again to accept that."
)
#: Results that another machine might compute with different last digits or signs.
DERIVED: dict[type, tuple[str, ...]] = {LandmarkFeatures: ("_whitening",)}

Tagged: TypeAlias = dict[str, Any]


def saved_attributes(cls: type) -> tuple[str, ...]:
    """What a class declares as needed for prediction: its ``_saved``."""
    return tuple(getattr(cls, "_saved", ()))


class Encoder:
    """Turns objects into JSON, and collects their arrays as they go to the file: ``tensors``."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self._inside_parameters = 0
        self._seen: dict[tuple[object, ...], tuple[Tagged, Array]] = {}

    def encode(self, value: object, name: str) -> Any:
        """``value`` as JSON; ``name`` is what its array is called if it is one."""
        if isinstance(value, BaseEstimator) or is_dataclass(value):
            return self.encode_object(value, name)
        if issparse(value):  # the compatible KernelPCA keeps what it was given
            return {"sparse": self.encode_object(SparseRows.of(value), name)}
        match value:
            case np.generic() if value.dtype.name in _SCALARS:
                return {"scalar": value.dtype.name, "value": self.encode(value.item(), name)}
            case None | bool() | int() | str():
                return value
            case float() if math.isnan(value):
                raise ModelFileError(f"{name} is NaN; fit the model again.")
            case float():
                return value if math.isfinite(value) else {"float": str(value)}
            case np.ndarray():
                return self._array(value, name)
            case list():
                return [self.encode(item, f"{name}.{i}") for i, item in enumerate(value)]
            case tuple():
                return {"tuple": self.encode([*value], name)}
            case dict() if all(isinstance(key, str) for key in value):
                return {"dict": self._each(value, name)}
            case np.dtype():
                return {"dtype": value.name}
            case np.random.Generator() | np.random.RandomState():
                return {"random": type(value).__name__}
            case os.PathLike():
                return str(os.fspath(value))
            case Executor():
                return None  # workers are not part of a model
        kind = "function" if callable(value) else type(value).__name__
        held = f"{name} is a {kind}, which a model file cannot hold"
        raise ModelFileError(f"{held}; use one of mercer's own objects.")

    def encode_object(self, value: object, name: str) -> Tagged:
        """A registered class with its parameters, and what a fit has found."""
        if isinstance(value, FunctionKernel):
            code = "a function kernel is code, which a model file never holds"
            remedy = "fit k(X, X) with kernel='precomputed', or fit again where it is used"
            raise ModelFileError(f"{code}; {remedy}.")
        cls = type(value)
        word = _registry.word_of(cls)
        if word is None:
            foreign = f"{cls.__module__}:{cls.__qualname__} is not one of mercer's own classes"
            raise ModelFileError(f"{foreign}; call mercer.register({cls.__name__}) before save.")
        # An estimator that is a parameter is a pattern: whether it was fitted does not matter.
        is_estimator = isinstance(value, BaseEstimator)
        self._inside_parameters += is_estimator
        parameters = {part: getattr(value, part) for part in _names_of(cls)}
        parameters |= dict.fromkeys(getattr(cls, "_left_out", ()))
        encoded: Tagged = {"object": word, "with": self._each(parameters, name)}
        self._inside_parameters -= is_estimator
        if derived := DERIVED.get(cls):
            encoded["derived"] = self._each({part: getattr(value, part) for part in derived}, name)
        if is_estimator and not isinstance(value, Config):
            saved = () if self._inside_parameters else saved_attributes(cls)
            found = {part: getattr(value, part) for part in saved if hasattr(value, part)}
            encoded["state"] = self._each(found, name)
        return encoded

    def _each(self, values: Mapping[str, object], name: str) -> Tagged:
        start = f"{name}." if name else ""
        return {key: self.encode(value, start + key.strip("_")) for key, value in values.items()}

    def _array(self, array: Array, name: str) -> Tagged:
        if array.dtype.kind in "OUS":
            return self._names(array, name)
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype)
        if key not in self._seen or not array.size:
            transposed = array.flags.f_contiguous and not array.flags.c_contiguous
            stored = {"array": self._add(array.T if transposed else array, name)}
            # The array is kept, so that its address stays its own.
            self._seen[key] = stored | ({"order": "F"} if transposed else {}), array
        return self._seen[key][0]

    def _names(self, array: Array, name: str) -> Tagged:
        texts = array.tolist()
        if array.ndim != 1 or not all(isinstance(text, str) for text in texts):
            raise ModelFileError(f"{name} holds objects; a model file holds numbers and texts.")
        encoded = {"names": self._add(np.frombuffer(json.dumps(texts).encode(), np.uint8), name)}
        return {**encoded, "kind": "text"} if array.dtype.kind == "U" else encoded

    def _add(self, array: Array, name: str) -> str:
        while name in self.tensors:
            name += "+"
        self.tensors[name] = np.ascontiguousarray(array)
        return name


class Decoder:
    """Turns JSON and tensors back into objects; everything that is not expected is an error.

    ``arrays`` are the tensors that were needed so far, by name; ``remark`` says where the model
    answers otherwise than when it was saved.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.arrays: dict[str, Array] = {}
        self.depth = 0
        self.remark = ""

    def decode(self, value: Any) -> Any:
        """The object that the JSON stands for."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.reader.error("its objects are nested too deeply")
        decoded = self._decode(value)
        self.depth -= 1
        return decoded

    def _decode(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float() | str():
                return value
            case list():
                return [self.decode(item) for item in value]
            case {"array": name}:
                array = self._array(name)
                return array.T if value.get("order") == "F" else array
            case {"names": name}:
                return self._names(name, str if value.get("kind") == "text" else object)
            case {"scalar": str(kind), "value": bool() | int() | float() | {"float": _} as number}:
                if kind in _SCALARS:
                    return np.dtype(kind).type(self.decode(number))
            case {"float": "inf" | "-inf" as word}:
                return float(word)
            case {"dtype": "float32" | "float64" as word}:
                return np.dtype(word)
            case {"random": _}:
                return None
            case {"tuple": list(items)}:
                return tuple(self.decode(items))
            case {"dict": dict(items)}:
                return {key: self.decode(item) for key, item in items.items()}
            case {"object": str(word), "with": dict(parameters)}:
                return self._object(word, parameters, value)
            case {"sparse": {"object": str(word)} as rows} if _registry.find(word) is SparseRows:
                return self.decode(rows).to_scipy()
        raise self.reader.error(f"{str(value)[:80]} stands where an object should be")

    def _object(self, word: str, parameters: Tagged, value: Tagged) -> object:
        cls = _registry.find(word)
        if cls is None:
            remedy = "install a newer mercer, or import the class, if you trust it, and call "
            remedy += "mercer.register"
            raise self.reader.error(f"it holds a {word[:200]!r}, which is not registered; {remedy}")
        if word == "preimage.Smoother" and "by" not in parameters:
            parameters, self.remark = {"by": "nearest", **parameters}, _CENTRED
        if unknown := sorted(set(parameters) - set(_names_of(cls))):
            odd = f"{word} has no parameter {unknown[0][:80]!r}; it may need a newer mercer"
            raise self.reader.error(odd)
        try:
            # These warnings were given when the model was fitted.
            with warnings.catch_warnings(action="ignore", category=MercerWarning):
                return self._make(cls, parameters, value)
        except ModelFileError as error:
            if error.path is not None:
                raise
            raise self.reader.error(f"{word}: {error}") from error
        except Exception as error:  # of any kind: constructors and checks are given nonsense
            raise self.reader.error(f"{word} makes no sense ({error})") from error

    def _make(self, cls: type, parameters: Tagged, value: Tagged) -> object:
        made = cls(**{key: self.decode(part) for key, part in parameters.items()})
        if not isinstance(made, BaseEstimator):
            for name in DERIVED.get(cls, ()):
                vars(made)[name] = self.decode(value["derived"][name])
        elif not isinstance(made, Config):
            state = value["state"]
            if unknown := sorted(set(state) - set(saved_attributes(cls))):
                raise ModelFileError(f"{unknown[0][:80]!r} is not an attribute that is saved")
            restore = getattr(made, "_restore", vars(made).update)
            restore({name: self.decode(part) for name, part in state.items()})
            check_model(made)
        check_loaded(made)
        return made

    def _array(self, name: object) -> Array:
        if not isinstance(name, str) or name not in self.reader.tensors:
            raise self.reader.error(f"tensor {str(name)[:80]!r} is missing")
        if name not in self.arrays:
            self.arrays[name] = self.reader.read(name)
        return self.arrays[name]

    def _names(self, name: object, kind: type) -> Array:
        text = self._array(name).tobytes().decode("ascii", errors="replace")
        names = parse_json(text, self.reader.error)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.reader.error("names are not texts")
        return np.array(names, dtype=kind)


def _names_of(cls: type) -> list[str]:
    """Constructor parameters of a configuration or an estimator; fields of a record."""
    if issubclass(cls, BaseEstimator):
        return cls._get_param_names()
    return [part.name for part in fields(cls)] if is_dataclass(cls) else []
