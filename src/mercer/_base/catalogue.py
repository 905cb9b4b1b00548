"""What mercer has: names → ``"module:Class"``. Nothing is imported before it is asked for.

Strategies by name, words of model files, choices of the command line and of the page, the names of
``import mercer``, the tables of the reference and the contract tests all come from here, so that a
new kernel, solver or estimator is its own file and one line.
"""

import re
import warnings
from collections.abc import Iterable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def _places(package: str, *texts: str) -> list[str]:
    """``"mercer.package.module:Class"`` of each class in texts ``"module:Class Class"``.

    Classes without a module are each in the one of their name: ``FixedPoint`` in ``fixed_point``.
    """
    parts = (text.rpartition(":") for text in texts)
    return [
        f"mercer.{package}.{module or _spelled(name)}:{name}"
        for module, _, names in parts
        for name in names.split()
    ]


def _spelled(name: str) -> str:
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _named(package: str, *texts: str) -> dict[str, str]:
    """Name → place."""
    return {place.rpartition(":")[2]: place for place in _places(package, *texts)}


def _strategies(package: str, *texts: str) -> dict[str, str]:
    """The same by the names that are arguments: ``"fixed_point"`` for ``FixedPoint``."""
    return {_spelled(name): place for name, place in _named(package, *texts).items()}


#: Names that are arguments: ``kernel="gaussian"``.
KERNELS = _strategies(
    "kernels",
    "radial:Gaussian",
    "histogram:Laplacian",
    "radial:Matern RationalQuadratic Cauchy",
    "dot_product:Linear Polynomial Sigmoid",
    "composite:Cosine",
    "histogram:Chi2",
    "adapters:Precomputed",
)
SOLVERS = _strategies("solvers", "Auto Dense Lanczos Davidson Landmarks")
LANDMARK_RULES = _strategies("landmarks", "KMeans RPCholesky", "base:Uniform")
PREIMAGES = _strategies(
    "preimage",
    "Auto FixedPoint Gradient Distances Ridge Smoother",
    "distances:InverseDot",
    "Nearest Combination Shrunk",
)
SPARSE_SOLVERS = _strategies(
    "sparse", "column_generation:Auto", "pool:Greedy", "ColumnGeneration", "pool:EM Fast MM"
) | {"kmeans": "mercer.sparse.pool:Centres"}
DENSITIES = _strategies("generative", "densities:Local Interpolate KDE Mixture Normal")
LOSSES = _strategies("robust", "reweight:Hampel Tukey")
CALIBRATIONS = {
    "auto": "mercer.novelty.calibration:CrossFit",
    "cross": "mercer.novelty.calibration:CrossFit",
    "split": "mercer.novelty.calibration:Split",
}

ESTIMATORS = _named(
    "estimators",
    "KernelPCA",
    "novelty:KernelNovelty",
    "generative:GenerativeKernelPCA",
    "sparse:SparseKernelPCA",
    "incremental:IncrementalKernelPCA",
    "wrapping:MissingKernelPCA ReweightedKernelPCA",
    "rkm:DeepGenerativeKernelPCA RKMClassifier RKMRegressor",
    "maps:MapModel",
    "drift:KernelDrift",
)
#: Estimators as ``mercer fit --model`` and the page call them.
MODELS = {
    "kpca": ESTIMATORS["KernelPCA"],
    "sparse": ESTIMATORS["SparseKernelPCA"],
    "novelty": ESTIMATORS["KernelNovelty"],
    "generative": ESTIMATORS["GenerativeKernelPCA"],
    "missing": ESTIMATORS["MissingKernelPCA"],
    "robust": ESTIMATORS["ReweightedKernelPCA"],
}
#: Functions of the estimators' package.
FUNCTIONS = _named("estimators", "base:load", "sparse:compress")
#: What ``import mercer`` has. Loaded on first use: nobody waits for what they do not need.
PUBLIC = {
    **ESTIMATORS,
    **FUNCTIONS,
    **_named("model", "rank:ParallelAnalysis", "subspace:Subspace"),
    **_named("tables", "encoder:TableEncoder", "model:TableModel"),
    **_named("_base", "progress:listen", "registry:register"),
    "export_onnx": "mercer.io.model_file.onnx_export:export_onnx",
    "strict": "mercer.exceptions:strict",
}
#: What :mod:`mercer.papers` has: the data of one paper do not wait for the code of all.
PAPERS = _named(
    "papers",
    "item:Check ITEMS Item PAPERS Result Setting Verdict select",
    "report:reproduce write_report",
    "sources:Labelled Sources",
)

