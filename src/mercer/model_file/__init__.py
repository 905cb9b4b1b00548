"""Models as files: saved and loaded without pickle, described, and exported to ONNX."""

from typing import TYPE_CHECKING, Any

from mercer import catalogue
from mercer.model_file.container import Tensor
from mercer.model_file.file import read_model, write_model
from mercer.model_file.info import ModelInfo, describe

if TYPE_CHECKING:
    from mercer.model_file.onnx_export import export_onnx

__all__ = [
    "ModelInfo",
    "Tensor",
    "describe",
    "export_onnx",
    "read_model",
    "write_model",
]


def __getattr__(name: str) -> Any:
    if name != "export_onnx":  # every fit would wait for it
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return catalogue.load(catalogue.PUBLIC[name])
