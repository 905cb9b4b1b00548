r"""Which variables drive the components: squared derivatives of the scores, averaged over rows.

With :math:`J_{kj}(x) = \partial z_k / \partial x_j = \sum_i B_{ik}\, \partial k(s_i, x)/\partial
x_j`,

.. math:: R_{kj} = \operatorname{var}(x_j)\; \frac{1}{n} \sum_x J_{kj}(x)^2

is how far component k moves, squared, when variable j moves by one standard deviation (Briscik et
al. 2023). Nothing is permuted or fitted again: it is one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import starmap
from operator import add
from typing import Any

import numpy as np

from mercer._base.machine import blocks, held, ordered_map, thread_map
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError, KernelError
from mercer.kernels.jacobian import jacobian
from mercer.model import Subspace
from mercer.points import as_points
from mercer.points.source import Source

UNITS = ("std", "raw", "share")
#: Rows at which derivatives are taken: their mean is then right to a percent or so.
MOST_ROWS = 30_000
#: Support points that stand for the rows where none are given.
SUPPORT_ROWS = 2000
#: Entries of J that are in memory at one time.
ENTRIES = 1 << 20
#: Rows of a task, so that small tables keep all threads busy.
TASK = 1024


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
    unit : {"std", "raw", "share"}
    n_rows : int
        Rows at which derivatives were taken.
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

    def describe(self, most: int = 5) -> list[str]:
        """A line for each of the first components: its strongest variables and their shares."""
        total = self.components.sum(axis=1, keepdims=True)
        lines = []
        for k, row in enumerate((self.components / total.clip(min=1e-300))[:most]):
            best = row.argsort()[::-1][:most]
            text = ", ".join(f"{self.names[j]} {row[j]:.0%}" for j in best)
            lines.append(f"component {k}: {text}")
        return lines

    def grouped(self, groups: Sequence[Any]) -> Relevance:
        """Variables that come from one column of a table added up, such as one-hot codes.

        Parameters
        ----------
        groups : (d,) names
            For each variable that of its column; the order of first appearance is kept.
        """
        given = [str(name) for name in groups]
        if len(given) != len(self.names):
            raise DataError(
                f"groups has {len(given)} names for {len(self.names)} variables; "
                "give one for each variable."
            )
        names = list(dict.fromkeys(given))
        member = np.array([[name == wanted for wanted in names] for name in given], dtype=float)
        return replace(
            self,
            components=self.components @ member,
            overall=self.overall @ member,
            error=self.error @ member,
            names=tuple(names),
        )


@held
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
    >>> X = fixed_rng(0).standard_normal((200, 3)) * [3.0, 1.0, 0.1]
    >>> model = KernelPCA(2, kernel="linear").fit(X)
    >>> measure_relevance(model.subspace_, X, unit="share").components.round(2)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    if unit not in UNITS:
        raise DataError(f"unit={unit!r} is not known; give one of {', '.join(map(repr, UNITS))}.")
    require_vectors(subspace)
    middle = as_points(subspace.support).middle()
    share = 1.0 if max_rows is None or len(X) <= max_rows else max_rows / len(X)
    work = _Pass(subspace, middle, weight, share)
    sums: _Sums = summed(work, X, max(TASK, work._step()), "relevance")
    if sums.looked_at <= 0:
        raise DataError("the rows that were looked at have no weight; give max_rows=None.")
    mean = sums.linear / sums.weight
    variance = np.maximum(sums.square / sums.weight - mean**2, 0)
    scale = (1.0 if unit == "raw" else variance) / sums.looked_at
    components, error = sums.slopes * scale, sums.error * scale
    if unit == "share":
        components, error = _shares(components), _shares(error)
    variances = sums.scores / sums.looked_at
    given = [f"x{j}" for j in range(len(error))] if names is None else names
    return Relevance(
        components,
        _shares(variances) @ components,
        error,
        variances,
        tuple(map(str, given)),
        unit,
        sums.count,
    )


@held
def sensitivity(subspace: Subspace, X: Array) -> Array:
    """``J[a, k, j]``: the derivative of score k by variable j at each row of X, (n, q, d)."""
    require_vectors(subspace)
    size, points, support = _rows_at_once(subspace), as_points(X), subspace.support
    parts = thread_map(
        lambda rows: jacobian(
            subspace.kernel, points.take(rows).to_dense(), support, subspace.coef
        ),
        blocks(len(X), size),
    )
    return np.concatenate(parts)


def support_rows(subspace: Subspace, most: int = SUPPORT_ROWS) -> tuple[Any, Array | None]:
    """Support points that stand for the rows of a fit, and their weights if they have any.

    The mean of an exact model is ``sum_i w_i phi(x_i) / sum w``, so that its coefficients are the
    weights of the rows. Of more points than ``most`` an even sample is drawn.
    """
    require_vectors(subspace)
    S, weight = subspace.support, support_weight(subspace)
    if len(S) > most:
        index = np.sort(fixed_rng(0).choice(len(S), most, replace=False))
        S, weight = S[index], None if weight is None else weight[index]
    return S, weight


def support_weight(subspace: Subspace) -> Array | None:
    """The coefficients of the mean, if they are weights; None otherwise (landmarks, uncentred)."""
    c = np.asarray(subspace.mean, dtype=np.float64)
    known = len(c) > 0 and c.min() >= 0 and abs(c.sum() - 1) < 1e-4
    return c * len(c) if known else None


def require_vectors(subspace: Subspace) -> None:
    """Refuse a kernel without variables."""
    if not subspace.points.can_wait:
        raise KernelError(
            f"{subspace.kernel!r} has no variables that could matter; use a kernel of vectors."
        )


@dataclass(frozen=True)
class _Sums:
    """Weighted sums: of 1, x and x² over all rows; of 1, z², J² and (½∇r)² where looked at."""

    weight: float
    linear: Array
    square: Array
    count: int
    looked_at: float
    scores: Array
    slopes: Array
    error: Array

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(*map(add, vars(self).values(), vars(other).values()))


@dataclass(frozen=True)
class _Pass:
    """What a block of rows adds; unlike a closure it can be sent to workers."""

    subspace: Subspace
    middle: Array
    weight: Array | None
    share: float

    def __call__(self, rows: slice, block: Array) -> _Sums:
        parts = (
            self._sums(slice(rows.start + part.start, rows.start + part.stop), block[part])
            for part in blocks(len(block), self._step()) or [slice(0, 0)]
        )
        return reduce(add, parts)

    def _step(self) -> int:
        """Rows of which as many are looked at as fit into memory."""
        return int(_rows_at_once(self.subspace) / self.share)

    def _sums(self, rows: slice, block: Array) -> _Sums:
        S = self.subspace
        X = (
            as_points(block).to_dense().astype(S.coef.dtype, copy=False)
        )  # a q-th of its own derivatives
        w = np.ones(len(X)) if self.weight is None else self.weight[rows]
        shifted = X - self.middle  # float64, and around the middle no digits cancel
        whole = (float(w.sum()), w @ shifted, w @ shifted**2)
        kept = _even_sample(rows, self.share)
        X, w = X[kept], w[kept]
        Z = S.scores(X)
        J = jacobian(S.kernel, X, S.support, np.column_stack([S.coef, S.mean]))
        # r = k(x,x) - 2 cᵀk(S,x) + const - |z|², and J[:, -1] is the gradient of cᵀk(S,x)
        J, Jc = J[:, :-1], J[:, -1]
        half = S.kernel.diag_gradient(X) / 2 - Jc - np.einsum("ak,akj->aj", Z, J)
        return _Sums(
            *whole,
            len(X),
            float(w.sum()),
            w @ Z.astype(np.float64) ** 2,
            np.einsum("a,akj->kj", w, np.square(J, out=J), dtype=np.float64),
            w @ half.astype(np.float64) ** 2,
        )


def summed(work: Callable[[slice, Any], Any], X: RowsLike, step: int, stage: str) -> Any:
    """The sum of ``work(rows, block)`` over blocks of ``step`` rows, or those of a source."""
    if isinstance(X, Source):
        total, parts = X.n_steps, X.map_steps(work)
    else:
        tasks = blocks(len(X), step)
        total, parts = len(tasks), ordered_map(lambda rows: work(rows, X[rows]), tasks)

    def announced(done: int, part: Any) -> Any:
        announce(stage, done, total)
        return part

    return reduce(add, starmap(announced, enumerate(parts, 1)))


def _even_sample(rows: slice, share: float) -> Any:
    """Rows of a block by their numbers alone: multiples of the golden ratio are spread evenly."""
    if share >= 1:
        return slice(None)
    turn = np.arange(rows.start, rows.stop, dtype=np.uint64) * np.uint64(2654435769)
    return np.flatnonzero(turn % np.uint64(1 << 32) < share * (1 << 32))


def _rows_at_once(subspace: Subspace) -> int:
    """Rows whose derivatives fit into memory together."""
    width = (subspace.n_components + 1) * subspace.points.width
    least = 1 if subspace.points.is_sparse else 16
    return int(min(512, max(least, ENTRIES // width)))


def _shares(values: Array) -> Array:
    """Divided by their sum; zeros where all are zero."""
    total = values.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(values, total, out=np.zeros_like(values), where=total > 0))


# Intervals of relevance: how it changes when the components turn.


#: Replicates that relevance is measured on.
REPLICATES = 100
#: Derivatives that may be held at once for sparse rows, which have many variables.
MOST_ENTRIES = 1 << 26


@dataclass(frozen=True)
class Interval:
    """An estimate with its lower and upper limit, arrays of one shape."""

    estimate: Array
    low: Array
    high: Array

    def times(self, factor: float) -> Interval:
        """On another scale."""
        return Interval(self.estimate * factor, self.low * factor, self.high * factor)

    def contains(self, value: Any) -> Array:
        """Where the value lies between the limits."""
        return np.asarray((self.low <= value) & (value <= self.high))


def relevance_interval(resamples: Any, level: float) -> Interval:
    """Of the shares of relevance, (q, d), from components that turned and rows that were drawn.

    A component of a resample is ``sum_l V_lk w_l``, and so are its derivatives: those of the
    leading 2 q directions at a few hundred rows tell the relevance in every replicate.
    """
    R = resamples
    q = R.turns.shape[2]
    points, coef = R.directions.coefficients()
    V, rows = R.turns[:REPLICATES, : 2 * q], _dense_rows(R.rows, 2 * q)
    kernel = R.directions.subspace.kernel
    parts = thread_map(
        lambda part: jacobian(kernel, rows[part], points, coef[:, : 2 * q]),
        blocks(len(rows), 64),
    )
    J = np.concatenate(parts).astype(np.float64)
    n, p, d = J.shape
    mean = R.row_weight @ rows / R.row_weight.sum()
    variance = R.row_weight @ (rows - mean) ** 2 / R.row_weight.sum()
    columns = np.moveaxis(J, 1, 0).reshape(p, n * d)
    # The rows at hand stand for all: their weights vary as those of n rows would.
    damped = 1 + (R.weights - 1) * np.sqrt(min(1.0, n / R.n_rows))

    def shares(turn: Array, weight: Array) -> Array:
        squares = np.square(turn.T @ columns).reshape(-1, n, d)
        found = np.einsum("a,kaj->kj", weight, squares) * variance
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    estimate = shares(np.eye(p, q), R.row_weight)
    drawn = np.stack(
        thread_map(lambda b: shares(V[b], R.row_weight * damped[b, R.group]), list(range(len(V))))
    )
    # On the log, around the estimate: turning spreads relevance, which is a bias.
    logs = np.log(np.maximum(drawn, 1e-300))
    low, high = np.quantile(logs - logs.mean(axis=0), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(estimate, estimate * np.exp(low), np.minimum(estimate * np.exp(high), 1.0))


def _dense_rows(rows: Any, components: int) -> Array:
    """The rows; sparse ones dense, if the derivatives of so many components can be held."""
    points = as_points(rows)
    entries = len(points) * components * points.width
    if points.is_sparse and entries > MOST_ENTRIES:
        raise DataError(
            f"intervals of relevance need the derivatives of {components} components by all "
            f"{points.width} variables at {len(points)} rows, {entries * 8 >> 20} MB; fit fewer "
            "components or variables (max_features of the vectorizer), or use relevance() alone."
        )
    return np.asarray(points.to_dense())
