"""Pictures of fitted models as scikit-learn's Display classes; needs matplotlib.

Each is made by ``from_estimator(estimator, X=None, *, y=None, ...)``, which draws into ``ax`` or a
new figure and keeps the numbers drawn and the artists, so that both can be used further. Without
``X`` the model's support points are drawn: of an exact model these are its training rows.
"""

from mercer.plots.images import (
    DenoisingDisplay,
    PreImageGalleryDisplay,
    SampleSheetDisplay,
    TraversalDisplay,
)
from mercer.plots.maps import BiplotDisplay, EmbeddingDisplay
from mercer.plots.novelty import (
    ContributionsDisplay,
    MonitorDisplay,
    NoveltyDisplay,
    NoveltyRocDisplay,
)
from mercer.plots.planes import ComponentsDisplay, RepresentingVectorsDisplay
from mercer.plots.shares import RelevanceDisplay, ScreeDisplay, WidthSpectrumDisplay
from mercer.plots.trust import TrustDisplay

__all__ = ["BiplotDisplay", "ComponentsDisplay", "ContributionsDisplay", "DenoisingDisplay"]
__all__ += ["EmbeddingDisplay", "MonitorDisplay", "NoveltyDisplay", "NoveltyRocDisplay"]
__all__ += ["PreImageGalleryDisplay", "RelevanceDisplay", "RepresentingVectorsDisplay"]
__all__ += ["SampleSheetDisplay", "ScreeDisplay"]
__all__ += ["TraversalDisplay", "TrustDisplay", "WidthSpectrumDisplay"]
