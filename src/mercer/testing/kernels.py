"""What kernels and pre-image solvers promise: the way to feature space, and the way back.

A kernel: symmetry, definiteness, diagonal, gradient and parameters. A pre-image solver: finite
points of the right shape, and no false "converged".
"""

import numpy as np
from sklearn.base import clone

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, RowsLike
from mercer.estimators import KernelPCA
from mercer.exceptions import KernelError
from mercer.kernels import Basis, DotProductKernel, Gaussian, Kernel, Polynomial, RadialKernel
from mercer.model import Subspace
from mercer.points.tiles import Tiles
from mercer.preimage import BoundPreImage, PreImages, PreImageSolver
from mercer.solvers.base import describe
from mercer.testing.operators import about, assert_close, ensure, expect

#: A point that is said to have converged may still move by this share of the data's radius.
MOVEMENT = 1e-2


def check_kernel(kernel: Kernel, X: RowsLike = None) -> None:
    """Run every check of kernels.

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
    if X is None:  # positive entries, so that histograms are served too
        X = fixed_rng(7).uniform(0.1, 1.0, (12, 3))
    check_parameters(kernel)
    check_resolve(kernel, X)
    resolved = kernel.resolve(X)
    with about(repr(kernel)):
        for check in (check_symmetry, check_diagonal, check_slices, check_formula):
            check(resolved, X)
        if kernel.is_mercer:
            check_positive_definite(resolved, X)
        if not kernel.takes_objects:
            check_float32(resolved, X)
        if kernel.takes_vectors:
            check_gradient(resolved, X)


def check_symmetry(kernel: Kernel, X: RowsLike) -> None:
    """``k(x, y) = k(y, x)``, also between two sets of different size."""
    first, second = (X[:5], X[5:]) if kernel.points(X).is_open else (X, X)
    backward = _gram(kernel, second, first)
    assert_close("k(x, y) against k(y, x)", _gram(kernel, first, second), backward.T, 1e-12)


def check_diagonal(kernel: Kernel, X: RowsLike) -> None:
    """``diag(X)`` is the diagonal of the matrix."""
    assert_close("diag", kernel.diag(X), np.diagonal(_gram(kernel, X, X)), 1e-7)


def check_positive_definite(kernel: Kernel, X: RowsLike) -> None:
    """No eigenvalue of the matrix lies below zero by more than rounding, if ``is_mercer``."""
    K = _gram(kernel, X, X)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    low, high = values[0], values[-1]  # of a single row, the same
    spectrum = f"the eigenvalue {low:.3g} beside a largest one of {high:.3g}"
    sound = low >= -16 * len(K) * np.finfo(np.float64).eps * high
    ensure(sound, f"the kernel says is_mercer, but its matrix has {spectrum}")


def check_slices(kernel: Kernel, X: RowsLike) -> None:
    """Packed rows may be cut into blocks: the tiles are those of the whole matrix."""
    packed = Basis(kernel, X).packed
    n = len(X)
    expect("the number of packed rows", len(packed), n)
    whole = Tiles(kernel.fill, packed, packed, packed.dtype).gram(np.float64)
    for rows, columns in ((slice(0, n // 3), slice(n // 2, n)), (slice(n // 3, n), slice(1, 2))):
        part = np.empty((len(packed[rows]), len(packed[columns])))
        kernel.fill(packed[rows], packed[columns], part)
        assert_close(f"tile [{rows}, {columns}]", part, whole[rows, columns], 1e-12)


def check_float32(kernel: Kernel, X: RowsLike) -> None:
    """Rows in float32 fill a float32 tile, right to that precision."""
    single = np.asarray(X, dtype=np.float32)
    packed = Basis(kernel, kernel.points(single)).packed
    tile = Tiles(kernel.fill, packed, packed, packed.dtype).gram(np.float32)
    # Operators take the diagonal from diag: a kink at distance zero magnifies rounding there.
    np.fill_diagonal(tile, kernel.diag(single))
    assert_close("in float32", tile, _gram(kernel, X, X), 2e-5)
    expect("the diag of float32 rows", kernel.diag(single).dtype, "float32")
    expect("the matrix of float32 rows", kernel(single).dtype, "float32")


def check_gradient(kernel: Kernel, X: RowsLike) -> None:
    """``gradient`` and ``diag_gradient`` are what central differences give.

    A kernel without gradient says so by :class:`~mercer.exceptions.KernelError`, and passes.
    """
    # Points beside the support, because some kernels have a kink where two points meet.
    Z, S = np.asarray(X[:4]) + 0.0173, np.asarray(X[4:])
    G = fixed_rng(3).standard_normal((len(Z), len(S)))
    try:
        gradients = {"gradient": kernel.gradient(Z, S, G), "diag_gradient": kernel.diag_gradient(Z)}
    except KernelError:
        return
    step = 1e-5 * float(np.abs(Z).max())
    expected = {name: np.empty_like(Z) for name in gradients}
    for a, e in enumerate(step * np.eye(Z.shape[1])):
        up, down = _gram(kernel, Z + e, S), _gram(kernel, Z - e, S)
        expected["gradient"][:, a] = (G * (up - down)).sum(axis=1) / (2 * step)
        expected["diag_gradient"][:, a] = (kernel.diag(Z + e) - kernel.diag(Z - e)) / (2 * step)
    for name, values in gradients.items():
        size = max(1e-3, float(np.abs(expected[name]).max()))
        assert_close(name, values, expected[name], 1e-5, size)


def check_formula(kernel: Kernel, X: RowsLike) -> None:
    """``formula``, where there is one, is what ``profile`` and ``slope`` compute in place."""
    if not isinstance(kernel, RadialKernel | DotProductKernel):
        return  # entrywise kernels take their gradient from it
    dots = X @ X.T
    arguments = dots if isinstance(kernel, DotProductKernel) else -np.square(dots)
    try:
        traced = kernel.formula(arguments, np)
    except NotImplementedError:
        return
    for name, value in zip(("profile", "slope"), traced, strict=True):
        expected = getattr(kernel, name)(arguments.copy())
        assert_close(f"formula of the {name}", value, expected, 1e-12)


def check_resolve(kernel: Kernel, X: RowsLike) -> None:
    """A resolved kernel is a new object or the same one, and resolving it again changes nothing."""
    before, once = describe(kernel), kernel.resolve(X)
    expect("the kernel after resolve", describe(kernel), before)
    fewer = X[:6] if kernel.points(X).is_open else X
    for again in (once.resolve(X), once.resolve(fewer)):
        expect("a kernel that was resolved twice", describe(again), describe(once))


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
        expect(f"the kernel that {how} makes", describe(other), describe(kernel))


def _gram(kernel: Kernel, A: RowsLike, B: RowsLike) -> Array:
    """k(A, B) in float64."""
    return Basis(kernel, B).tiles(A).gram(np.float64)


def check_preimage(solver: PreImageSolver, subspace: Subspace | None = None) -> None:
    """Run every check of pre-image solvers.

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
    bound = solver.init(subspace)
    check_shapes(bound, X, Z)
    check_batches(bound, X, Z, MOVEMENT * _radius(subspace))
    check_converged_is_true(solver, subspace, X, Z)


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


