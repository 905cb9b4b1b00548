"""What a kernel promises: symmetry, definiteness, diagonal, gradient and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, RowsLike
from mercer.exceptions import KernelError
from mercer.kernels import Basis, DotProductKernel, Kernel, RadialKernel
from mercer.points.tiles import Tiles
from mercer.testing.operators import assert_close, ensure


def check_kernel(kernel: Kernel, X: RowsLike = None) -> None:
    """Run every check of this module on a kernel.

    Parameters
    ----------
    kernel : Kernel
    X : (n, d) array or n objects, optional
        At least 8 different points for which the kernel is meant; by default 12 points with
        positive entries. Kernels of objects, and precomputed ones, need it.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Polynomial
    >>> from mercer.testing import check_kernel
    >>> check_kernel(0.7 * Gaussian(sigma=2) + Polynomial(3))
    """
    X = default_points() if X is None else X
    check_parameters(kernel)
    check_resolve(kernel, X)
    check_symmetry(kernel, X)
    check_diagonal(kernel, X)
    check_slices(kernel, X)
    check_formula(kernel, X)
    if kernel.is_mercer:
        check_positive_definite(kernel, X)
    if not kernel.takes_objects:
        check_float32(kernel, X)
    if kernel.takes_vectors:
        check_gradient(kernel, X)


def default_points() -> Array:
    """Twelve points in three dimensions; positive entries, so that histograms are served too."""
    return fixed_rng(7).uniform(0.1, 1.0, (12, 3))


def check_symmetry(kernel: Kernel, X: RowsLike) -> None:
    """``k(x, y) = k(y, x)``, also between two sets of different size."""
    first, second = (X[:5], X[5:]) if kernel.points(X).is_open else (X, X)
    forward = _gram(kernel, X, first, second)
    backward = _gram(kernel, X, second, first)
    assert_close(f"{kernel!r}: k(x, y) against k(y, x)", forward, backward.T, 1e-12)


def check_diagonal(kernel: Kernel, X: RowsLike) -> None:
    """``diag(X)`` is the diagonal of the matrix."""
    K = _gram(kernel, X, X, X)
    assert_close(f"{kernel!r}: diag", kernel.resolve(X).diag(X), np.diagonal(K), 1e-7)


def check_positive_definite(kernel: Kernel, X: RowsLike) -> None:
    """No eigenvalue of the matrix lies below zero by more than rounding, if ``is_mercer``."""
    K = _gram(kernel, X, X, X)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    allowed = 16 * len(K) * np.finfo(np.float64).eps * values[-1]
    ensure(
        values[0] >= -allowed,
        f"{kernel!r} says is_mercer, but its matrix has the eigenvalue {values[0]:.3g} "
        f"beside a largest one of {values[-1]:.3g}",
    )


def check_slices(kernel: Kernel, X: RowsLike) -> None:
    """Packed rows may be cut into blocks: the tiles are those of the whole matrix."""
    resolved = kernel.resolve(X)
    packed = Basis(resolved, X).packed
    n = len(packed)
    ensure(n == len(X), f"{kernel!r}: {len(X)} rows were packed as {n}")
    whole = Tiles(resolved.fill, packed, packed, packed.dtype).gram(np.float64)
    for rows, columns in ((slice(0, n // 3), slice(n // 2, n)), (slice(n // 3, n), slice(1, 2))):
        part = np.empty((len(packed[rows]), len(packed[columns])))
        resolved.fill(packed[rows], packed[columns], part)
        assert_close(f"{kernel!r}: tile [{rows}, {columns}]", part, whole[rows, columns], 1e-12)


def check_float32(kernel: Kernel, X: RowsLike) -> None:
    """Rows in float32 fill a float32 tile, right to that precision."""
    resolved = kernel.resolve(X)
    single = np.asarray(X, dtype=np.float32)
    packed = Basis(resolved, resolved.points(single)).packed
    tile = Tiles(resolved.fill, packed, packed, packed.dtype).gram(np.float32)
    # Operators take the diagonal from diag: a kink at distance zero magnifies rounding there.
    np.fill_diagonal(tile, resolved.diag(single))
    assert_close(f"{kernel!r} in float32", tile, _gram(kernel, X, X, X), 2e-5)
    for what, dtype in (("diag", resolved.diag(single).dtype), ("matrix", resolved(single).dtype)):
        ensure(dtype == np.float32, f"{kernel!r}: the {what} of float32 rows is {dtype}")


def check_gradient(kernel: Kernel, X: RowsLike) -> None:
    """``gradient`` and ``diag_gradient`` are what central differences give.

    A kernel without gradient says so by :class:`~mercer.exceptions.KernelError`, and passes.
    """
    resolved = kernel.resolve(X)
    # Points beside the support, because some kernels have a kink where two points meet.
    Z, S = np.asarray(X[:4]) + 0.0173, np.asarray(X[4:])
    G = fixed_rng(3).standard_normal((len(Z), len(S)))
    try:
        found, diag_found = resolved.gradient(Z, S, G), resolved.diag_gradient(Z)
    except KernelError:
        return
    step = 1e-5 * float(np.abs(Z).max())
    wanted, diag_wanted = np.empty_like(Z), np.empty_like(Z)
    for a in range(Z.shape[1]):
        e = np.zeros(Z.shape[1])
        e[a] = step
        up, down = _gram(resolved, X, Z + e, S), _gram(resolved, X, Z - e, S)
        wanted[:, a] = (G * (up - down)).sum(axis=1) / (2 * step)
        diag_wanted[:, a] = (resolved.diag(Z + e) - resolved.diag(Z - e)) / (2 * step)
    size = max(1e-3, float(np.abs(wanted).max()))
    assert_close(f"{kernel!r}: gradient", found, wanted, 1e-5, size)
    size = max(1e-3, float(np.abs(diag_wanted).max()))
    assert_close(f"{kernel!r}: diag_gradient", diag_found, diag_wanted, 1e-5, size)


def check_formula(kernel: Kernel, X: RowsLike) -> None:
    """``formula``, where there is one, is what ``profile`` and ``slope`` compute in place."""
    if not isinstance(kernel, RadialKernel | DotProductKernel):
        return  # entrywise kernels take their gradient from it
    resolved, dots = kernel.resolve(X), X @ X.T
    arguments = dots if isinstance(resolved, DotProductKernel) else -np.square(dots)
    try:
        found = resolved.formula(arguments, np)
    except NotImplementedError:
        return
    wanted = [resolved.profile(arguments.copy()), resolved.slope(arguments.copy())]
    for name, value, truth in zip(("profile", "slope"), found, wanted, strict=True):
        assert_close(f"{kernel!r}: formula of the {name}", value, truth, 1e-12)


def check_resolve(kernel: Kernel, X: RowsLike) -> None:
    """A resolved kernel is a new object or the same one, and resolving it again changes nothing."""
    before = _numbers(kernel)
    once = kernel.resolve(X)
    same = _numbers(kernel) == before
    ensure(same, f"resolve changed the kernel itself: {before} became {kernel!r}")
    fewer = X[:6] if kernel.points(X).is_open else X
    for rows in (X, fewer):
        again = once.resolve(rows)
        same = _numbers(again) == _numbers(once)
        ensure(same, f"resolve is not idempotent: {once!r} became {again!r}")


def check_parameters(kernel: Kernel) -> None:
    """``get_params``, ``set_params`` and ``clone`` make the same kernel again."""
    parameters = kernel.get_params(deep=False)
    try:
        made = {
            "the constructor": type(kernel)(**parameters),
            "clone": clone(kernel),
            "set_params": clone(kernel).set_params(**parameters),
        }
    except RuntimeError as error:  # scikit-learn's word for a constructor that computes
        raise AssertionError(f"{kernel!r} cannot be cloned: {error}") from error
    for how, other in made.items():
        ensure(_numbers(other) == _numbers(kernel), f"{how} turned {kernel!r} into {other!r}")


def _gram(kernel: Kernel, X: RowsLike, A: Any, B: Any) -> Array:
    """k(A, B) in float64, by the kernel that X resolves."""
    resolved = kernel.resolve(X)
    return Basis(resolved, B).tiles(A).gram(np.float64)


def _numbers(kernel: Kernel) -> dict[str, object]:
    """All parameters in a form that can be compared, nested kernels by their class."""
    return {
        name: type(value)
        if isinstance(value, Kernel)
        else (value.shape, value.tobytes())
        if isinstance(value, np.ndarray)
        else value
        for name, value in kernel.get_params().items()
    }
