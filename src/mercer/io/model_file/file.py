"""One model, one file: written in one step, read without running anything that it says."""

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypedDict

from mercer._base.files import atomic_file
from mercer._base.types import PathLike
from mercer.exceptions import ModelFileError, warn
from mercer.io.model_file import container
from mercer.io.model_file.checks import check_answers
from mercer.io.model_file.codec import Decoder, Encoder, saved_attributes
from mercer.model.model import PER_COMPONENT, remember

FORMAT = "mercer model"
#: Raised when files of an older version can no longer be read as they are.
VERSION = 1

#: Attributes that some fits do not have.
_OPTIONAL = {"_sklearn_output_config", "X_transformed_fit_", "classes_", "dual_coef_"}
_OPTIONAL |= {"feature_names_in_", "labels_", "n_targets_", "rows_"}
# Before 0.2 detectors kept none of these, and tables whose values were all there no filler.
_OPTIONAL |= {"report_", "filler_", *(f"{name}_" for name in PER_COMPONENT)}


class Fingerprint(TypedDict):
    """A fingerprint of the rows that a model was fitted to, by which data sets are told apart."""

    rows: int
    columns: int
    dtype: str
    sha256: str | None


_TEXTS = {"format", "version", "class", "model", "libraries", "created_at", "data"}


def write_model(model: object, path: PathLike) -> Path:
    """Write a fitted model; the file appears whole or not at all.

    Parameters
    ----------
    model : fitted estimator
    path : where to; nothing is appended to the name

    Raises
    ------
    ModelFileError
        The model holds what a file cannot: code, or classes that were never registered.
    OSError
        Disk full, no permission; an old file at ``path`` is unchanged.
    """
    encoder = Encoder()
    encoded = encoder.encode_object(model, "")
    texts = {
        "format": FORMAT,
        "version": str(VERSION),
        "class": encoded["object"],
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "libraries": json.dumps(_libraries()),
        "data": json.dumps(getattr(model, "_data_fingerprint", None)),
        "model": json.dumps(encoded, allow_nan=False),
    }
    with atomic_file(path) as file:
        container.write_container(file, texts, encoder.tensors)
    return Path(path)


def read_model(path: PathLike) -> Any:
    """Read a model.

    Parameters
    ----------
    path : a file that :func:`write_model` wrote

    Raises
    ------
    ModelFileError
        The file is damaged, foreign, of another version, or makes no sense; it says which.
    """
    with container.open_container(path) as reader:
        header = header_of(reader)
        decoder = Decoder(reader)
        model = decoder.decode(header["model"])
        needed = [name for name in saved_attributes(type(model)) if name not in _OPTIONAL]
        if absent := [name for name in needed if not hasattr(model, name)]:
            raise reader.error(f"its {header['class']} was never fitted: there is no {absent[0]}")
        if unused := sorted(set(reader.tensors) - set(decoder.arrays)):
            raise reader.error(f"nothing needs its tensor {unused[0]!r}")
        try:
            check_answers(model, Path(path).stat().st_size)
        except ModelFileError as error:
            raise reader.error(f"its {header['class']} makes no sense: {error}") from error
        remember(model, header["data"])
    if decoder.remark:
        warn(f"{path}: {decoder.remark}")
    return model


def header_of(reader: container.Reader) -> dict[str, Any]:
    """The header, parsed, if format and version are ours."""
    texts = reader.texts
    if texts.get("format") != FORMAT:
        raise reader.error(f"its format is {texts.get('format', 'not stated')!r}, not {FORMAT!r}")
    if (version := texts.get("version", "not stated")) != str(VERSION):
        known = f"its version is {version!r}, and this mercer reads version {VERSION}"
        raise reader.error(f"{known}; install a newer mercer")
    if set(texts) != _TEXTS or not all(text.isprintable() for text in texts.values()):
        raise reader.error(f"its header has the texts {sorted(texts)!r:.200}")
    header: dict[str, Any] = dict(texts)
    for name in ("libraries", "data", "model"):
        header[name] = container.parse_json(texts[name], reader.error)
    known = header["libraries"]
    versions = (*known, *known.values()) if isinstance(known, dict) else (None,)
    # Nothing that a terminal would take for a command.
    plain = all(isinstance(text, str) and text.isprintable() for text in versions)
    if not plain or not _is_fingerprint(header["data"]):
        raise reader.error("its header does not say where it comes from")
    match header["model"]:
        case {"object": word, "with": dict(), "state": dict()} if word == texts["class"]:
            return header
    raise reader.error(f"it holds no {texts['class'][:80]!r} with its parameters")


