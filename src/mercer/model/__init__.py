"""What a fit is: a Subspace, how many directions it gets, and the Model around it."""

from mercer.model.model import (
    Detector,
    Model,
    OnTables,
    Report,
    Spectrum,
    model_of,
    names_of,
    remember,
)
from mercer.model.rank import All, ComponentRule, Count, ParallelAnalysis, Share, as_rule
from mercer.model.subspace import Subspace, from_features, from_gram

__all__ = [
    "All",
    "ComponentRule",
    "Count",
    "Detector",
    "Model",
    "OnTables",
    "ParallelAnalysis",
    "Report",
    "Share",
    "Spectrum",
    "Subspace",
    "as_rule",
    "from_features",
    "from_gram",
    "model_of",
    "names_of",
    "remember",
]
