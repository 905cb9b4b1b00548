"""Random problems for a fit: rows, kernel, weights, solver and precision from one seed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.estimators import IncrementalKernelPCA, KernelPCA, SparseKernelPCA
from mercer.kernels import Kernel, Precomputed
from mercer.solvers import Davidson, Dense, Lanczos, Landmarks
from tests.cross.definitions import Definition, DrawnKernel, Setting, random_kernel


@dataclass(frozen=True)
class Method:
    """A way to a model, and what it promises.

    Attributes
    ----------
    name : as it stands in the table of outcomes
    build : from a problem to an estimator that has not been fitted
    tol : the promised relative error of the eigenvalues; 0 for rounding alone, None for methods
        that only look inside a span of fewer points than rows (their own estimate is the promise)
    weights, pairwise : does it take sample weights, and a precomputed matrix?
    center : does it centre? None if it can be told to or not to
    claims : is ``report_.estimated_error`` an estimate of the eigenvalues' error?
    operators : are the Gram operators judged, and no model?
    """

    name: str
    build: Callable[[FitProblem], Any]
    tol: float | None = 0.0
    weights: bool = True
    pairwise: bool = True
    center: bool | None = None
    claims: bool = True
    operators: bool = False

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class FitProblem:
    """Everything that a fit needs, and the definition of its kernel to judge it by.

    Attributes
    ----------
    X, Y : rows to fit, and fresh rows (kernel values of both for a precomputed kernel)
    weight : (n,) sample weights, or None
    k : number of components, a share, or None for all
    definition : ``definition(A, B)`` is k(a_i, b_j) in np.longdouble; None for a precomputed kernel
    family, data : what kind of kernel and of rows, for tables
    seed : where it came from
    """

    kernel: Kernel
    definition: Definition | None
    X: Array
    Y: Array
    weight: Array | None
    k: int | float | None
    center: bool
    method: Method
    family: str = "kernel"
    data: str = "rows"
    seed: int | None = None

    def estimator(self) -> Any:
        """The estimator to fit."""
        return self.method.build(self)

    def describe(self) -> str:
        """One line that says what the problem is."""
        n, d = self.X.shape
        w = self.weight
        weights = "" if w is None else f", weights {w.min():.2g}…{w.max():.2g}"
        centred = "" if self.center else ", uncentred"
        text = (
            f"{self.method} k={self.k}, {self.kernel!r} on {self.data} {n} x {d} "
            f"{self.X.dtype}{weights}{centred}"
        )
        return " ".join(re.sub(r"<function .*? at 0x\w+>", "f", text).split())


def _kernel_pca(solver: Callable[[FitProblem], Any]) -> Callable[[FitProblem], KernelPCA]:
    return lambda p: KernelPCA(
        p.k, kernel=p.kernel, center=p.center, solver=solver(p), random_state=p.seed or 0
    )


def _few(p: FitProblem) -> int:
    """Landmarks for a problem: a third of the rows."""
    return max(2, len(p.X) // 3)


METHODS = (
    Method("dense", _kernel_pca(lambda _: Dense())),
    Method("auto", _kernel_pca(lambda _: "auto")),
    Method("lanczos kept", _kernel_pca(lambda _: Lanczos(keep=True))),
    Method("lanczos streamed", _kernel_pca(lambda _: Lanczos(keep=False))),
    Method("davidson 1e-6", _kernel_pca(lambda _: Davidson(1e-6)), tol=1e-6),
    Method("davidson 1e-10", _kernel_pca(lambda _: Davidson(1e-10)), tol=1e-10),
    Method(
        "landmarks m=n",
        _kernel_pca(lambda p: Landmarks(len(p.X), select=p.X)),
        tol=None,
        pairwise=False,
    ),
    Method("landmarks m<n", _kernel_pca(lambda p: Landmarks(_few(p))), tol=None, pairwise=False),
    Method(
        "incremental",
        lambda p: IncrementalKernelPCA(
            p.k, kernel=p.kernel, n_landmarks=_few(p), select="rpcholesky", random_state=p.seed or 0
        ),
        tol=None,
        weights=False,
        pairwise=False,
        center=True,
    ),
    Method(
        "sparse",
        lambda p: SparseKernelPCA(n_components=p.k, kernel=p.kernel, random_state=p.seed or 0),
        tol=None,
        weights=False,
        center=False,
        claims=False,
    ),
    Method("operators", lambda _: None, pairwise=False, operators=True),
)
_SHARES = {
    "dense": 2, "auto": 1.5, "lanczos kept": 2, "lanczos streamed": 1.5, "davidson 1e-6": 4,
    "davidson 1e-10": 2, "landmarks m=n": 1.5, "landmarks m<n": 1.5, "incremental": 1,
    "sparse": 0.6, "operators": 1.5,
}  # fmt: skip


def random_problem(seed: int, hard: bool | None = None) -> FitProblem:
    """One problem for each seed; most are small, some large enough to leave LAPACK behind.

    Parameters
    ----------
    seed : the problem's number
    hard : bool, optional
        Rows in groups of copies, on grids, or all equal, at scales of 1e±150, read-only or mapped
        from a file, under kernels at the extremes of their parameters. Every second seed's, unless
        it is told.

    Examples
    --------
    >>> from tests.cross.problems import random_problem
    >>> random_problem(3).describe() == random_problem(3).describe()
    True
    """
    hard = bool(fixed_rng([seed, 24]).integers(2)) if hard is None else hard
    rng = fixed_rng([seed, 20])
    p = np.array([_SHARES[method.name] for method in METHODS])
    method = METHODS[int(rng.choice(len(METHODS), p=p / p.sum()))]
    data, rows = _random_rows(rng, _size(rng, method), hard)
    spread, size = _spread(rows), max(float(np.sqrt((rows**2).sum(axis=1).mean())), 1e-3)
    scale = float(rng.choice(_SCALES)) if hard else 1.0  # the last thing: squares overflow
    if not 1e-152 < size * scale < 1e152:
        scale = 1.0  # an offset, too
    drawn = random_kernel(rng, Setting(spread * scale, size * scale, rows.shape[1], hard))
    rows = rows * scale
    if drawn.slow:
        rows = rows[:60]
    if drawn.histogram:
        rows = np.abs(rows)
    if method.name in ("landmarks m=n", "landmarks m<n", "incremental") and drawn.slow:
        method = METHODS[0]  # landmarks are vectors, not objects
    dtype = np.float32 if rng.random() < 0.3 else np.float64
    center = (rng.random() < 0.85) if method.center is None else method.center
    n = len(rows) - max(1, len(rows) // 5)
    if not 1e-30 < scale < 1e30:
        dtype = np.float64
    X, Y = rows[:n].astype(dtype), rows[n:].astype(dtype)
    weight = _random_weight(rng, n) if method.weights else None
    problem = FitProblem(
        drawn.kernel, drawn.definition, X, Y, weight, _random_k(rng, n), center, method,
        drawn.family, data if scale == 1 else f"{data} x {scale:g}", seed,
    )  # fmt: skip
    problem = _stored(rng, problem) if hard else problem
    precomputed = method.pairwise and drawn.kernel.is_mercer and rng.random() < 0.06
    return _precomputed(problem, drawn) if precomputed else problem


def _size(rng: np.random.Generator, method: Method) -> int:
    """Rows to draw: those to fit and a fifth of fresh ones."""
    tier = rng.choice(4, p=[0.55, 0.27, 0.14, 0.04])
    low, high = [(3, 60), (60, 180), (180, 400), (400, 840)][tier]
    n = int(rng.integers(low, high))
    return n if method.name != "sparse" else min(n, 120)


def _random_rows(rng: np.random.Generator, n: int, hard: bool) -> tuple[str, Array]:
    """Rows of one kind, and what kind."""
    d = int(rng.choice([1, 2, 3, 5, 8]))
    kinds = _HARD_KINDS if hard else _KINDS
    kind = str(rng.choice(list(kinds)))
    X = kinds[kind](rng, n, d)
    X = X * rng.choice([1.0, 1.0, 1.0, 1e-2, 1e2])
    offset = float(rng.choice([0, 0, 2, 1e4, 1e8], p=[0.3, 0.25, 0.25, 0.12, 0.08]))
    name = kind if offset == 0 else f"{kind} + {offset:g}"
    return name, X + offset * X.std()


def _few_distinct(rng: np.random.Generator, n: int, d: int) -> Array:
    points = rng.standard_normal((int(rng.integers(2, 6)), d))
    return np.asarray(points[rng.integers(len(points), size=n)])


def _near_duplicates(rng: np.random.Generator, n: int, d: int) -> Array:
    noise = 10 ** rng.uniform(-9, -2) * rng.standard_normal((n, d))
    return np.asarray(_few_distinct(rng, n, d) + noise)


def _far_groups(rng: np.random.Generator, n: int, d: int) -> Array:
    X = rng.standard_normal((n, d))
    far = max(1, n // 20)
    X[rng.permutation(n)[:far]] += 10 ** rng.uniform(1, 3)
    return X


_KINDS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "unequal": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** -np.arange(d),
    "near-duplicates": _near_duplicates,
    "copies": _few_distinct,
    "far groups": _far_groups,
    "heavy tails": lambda rng, n, d: rng.standard_t(2, (n, d)),
}


def repeated_rows(
    rng: np.random.Generator, n: int, d: int, shares: Array, noise: float = 0.0
) -> Array:
    """Rows in as many groups as ``shares``, which say how often each is met."""
    points = rng.standard_normal((len(shares), d))
    X = points[rng.choice(len(shares), n, p=shares / shares.sum())]
    return np.asarray(X + noise * rng.standard_normal((n, d)))


#: How often each of so many groups is met.
SHARES: dict[str, Callable[[int], Array]] = {
    "flat": np.ones,
    "Zipf": lambda groups: 1 / np.arange(1.0, groups + 1),
    "one huge": lambda groups: np.append(np.ones(groups - 1), groups),
}


def _repeated(shares: Callable[[int], Array]) -> Callable[[np.random.Generator, int, int], Array]:
    def rows(rng: np.random.Generator, n: int, d: int) -> Array:
        groups = int(rng.integers(2, max(3, n // 5 + 1)))
        noise = float(rng.choice([0, 0, 1e-6, 1e-2, 0.1]))
        return repeated_rows(rng, n, d, shares(groups), noise)

    return rows


def _one_hot(rng: np.random.Generator, n: int, d: int) -> Array:
    """Some fields of d + 1 levels each."""
    fields = rng.integers(1, 4)
    return np.hstack([np.eye(d + 1)[rng.integers(d + 1, size=n)] for _ in range(fields)])


_HARD_KINDS = {
    **{f"{name} repeats": _repeated(shares) for name, shares in SHARES.items()},
    "Likert": lambda rng, n, d: rng.integers(1, rng.integers(3, 9), (n, d)).astype(float),
    "one-hot": _one_hot,
    "all equal": lambda rng, n, d: np.tile(rng.standard_normal(d) * rng.integers(2), (n, 1)),
    **{kind: _KINDS[kind] for kind in ("normal", "unequal", "near-duplicates", "heavy tails")},
}
_SCALES = [1.0] * 8 + [1e-150, 1e-80, 1e-20, 1e20, 1e80, 1e150]


def _stored(rng: np.random.Generator, problem: FitProblem) -> FitProblem:
    """The same rows, some read-only and some mapped from a file."""
    how, X = str(rng.choice(["", ", read-only", ", mapped"])), problem.X
    if how == ", mapped":
        with tempfile.TemporaryFile() as file:
            X = np.memmap(file, X.dtype, "w+", shape=X.shape)
        X[:] = problem.X
    X.flags.writeable = not how
    return replace(problem, X=X, data=problem.data + how)


def _spread(X: Array) -> float:
    """Median distance of rows to their mean; 1 for rows that do not differ."""
    r = np.linalg.norm(X - X.mean(axis=0), axis=1)
    return float(np.median(r)) or float(r.max()) or 1.0


def _random_weight(rng: np.random.Generator, n: int) -> Array | None:
    kind = rng.choice(4, p=[0.6, 0.18, 0.14, 0.08])
    if kind == 0:
        return None
    if kind == 1:
        w = rng.integers(0, 4, n).astype(float)
    elif kind == 2:
        w = 10 ** rng.uniform(0, 6, n)
    else:
        w = 10 ** rng.uniform(-12, 12, n)
    w[rng.permutation(n)[:2]] = 1.0  # at least two rows count
    return np.asarray(w)


def _random_k(rng: np.random.Generator, n: int) -> int | float | None:
    how = rng.random()
    if how < 0.06:
        return None
    if how < 0.14:
        return float(rng.choice([0.5, 0.9, 0.99]))
    if how < 0.3:
        return int(rng.integers(1, n + 1))
    return int(rng.integers(1, min(n, 12) + 1))


def _precomputed(problem: FitProblem, drawn: DrawnKernel) -> FitProblem:
    """The same problem with the matrix given; then the rounded matrix is the truth."""
    A, B = (M.astype(np.longdouble) for M in (problem.X, problem.Y))
    with np.errstate(over="ignore"):
        K = drawn.definition(A, A).astype(problem.X.dtype)
        C = drawn.definition(B, A).astype(problem.X.dtype)
    if not (np.isfinite(K).all() and np.isfinite(C).all()):
        return problem
    symmetric = np.tril(K) + np.tril(K, -1).T
    return replace(
        problem, kernel=Precomputed(), definition=None, X=symmetric, Y=C, family="precomputed"
    )