def _is_fingerprint(value: Any) -> bool:
    match value:
        case {"rows": int(), "columns": int(), "dtype": str(), "sha256": None | str()}:
            return len(value) == 4 and all(str(part).isprintable() for part in value.values())
    return value is None


def _libraries() -> dict[str, str]:
    """Versions that a reader may want to know when numbers differ."""
    versions = {"python": platform.python_version()}
    for name in ("mercer", "numpy", "scipy", "scikit-learn"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # run from a checkout that was never installed
            versions[name] = "unknown"
    return versions


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of itself; every checksum has been compared."""

    path: Path
    n_bytes: int  #: size of the file
    class_name: str  #: ``"KernelPCA"``, ``"SparseKernelPCA"``, ...
    parameters: dict[str, str]  #: of the constructor, as Python would write them
    fitted: dict[str, str]  #: what the fit has found, large arrays by their shapes
    version: int  #: of the format
    libraries: dict[str, str]  #: versions of Python and of the libraries that wrote the file
    created_at: str  #: in UTC, ISO 8601
    #: Rows, columns, precision and a fingerprint of the data that the model was fitted to
    data: Fingerprint | None
    #: Name, type, shape and size of each array, the largest first
    tensors: tuple[container.Tensor, ...]


def describe(path: PathLike) -> ModelInfo:
    """Read what a model file says of itself, and check it; nothing is constructed.

    Parameters
    ----------
    path : a file that ``model.save`` wrote

    Returns
    -------
    ModelInfo

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.io.model_file import describe
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.mercer"
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> _ = KernelPCA(2, kernel="linear").fit(X).save(path)
    >>> info = describe(path)
    >>> info.class_name, info.parameters["kernel"], info.data["rows"]
    ('KernelPCA', "'linear'", 50)
    >>> [(tensor.name, tensor.shape) for tensor in info.tensors[:2]]
    [('subspace.support', (50, 3)), ('subspace.coef', (50, 2))]
    """
    with container.open_container(path) as reader:
        header = header_of(reader)
        reader.verify()
        model = header["model"]
        try:
            parameters, fitted = (_texts(reader, model[part]) for part in ("with", "state"))
        except (RecursionError, TypeError, AttributeError) as error:
            raise reader.error("its objects are nested too deeply, or are missing") from error
        tensors = sorted(reader.tensors.values(), key=lambda tensor: -tensor.n_bytes)
        origin = {part: header[part] for part in ("libraries", "created_at", "data")}
        own = (reader.path, reader.size, header["class"], parameters, fitted, VERSION)
        return ModelInfo(*own, **origin, tensors=tuple(tensors))


def _texts(reader: container.Reader, values: Mapping[str, object]) -> dict[str, str]:
    pairs = ((name, _text(reader, value)) for name, value in values.items())
    # Nothing that a terminal would take for a command.
    return dict([text if text.isprintable() else ascii(text) for text in pair] for pair in pairs)


def _text(reader: container.Reader, value: Any) -> str:
    """A value as Python would write it, without making it."""
    match value:
        case list():
            return f"[{', '.join(_text(reader, item) for item in value)}]"
        case {"array": name} | {"names": name}:
            tensor = reader.tensors.get(name)
            shape = () if tensor is None else tensor.shape
            return f"array of shape {shape[::-1] if value.get('order') == 'F' else shape}"
        case {"object": word}:
            parts = value.get("with")
            inside = parts.items() if isinstance(parts, dict) else ()
            parameters = ", ".join(f"{k}={_text(reader, v)}" for k, v in inside if v is not None)
            return f"{str(word).replace(':', '.').rpartition('.')[2]}({parameters})"
        case {"tuple": items}:
            return f"({', '.join(_text(reader, item) for item in items)})"
        case {"dict": items}:
            return f"{{{', '.join(f'{k!r}: {_text(reader, v)}' for k, v in items.items())}}}"
        case {"value": plain} | {"float": plain} | {"dtype": plain} | {"random": plain}:
            return str(plain)
    return repr(value)
