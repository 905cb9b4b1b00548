"""Leading eigenpairs of the Gram operator, and the policies that all solvers share."""

from mercer.eigen.base import EigenSolver, Problem, Solver
from mercer.eigen.davidson import Davidson
from mercer.eigen.dense import Dense
from mercer.eigen.lanczos import Lanczos
from mercer.eigen.landmarks import Landmarks
from mercer.eigen.plan import Plan
from mercer.eigen.result import Fit, Report, Spectrum

__all__ = [
    "Davidson",
    "Dense",
    "EigenSolver",
    "Fit",
    "Lanczos",
    "Landmarks",
    "Plan",
    "Problem",
    "Report",
    "Solver",
    "Spectrum",
]
