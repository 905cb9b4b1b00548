"""scikit-learn's door to the library: validation and wiring."""

from mercer._registry import ours
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

ours(
    "",
    DeepGenerativeKernelPCA,
    GenerativeKernelPCA,
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    RKMClassifier,
    RKMRegressor,
    ReweightedKernelPCA,
    SparseKernelPCA,
)
