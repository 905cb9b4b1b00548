"""Which variables matter, and how certain that is, for every model with a Subspace of vectors.

Every estimator has these as methods, ``relevance``, ``sensitivity`` and ``uncertainty``.
"""

from mercer.model.model import close_groups, spectrum_advice
from mercer.relevance.measure import (
    Permutation,
    Relevance,
    measure_relevance,
    permutation,
    sensitivity,
    subspace_angles,
    support_rows,
)
from mercer.relevance.uncertainty import Interval, Uncertainty, measure_uncertainty

__all__ = ["Interval", "Permutation", "Relevance", "Uncertainty"]
__all__ += ["close_groups", "measure_relevance", "measure_uncertainty", "permutation"]
__all__ += ["sensitivity", "spectrum_advice", "subspace_angles", "support_rows"]