#: What a model file may hold, by the first part of its word. A word is of all files ever written:
#: a class may move, its word may not.
_IN_FILES: dict[str, Iterable[str]] = {
    "": (
        *ESTIMATORS.values(),
        *_places("model", "model:Report", "subspace:Subspace"),
        "mercer.points.sparse:SparseRows",
    ),
    "kernels": (*KERNELS.values(), *_places("kernels", "composite:Normalized Product Scaled Sum")),
    "landmarks": (*LANDMARK_RULES.values(), *_places("landmarks", "base:Given")),
    "gram": _places("gram", "feature_sums:FeatureSums LandmarkFeatures _Whitening"),
    "subspace": _places("model", "rank:Above All Count ParallelAnalysis Share"),
    "solvers": SOLVERS.values(),
    "preimage": (*PREIMAGES.values(), *_places("preimage", "near:Neighbours", "ways:Back Forth")),
    "sparse": SPARSE_SOLVERS.values(),
    "novelty": (
        *CALIBRATIONS.values(),
        *_places("novelty", "calibration:Conformal", "score:NoveltyScore", "places:Certainty"),
        *_places("novelty", "martingale:Martingale Statistics"),
        *_places("estimators", "Monitor"),
        *_places("model", "rank:ShareUpTo"),
    ),
    "robust": (*LOSSES.values(), *_places("robust", "Filling", "impute:GaussianRows")),
    "generative": (
        *DENSITIES.values(),
        *_places("generative", "densities:FittedKDE FittedInterpolate FittedLocal FittedMixture"),
        *_places("generative", "densities:FittedNormal", "rkm:LeastSquaresMachine RKM"),
    ),
    "tables": _places(
        "tables", "columns:Category Date LeftOut Number", "encoder:TableEncoder", "model:TableModel"
    ),
    "compat": ("mercer.compat:KernelPCA",),
    "alternatives": _places(
        "alternatives",
        "principal_surface:Mesh PrincipalSurface",
        "principal_curve:Polyline PrincipalCurve",
        "autoencoder:BottleneckAutoencoder",
        "multilinear:MultilinearPCA UncorrelatedMultilinearPCA",
        "multilinear_tensorly:NonNegativeMultilinearPCA RobustMultilinearPCA",
        "robust_pca:RobustPCA",
    ),
}
#: Words of classes that are one with another by now, whose own word new files have.
OTHER_WORDS = {
    "generative.KernelSmoother": PREIMAGES["smoother"],
    "generative.LocalRidge": PREIMAGES["ridge"],
}
#: Words of model files, ``"kernels.Gaussian"``.
WORDS = OTHER_WORDS | {
    ".".join(filter(None, (layer, place.rpartition(":")[2].lstrip("_")))): place
    for layer, places in _IN_FILES.items()
    for place in places
}
#: Modules of 0.1 → where their names are now.
MOVED = {
    "mercer.rows": ("mercer.io",),
    "mercer.eigen": ("mercer.solvers", "mercer.model"),
    "mercer.subspace": ("mercer.model",),
    "mercer.model_file": ("mercer.io.model_file",),
    "mercer.sparse_rows": ("mercer.points.sparse",),
    "mercer.tiles": ("mercer.points.tiles",),
}


def load(place: str) -> Any:
    """What stands at ``"module:name"``, imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class OldNames(MetaPathFinder, Loader):
    """Finds modules that have moved, and says once where they are."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """A place for names that have moved."""
        return ModuleSpec(name, self) if name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Whatever is asked of the old module is looked up in the new ones."""
        homes = [import_module(home) for home in MOVED[module.__name__]]

        def look_up(name: str) -> Any:
            for home in homes:
                if name != "__path__" and hasattr(home, name):
                    return getattr(home, name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        module.__getattr__ = look_up  # type: ignore[method-assign]
        places = " and ".join(home.__name__ for home in homes)
        warnings.warn(f"{module.__name__} is {places} since 0.2.", DeprecationWarning, stacklevel=2)
