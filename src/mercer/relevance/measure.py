r"""Which variables drive the components: squared derivatives of the scores, averaged over rows.

With :math:`J_{kj}(x) = \partial z_k / \partial x_j = \sum_i B_{ik}\, \partial k(s_i, x)/\partial
x_j`,

.. math:: R_{kj} = \operatorname{var}(x_j)\; \frac{1}{n} \sum_x J_{kj}(x)^2

is how far component k moves, squared, when variable j moves by one standard deviation (Briscik et
al. 2023). Nothing is permuted or fitted again: it is one pass over the rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base import linalg, numbers, progress
from mercer._base.machine import blas_limited, blocks, ordered_map, thread_map
from mercer._base.small_table import SmallTable, shown_as_table
from mercer._base.types import Array, Estimator, Rows, RowsLike
from mercer.exceptions import DataError
from mercer.kernels import Kernel
from mercer.kernels.jacobian import jacobian
from mercer.model import Subspace, names_of
from mercer.model.subspace import require_variables
from mercer.points import Points, as_points
from mercer.points.source import Source

UNITS = ("std", "raw", "share", "correlation")
#: Rows at which derivatives are taken; their mean is then accurate to about a percent.
MOST_ROWS = 30_000
#: Support points that represent the rows if none are given.
SUPPORT_ROWS = 2000
#: Entries of J that are in memory at one time.
ENTRIES = 1 << 20
#: Rows of a task, so that small tables keep all threads busy.
TASK = 1024


@shown_as_table
@dataclass(frozen=True)
class Relevance:
    """How much each variable matters.

    Attributes
    ----------
    components : (q, d) array
        For each component, in the unit asked for.
    overall : (d,) array
        Over all components, weighted by their variances.
    error : (d,) array
        The same for the reconstruction error r: mean of ``(½ ∂r/∂x_j)²``. Which variables carry
        what the model cannot explain.
    variances : (q,) array
        Of the scores, over the rows that were looked at: the weights of ``overall``.
    names : tuple of str
        Of the variables.
    unit : {"std", "raw", "share", "correlation"}
    n_rows : int
        Rows that were looked at.
    """

    components: Array
    overall: Array
    error: Array
    variances: Array
    names: tuple[str, ...]
    unit: str
    n_rows: int

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.components, dtype=dtype, copy=True if copy is None else copy)

    @property
    def table(self) -> Array:
        """(q + 2, d): the components, then ``overall``, then ``error``."""
        return np.vstack([self.components, self.overall, self.error])

    def _table(self) -> SmallTable:
        rows = [line.split(": ", 1) for line in self.describe()]
        return SmallTable(f"Relevance of {len(self.names)} variables, {self.n_rows} rows", rows)

    def describe(self, most: int = 5) -> list[str]:
        """A line for each of the first components: its strongest variables and their shares."""
        # A squared correlation is a share of the variance as it is.
        shares = self.components if self.unit == "correlation" else _shares(self.components)
        lines = []
        for k, row in enumerate(shares[:most]):
            best = row.argsort()[::-1][:most]
            text = ", ".join(f"{self.names[j]} {row[j]:.0%}" for j in best)
            lines.append(f"component {k}: {text}")
        return lines

    def grouped(self, groups: Sequence[Any]) -> "Relevance":
        """Variables that come from one column of a table added up, such as one-hot codes.

        Parameters
        ----------
        groups : (d,) names
            For each variable that of its column; the order of first appearance is kept.
        """
        names, member = membership(groups, len(self.names))
        added = {name: getattr(self, name) @ member for name in ("components", "overall", "error")}
        return replace(self, names=names, **added)


def membership(groups: Sequence[Any], d: int) -> tuple[tuple[str, ...], Array]:
    """The names in ``groups`` in order, and which of d variables belongs to which, (d, names)."""
    labels = [str(name) for name in groups]
    if len(labels) != d:
        raise DataError(f"groups has {len(labels)} names for {d} variables; give one for each.")
    names = tuple(dict.fromkeys(labels))
    return names, np.array([[name == own for name in names] for own in labels], dtype=float)


@blas_limited
def measure_relevance(
    subspace: Subspace,
    X: RowsLike,
    *,
    unit: str = "std",
    weight: Array | None = None,
    names: Sequence[Any] | None = None,
    max_rows: int | None = MOST_ROWS,
) -> Relevance:
    """Relevance of every variable in every component, and in the reconstruction error.

    Parameters
    ----------
    subspace : Subspace of vectors
    X : (n, d) array, or a row source, which is read in blocks
    unit, weight, max_rows
        As for :meth:`mercer.KernelPCA.relevance`; the sample of rows is the same one wherever they
        live.
    names : (d,) names, optional

    Notes
    -----
    O(n m q d) time, where m is the number of support points; memory does not depend on n.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.relevance import measure_relevance
    >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3.0, 1.0, 0.1]
    >>> model = KernelPCA(2, kernel="linear").fit(X)
    >>> measure_relevance(model.subspace_, X, unit="share").components.round(2)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    numbers.check_choice("unit", unit, UNITS)
    require_variables(subspace, "matter")
    points, middle = as_points(X), as_points(subspace.points).middle()
    share = 1.0 if max_rows is None or len(points) <= max_rows else max_rows / len(points)
    measure = _correlations if unit == "correlation" else _slopes
    work = partial(measure, subspace, middle, weight, share)
    step = TASK if unit == "correlation" else max(TASK, _step(subspace, share))
    sums: _Sums = summed(work, points, step, "relevance")
    if sums.looked_at <= 0:
        raise DataError("the rows that were looked at have no weight; give max_rows=None.")
    effects = _squared_correlations(sums) if unit == "correlation" else _squared_slopes(sums, unit)
    components, error, variances = effects[:-1], effects[-1], sums.scores / sums.looked_at
    overall, shown = _shares(variances) @ components, _shown(names, len(error))
    return Relevance(components, overall, error, variances, shown, unit, sums.count)


