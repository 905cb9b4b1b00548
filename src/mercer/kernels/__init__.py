"""Kernels: functions of two points. Combine them by ``+``, ``*`` and positive factors."""

from typing import Any

from mercer._base import catalogue
from mercer._base.registry import by_name
from mercer._base.spelling import no_such_name
from mercer.exceptions import KernelError
from mercer.kernels.adapters import FunctionKernel, Precomputed
from mercer.kernels.base import Kernel, Origin
from mercer.kernels.basis import Basis
from mercer.kernels.composite import Cosine, Normalized, Product, Scaled, Sum
from mercer.kernels.dot_product import DotProductKernel, Linear, Polynomial, Sigmoid
from mercer.kernels.histogram import Chi2, Laplacian
from mercer.kernels.radial import Cauchy, Gaussian, Matern, RadialKernel, RationalQuadratic

__all__ = ["Basis", "Cauchy", "Chi2", "Cosine", "DotProductKernel", "FunctionKernel", "Gaussian"]
__all__ += ["Kernel", "Laplacian", "Linear", "Matern", "Normalized", "Origin", "Polynomial"]
__all__ += ["Precomputed", "Product", "RadialKernel", "RationalQuadratic", "Scaled", "Sigmoid"]
__all__ += ["Sum", "as_kernel"]

_ALIASES = {"rbf": "gaussian", "poly": "polynomial"}


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from its name in lower case (with default parameters), or the kernel itself.

    A function of two rows or objects is wrapped as a :class:`FunctionKernel`.

    ``"rbf"`` and ``"poly"``, scikit-learn's names, are ``"gaussian"`` and ``"polynomial"``,
    with the default parameters that these have here.
    """
    kernel = _ALIASES.get(kernel, kernel) if isinstance(kernel, str) else kernel
    if callable(kernel) and not isinstance(kernel, Kernel | type):
        return FunctionKernel(kernel)
    named: Kernel = by_name("kernel", kernel, Kernel, catalogue.KERNELS, KernelError)
    if named.parts:  # nothing can be asked of a composite whose parts are no kernels
        named.check()
    return named


def __getattr__(name: str) -> Any:
    # Only asked for what is not there.
    words = {"RBF": "Gaussian", "Rbf": "Gaussian", "SquaredExponential": "Gaussian"}
    raise no_such_name(__name__, name, __all__, words)
