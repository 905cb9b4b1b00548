"""scikit-learn's door to the library: validation and wiring."""

from typing import TYPE_CHECKING, Any

from mercer._base import catalogue

if TYPE_CHECKING:
    from mercer.estimators.base import load as load
    from mercer.estimators.generative import GenerativeKernelPCA as GenerativeKernelPCA
    from mercer.estimators.incremental import IncrementalKernelPCA as IncrementalKernelPCA
    from mercer.estimators.kernel_pca import KernelPCA as KernelPCA
    from mercer.estimators.maps import MapModel as MapModel
    from mercer.estimators.novelty import KernelNovelty as KernelNovelty
    from mercer.estimators.rkm import DeepGenerativeKernelPCA as DeepGenerativeKernelPCA
    from mercer.estimators.rkm import RKMClassifier as RKMClassifier
    from mercer.estimators.rkm import RKMRegressor as RKMRegressor
    from mercer.estimators.sparse import SparseKernelPCA as SparseKernelPCA
    from mercer.estimators.sparse import compress as compress
    from mercer.estimators.wrapping import MissingKernelPCA as MissingKernelPCA
    from mercer.estimators.wrapping import ReweightedKernelPCA as ReweightedKernelPCA

_NAMES = catalogue.ESTIMATORS | catalogue.FUNCTIONS

if not TYPE_CHECKING:  # which follow the imports above
    __all__ = [*_NAMES]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'mercer.estimators' has no attribute {name!r}")
    return catalogue.load(_NAMES[name])
