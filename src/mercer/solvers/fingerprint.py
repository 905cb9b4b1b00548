"""What a fit depends on, as a short text: a checkpoint of another fit is refused by it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from mercer._base.config import Config
from mercer.points import Points
from mercer.points.source import as_source
from mercer.points.sparse import SparseRows

if TYPE_CHECKING:
    from mercer.solvers.base import Problem


def fingerprint_of(problem: Problem, *parts: Any) -> str:
    """Of a look at the rows, of the kernel, the weights, and of what a solver adds."""
    weight = b"" if problem.weight is None else problem.weight.tobytes()
    everything = (
        as_source(problem.points).fingerprint(),
        problem.n,
        problem.d,
        str(problem.dtype),
        describe(problem.kernel),
        *parts,
        hashlib.sha256(weight).hexdigest(),
    )
    return hashlib.sha256(repr(everything).encode()).hexdigest()


def describe(value: Any) -> str:
    """Everything about a parameter, to the last bit: what ``repr`` shortens is written out."""
    if isinstance(value, Config):
        inner = sorted(value.get_params(deep=False).items())
        return f"{type(value).__name__}({[(name, describe(part)) for name, part in inner]})"
    if issparse(value) or isinstance(value, Points):
        return repr([describe(part) for part in SparseRows.of(value).arrays()])
    if isinstance(value, np.ndarray):
        return hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return repr(value)
