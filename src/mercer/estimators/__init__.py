"""scikit-learn's door to the library: validation and wiring."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer import _registry

if TYPE_CHECKING:
    from mercer.estimators._saving import load as load
    from mercer.estimators.compression import compress as compress
    from mercer.estimators.deep_generative import DeepGenerativeKernelPCA as DeepGenerativeKernelPCA
    from mercer.estimators.generative import GenerativeKernelPCA as GenerativeKernelPCA
    from mercer.estimators.incremental import IncrementalKernelPCA as IncrementalKernelPCA
    from mercer.estimators.kernel_pca import KernelPCA as KernelPCA
    from mercer.estimators.missing import MissingKernelPCA as MissingKernelPCA
    from mercer.estimators.novelty import KernelNovelty as KernelNovelty
    from mercer.estimators.reweighted import ReweightedKernelPCA as ReweightedKernelPCA
    from mercer.estimators.rkm import RKMClassifier as RKMClassifier
    from mercer.estimators.rkm import RKMRegressor as RKMRegressor
    from mercer.estimators.sparse import SparseKernelPCA as SparseKernelPCA

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

__all__ = [*_MODULES]

_registry.LAYERS.update(_MODULES, generative="mercer.generative", sparse="mercer.sparse")


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'mercer.estimators' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
