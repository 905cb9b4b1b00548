"""Threads that never hurt: the one place where our estimators' methods meet the policy."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from mercer._parallel import held
from mercer.estimators._available import HiddenMethod

__all__ = ["HeldMixin"]


class HeldMixin:
    """Public methods run with BLAS held at one thread, see :func:`mercer._parallel.held`."""

    def __init_subclass__(cls, **options: Any) -> None:
        # Before scikit-learn's own wrappers, which look for the methods of the class, too.
        for name, method in list(vars(cls).items()):
            if name.startswith("_"):
                continue
            if isinstance(method, FunctionType):
                setattr(cls, name, held(method))
            elif isinstance(method, HiddenMethod):
                method.method = held(method.method)
        super().__init_subclass__(**options)
