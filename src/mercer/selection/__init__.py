"""Choose a kernel's width and the number of components for a purpose.

Errors in feature space do not compare across kernels. Here models are compared by what they do in
input space to rows with synthetic noise, by an estimate of what they do to rows that are noisy
themselves, or by how far their spectrum exceeds that of chance.
"""

from mercer.selection.by_noise import choose_by_noise, choose_by_parallel_analysis
from mercer.selection.by_risk import NoisyChoice, choose_by_risk
from mercer.selection.noise import (
    Assessment,
    DenoisingScore,
    Noise,
    add_noise,
    assess,
    typical_noise,
)
from mercer.selection.noise_level import NoiseLevel, estimate_noise
from mercer.selection.risk import Risk
from mercer.selection.search import Choice, kernels_around

__all__ = [
    "Assessment",
    "Choice",
    "DenoisingScore",
    "Noise",
    "NoiseLevel",
    "NoisyChoice",
    "Risk",
    "add_noise",
    "assess",
    "choose_by_noise",
    "choose_by_parallel_analysis",
    "choose_by_risk",
    "estimate_noise",
    "kernels_around",
    "typical_noise",
]