def check_shapes(bound: BoundPreImage, X: Array, Z: Array) -> None:
    """One finite point for each query, where queries are fewer than support points, or just one.

    Also of codes far off the data, and of the code of the mean itself.
    """
    for rows in (slice(None), slice(0, 1)):
        for start in (None, X[rows]):
            _check_fields(bound.solve(Z[rows], start), len(Z[rows]), X.shape[1])
    for factor in (0.0, 1e3, -1e6):
        _check_fields(bound.solve(factor * Z), *X.shape)


def check_batches(bound: BoundPreImage, X: Array, Z: Array, tol: float) -> None:
    """A query's answer does not depend on what else was asked."""
    together = bound.solve(Z, X)
    alone = [bound.solve(Z[i : i + 1], X[i : i + 1]).points[0] for i in range(len(Z))]
    fine = together.converged
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
        images = each.init(subspace).solve(Z, X)
        again = solver.init(subspace).solve(Z, images.points)
        moved = np.linalg.norm(again.points - images.points, axis=1)
        moved = np.where(images.converged, moved, 0)
        worst = int(moved.argmax())
        calls = f"calls query {worst} converged after {images.iterations[worst]} iterations"
        but = f"but starting there again moves it by {moved[worst]:.3g}"
        ensure(moved[worst] <= MOVEMENT * _radius(subspace), f"{each!r} {calls}, {but}")


def _check_fields(images: PreImages, n: int, d: int) -> None:
    expect("the shape of the points", np.shape(images.points), (n, d))
    finite = np.isfinite(images.points).all(axis=1)
    ensure(finite.all(), f"point {int(finite.argmin())} is not finite")
    for name in ("converged", "iterations", "status"):
        expect(f"the shape of {name}", np.shape(getattr(images, name)), (n,))
    expect("the dtype of converged", images.converged.dtype, "bool")


def _queries(subspace: Subspace) -> tuple[Array, Array]:
    """Seven noisy points near the support, and their scores."""
    rng = fixed_rng(1)
    near = subspace.support[:7]
    noise = 0.1 * _radius(subspace) * rng.standard_normal((7, near.shape[1]))
    X = (near + noise).astype(subspace.coef.dtype)
    return X, subspace.scores(X)


def _radius(subspace: Subspace) -> float:
    support = subspace.support
    return float(np.linalg.norm(support - support.mean(axis=0), axis=1).max())
