"""Which classes a model file may speak of: a fixed table, and never a name to be imported.

A file says ``"kernels.Gaussian"``; the word is looked up here and means nothing otherwise. Classes
of the layers above are added by :mod:`mercer.estimators`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from mercer import kernels, landmarks, preimage, solvers
from mercer.eigen import Report
from mercer.exceptions import ModelFileError
from mercer.gram import FeatureSums, LandmarkFeatures
from mercer.gram.feature_sums import _Whitening
from mercer.model_file.checks import check_features, check_subspace, check_sums
from mercer.subspace import All, Count, ParallelAnalysis, Share, Subspace

__all__ = ["BELOW", "CHECKS", "DERIVED", "Table"]

#: Words for the classes of this layer and of those below it.
BELOW: dict[str, type] = {
    "kernels.Cauchy": kernels.Cauchy,
    "kernels.Chi2": kernels.Chi2,
    "kernels.Cosine": kernels.Cosine,
    "kernels.Gaussian": kernels.Gaussian,
    "kernels.Laplacian": kernels.Laplacian,
    "kernels.Linear": kernels.Linear,
    "kernels.Matern": kernels.Matern,
    "kernels.Polynomial": kernels.Polynomial,
    "kernels.Precomputed": kernels.Precomputed,
    "kernels.Product": kernels.Product,
    "kernels.RationalQuadratic": kernels.RationalQuadratic,
    "kernels.Scaled": kernels.Scaled,
    "kernels.Sigmoid": kernels.Sigmoid,
    "kernels.Sum": kernels.Sum,
    "landmarks.Given": landmarks.Given,
    "landmarks.KMeans": landmarks.KMeans,
    "landmarks.RPCholesky": landmarks.RPCholesky,
    "landmarks.Uniform": landmarks.Uniform,
    "preimage.Auto": preimage.Auto,
    "preimage.Distances": preimage.Distances,
    "preimage.FixedPoint": preimage.FixedPoint,
    "preimage.Gradient": preimage.Gradient,
    "preimage.InverseDot": preimage.InverseDot,
    "preimage.Nearest": preimage.Nearest,
    "preimage.Ridge": preimage.Ridge,
    "preimage.Smoother": preimage.Smoother,
    "solvers.Auto": solvers.Auto,
    "solvers.Davidson": solvers.Davidson,
    "solvers.Dense": solvers.Dense,
    "solvers.Lanczos": solvers.Lanczos,
    "solvers.Landmarks": solvers.Landmarks,
    "subspace.All": All,
    "subspace.Count": Count,
    "subspace.ParallelAnalysis": ParallelAnalysis,
    "subspace.Share": Share,
    "Report": Report,
    "Subspace": Subspace,
    "gram.FeatureSums": FeatureSums,
    "gram.LandmarkFeatures": LandmarkFeatures,
    "gram.Whitening": _Whitening,
}

#: Do the parts of an object agree? Called with what was read, raises ModelFileError if not.
CHECKS: dict[type, Callable[[Any], None]] = {
    Subspace: check_subspace,
    FeatureSums: check_sums,
    LandmarkFeatures: check_features,
}

#: What an object has computed, and another machine might compute with other last digits or signs.
DERIVED: dict[type, tuple[str, ...]] = {LandmarkFeatures: ("_whitening",)}


@dataclass(frozen=True)
class Table:
    """Words and classes.

    Attributes
    ----------
    classes : word → class
    elsewhere : word → module of mercer, for classes that are imported on first use; the last part
        of the word is the name there
    checks, derived : as :data:`CHECKS` and :data:`DERIVED`
    """

    classes: Mapping[str, type]
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    checks: Mapping[type, Callable[[Any], None]] = field(default_factory=lambda: CHECKS)
    derived: Mapping[type, tuple[str, ...]] = field(default_factory=lambda: DERIVED)

    def find(self, word: str) -> type | None:
        """The class that a word stands for, or None."""
        if word in self.elsewhere:
            found: type = getattr(import_module(self.elsewhere[word]), word.rpartition(".")[2])
            return found
        return self.classes.get(word)

    def word(self, cls: type) -> str:
        """The word for a class; :class:`ModelFileError` for one that is not in the table."""
        for word in (*self.classes, *self.elsewhere):
            if word.rpartition(".")[2] == cls.__name__.lstrip("_") and self.find(word) is cls:
                return word
        raise ModelFileError(
            f"a model file holds mercer's own classes only, and {cls.__module__}.{cls.__name__} is "
            "none of them; build the model from mercer.kernels, solvers and preimage."
        )
