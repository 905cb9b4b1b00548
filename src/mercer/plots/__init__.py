"""Pictures of fitted models as scikit-learn's Display classes; needs the extra ``mercer[plot]``."""

from mercer.plots.contributions import ContributionsDisplay
from mercer.plots.novelty import NoveltyDisplay

__all__ = ["ContributionsDisplay", "NoveltyDisplay"]
