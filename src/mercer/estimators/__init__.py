"""scikit-learn's door to the library: validation and wiring."""

from mercer.estimators._saving import load
from mercer.estimators.compression import compress
from mercer.estimators.incremental import IncrementalKernelPCA
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.missing import MissingKernelPCA
from mercer.estimators.novelty import KernelNovelty
from mercer.estimators.reweighted import ReweightedKernelPCA
from mercer.estimators.sparse import SparseKernelPCA

__all__ = [
    "IncrementalKernelPCA",
    "KernelNovelty",
    "KernelPCA",
    "MissingKernelPCA",
    "ReweightedKernelPCA",
    "SparseKernelPCA",
    "compress",
    "load",
]
