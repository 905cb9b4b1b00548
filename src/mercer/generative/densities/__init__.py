"""Latent densities: where new hidden units come from; the names in lower case work as strings.

They work on scores, that is on hidden units in units of feature space (√λ · u), so that distances
between neighbours are those that the kernel sees.
"""

from mercer import catalogue
from mercer._registry import by_name
from mercer.exceptions import DataError
from mercer.generative.densities.base import Density, FittedDensity
from mercer.generative.densities.kde import KDE, FittedKDE
from mercer.generative.densities.local import FittedInterpolate, FittedLocal, Interpolate, Local
from mercer.generative.densities.mixture import FittedMixture, Mixture
from mercer.generative.densities.normal import FittedNormal, Normal

__all__ = [
    "KDE",
    "Density",
    "FittedDensity",
    "FittedInterpolate",
    "FittedKDE",
    "FittedLocal",
    "FittedMixture",
    "FittedNormal",
    "Interpolate",
    "Local",
    "Mixture",
    "Normal",
    "as_density",
]


def as_density(density: str | Density) -> Density:
    """A latent density from its name (with default parameters), or the density itself."""
    others = "an object of mercer.generative.densities"
    return by_name("density", density, Density, catalogue.DENSITIES, DataError, others)
