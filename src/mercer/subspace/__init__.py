"""The Subspace that every variant ends in, how it is built, and how many directions it gets."""

from mercer.subspace.build import from_features, from_gram
from mercer.subspace.rank import All, ComponentRule, Count, ParallelAnalysis, Share, as_rule
from mercer.subspace.subspace import Subspace

__all__ = [
    "All",
    "ComponentRule",
    "Count",
    "ParallelAnalysis",
    "Share",
    "Subspace",
    "as_rule",
    "from_features",
    "from_gram",
]
