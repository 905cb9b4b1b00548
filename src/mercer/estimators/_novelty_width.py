"""A search for the width of a novelty detector, kept for those who call it."""

from __future__ import annotations

import warnings
from typing import Any

from mercer._random import make_rng
from mercer._types import ArrayLike, RowsLike
from mercer.estimators.door import verb
from mercer.kernels import Gaussian, RadialKernel
from mercer.novelty import WidthChoice
from mercer.novelty import select_width as choose_width

#: Widths that ``select_width`` tries, in units of the median distance.
WIDTHS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)


@verb("data", needs="a width")
def select_width(self: Any, X: RowsLike, widths: ArrayLike = WIDTHS) -> WidthChoice:
    """Choose the kernel width by normal rows alone; deprecated, because it does not help.

    The default width detects better on the data sets that we tried
    (``python -m benchmarks defaults novelty``); this method will be removed.

    Parameters
    ----------
    X : (n, d) normal rows
    widths : sequence of float
        Candidates, as multiples of the length that this kernel takes on X.

    Returns
    -------
    WidthChoice
        ``kernel`` is the best; ``kernels`` and ``separation`` tell about the others.
    """
    warnings.warn(
        "select_width will be removed: the default width (kernel=None) detects better; leave "
        "the kernel out.",
        FutureWarning,
        stacklevel=2,
    )
    rows, kernel = self._check_fit(X)
    resolved = (kernel or Gaussian()).resolve(rows)
    assert isinstance(resolved, RadialKernel)
    kernels = [resolved.with_length(resolved.length * width) for width in widths]
    rng = make_rng(self.random_state)
    return choose_width(
        lambda kernel, index: self._learner(rows, kernel, rng)(index), rows, kernels, rng
    )
