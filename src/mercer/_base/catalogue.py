"""What mercer has: names → ``"module:Class"``. Nothing is imported before it is asked for.

Strategies by name, words of model files, choices of the command line and of the page, the names of
``import mercer``, the tables of the reference and the contract tests all come from here, so that a
new kernel, solver or estimator is its own file and one line.
"""

import re
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def _named(*places: str) -> dict[str, str]:
    """Name → place, of ``"module:name"``, or of all names in ``"module:one two three"``."""
    parts = (place.partition(":") for place in places)
    return {name: f"{module}:{name}" for module, _, names in parts for name in names.split()}


def _spelled(*places: str) -> dict[str, str]:
    """The same by the names that are arguments: ``"fixed_point"`` for ``FixedPoint``."""
    classes = _named(*places).items()
    return {re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower(): place for name, place in classes}


#: Names that are arguments: ``kernel="gaussian"``.
KERNELS = _spelled(
    "mercer.kernels.radial:Gaussian",
    "mercer.kernels.histogram:Laplacian",
    "mercer.kernels.radial:Matern RationalQuadratic Cauchy",
    "mercer.kernels.dot_product:Linear Polynomial Sigmoid",
    "mercer.kernels.composite:Cosine",
    "mercer.kernels.histogram:Chi2",
    "mercer.kernels.adapters:Precomputed",
)
SOLVERS = _spelled(
    "mercer.solvers.auto:Auto",
    "mercer.solvers.dense:Dense",
    "mercer.solvers.lanczos:Lanczos",
    "mercer.solvers.davidson:Davidson",
    "mercer.solvers.landmarks:Landmarks",
)
LANDMARK_RULES = _spelled(
    "mercer.landmarks.kmeans:KMeans",
    "mercer.landmarks.rpcholesky:RPCholesky",
    "mercer.landmarks.base:Uniform",
)
PREIMAGES = _spelled(
    "mercer.preimage.auto:Auto",
    "mercer.preimage.fixed_point:FixedPoint",
    "mercer.preimage.gradient:Gradient",
    "mercer.preimage.distances:Distances",
    "mercer.preimage.ridge:Ridge",
    "mercer.preimage.smoother:Smoother",
    "mercer.preimage.distances:InverseDot",
    "mercer.preimage.nearest:Nearest",
    "mercer.preimage.combination:Combination",
    "mercer.preimage.shrunk:Shrunk",
)
SPARSE_SOLVERS = _spelled(
    "mercer.sparse.column_generation:Auto",
    "mercer.sparse.pool:Greedy",
    "mercer.sparse.column_generation:ColumnGeneration",
    "mercer.sparse.pool:EM Fast MM",
) | {"kmeans": "mercer.sparse.pool:Centres"}
DENSITIES = _spelled("mercer.generative.densities:Local Interpolate KDE Mixture Normal")
LOSSES = _spelled("mercer.robust.reweight:Hampel Tukey")
CALIBRATIONS = {
    "auto": "mercer.novelty.calibration:CrossFit",
    "cross": "mercer.novelty.calibration:CrossFit",
    "split": "mercer.novelty.calibration:Split",
}

