"""Kernel PCA for real work: exact to millions of rows, with pre-images, denoising and novelty."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer._base import catalogue
from mercer._base.spelling import no_such_name

sys.meta_path.append(catalogue.OldNames())

__version__ = "0.2.0"

if TYPE_CHECKING:
    from mercer._base.progress import listen as listen
    from mercer._base.registry import register as register
    from mercer.estimators import *  # noqa: F403
    from mercer.exceptions import strict as strict
    from mercer.io.model_file import export_onnx as export_onnx
    from mercer.model import ParallelAnalysis as ParallelAnalysis
    from mercer.model import Subspace as Subspace
    from mercer.tables import TableEncoder as TableEncoder
    from mercer.tables import TableModel as TableModel

#: Packages that need no import of their own.
_PACKAGES = (
    *("alternatives", "compat", "generative", "io", "kernels", "landmarks", "live", "novelty"),
    *("plots", "preimage", "relevance", "rows", "selection", "solvers", "tables", "testing"),
)

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

__all__ = sorted([*catalogue.PUBLIC, "__version__"])


def __getattr__(name: str) -> Any:
    # Loaded on first use: the command line answers --help without importing scikit-learn.
    if name in _PACKAGES:  # mercer.plots.ScreeDisplay, mercer.live(model, X)
        return import_module(f"mercer.{name}")
    if name not in catalogue.PUBLIC:
        raise no_such_name(__name__, name, [*__all__, *_PACKAGES], _WORDS)
    return catalogue.load(catalogue.PUBLIC[name])


def __dir__() -> list[str]:
    return [*__all__, *(name for name in _PACKAGES if name != "rows")]  # the old name of io
