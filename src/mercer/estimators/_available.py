"""Methods that are there only where they can work; where they are not, the error says why.

As scikit-learn's ``available_if``, whose error does not: ``hasattr`` is False.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mercer._types import Estimator
from mercer.eigen import model_of
from mercer.exceptions import KernelError, MercerError, UnavailableError
from mercer.kernels import Kernel, as_kernel
from mercer.points import SparseVectors
from mercer.sparse_rows import SparseRows

__all__ = ["HiddenMethod", "absent_if", "kernel_of", "needs_coordinates", "needs_open_kernel"]
__all__ += ["require_open", "takes_sparse"]

Method = TypeVar("Method", bound=Callable[..., Any])
#: Why the model cannot do it, and what to do; None if it can.
Lack = Callable[[Any], str | None]


def absent_if(lack: Lack) -> Callable[[Method], Method]:
    """Hide a method from models that lack something."""

    def hide(method: Method) -> Method:
        hidden: Any = HiddenMethod(method, lack)
        if isinstance(method, HiddenMethod):
            hidden = HiddenMethod(method.method, lambda model: lack(model) or method.lack(model))
        return hidden  # type: ignore[no-any-return]  # a descriptor that gives the method

    return hide


class HiddenMethod:
    """A method of models that lack nothing."""

    def __init__(self, method: Callable[..., Any], lack: Lack) -> None:
        self.__doc__ = method.__doc__
        self.method = method
        self.lack = lack

    def __get__(self, model: object | None, owner: type) -> Any:
        if model is None:
            return self.method
        reason = self.lack(model)
        if reason is not None:
            name = self.method.__name__
            raise UnavailableError(f"this {owner.__name__} has no {name}: {reason}")
        return self.method.__get__(model, owner)


def needs_coordinates(remedy: str, *, fitted: bool = True) -> Callable[[Method], Method]:
    """For methods that need an input space; ``remedy`` says what to do without.

    ``fitted`` for methods that move the rows of the fit: a model of sparse rows lacks them.
    """

    def lack(model: Estimator) -> str | None:
        if fitted and (sparse := _sparse_support(model)) is not None:
            return f"it was fitted to sparse rows, and {sparse._lack}."
        kernel = kernel_of(model)
        if kernel is None or kernel.takes_vectors:
            return None
        return f"{kernel!r} has no coordinates, no input space; {remedy}."

    return absent_if(lack)


def _sparse_support(model: Estimator) -> SparseVectors | None:
    support = model_of(model).subspace.support if "_model_" in vars(model) else None
    return SparseVectors(support) if isinstance(support, SparseRows) else None


def needs_open_kernel(method: Method) -> Method:
    """For methods that need k(x, x) of new points."""
    return absent_if(lambda model: _lack_of_new_points(kernel_of(model)))(method)


def require_open(kernel: Kernel, purpose: str) -> None:
    """Raise :class:`KernelError`, naming the purpose, for a precomputed matrix."""
    if lack := _lack_of_new_points(kernel):
        raise KernelError(f"{purpose}: {lack}")


def _lack_of_new_points(kernel: Kernel | None) -> str | None:
    if kernel is None or not kernel.is_pairwise:
        return None
    return (
        "k(x, x) of new points is not in a precomputed matrix; use a kernel object, "
        "or FunctionKernel."
    )


def takes_sparse(model: Estimator) -> bool:
    """Whether the kernel of the next fit takes sparse rows, as far as it is one."""
    kernel = _next_kernel(model)
    return kernel is None or kernel.takes_sparse


def kernel_of(model: Estimator) -> Kernel | None:
    """The kernel of the fit, or that of the next; None for nonsense, of which ``fit`` will tell."""
    if "_model_" in vars(model):
        kernel: Kernel = model.kernel_
        return kernel
    return _next_kernel(model)


def _next_kernel(model: Estimator) -> Kernel | None:
    try:
        return as_kernel(model.kernel)
    except (MercerError, AttributeError):
        return None
