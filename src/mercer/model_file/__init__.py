"""Models as files: saved and loaded without pickle, described, and exported to ONNX."""

from mercer.model_file.container import Tensor
from mercer.model_file.file import read_model, write_model
from mercer.model_file.info import ModelInfo, describe
from mercer.model_file.onnx_export import export_onnx

__all__ = [
    "ModelInfo",
    "Tensor",
    "describe",
    "export_onnx",
    "read_model",
    "write_model",
]
