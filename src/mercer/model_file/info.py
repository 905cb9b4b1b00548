"""What a model file holds, without making the model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mercer.model_file.container import Reader, Tensor
from mercer.model_file.file import Fingerprint, header_of


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of itself; every checksum has been compared.

    Attributes
    ----------
    path : Path
    n_bytes : int
        Size of the file.
    class_name : str
        ``"KernelPCA"``, ``"SparseKernelPCA"``, ...
    parameters : dict of str
        Constructor parameters as Python would write them.
    fitted : dict of str
        What the fit has found, large arrays by their shapes.
    version : int
        Of the format.
    libraries : dict of str
        Versions of Python and of the libraries that wrote the file.
    created_at : str
        In UTC, ISO 8601.
    data : dict or None
        Rows, columns, precision and a fingerprint of the data that the model was fitted to.
    tensors : tuple of Tensor
        Name, type, shape and size of each array, the largest first.
    """

    path: Path
    n_bytes: int
    class_name: str
    parameters: dict[str, str]
    fitted: dict[str, str]
    version: int
    libraries: dict[str, str]
    created_at: str
    data: Fingerprint | None
    tensors: tuple[Tensor, ...]


def describe(path: str | os.PathLike[str]) -> ModelInfo:
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
    >>> from mercer.model_file import describe
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.mercer"
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> _ = KernelPCA(2, kernel="linear").fit(X).save(path)
    >>> info = describe(path)
    >>> info.class_name, info.parameters["kernel"], info.data["rows"]
    ('KernelPCA', "'linear'", 50)
    >>> [(tensor.name, tensor.shape) for tensor in info.tensors[:2]]
    [('subspace.support', (50, 3)), ('subspace.coef', (50, 2))]
    """
    with Reader(path) as reader:
        header = header_of(reader)
        reader.verify()
        model = header["model"]
        try:
            parameters, fitted = (_texts(reader, model[part]) for part in ("with", "state"))
        except (RecursionError, TypeError, AttributeError) as error:
            raise reader.error("its objects are nested too deeply, or are none") from error
        tensors = sorted(reader.tensors.values(), key=lambda tensor: -tensor.n_bytes)
        return ModelInfo(
            path=reader.path,
            n_bytes=reader.size,
            class_name=header["class"],
            parameters=parameters,
            fitted=fitted,
            version=int(header["version"]),
            libraries=header["libraries"],
            created_at=header["created_at"],
            data=header["data"],
            tensors=tuple(tensors),
        )


def _texts(reader: Reader, values: Mapping[str, object]) -> dict[str, str]:
    texts = {name: _text(reader, value) for name, value in values.items()}
    # Nothing that a terminal would take for a command.
    return {_printable(name): _printable(text) for name, text in texts.items()}


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)


def _text(reader: Reader, value: object) -> str:
    """A value as Python would write it, without making it."""
    if isinstance(value, list):
        return f"[{', '.join(_text(reader, item) for item in value)}]"
    if not isinstance(value, dict):
        return repr(value)
    for tag in ("array", "names"):
        if tag in value:
            tensor = reader.tensors.get(value[tag])
            shape = () if tensor is None else tensor.shape
            return f"array of shape {shape[::-1] if value.get('order') == 'F' else shape}"
    if "object" in value:
        parts = value.get("with")
        inside = parts.items() if isinstance(parts, dict) else ()
        given = ", ".join(f"{k}={_text(reader, v)}" for k, v in inside if v is not None)
        name = str(value["object"]).replace(":", ".").rpartition(".")[2]
        return f"{name}({given})"
    if "tuple" in value:
        return f"({', '.join(_text(reader, item) for item in value['tuple'])})"
    if "dict" in value:
        inside = value["dict"].items()
        return f"{{{', '.join(f'{k!r}: {_text(reader, v)}' for k, v in inside)}}}"
    tags = ("value", "float", "dtype", "random")
    return str(next((value[tag] for tag in tags if tag in value), value))
