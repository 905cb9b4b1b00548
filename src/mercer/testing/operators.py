"""What Gram operators and eigensolvers promise.

An operator: a symmetric matrix, however it is stored, cut or threaded. An eigensolver: true pairs,
orthonormal vectors, and honest residuals.
"""

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram import GramOperator, MatrixOperator
from mercer.model import Spectrum
from mercer.solvers import EigenSolver

#: LAPACK's own test programs fail a routine above 30 to 60, depending on the driver.
LARGEST_RATIO = 60.0


def ensure(holds: object, text: str) -> None:
    """An assertion that ``python -O`` does not remove."""
    if not holds:
        raise AssertionError(text)


def expect(what: str, actual: object, expected: object) -> None:
    """That something which is not a number is what it should be."""
    ensure(actual == expected, f"{what} is {actual}, expected {expected}")


@contextmanager
def about(what: str) -> Iterator[None]:
    """A failure inside the block says what it is about."""
    try:
        yield
    except AssertionError as error:
        raise AssertionError(f"{what}: {error}") from error


def assert_close(
    what: str, actual: Any, expected: Any, tol: float, scale: float | None = None
) -> None:
    """``|actual - expected| <= tol * scale`` everywhere; scale defaults to max|expected|.

    Errors are measured against the largest entry, as matrix norms do: a kernel value of 1e-300
    needs not be right in its own digits.
    """
    A, B = (np.asarray(part, dtype=np.float64) for part in (actual, expected))
    allowed = tol * (float(np.abs(B).max(initial=0)) if scale is None else scale)
    np.testing.assert_allclose(
        A, B, rtol=0, atol=allowed, equal_nan=False, err_msg=what, strict=True
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
    for check in (check_product, check_diagonal, check_block, check_dense_copy):
        check(operator, dense, tol)
    check_symmetric(operator, tol)
    check_threads(operator)


def check_product(operator: GramOperator, dense: Array, tol: float) -> None:
    """``matmat`` is the product with the matrix, for one vector and for many, in its dtype."""
    n = operator.n
    expect("the shape of the matrix", dense.shape, (n, n))
    for columns in (1, 5):
        V = _vectors(operator, columns)
        before = V.copy()
        product = operator.matmat(V)
        ensure(np.array_equal(V, before), "matmat changed the vectors that it was given")
        expect("the dtype of the product", product.dtype, operator.dtype)
        size = float(np.abs(dense).max()) * np.sqrt(n)
        what = f"product with {columns} vector(s)"
        assert_close(what, product, dense @ V.astype(np.float64), tol, size)


def check_block(operator: GramOperator, dense: Array, tol: float) -> None:
    """``block`` are entries of the matrix, of all rows or of some."""
    columns = np.arange(operator.n)[:: max(1, operator.n // 3)]
    for rows in (slice(None), columns[::-1]):
        entries = dense[rows][:, columns]
        assert_close("entries of a block", operator.block(rows, columns), entries, tol)


def check_symmetric(operator: GramOperator, tol: float) -> None:
    """``xᵀ(A y) = (A x)ᵀ y`` for random x and y."""
    V = _vectors(operator, 4)
    inner = V.T @ operator.matmat(V)
    assert_close("xᵀAy against yᵀAx", inner, inner.T, tol * np.sqrt(operator.n))


def check_diagonal(operator: GramOperator, dense: Array, tol: float) -> None:
    """``diagonal`` and ``trace`` are the matrix's."""
    size = float(np.abs(dense).max())
    assert_close("diagonal", operator.diagonal(), np.diagonal(dense), tol, size)
    assert_close("trace", operator.trace(), np.trace(dense), tol, size * operator.n)


def check_dense_copy(operator: GramOperator, dense: Array, tol: float) -> None:
    """``to_dense`` is the matrix, and fresh: writing into it does not change the operator."""
    copy = operator.to_dense()
    assert_close("to_dense", copy, dense, tol)
    copy[...] = np.nan
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
        with about(f"with blocks of {size}"):
            check_product(operator, dense, _rounding(operator))


def check_memory(build: Callable[[], GramOperator], limit: int, columns: int = 4) -> int:
    """Building the operator and one product stay below ``limit`` bytes; returns the peak.

    NumPy reports its arrays to :mod:`tracemalloc`; memory that BLAS takes for itself is not seen.
    """
    tracemalloc.start()
    try:
        operator = build()
        operator.matmat(_vectors(operator, columns))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    ensure(peak <= limit, f"the peak was {peak} bytes, allowed are {limit}")
    return peak


def _vectors(operator: GramOperator, columns: int) -> Array:
    return fixed_rng(11).standard_normal((operator.n, columns)).astype(operator.dtype)


def _rounding(operator: GramOperator) -> float:
    """Entries err by a few eps each, and sums over n of them like √n."""
    return float(32 * np.sqrt(operator.n) * np.finfo(operator.precision).eps)


def check_eigensolver(
    solver: EigenSolver, exact: bool = True, n: int = 240, k: int = 10
) -> dict[str, float]:
    """Run every check of eigensolvers on matrices with prescribed spectra.

    Parameters
    ----------
    solver : EigenSolver
    exact : bool, default=True
        Does it promise pairs to rounding? If not, its error estimates must be honest within a
        factor of ten.
    n, k : int
        Size of the matrices, and number of pairs to ask for.

    Returns
    -------
    dict
        The LAPACK ratio seen on each spectrum.

    Examples
    --------
    >>> from mercer.solvers import Dense
    >>> from mercer.testing import check_eigensolver
    >>> max(check_eigensolver(Dense()).values()) < 60
    True
    """
    ratios = {}
    for name, values in prescribed_spectra(n).items():
        A = matrix_with_spectrum(values)
        spectrum = solver.solve(MatrixOperator(A), k, fixed_rng(0))
        with about(f"{solver!r} on the {name!r} spectrum"):
            check_order(spectrum, k)
            check_orthonormal(spectrum, exact)
            check_residuals(A, spectrum)
            check_values(spectrum, values, exact)
            ratios[name] = ratio = lapack_ratio(A, spectrum)
            text = f"|Av - λv| / (n eps λ₁) reaches {ratio:.3g}, allowed are {LARGEST_RATIO}"
            ensure(not exact or ratio <= LARGEST_RATIO, text)
    return ratios


def prescribed_spectra(n: int) -> dict[str, Array]:
    """Decreasing eigenvalues of n × n matrices that are hard in different ways."""
    decay = 0.7 ** np.arange(n)
    copies = np.repeat([1.0, 0.5], [4, 6])
    return {
        "decaying": decay,
        "repeated": np.append(copies, 0.5 * 0.9 ** np.arange(1, n - 9)),
        "nearly repeated": np.append(1 - 1e-12 * np.arange(5), np.linspace(0.5, 0.01, n - 5)),
        "mostly zero": np.append(np.linspace(1, 0.2, 6), np.zeros(n - 6)),
        "huge range": np.logspace(12, -12, n),
        "slow": 1 / np.sqrt(1 + np.arange(n)),
        "large": 1e150 * decay,
        "small": 1e-150 * decay,
    }


def matrix_with_spectrum(values: Array, seed: int = 5) -> Array:
    """A symmetric matrix with these eigenvalues and random eigenvectors."""
    Q, _ = np.linalg.qr(fixed_rng(seed).standard_normal((len(values), len(values))))
    A = (Q * values) @ Q.T
    return np.asarray((A + A.T) / 2)


def lapack_ratio(A: Array, spectrum: Spectrum) -> float:
    """``max |A v - λ v| / (n · eps · λ₁)``, LAPACK's measure of a backward stable solver."""
    V, lam = spectrum.vectors, spectrum.values
    size = abs(float(lam[0]))  # divided out first: squares of 1e-200 are zero
    residual = np.linalg.norm((A / size) @ V - V * (lam / size), axis=0).max()
    return float(residual / (len(A) * np.finfo(V.dtype).eps))


def check_order(spectrum: Spectrum, k: int) -> None:
    """Finite, decreasing values, as many as asked for, each with vector, residual and error."""
    for name in ("values", "vectors", "residuals", "errors"):
        array = getattr(spectrum, name)
        shape = (len(spectrum.vectors), k) if name == "vectors" else (k,)
        expect(f"the shape of {name}", array.shape, shape)
        ensure(np.isfinite(array).all(), f"{name} are not finite: {array}")
    lam = spectrum.values
    slack = 8 * np.finfo(lam.dtype).eps * abs(float(lam[0]))
    ensure((np.diff(lam) <= slack).all(), f"the eigenvalues do not decrease: {lam}")


def check_orthonormal(spectrum: Spectrum, exact: bool = True) -> None:
    """``VᵀV = I``, to rounding for exact solvers and to 1e-8 for others."""
    V = spectrum.vectors.astype(np.float64)
    rounding = LARGEST_RATIO * len(V) * float(np.finfo(spectrum.vectors.dtype).eps)
    allowed = rounding if exact else max(rounding, 1e-8)
    assert_close("VᵀV against I", V.T @ V, np.eye(V.shape[1]), allowed)


def check_residuals(A: Array, spectrum: Spectrum) -> None:
    """The residuals that the solver reports are those that its pairs have."""
    true = np.linalg.norm(A @ spectrum.vectors - spectrum.vectors * spectrum.values, axis=0)
    slack = 4 * len(A) * np.finfo(spectrum.vectors.dtype).eps * abs(float(spectrum.values[0]))
    worst = int((true - spectrum.residuals).argmax())
    both = f"a residual of {true[worst]:.3g} but reports {spectrum.residuals[worst]:.3g}"
    ensure((true <= 1.01 * spectrum.residuals + slack).all(), f"pair {worst} has {both}")


def check_values(spectrum: Spectrum, values: Array, exact: bool = True) -> None:
    """The eigenvalues are the prescribed ones, none missed.

    Exact solvers: converged, and to rounding of the largest. Others: each value is within ten times
    its own error estimate, whether they converged or not.
    """
    settled = not exact or spectrum.converged
    ensure(settled, f"did not converge in {spectrum.passes} passes: {spectrum.errors}")
    lam, expected = spectrum.values, values[: len(spectrum.values)]
    rounding = LARGEST_RATIO * len(spectrum.vectors) * np.finfo(lam.dtype).eps * values[0]
    claimed = (0 if exact else 10) * spectrum.errors * np.abs(expected)
    allowed = np.maximum(rounding, claimed)
    beyond = np.abs(lam - expected) - allowed
    worst = int(beyond.argmax())
    both = f"{lam[worst]:.17g}, expected {expected[worst]:.17g}"
    text = f"eigenvalue {worst} is {both} (allowed error {allowed[worst]:.3g})"
    ensure(beyond[worst] <= 0, text)
