"""What an eigensolver promises: true pairs, orthonormal vectors, and honest residuals."""

from __future__ import annotations

import numpy as np

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram import MatrixOperator
from mercer.model import Spectrum
from mercer.solvers import EigenSolver
from mercer.testing.operators import ensure

#: LAPACK's own test programs fail a routine above 30 to 60, depending on the driver.
LARGEST_RATIO = 60.0


def check_eigensolver(
    solver: EigenSolver, exact: bool = True, n: int = 240, k: int = 10
) -> dict[str, float]:
    """Run every check of this module on matrices with prescribed spectra.

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
        found = solver.solve(MatrixOperator(A), k, fixed_rng(0))
        try:
            check_order(found, k)
            check_orthonormal(found, exact)
            check_residuals(A, found)
            check_values(found, values, exact)
            if exact:
                check_ratio(A, found)
        except AssertionError as error:
            raise AssertionError(f"{solver!r} on the {name!r} spectrum: {error}") from error
        ratios[name] = lapack_ratio(A, found)
    return ratios


def prescribed_spectra(n: int) -> dict[str, Array]:
    """Decreasing eigenvalues of n × n matrices that are hard in different ways."""
    decay = 0.7 ** np.arange(n)
    clustered = np.concatenate([np.full(4, 1.0), np.full(6, 0.5), 0.5 * 0.9 ** np.arange(1, n - 9)])
    close = np.concatenate([1 - 1e-12 * np.arange(5), np.linspace(0.5, 0.01, n - 5)])
    low_rank = np.concatenate([np.linspace(1, 0.2, 6), np.zeros(n - 6)])
    return {
        "decaying": decay,
        "repeated": clustered,
        "nearly repeated": close,
        "mostly zero": low_rank,
        "huge range": np.logspace(12, -12, n),
        "slow": 1 / np.sqrt(1 + np.arange(n)),
        "large": 1e150 * decay,
        "small": 1e-150 * decay,
    }


def matrix_with_spectrum(values: Array, seed: int = 5) -> Array:
    """A symmetric matrix with these eigenvalues and random eigenvectors."""
    n = len(values)
    Q, _ = np.linalg.qr(fixed_rng(seed).standard_normal((n, n)))
    A = (Q * values) @ Q.T
    return np.asarray((A + A.T) / 2)


def lapack_ratio(A: Array, found: Spectrum) -> float:
    """``max |A v - λ v| / (n · eps · λ₁)``, LAPACK's measure of a backward stable solver."""
    V, lam = found.vectors, found.values
    size = abs(float(lam[0]))  # divided out first: squares of 1e-200 are zero
    residual = np.linalg.norm((A / size) @ V - V * (lam / size), axis=0).max()
    return float(residual / (len(A) * np.finfo(V.dtype).eps))


def check_order(found: Spectrum, k: int) -> None:
    """Finite, decreasing values, as many as asked for, each with vector, residual and error."""
    n = len(found.vectors)
    for name, array, shape in (
        ("values", found.values, (k,)),
        ("vectors", found.vectors, (n, k)),
        ("residuals", found.residuals, (k,)),
        ("errors", found.errors, (k,)),
    ):
        ensure(array.shape == shape, f"{name} have shape {array.shape}, expected {shape}")
        ensure(np.isfinite(array).all(), f"{name} are not finite: {array}")
    slack = 8 * np.finfo(found.values.dtype).eps * abs(float(found.values[0]))
    decrease = (np.diff(found.values) <= slack).all()
    ensure(decrease, f"the eigenvalues do not decrease: {found.values}")


def check_orthonormal(found: Spectrum, exact: bool = True) -> None:
    """``VᵀV = I``, to rounding for exact solvers and to 1e-8 for others."""
    V = found.vectors.astype(np.float64)
    error = float(np.abs(V.T @ V - np.eye(V.shape[1])).max())
    allowed = LARGEST_RATIO * len(V) * float(np.finfo(found.vectors.dtype).eps)
    small = error <= (allowed if exact else max(allowed, 1e-8))
    ensure(small, f"|VᵀV - I| reaches {error:.3g}")


def check_residuals(A: Array, found: Spectrum) -> None:
    """The residuals that the solver reports are those that its pairs have."""
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
    slack = 4 * len(A) * np.finfo(found.vectors.dtype).eps * abs(float(found.values[0]))
    worst = int((true - found.residuals).argmax())
    ensure(
        (true <= 1.01 * found.residuals + slack).all(),
        f"pair {worst} has a residual of {true[worst]:.3g} but reports "
        f"{found.residuals[worst]:.3g}",
    )


def check_values(found: Spectrum, values: Array, exact: bool = True) -> None:
    """The eigenvalues are the prescribed ones, none missed.

    Exact solvers: converged, and to rounding of the largest. Others: each value is within ten times
    its own error estimate, whether they converged or not.
    """
    wanted = values[: len(found.values)]
    error = np.abs(found.values - wanted)
    rounding = LARGEST_RATIO * len(found.vectors) * np.finfo(found.values.dtype).eps * values[0]
    allowed = np.full(len(error), rounding)
    if not exact:
        allowed = np.maximum(rounding, 10 * found.errors * np.abs(wanted))
    settled = not exact or found.converged
    ensure(settled, f"did not converge in {found.passes} passes: {found.errors}")
    worst = int((error - allowed).argmax())
    ensure(
        (error <= allowed).all(),
        f"eigenvalue {worst} is {found.values[worst]:.17g}, expected {wanted[worst]:.17g} "
        f"(allowed error {allowed[worst]:.3g})",
    )


def check_ratio(A: Array, found: Spectrum) -> None:
    """The LAPACK ratio is at most 60."""
    ratio = lapack_ratio(A, found)
    text = f"|Av - λv| / (n eps λ₁) reaches {ratio:.3g}, allowed are {LARGEST_RATIO}"
    ensure(ratio <= LARGEST_RATIO, text)
