"""Kernel PCA for real work: exact to millions of rows, with pre-images, denoising and novelty."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer import _registry
from mercer._spelling import no_such_name

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

#: Packages that need no import of their own.
_PACKAGES: tuple[str, ...] = (
    "alternatives",
    "compat",
    "generative",
    "kernels",
    "landmarks",
    "live",
    "novelty",
)
_PACKAGES += ("plots", "preimage", "relevance", "rows", "selection", "solvers", "tables", "testing")

#: Words that people try → what they are here.
_WORDS = {
    "KPCA": "mercer.KernelPCA",
    "PCA": "mercer.KernelPCA, with kernel='linear'",
    "tune": "KernelPCA().tune(X, noise=...)",
    "save": "model.save(path)",
    "OneClassSVM": "mercer.KernelNovelty",
    "Gaussian": "mercer.kernels.Gaussian",
    "RBF": "mercer.kernels.Gaussian",
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
    if name in _PACKAGES:  # mercer.plots.ScreeDisplay, mercer.live(model, X)
        return import_module(f"mercer.{name}")
    if name not in __all__:
        raise no_such_name(__name__, name, [*__all__, *_PACKAGES], _WORDS)
    return getattr(import_module(_ELSEWHERE.get(name, "mercer.estimators")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
