"""Generative kernel PCA: hidden units, densities to draw new ones from, and measures of samples."""

from mercer.generative.densities import (
    KDE,
    Density,
    FittedDensity,
    FittedMixtures,
    Interpolate,
    Local,
    Mixture,
    Normal,
    as_density,
)
from mercer.generative.metrics import SampleReport, judge
from mercer.generative.rkm import (
    RKM,
    LeastSquaresMachine,
    along_component,
    fit_least_squares,
    generation_energy,
    largest_step,
    machine_energy,
    straight_line,
    total_energy,
    train_energy,
)
from mercer.generative.rows import RowMixtures
from mercer.preimage import Auto, PreImageSolver, Smoother, as_preimage
from mercer.preimage.ridge import LocalRidge
from mercer.preimage.smoother import scaled_similarities

__all__ = ["KDE", "RKM", "Density", "FittedDensity", "FittedMixtures", "Interpolate"]
__all__ += ["KernelSmoother", "LeastSquaresMachine", "Local", "LocalRidge", "Mixture", "Normal"]
__all__ += ["RowMixtures", "SampleReport", "along_component", "as_density", "as_generator_preimage"]
__all__ += ["fit_least_squares", "generation_energy", "judge", "largest_step", "machine_energy"]
__all__ += ["scaled_similarities", "straight_line", "total_energy", "train_energy"]

KernelSmoother = Smoother


def as_generator_preimage(preimage: str | PreImageSolver) -> PreImageSolver:
    """As :func:`mercer.preimage.as_preimage`, with a steady ridge for scores that were drawn."""
    if preimage == "auto":
        return Auto(LocalRidge())
    return LocalRidge() if preimage == "ridge" else as_preimage(preimage)
