"""One policy for every solver: what counts as zero, as negative, and as a useless width."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from mercer import exceptions
from mercer._base.linalg import SQUARABLE
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram import CenteredGram, GramOperator
from mercer.gram.base import largest_value
from mercer.kernels import Kernel, RadialKernel
from mercer.kernels.width import median_length
from mercer.model import ComponentRule
from mercer.model.model import Spectrum
from mercer.points import Points

#: Negative eigenvalues beyond this share of the largest are the kernel's fault.
NEGATIVE_LIMIT = 1e-5
#: The first eigenvalue is nothing but rounding if it is this small beside what centring has
#: removed, and by its own estimate so much of it is unsure.
LEFT_OVER, UNSURE = 1e-6, 0.5
#: Relative error of an eigenvalue from which on float32 entries are too coarse for it.
COARSE = 1e-2
#: ... and from which on it leaves none: such a component is rounding.
LOST = 1.0
End = Literal["LA", "SA"]


def noise_floor(
    largest: float, n: int, scale: float, dtype: np.dtype, removed: float = 0.0
) -> float:
    """Eigenvalues below this are rounding.

    The solver errs by eps·λ₁, and the entries of K by eps·max k(x,x) each, independently: a random
    symmetric matrix whose norm grows like √n. What centring has removed leaves its own rounding
    behind. The factor 16 leaves room for the distances' rounding.
    """
    return float(16 * np.finfo(dtype).eps * (abs(largest) + np.sqrt(n) * scale + removed))


def rank_floor(operator: GramOperator, largest: float, dtype: np.dtype | None = None) -> float:
    """The :func:`noise_floor` of an operator; of its entries' precision if none is given."""
    precision = operator.precision if dtype is None else dtype
    return noise_floor(largest, operator.n, operator.scale(), precision, operator.removed())


def hides_components(spectrum: Spectrum, rule: ComponentRule) -> bool:
    """Whether the rounding of float32 entries hides what was asked for, or most of its digits."""
    operator, values = spectrum.operator, spectrum.values
    eps, trace = float(np.finfo(operator.precision).eps), operator.trace()
    floor = rank_floor(operator, float(values[0]))
    kept = values > floor
    return bool(
        trace < 1e3 * eps * (abs(trace) + operator.removed())
        or (rule.is_request and not kept.all())
        or spectrum.errors[kept].max(initial=0.0) > COARSE
    )


def hides_scores(spectrum: Spectrum, dtype: np.dtype) -> bool:
    """Whether scores in float32 would be rounding, though float64 has found their component."""
    largest = float(spectrum.values[0])
    return dtype == np.float32 and largest <= rank_floor(spectrum.operator, largest, dtype)


def refuse_no_variance(operator: GramOperator) -> None:
    """Raise before any work where the trace, the sum of all eigenvalues, is zero or negative."""
    trace = operator.trace()
    total = trace + operator.removed()
    rounding = 16 * float(np.finfo(operator.precision).eps) * abs(total)
    # A little below zero is rounding, too: sums over float32 tiles err by more than their entries.
    if trace < -8 * rounding or total < 0:
        raise _indefinite(f"its eigenvalues sum to {trace:.3g}")
    if trace <= rounding:
        raise _no_variance(f"the eigenvalues sum to {trace:.2g}")


def _indefinite(sign: str) -> exceptions.KernelError:
    use = "use a Mercer kernel such as Gaussian()."
    return exceptions.KernelError(f"the kernel is not positive definite: {sign}; {use}")


def _no_variance(sign: str) -> exceptions.DataError:
    give = "give rows that differ, or another kernel width."
    return exceptions.DataError(f"kernel has no variance: {sign}, mere rounding; {give}")


def total_variance(operator: GramOperator, kept: Array) -> float:
    """The trace; where rounding alone makes it less than the kept eigenvalues, their sum."""
    trace, held = operator.trace(), float(kept.sum(dtype=np.float64))
    return held if trace < held <= trace + rank_floor(operator, float(kept[0])) else trace


def refuse_magnitude(points: Points, *values: float, weight: float = 1.0) -> None:
    """Raise where the precision of the rows cannot hold kernel values or eigenvalues.

    ``weight`` is the largest sample weight, where it has a part in that.
    """
    limits = np.finfo(points.dtype)
    # Reconstruction errors are sums of four kernel values.
    if all(float(limits.tiny) <= value <= float(limits.max) / 4 for value in values):
        return
    verb = "underflows" if min(values) < float(limits.tiny) else "overflows"
    finer = ", or give them in float64" if points.dtype == np.float32 else ""
    weights = "" if weight == 1 else f" and the sample weights about {weight:.0e}"
    raise exceptions.KernelError(
        f"the kernel {verb} {points.dtype}: the rows reach a magnitude of {points.largest:.3g}"
        f"{weights}; scale them first (for example with StandardScaler){finer}."
    )


