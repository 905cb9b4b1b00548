"""What a fit is: a Subspace, how many directions it gets, and the Model around it."""

from mercer.model.model import Model, Report, Spectrum, model_of, names_of
from mercer.model.rank import All, ComponentRule, Count, ParallelAnalysis, Share, as_rule
from mercer.model.subspace import Subspace, from_features, from_gram

__all__ = ["All", "ComponentRule", "Count", "Model", "ParallelAnalysis", "Report", "Share"]
__all__ += ["Spectrum", "Subspace", "as_rule", "from_features", "from_gram", "model_of", "names_of"]
