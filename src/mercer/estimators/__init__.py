"""scikit-learn's door to the library: validation and wiring."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer import _registry

if TYPE_CHECKING:
    from mercer.estimators._saving import load
    from mercer.estimators.compression import compress
    from mercer.estimators.deep_generative import DeepGenerativeKernelPCA
    from mercer.estimators.generative import GenerativeKernelPCA
    from mercer.estimators.incremental import IncrementalKernelPCA
    from mercer.estimators.kernel_pca import KernelPCA
    from mercer.estimators.missing import MissingKernelPCA
    from mercer.estimators.novelty import KernelNovelty
    from mercer.estimators.reweighted import ReweightedKernelPCA
    from mercer.estimators.rkm import RKMClassifier, RKMRegressor
    from mercer.estimators.sparse import SparseKernelPCA

__all__ = [
    "DeepGenerativeKernelPCA",
    "GenerativeKernelPCA",
    "IncrementalKernelPCA",
    "KernelNovelty",
    "KernelPCA",
    "MissingKernelPCA",
    "RKMClassifier",
    "RKMRegressor",
    "ReweightedKernelPCA",
    "SparseKernelPCA",
    "compress",
    "load",
]

#: Where each lives. Loaded on first use: whoever wants kernel PCA does not wait for all others.
_MODULES = {
    "DeepGenerativeKernelPCA": "mercer.estimators.deep_generative",
    "GenerativeKernelPCA": "mercer.estimators.generative",
    "IncrementalKernelPCA": "mercer.estimators.incremental",
    "KernelNovelty": "mercer.estimators.novelty",
    "KernelPCA": "mercer.estimators.kernel_pca",
    "MissingKernelPCA": "mercer.estimators.missing",
    "RKMClassifier": "mercer.estimators.rkm",
    "RKMRegressor": "mercer.estimators.rkm",
    "ReweightedKernelPCA": "mercer.estimators.reweighted",
    "SparseKernelPCA": "mercer.estimators.sparse",
    "compress": "mercer.estimators.compression",
    "load": "mercer.estimators._saving",
}

_registry.LAYERS.update(_MODULES, generative="mercer.generative", sparse="mercer.sparse")


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'mercer.estimators' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