@blas_limited
def sensitivity(subspace: Subspace, X: Array) -> Array:
    """``J[a, k, j]``: the derivative of score k by variable j at each row of X, (n, q, d)."""
    require_variables(subspace, "matter")
    rows, support = as_points(X), subspace.support
    return jacobians(subspace.kernel, rows, support, subspace.coef, _step(subspace))


def jacobians(kernel: Kernel, X: Points, support: Rows, coef: Array, step: int) -> Array:
    """Derivatives of ``coefᵀ k(S, x)`` at each point, so many at a time, (n, q, d)."""

    def one(rows: slice) -> Array:
        return jacobian(kernel, X.take(rows).to_dense(), support, coef)

    return np.concatenate(thread_map(one, blocks(len(X), step)))


def support_rows(subspace: Subspace, most: int = SUPPORT_ROWS) -> tuple[Any, Array | None]:
    """Support points that represent the rows of a fit, and their weights if there are any.

    The mean of an exact model is ``sum_i w_i phi(x_i) / sum w``, so that its coefficients are the
    weights of the rows. Of more points than ``most`` an even sample is drawn.
    """
    require_variables(subspace, "matter")
    S, weight = subspace.support, support_weight(subspace)
    if len(S) > most:
        index = np.sort(numbers.fixed_rng(0).choice(len(S), most, replace=False))
        S, weight = S[index], None if weight is None else weight[index]
    return S, weight


def support_weight(subspace: Subspace) -> Array | None:
    """The coefficients of the mean, if they are weights; None otherwise (landmarks, uncentred)."""
    c = np.asarray(subspace.mean, dtype=np.float64)
    known = len(c) > 0 and c.min() >= 0 and abs(c.sum() - 1) < 1e-4
    return c * len(c) if known else None


@dataclass(frozen=True)
class _Sums(linalg.Sums):
    """Weighted sums: of 1, v and v² over all rows; of z² and the effects where looked at."""

    weight: float
    linear: Array
    square: Array
    count: int
    looked_at: float
    scores: Array
    effects: Array  #: (q + 1, d), of each component and of the error


# Unlike closures, parts of functions can be sent to workers.


def _slopes(
    S: Subspace, middle: Array, weight: Array | None, share: float, rows: slice, block: Any
) -> _Sums:
    """The sums over a block, with the effects J² and (½∇r)²; v are its variables."""
    points = S.kernel.points(block).cast(S.coef.dtype)
    w = np.ones(len(points)) if weight is None else weight[rows]
    some = _even_sample(rows, share)
    parts = (
        _slopes_of_part(S, middle, points.take(part).to_dense(), w[part], some[part])
        for part in blocks(len(points), _step(S, share)) or [slice(0, 0)]
    )
    return reduce(add, parts)


