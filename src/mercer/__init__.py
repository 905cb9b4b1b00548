"""Kernel PCA for real work: exact to millions of rows, with pre-images, denoising and novelty."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer import _registry

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mercer._progress import listen
    from mercer._registry import register
    from mercer.estimators import (
        DeepGenerativeKernelPCA,
        GenerativeKernelPCA,
        IncrementalKernelPCA,
        KernelNovelty,
        KernelPCA,
        MissingKernelPCA,
        ReweightedKernelPCA,
        RKMClassifier,
        RKMRegressor,
        SparseKernelPCA,
        compress,
        load,
    )
    from mercer.exceptions import strict
    from mercer.model_file import export_onnx
    from mercer.subspace import ParallelAnalysis, Subspace
    from mercer.tables import TableEncoder, TableModel

#: Names that are not those of estimators, and where they live.
_ELSEWHERE = {
    "ParallelAnalysis": "mercer.subspace",
    "Subspace": "mercer.subspace",
    "TableEncoder": "mercer.tables",
    "TableModel": "mercer.tables",
    "export_onnx": "mercer.model_file",
    "listen": "mercer._progress",
    "register": "mercer._registry",
    "strict": "mercer.exceptions",
}

# Layers above `load`, by the first part of the words that model files have for their classes.
_registry.LAYERS.update(
    alternatives="mercer.alternatives", compat="mercer.compat", tables="mercer.tables"
)

__all__ = [
    "DeepGenerativeKernelPCA",
    "GenerativeKernelPCA",
    "IncrementalKernelPCA",
    "KernelNovelty",
    "KernelPCA",
    "MissingKernelPCA",
    "ParallelAnalysis",
    "RKMClassifier",
    "RKMRegressor",
    "ReweightedKernelPCA",
    "SparseKernelPCA",
    "Subspace",
    "TableEncoder",
    "TableModel",
    "__version__",
    "compress",
    "export_onnx",
    "listen",
    "load",
    "register",
    "strict",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: the command line answers --help without importing scikit-learn.
    if name == "live":  # mercer.live(model, X)
        return import_module("mercer.live")
    if name not in __all__:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE.get(name, "mercer.estimators")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
