"""Models as files: saved and loaded without pickle, described, and exported to ONNX."""

from typing import TYPE_CHECKING, Any

from mercer._base import catalogue
from mercer.io.model_file.container import Tensor
from mercer.io.model_file.file import ModelInfo, describe, read_model, write_model

if TYPE_CHECKING:
    from mercer.io.model_file.onnx_export import export_onnx

__all__ = ["ModelInfo", "Tensor", "describe", "export_onnx", "read_model", "write_model"]


def __getattr__(name: str) -> Any:
    if name != "export_onnx":  # every fit would wait for it
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return catalogue.load(catalogue.PUBLIC[name])