def _slopes_of_part(S: Subspace, middle: Array, X: Array, w: Array, some: Array) -> _Sums:
    shifted = X - middle  # float64, and around the middle no digits cancel
    whole = (w.sum(), w @ shifted, w @ shifted**2)
    X, w = X[some], w[some]
    Z = S.scores(X)
    J = jacobian(S.kernel, X, S.support, np.column_stack([S.coef, S.mean]))
    # r = k(x,x) - 2 cᵀk(S,x) + const - |z|², and J[:, -1] is the gradient of cᵀk(S,x)
    J[:, -1] = S.kernel.diag_gradient(X) / 2 - J[:, -1] - np.einsum("ak,akj->aj", Z, J[:, :-1])
    effects = np.einsum("a,akj->kj", w, np.square(J, out=J), dtype=np.float64)
    return _Sums(*whole, len(X), w.sum(), w @ Z.astype(np.float64) ** 2, effects)


def _squared_slopes(sums: _Sums, unit: str) -> Array:
    effects = sums.effects / sums.looked_at
    if unit != "raw":
        mean = sums.linear / sums.weight
        effects *= np.maximum(sums.square / sums.weight - mean**2, 0)
    return _shares(effects) if unit == "share" else effects


def _correlations(
    S: Subspace, middle: Array, weight: Array | None, share: float, rows: slice, block: Any
) -> _Sums:
    """The sums over a block, all where looked at; v are variables, scores and error."""
    kept = np.flatnonzero(_even_sample(rows, share))
    points = S.kernel.points(block).cast(S.coef.dtype).take(kept)
    w = np.ones(len(kept)) if weight is None else weight[rows][kept]
    V = np.column_stack([points.to_dense() - middle, *S.scores_and_residual(points)])
    d, total, square = len(middle), w.sum(), w @ V**2
    products = (w[:, None] * V[:, d:]).T @ V[:, :d]
    return _Sums(total, w @ V, square, len(V), total, square[d:-1], products)


def _squared_correlations(sums: _Sums) -> Array:
    """Of every score, and of the error, with every variable."""
    mean, square = sums.linear / sums.weight, sums.square / sums.weight
    (x, y), variance = np.split(mean, [sums.effects.shape[1]]), square - mean**2
    covariance = sums.effects / sums.weight - np.outer(y, x)
    # A variable that is constant, up to rounding, is correlated with nothing.
    known = np.where(variance > 1e-20 * square, variance, np.inf)
    return np.asarray(covariance**2 / np.outer(known[len(x) :], known[: len(x)]))


def summed(work: Callable[[slice, Any], Any], points: Points, step: int, stage: str) -> Any:
    """The sum of ``work(rows, block)`` over blocks of ``step`` rows, or those of a source."""
    if isinstance(points, Source):
        total, parts = points.n_steps, points.map_steps(work)
    else:
        tasks = blocks(len(points), step)
        total, parts = len(tasks), ordered_map(lambda rows: work(rows, points.take(rows)), tasks)
    sums = None
    for done, part in enumerate(parts, 1):
        progress.announce(stage, done, total)
        sums = part if sums is None else sums + part
    return sums


def _even_sample(rows: slice, share: float) -> Array:
    """Whether rows are in a sample, by their indices alone.

    Multiples of the golden ratio are spread evenly.
    """
    turn = np.arange(rows.start, rows.stop, dtype=np.uint64) * np.uint64(2654435769)
    return turn % np.uint64(1 << 32) < share * (1 << 32)


