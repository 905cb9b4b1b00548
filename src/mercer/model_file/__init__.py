"""Models as files: saved and loaded without pickle, described, and exported to ONNX."""

from mercer.model_file.container import Tensor
from mercer.model_file.file import read_model, write_model
from mercer.model_file.info import ModelInfo, describe
from mercer.model_file.onnx_export import export_onnx
from mercer.model_file.table import BELOW, CHECKS, Table

__all__ = [
    "BELOW",
    "CHECKS",
    "ModelInfo",
    "Table",
    "Tensor",
    "describe",
    "export_onnx",
    "read_model",
    "write_model",
]