ESTIMATORS = _named(
    "mercer.estimators.kernel_pca:KernelPCA",
    "mercer.estimators.novelty:KernelNovelty",
    "mercer.estimators.generative:GenerativeKernelPCA",
    "mercer.estimators.sparse:SparseKernelPCA",
    "mercer.estimators.incremental:IncrementalKernelPCA",
    "mercer.estimators.wrapping:MissingKernelPCA ReweightedKernelPCA",
    "mercer.estimators.rkm:DeepGenerativeKernelPCA RKMClassifier RKMRegressor",
    "mercer.estimators.maps:MapModel",
    "mercer.estimators.drift:KernelDrift",
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
FUNCTIONS = _named("mercer.estimators.base:load", "mercer.estimators.sparse:compress")
#: What ``import mercer`` has. Loaded on first use: nobody waits for what they do not need.
PUBLIC = {
    **ESTIMATORS,
    **FUNCTIONS,
    **_named(
        "mercer.model.rank:ParallelAnalysis",
        "mercer.model.subspace:Subspace",
        "mercer.tables.encoder:TableEncoder",
        "mercer.tables.model:TableModel",
        "mercer.io.model_file.onnx_export:export_onnx",
        "mercer._base.progress:listen",
        "mercer._base.registry:register",
        "mercer.exceptions:strict",
    ),
}
#: What :mod:`mercer.papers` has: the data of one paper do not wait for the code of all.
PAPERS = _named(
    "mercer.papers.item:Check ITEMS Item PAPERS Result Setting Verdict select",
    "mercer.papers.report:reproduce write_report",
    "mercer.papers.sources:Labelled Sources",
)

#: What a model file may hold, by the first part of its word. A word is of all files ever written:
#: a class may move, its word may not.
_IN_FILES = {
    "": (
        *ESTIMATORS.values(),
        "mercer.model.model:Report",
        "mercer.points.sparse:SparseRows",
        "mercer.model.subspace:Subspace",
    ),
    "kernels": (*KERNELS.values(), "mercer.kernels.composite:Normalized Product Scaled Sum"),
    "landmarks": (*LANDMARK_RULES.values(), "mercer.landmarks.base:Given"),
    "gram": ("mercer.gram.feature_sums:FeatureSums LandmarkFeatures _Whitening",),
    "subspace": ("mercer.model.rank:Above All Count ParallelAnalysis Share",),
    "solvers": SOLVERS.values(),
    "preimage": (
        *PREIMAGES.values(),
        "mercer.preimage.near:Neighbours",
        "mercer.preimage.ways:Back Forth",
    ),
    "sparse": SPARSE_SOLVERS.values(),
    "novelty": (
        *CALIBRATIONS.values(),
        "mercer.model.rank:ShareUpTo",
        "mercer.novelty.calibration:Conformal",
        "mercer.novelty.score:NoveltyScore",
        "mercer.novelty.places:Certainty",
        "mercer.novelty.martingale:Martingale Statistics",
        "mercer.estimators.monitor:Monitor",
    ),
    "robust": (
        *LOSSES.values(),
        "mercer.robust.filling:Filling",
        "mercer.robust.impute:GaussianRows",
    ),
    "generative": (
        *DENSITIES.values(),
        "mercer.generative.densities:FittedKDE FittedInterpolate FittedLocal FittedMixture",
        "mercer.generative.densities:FittedNormal",
        "mercer.generative.rkm:LeastSquaresMachine RKM",
    ),
    "tables": (
        "mercer.tables.columns:Category Date LeftOut Number",
        "mercer.tables.encoder:TableEncoder",
        "mercer.tables.model:TableModel",
    ),
    "compat": ("mercer.compat:KernelPCA",),
    "alternatives": (
        "mercer.alternatives.principal_surface:Mesh PrincipalSurface",
        "mercer.alternatives.principal_curve:Polyline PrincipalCurve",
        "mercer.alternatives.autoencoder:BottleneckAutoencoder",
        "mercer.alternatives.multilinear:MultilinearPCA UncorrelatedMultilinearPCA",
        "mercer.alternatives.multilinear_tensorly:NonNegativeMultilinearPCA RobustMultilinearPCA",
        "mercer.alternatives.robust_pca:RobustPCA",
    ),
}
#: Words of classes that are one with another by now, whose own word new files have.
OTHER_WORDS = {
    "generative.KernelSmoother": PREIMAGES["smoother"],
    "generative.LocalRidge": PREIMAGES["ridge"],
}
#: Words of model files, ``"kernels.Gaussian"``.
WORDS = OTHER_WORDS | {
    ".".join(filter(None, (layer, name.lstrip("_")))): place
    for layer, places in _IN_FILES.items()
    for name, place in _named(*places).items()
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
