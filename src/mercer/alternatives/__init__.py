"""Alternatives to kernel PCA, for comparison.

Robust PCA, multilinear PCA, principal curves and surfaces, and a bottleneck autoencoder: methods
without kernels, as scikit-learn estimators with the checks and errors of the rest of the library.
"""

from mercer.alternatives.autoencoder import BottleneckAutoencoder
from mercer.alternatives.multilinear import MultilinearPCA, UncorrelatedMultilinearPCA
from mercer.alternatives.multilinear_tensorly import NonNegativeMultilinearPCA, RobustMultilinearPCA
from mercer.alternatives.principal_curve import PrincipalCurve
from mercer.alternatives.principal_surface import PrincipalSurface
from mercer.alternatives.robust_pca import Pursuit, RobustPCA, principal_component_pursuit

__all__ = ["BottleneckAutoencoder", "MultilinearPCA", "NonNegativeMultilinearPCA", "PrincipalCurve"]
__all__ += ["PrincipalSurface", "Pursuit", "RobustMultilinearPCA", "RobustPCA"]
__all__ += ["UncorrelatedMultilinearPCA", "principal_component_pursuit"]
