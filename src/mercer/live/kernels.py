"""Kernels as the page writes them: a name and numbers, read by ``static/kernels.js``."""

from __future__ import annotations

from typing import Any

from mercer.exceptions import KernelError
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Sum,
)

__all__ = ["KERNELS", "kernel_spec"]

#: Word of the page → (class, its name for each number of the page).
KERNELS: dict[str, tuple[type[Kernel], dict[str, str]]] = {
    "gaussian": (Gaussian, {"length": "width"}),
    "cauchy": (Cauchy, {"length": "length_scale"}),
    "matern": (Matern, {"length": "length_scale", "nu": "nu"}),
    "rational_quadratic": (RationalQuadratic, {"length": "length_scale", "alpha": "alpha"}),
    "laplacian": (Laplacian, {"gamma": "gamma"}),
    "chi2": (Chi2, {"gamma": "gamma"}),
    "polynomial": (Polynomial, {"degree": "degree", "gamma": "gamma", "coef0": "coef0"}),
    "sigmoid": (Sigmoid, {"gamma": "gamma", "coef0": "coef0"}),
    "linear": (Linear, {}),
    "cosine": (Cosine, {}),
}
_WORDS = {kind: (word, tuple(numbers)) for word, (kind, numbers) in KERNELS.items()}


def kernel_spec(kernel: Kernel) -> dict[str, Any]:
    """A resolved kernel as plain numbers under a name.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> kernel_spec(0.5 * Gaussian(width=2.0))
    {'name': 'scaled', 'factor': 0.5, 'kernel': {'name': 'gaussian', 'length': 2.0}}
    """
    if isinstance(kernel, Sum | Product):
        name = "sum" if isinstance(kernel, Sum) else "product"
        return {"name": name, "k1": kernel_spec(kernel.k1), "k2": kernel_spec(kernel.k2)}
    if isinstance(kernel, Scaled):
        inner = kernel_spec(kernel.kernel)
        return {"name": "scaled", "factor": float(kernel.factor), "kernel": inner}
    if type(kernel) not in _WORDS:
        raise KernelError(
            f"{kernel!r} cannot be computed in a page: it is no formula of two vectors; "
            "fit a kernel of mercer.kernels other than Precomputed and FunctionKernel."
        )
    name, parameters = _WORDS[type(kernel)]
    return {"name": name, **{key: float(getattr(kernel, key)) for key in parameters}}
