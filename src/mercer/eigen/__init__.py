"""Leading eigenpairs of the Gram operator, and the policies that all solvers share."""

from mercer.eigen.base import EigenSolver, Problem, Solver
from mercer.eigen.davidson import Davidson
from mercer.eigen.dense import Dense
from mercer.eigen.lanczos import Lanczos
from mercer.eigen.landmarks import Landmarks
from mercer.eigen.plan import Plan
from mercer.eigen.result import Model, Report, Spectrum, model_of, names_of

__all__ = [
    "Davidson",
    "Dense",
    "EigenSolver",
    "Lanczos",
    "Landmarks",
    "Model",
    "Plan",
    "Problem",
    "Report",
    "Solver",
    "Spectrum",
    "model_of",
    "names_of",
]
