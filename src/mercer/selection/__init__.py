"""Choose a kernel's width and the number of components for a purpose.

Errors in feature space do not compare across kernels. Here models are compared by what they do in
input space to rows with synthetic noise, or by how far their spectrum exceeds that of chance.
"""

from mercer.selection.by_noise import (
    Choice,
    choose_by_noise,
    choose_by_parallel_analysis,
    kernels_around,
)
from mercer.selection.noise import (
    Assessment,
    DenoisingScore,
    Noise,
    add_noise,
    assess,
    typical_noise,
)

__all__ = [
    "Assessment",
    "Choice",
    "DenoisingScore",
    "Noise",
    "add_noise",
    "assess",
    "choose_by_noise",
    "choose_by_parallel_analysis",
    "kernels_around",
    "typical_noise",
]
