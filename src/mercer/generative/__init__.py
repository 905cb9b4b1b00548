"""Generative kernel PCA: hidden units, where new ones come from, and what samples are worth."""

from mercer.generative.densities import (
    KDE,
    Density,
    FittedDensity,
    Interpolate,
    Local,
    Mixture,
    Normal,
    as_density,
)
from mercer.generative.least_squares import (
    LeastSquaresMachine,
    fit_least_squares,
    machine_energy,
)
from mercer.generative.metrics import SampleReport, judge
from mercer.generative.paths import along_component, largest_step, straight_line
from mercer.generative.ridge import LocalRidge, as_generator_preimage
from mercer.generative.rkm import RKM, generation_energy, total_energy, train_energy
from mercer.generative.smoother import KernelSmoother, scaled_similarities

__all__ = [
    "KDE",
    "RKM",
    "Density",
    "FittedDensity",
    "Interpolate",
    "KernelSmoother",
    "LeastSquaresMachine",
    "Local",
    "LocalRidge",
    "Mixture",
    "Normal",
    "SampleReport",
    "along_component",
    "as_density",
    "as_generator_preimage",
    "fit_least_squares",
    "generation_energy",
    "judge",
    "largest_step",
    "machine_energy",
    "scaled_similarities",
    "straight_line",
    "total_energy",
    "train_energy",
]