def refuse_square(kernel: Kernel, points: Points) -> None:
    """Raise where a method that squares kernel values as they are would leave the range of floats.

    :class:`~mercer.KernelPCA` measures them in a unit of their own (:mod:`mercer.solvers.plan`).
    """
    limit = SQUARABLE if points.dtype == np.float32 else SQUARABLE**4
    largest = largest_value(kernel, points)
    if not (largest == 0 or 1 / limit < largest < limit):
        raise exceptions.KernelError(
            f"kernel values of {largest:.2g}, of rows that reach a magnitude of "
            f"{points.largest:.3g}, have squares beyond {points.dtype}; scale the rows first (for "
            "example with StandardScaler), or fit KernelPCA."
        )


def keep_positive(spectrum: Spectrum, kernel: Kernel, rule: ComponentRule) -> int:
    """How many leading eigenvalues are above rounding; says so if that is fewer than asked for."""
    operator = spectrum.operator
    values, floor = spectrum.values, rank_floor(operator, float(spectrum.values[0]))
    # What centring has left of entries that round by more than the floor knows.
    left_over = values[0] < LEFT_OVER * operator.removed() and spectrum.errors[0] > UNSURE
    if values[0] <= floor or (spectrum.converged and left_over):
        raise _no_variance(f"the largest eigenvalue is {values[0]:.2g}")
    if not kernel.is_mercer:
        smallest = spectrum.smallest
        smallest = smallest_eigenvalue(operator) if smallest is None else smallest
        basis, blur = operator.basis, 1.0
        if basis is not None:  # rows spread wide beside the length have entries that round more
            blur = kernel.rounding(basis.points.rows, basis.origin, operator.precision)
        refuse_negative(smallest, float(values[0]), blur * floor)
    rank = int((values > floor).sum())
    if spectrum.converged:
        # Entries may round by more than the floor knows; the estimate has looked at them.
        lost = spectrum.errors[:rank] > LOST
        rank = int(lost.argmax()) if lost[1:].any() and not lost[0] else rank
        above = f"only {rank} have variance above rounding"
        rule.warn_if_fewer(rank, above, f"Ask for at most {rank}.")
    return rank


def refuse_negative(smallest: float, largest: float, floor: float) -> None:
    """Raise for a clearly indefinite kernel; warn for one that is so only slightly."""
    if smallest < -NEGATIVE_LIMIT * largest:
        share = f"{smallest / largest:.2g} of the largest"
        raise _indefinite(f"its smallest eigenvalue is {smallest:.3g} ({share})")
    if smallest < -floor:
        exceptions.warn(
            f"the kernel is slightly indefinite: its smallest eigenvalue is {smallest:.3g}; "
            "the positive part was kept. Use a Mercer kernel to be exact.",
            exceptions.IndefiniteKernelWarning,
        )


def smallest_eigenvalue(operator: GramOperator) -> float:
    """The smallest eigenvalue, to about a hundredth of :data:`NEGATIVE_LIMIT` of the largest."""
    n = operator.n
    if n <= 1000:
        return float(np.linalg.eigvalsh(operator.to_dense())[0])
    value = end_of_spectrum(operator.matmat, n, "SA", 1e-3, operator.dtype)
    # A cluster at zero does not converge, and needs not: nothing is below it.
    return 0.0 if value is None else value


def end_of_spectrum(
    product: Callable[[Array], Array], n: int, which: End, tol: float, dtype: np.dtype
) -> float | None:
    """The largest or smallest eigenvalue by products with (n, 1) vectors; None if not converged."""
    action = LinearOperator((n, n), matvec=lambda v: product(v.reshape(n, 1)), dtype=dtype)
    start = fixed_rng(0).standard_normal(n).astype(dtype)
    try:
        values = eigsh(
            action, 1, which=which, tol=tol, v0=start, maxiter=100, return_eigenvectors=False
        )
    except ArpackNoConvergence:
        return None
    return float(values[0])


def warn_if_degenerate(
    kernel: Kernel, X: Points, values: Array, trace: float, operator: GramOperator
) -> None:
    """Warn if the width makes K nearly the identity or nearly constant."""
    if not isinstance(kernel, RadialKernel) or operator.n < 10:
        return
    rank, spread = trace / float(values[0]), 1 - float(values[0]) / trace
    if isinstance(operator, CenteredGram):
        spread = trace / operator.base.trace()
    if rank > 0.9 * operator.n:
        symptom = f"K is close to the identity (effective rank {rank:.0f} of {operator.n})"
    elif spread < 1e-6:
        symptom = f"K is close to a constant (effective rank {1 + spread:.7g})"
    else:
        return
    try:
        median = f"the median distance is {median_length(X):.4g} ("
    except exceptions.DataError:  # without centring that is an answer, if a poor one
        exceptions.warn(
            f"{symptom}: all rows are equal; give rows that differ.",
            exceptions.DegenerateKernelWarning,
        )
        return
    remedy = exceptions.Remedy("a Gaussian's gamma='median'", shell="--gamma median") + ")."
    unsuited = f"{symptom}: the width of {kernel!r} does not suit the data; {median}"
    exceptions.warn(unsuited + remedy, exceptions.DegenerateKernelWarning)
