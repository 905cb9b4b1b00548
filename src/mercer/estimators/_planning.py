"""``plan``: what a fit would do, and what it would need, before anybody waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from sklearn.base import clone
from sklearn.utils import get_tags

from mercer._types import Estimator, RowsLike
from mercer.eigen.plan import Plan, stand_in
from mercer.estimators._available import absent_if
from mercer.estimators._threads import HeldMixin
from mercer.estimators._validation import check_rows
from mercer.kernels import Kernel, as_kernel
from mercer.rows import Rows

__all__ = ["PlanMixin"]


def _lack(model: Estimator) -> str | None:
    return None if hasattr(model, "_plan") else "it has no solver to choose; just fit it."


class PlanMixin(HeldMixin):
    """Plans for every estimator that can say what it does with rows of a size, by ``_plan``."""

    kernel: str | Kernel | None
    #: From a kernel and rows (perhaps a stand-in without values) to a plan.
    _plan: Callable[[Kernel, RowsLike], Plan]
    #: Gives row sources to its solver as they are; others hold all rows in memory.
    _reads_in_place: ClassVar[bool] = False

    @absent_if(_lack)
    def plan(self, X: RowsLike) -> Plan:
        """What :meth:`fit` would do with these rows, and what it would need; nothing is fitted.

        Parameters
        ----------
        X : as for :meth:`fit`
            Of a file only the size is looked at.

        Returns
        -------
        Plan
            The solver that would run, why, its memory, and whether a file would be loaded.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> plan = KernelPCA(10).plan(np.zeros((200_000, 20)))
        >>> plan.solver, plan.resumable
        (Landmarks(), True)
        """
        kernel = as_kernel("gaussian" if self.kernel is None else self.kernel)
        holes = get_tags(self).input_tags.allow_nan
        rows = check_rows(clone(self), X, kernel, reset=True, stream=True, allow_nan=holes)
        if self._reads_in_place:
            return self._plan(kernel, rows)
        if not isinstance(rows, Rows):
            return replace(self._plan(kernel, rows), resumable=False)
        plan = self._plan(kernel, stand_in(rows))
        size = len(rows) * rows.shape[1] * rows.dtype.itemsize
        return replace(plan, bytes=plan.bytes + size, loads=True, resumable=False)
