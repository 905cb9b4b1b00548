"""What is chosen from, and what was chosen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mercer._linalg import Array
from mercer._types import Estimator
from mercer.exceptions import DegenerateKernelWarning, RankWarning
from mercer.kernels import Kernel, RadialKernel, as_kernel

#: Widths that are tried, as multiples of the kernel's own.
FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)


@dataclass(frozen=True)
class Choice:
    """What was chosen, and what it was chosen from.

    Attributes
    ----------
    kernel : Kernel
    n_components : int
    value : float
        The criterion at the choice: smallest error, or largest energy.
    table : list of (kernel, n_components, value)
        Every candidate.
    """

    kernel: Kernel
    n_components: int
    value: float
    table: list[tuple[Kernel, int, float]]


def kernels_around(
    kernel: str | Kernel, X: Array, factors: Sequence[float] = FACTORS
) -> list[Kernel]:
    """The same kernel at multiples of the width that it has on these rows, 0.35 to 2 by default.

    A kernel without a width is returned alone.
    """
    resolved = as_kernel(kernel).resolve(X)
    if isinstance(resolved, RadialKernel):
        return [resolved.with_length(resolved.length * factor) for factor in factors]
    return [resolved]


def fit_quietly(candidate: Estimator, X: Array) -> Any:
    """Fit one of many: that some have too few components or an unsuitable width is no news."""
    with warnings.catch_warnings():
        for category in (RankWarning, DegenerateKernelWarning):
            warnings.simplefilter("ignore", category)
        return candidate.fit(X)
