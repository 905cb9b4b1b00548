"""scikit-learn's door to the library: validation and wiring."""

from mercer.estimators.kernel_pca import KernelPCA

__all__ = ["KernelPCA"]