def _step(subspace: Subspace, share: float = 1.0) -> int:
    """Rows of which as many are looked at as have derivatives that fit into memory together."""
    width = (subspace.n_components + 1) * subspace.points.width
    least = 1 if subspace.points.is_sparse else 16
    return int(min(512, max(least, ENTRIES // width)) / share)


def _shown(names: Sequence[Any] | None, d: int) -> tuple[str, ...]:
    """Names of d variables, ``x0`` and so on where there are none."""
    return tuple(f"x{j}" for j in range(d)) if names is None else tuple(map(str, names))


def _shares(values: Array) -> Array:
    """Values divided by their sum; zeros if all are zero."""
    total = values.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(values, total, out=np.zeros_like(values), where=total > 0))


# A slow second opinion: destroy one variable at a time, and see what is lost.


@dataclass(frozen=True)
class Permutation:
    """What happens when the entries of a variable are permuted.

    Attributes
    ----------
    drop : (d,) array
        Of the share of the variance that the model explains, when the rows are broken and the
        model stays as it is; the mean over the repeats.
    angle : (d,) array
        Between the components and those of a fit to the broken rows: the mean of the principal
        angles in degrees, and over the repeats.
    drops, angles : (repeats, d) arrays
    share : float
        What the model explains of the rows as they are.
    names : tuple of str
    """

    drops: Array
    angles: Array
    share: float
    names: tuple[str, ...]

    @property
    def drop(self) -> Array:
        """Mean drop of the explained share for each variable."""
        return np.asarray(self.drops.mean(axis=0))

    @property
    def angle(self) -> Array:
        """Mean angle of the subspace for each variable, in degrees."""
        return np.asarray(self.angles.mean(axis=0))


@blas_limited
def permutation(
    model: Estimator, X: RowsLike, *, repeats: int = 5, random_state: Any = None
) -> Permutation:
    """Permute each variable, measure the explained share, and fit again for the angle.

    This answers another question than ``model.relevance``: not how fast the scores change with a
    variable, but what is lost when its order among the rows is destroyed. Two variables that carry
    the same information both have a large relevance, and permuting one still breaks the pair.

    Parameters
    ----------
    model : fitted estimator with a ``subspace_`` of vectors
    X : (n, d) array or data frame, in memory
        The training rows.
    repeats : int, default=5
    random_state : int, Generator or None, default=None

    Notes
    -----
    Costs ``d * repeats`` fits. The kernel of the model is kept, width and all.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.relevance import permutation
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 6.28, 150)
    >>> X = np.column_stack([np.cos(t), np.sin(t), 0.2 * rng.standard_normal(150)])
    >>> found = permutation(KernelPCA(4).fit(X), X, random_state=0)
    >>> bool(found.angle[:2].min() > found.angle[2])
    True
    """
    check_is_fitted(model, "subspace_")
    subspace = model.subspace_
    require_variables(subspace, "matter")
    numbers.check_count("repeats", repeats)
    rng = numbers.make_rng(random_state)
    rows = np.array(X, dtype=subspace.coef.dtype, order="C")
    d = subspace.points.width
    if rows.ndim != 2 or rows.shape[1] != d:
        both = f"X has shape {rows.shape}, and the model {d} variables"
        raise DataError(f"{both}; give the rows of the fit.")
    # Unfitted, with the kernel that the model has found, and a seed of its own.
    again, share = numbers.seeded_copy(model, 0), explained_share(subspace, rows)
    if "kernel" in again.get_params(deep=False):
        again.set_params(kernel=subspace.kernel)
    drops, angles = np.empty((2, repeats, d))
    for j in progress.announced("permutation", range(d)):
        kept = rows[:, j].copy()
        for i in range(repeats):
            rows[:, j] = rng.permutation(kept)
            drops[i, j] = share - explained_share(subspace, rows)
            angles[i, j] = subspace_angles(subspace, again.fit(rows).subspace_).mean()
        rows[:, j] = kept
    return Permutation(drops, np.degrees(angles), share, _shown(names_of(model), d))


def explained_share(subspace: Subspace, X: Array) -> float:
    """Of the squared distances to the model's mean, what lies inside the subspace."""
    Z, residual = subspace.scores_and_residual(X)
    inside = float(linalg.square_sums(Z).sum(dtype=np.float64))
    return inside / (inside + float(residual.sum(dtype=np.float64)))


def subspace_angles(first: Subspace, second: Subspace) -> Array:
    """Principal angles (radians, increasing) between two subspaces of one feature space."""
    # Cosines are the singular values of W₁ᵀW₂ = B₁ᵀ k(S₁, S₂) B₂.
    products = (first.scores(second.support) + first.offset).T @ second.coef
    cosines = np.linalg.svd(products.astype(np.float64), compute_uv=False)
    return np.arccos(np.clip(cosines, 0, 1))
