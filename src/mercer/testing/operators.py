"""What a Gram operator promises: a symmetric matrix, however it is stored, cut or threaded."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram import GramOperator


def ensure(holds: object, text: str) -> None:
    """An assertion that ``python -O`` does not remove."""
    if not holds:
        raise AssertionError(text)


def assert_close(
    what: str, found: Any, wanted: Any, tol: float, scale: float | None = None
) -> None:
    """``|found - wanted| <= tol * scale`` everywhere; the scale is max|wanted| if not given.

    Errors are measured against the largest entry, as matrix norms do: a kernel value of 1e-300
    needs not be right in its own digits.
    """
    A: Array = np.asarray(found, dtype=np.float64)
    B: Array = np.asarray(wanted, dtype=np.float64)
    ensure(A.shape == B.shape, f"{what}: shape {A.shape}, expected {B.shape}")
    if not A.size:
        return
    scale = float(np.abs(B).max()) if scale is None else scale
    error = np.abs(A - B)
    worst = np.unravel_index(np.nanargmax(error), error.shape) if not np.isnan(error).all() else ()
    if not (error <= tol * scale).all():  # a NaN is not <= anything
        where = tuple(int(i) for i in worst)
        raise AssertionError(
            f"{what}: off by {float(error[worst].max()):.3g} at {where} "
            f"(found {A[worst]}, expected {B[worst]}; allowed {tol * scale:.3g})"
        )


def check_operator(operator: GramOperator, dense: Array, tol: float | None = None) -> None:
    """Run every check that needs only the operator and the matrix that it stands for.

    Parameters
    ----------
    operator : GramOperator
    dense : (n, n) array
        The same matrix, computed in some other way, in float64.
    tol : float, optional
        Allowed error as a share of the largest entry; by default 32 √n eps of the operator's
        ``precision``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import MatrixOperator
    >>> from mercer.testing import check_operator
    >>> K = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> check_operator(MatrixOperator(K), K)
    """
    tol = _rounding(operator) if tol is None else tol
    check_product(operator, dense, tol)
    check_symmetric(operator, tol)
    check_diagonal(operator, dense, tol)
    check_block(operator, dense, tol)
    check_dense_copy(operator, dense, tol)
    check_threads(operator)


def check_product(operator: GramOperator, dense: Array, tol: float) -> None:
    """``matmat`` is the product with the matrix, for one vector and for many, in its dtype."""
    n = operator.n
    ensure(dense.shape == (n, n), f"n={n}, but the matrix has shape {dense.shape}")
    for columns in (1, 5):
        V = _vectors(operator, columns)
        before = V.copy()
        product = operator.matmat(V)
        ensure(np.array_equal(V, before), "matmat changed the vectors that it was given")
        dtypes = f"the product is {product.dtype}, the operator {operator.dtype}"
        ensure(product.dtype == operator.dtype, dtypes)
        wanted = dense @ V.astype(np.float64)
        size = float(np.abs(dense).max()) * np.sqrt(n)
        assert_close(f"product with {columns} vector(s)", product, wanted, tol, size)


def check_block(operator: GramOperator, dense: Array, tol: float) -> None:
    """``block`` are entries of the matrix, of all rows or of some."""
    columns = np.arange(operator.n)[:: max(1, operator.n // 3)]
    for rows in (slice(None), columns[::-1]):
        found = operator.block(rows, columns)
        assert_close("entries of a block", found, dense[rows][:, columns], tol)


def check_symmetric(operator: GramOperator, tol: float) -> None:
    """``xᵀ(A y) = (A x)ᵀ y`` for random x and y."""
    V = _vectors(operator, 4)
    inner = V.T @ operator.matmat(V)
    assert_close("xᵀAy against yᵀAx", inner, inner.T, tol * np.sqrt(operator.n))


def check_diagonal(operator: GramOperator, dense: Array, tol: float) -> None:
    """``diagonal`` and ``trace`` are the matrix's."""
    size = float(np.abs(dense).max())
    assert_close("diagonal", operator.diagonal(), np.diagonal(dense), tol, size)
    found, trace = operator.trace(), float(np.trace(dense))
    near = abs(found - trace) <= tol * size * operator.n
    ensure(near, f"the trace is {found}, expected {trace}")


def check_dense_copy(operator: GramOperator, dense: Array, tol: float) -> None:
    """``to_dense`` is the matrix, and fresh: writing into it does not change the operator."""
    found = operator.to_dense()
    assert_close("to_dense", found, dense, tol)
    found[...] = np.nan
    assert_close("to_dense after its first copy was overwritten", operator.to_dense(), dense, tol)


def check_threads(operator: GramOperator) -> None:
    """The product with one thread is the product with many, up to the order of the sums."""
    V = _vectors(operator, 3)
    many = operator.matmat(V)
    with threadpool_limits(limits=1, user_api="blas"):
        one = operator.matmat(V)
    assert_close("one thread against many", one, many, _rounding(operator))


def check_block_sizes(
    build: Callable[[int], GramOperator], dense: Array, sizes: Sequence[int] = (1, 7, 64)
) -> None:
    """Operators built with different block sizes are the same matrix.

    Parameters
    ----------
    build : callable
        Makes the operator for a block size.
    dense : (n, n) array
        The matrix.
    sizes : block sizes to try, beside n - 1, n and n + 1
    """
    n = len(dense)
    for size in sorted({*sizes, n - 1, n, n + 1} - {0}):
        operator = build(size)
        try:
            check_product(operator, dense, _rounding(operator))
        except AssertionError as error:
            raise AssertionError(f"with blocks of {size}: {error}") from error


def check_memory(build: Callable[[], GramOperator], limit: int, columns: int = 4) -> int:
    """Building the operator and one product stay below ``limit`` bytes; returns the peak.

    NumPy reports its arrays to :mod:`tracemalloc`; memory that BLAS takes for itself is not seen.
    """
    tracemalloc.start()
    try:
        operator = build()
        operator.matmat(_vectors(operator, columns))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    ensure(peak <= limit, f"the peak was {peak} bytes, allowed are {limit}")
    return peak


def _vectors(operator: GramOperator, columns: int) -> Array:
    rng = fixed_rng(11)
    return rng.standard_normal((operator.n, columns)).astype(operator.dtype)


def _rounding(operator: GramOperator) -> float:
    """Entries err by a few eps each, and sums over n of them like √n."""
    return float(32 * np.sqrt(operator.n) * np.finfo(operator.precision).eps)
