"""Every Gram operator beside the matrix of the definition."""

from __future__ import annotations

import numpy as np

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram import CenteredGram, DenseGram, GramOperator, StreamedGram, WeightedGram
from mercer.gram.base import in_range
from mercer.kernels import Basis
from tests.cross.problems import FitProblem
from tests.cross.reference import Reference

#: Operators make no claim of their own. Kernels of the distance promise entries to 1e-9 in float64
#: and 1e-3 in float32 where rows are scattered; a root of the distance has half the digits.
ACCURACY = {"d": 1e-7, "f": 4e-3}


def check_operators(problem: FitProblem, reference: Reference) -> list[tuple[str, str]]:
    """Products, diagonal, trace and the whole matrix of each operator; low rank; cross products."""
    if not 1e-30 < reference.size * reference.unit < 1e30:
        return []  # fits come here with kernel values of about one (mercer.solvers.plan)
    rows = problem.X[reference.counts]
    kernel = problem.kernel.resolve(rows)
    rng = fixed_rng(problem.seed or 0)
    V = rng.standard_normal((len(rows), 3))
    faults: list[tuple[str, str]] = []
    for name, base in _bases(problem, rows).items():
        operator = _wrapped(base, reference)
        unit = ACCURACY[operator.precision.char] * reference.entry
        faults += _compare(name, operator, reference, V, unit)
        low = operator.low_rank(min(len(rows), 20), rng)
        if low is not None:
            s, M = low.spectrum()
            U = low.expand(M)
            left = reference.matrix.astype(np.float64) - (U * (s / float(reference.unit))) @ U.T
            least = float(np.linalg.eigvalsh((left + left.T) / 2)[0]) if kernel.is_mercer else 0.0
            faults += _beyond(f"{name}: low rank beyond the matrix", -least, 30 * unit * len(rows))
    everything = np.concatenate([problem.X, problem.Y])
    given = in_range(kernel, kernel.points(rows))  # as every fit begins
    product = Basis(kernel, given).matmat(everything.astype(given.dtype), V.astype(given.dtype))
    unit = ACCURACY[given.dtype.char] * np.sqrt(reference.size * np.abs(reference.K).max())
    off = float(np.abs(product / reference.unit - reference.K @ V).max())
    return faults + _beyond("cross products", off, float(unit) * len(rows) ** 0.5 * 4)


def _bases(problem: FitProblem, rows: Array) -> dict[str, GramOperator]:
    kernel, dtype = problem.kernel.resolve(rows), rows.dtype
    found: dict[str, GramOperator] = {
        "kept": DenseGram.from_rows(kernel, rows, dtype),
        "streamed": StreamedGram.from_rows(kernel, rows, dtype, block=7),
    }
    mixed = found["mixed"] = StreamedGram.from_rows(kernel, rows, np.float64, np.float32)
    return {**found, "refined": mixed.refined()} if mixed.can_refine else found


def _wrapped(base: GramOperator, reference: Reference) -> GramOperator:
    root = np.sqrt(reference.w.astype(np.float64))
    operator: GramOperator = WeightedGram(base, root.astype(base.dtype))
    if not reference.center:
        return operator
    return CenteredGram(operator, (root / np.linalg.norm(root)).astype(base.dtype))


def _compare(
    name: str, operator: GramOperator, reference: Reference, V: Array, unit: float
) -> list[tuple[str, str]]:
    M, n = reference.matrix, len(V)

    def off(found: Array | float, true: Array | float) -> float:
        return float(np.abs(found / reference.unit - true).max())

    product = off(operator.matmat(V.astype(operator.dtype)), M @ V)
    return [
        *_beyond(f"{name}: products", product, 8 * unit * n**0.5),
        *_beyond(f"{name}: diagonal", off(operator.diagonal(), np.diag(M)), 4 * unit),
        *_beyond(f"{name}: trace", off(operator.trace(), reference.trace), 4 * unit * n),
        *_beyond(f"{name}: matrix", off(operator.to_dense(), M), 4 * unit),
    ]


def _beyond(what: str, off: float, allowed: float) -> list[tuple[str, str]]:
    if off <= allowed:
        return []
    return [("wrong", f"{what} off by {float(off):.2g}, allowed {float(allowed):.2g}")]
