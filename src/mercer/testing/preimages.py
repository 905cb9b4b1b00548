"""What a pre-image solver promises: finite points of the right shape, and no false "converged"."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.estimators import KernelPCA
from mercer.exceptions import KernelError
from mercer.kernels import Gaussian, Polynomial
from mercer.model import Subspace
from mercer.preimage import PreImages, PreImageSolver
from mercer.testing.operators import assert_close, ensure

#: A point that is said to have converged may still move by this share of the data's radius.
MOVEMENT = 1e-2


def check_preimage(solver: PreImageSolver, subspace: Subspace | None = None) -> None:
    """Run every check of this module.

    Parameters
    ----------
    solver : PreImageSolver
    subspace : Subspace, optional
        A model with vectors as support points; by default one of noisy points on a circle,
        with a kernel that the solver accepts.

    Examples
    --------
    >>> from mercer.preimage import FixedPoint
    >>> from mercer.testing import check_preimage
    >>> check_preimage(FixedPoint())
    """
    subspace = default_subspace(solver) if subspace is None else subspace
    X, Z = _queries(subspace)
    check_shapes(solver, subspace, X, Z)
    check_batches(solver, subspace, X, Z)
    check_converged_is_true(solver, subspace, X, Z)
    check_codes_far_away(solver, subspace, Z)


def default_subspace(solver: PreImageSolver) -> Subspace:
    """Four components of 40 noisy points on a circle."""
    rng = fixed_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 40)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((40, 2))
    for kernel in (Gaussian(width=1.5), Polynomial(3)):
        try:
            solver.check_kernel(kernel)
        except KernelError:
            continue
        subspace: Subspace = KernelPCA(4, kernel=kernel, solver="dense").fit(X).subspace_
        return subspace
    raise AssertionError(f"{solver!r} takes neither Gaussian nor Polynomial; give a subspace")


def check_shapes(solver: PreImageSolver, subspace: Subspace, X: Array, Z: Array) -> None:
    """One finite point for each query, where queries are fewer than support points, or just one."""
    bound = solver.init(subspace)
    for rows in (slice(None), slice(0, 1)):
        for start in (None, X[rows]):
            _check_fields(bound.solve(Z[rows], start), len(Z[rows]), X.shape[1])


def check_batches(solver: PreImageSolver, subspace: Subspace, X: Array, Z: Array) -> None:
    """A query's answer does not depend on what else was asked."""
    bound = solver.init(subspace)
    together = bound.solve(Z, X)
    alone = [bound.solve(Z[i : i + 1], X[i : i + 1]).points[0] for i in range(len(Z))]
    fine = together.converged
    tol = MOVEMENT * _radius(subspace)
    assert_close("together against alone", together.points[fine], np.array(alone)[fine], tol, 1.0)


def check_converged_is_true(solver: PreImageSolver, subspace: Subspace, X: Array, Z: Array) -> None:
    """Points said to have converged stay when the search starts again there.

    Also when the solver is stopped after one step, if it has a ``max_iter``: running out of steps
    is not converging.
    """
    tried = [solver]
    if "max_iter" in solver.get_params():
        tried.append(clone(solver).set_params(max_iter=1))
    for each in tried:
        found = each.init(subspace).solve(Z, X)
        again = solver.init(subspace).solve(Z, found.points)
        moved = np.linalg.norm(again.points - found.points, axis=1)
        false = found.converged & (moved > MOVEMENT * _radius(subspace))
        worst = int(np.where(false, moved, -1).argmax())
        ensure(
            not false.any(),
            f"{each!r} calls query {worst} converged after {found.iterations[worst]} "
            f"iterations, but starting there again moves it by {moved[worst]:.3g}",
        )


def check_codes_far_away(solver: PreImageSolver, subspace: Subspace, Z: Array) -> None:
    """Codes far off the data, and the code of the mean itself, still give finite points."""
    bound = solver.init(subspace)
    d = subspace.support.shape[1]
    for factor in (0.0, 1e3, -1e6):
        _check_fields(bound.solve(factor * Z), len(Z), d)


def _check_fields(found: PreImages, n: int, d: int) -> None:
    points = np.asarray(found.points)
    ensure(points.shape == (n, d), f"the points have shape {points.shape}, expected {(n, d)}")
    finite = np.isfinite(points).all(axis=1)
    ensure(finite.all(), f"point {int(finite.argmin())} is not finite")
    for name in ("converged", "iterations", "status"):
        shape = np.shape(getattr(found, name))
        ensure(shape == (n,), f"{name} has shape {shape}, expected {(n,)}")
    dtype = found.converged.dtype
    ensure(dtype == np.dtype(bool), f"converged is {dtype}, expected bool")


def _queries(subspace: Subspace) -> tuple[Array, Array]:
    """Seven noisy points near the support, and their scores."""
    rng = fixed_rng(1)
    X = subspace.support[:7] + 0.1 * _radius(subspace) * rng.standard_normal(
        (7, subspace.support.shape[1])
    )
    X = X.astype(subspace.coef.dtype)
    return X, subspace.scores(X)


def _radius(subspace: Subspace) -> float:
    support = subspace.support
    return float(np.linalg.norm(support - support.mean(axis=0), axis=1).max())
