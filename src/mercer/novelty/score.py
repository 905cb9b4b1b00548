r"""Novelty scores on a Subspace (Hoffmann 2007; Hotelling's T²), all of one form.

.. math:: s(x) = \sum_k a_k\, z_k(x)^2 + \rho\, r(x)

Scores :math:`z` measure a point inside the subspace, the residual :math:`r` outside it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from mercer._base.machine import blas_limited, blocks, thread_map
from mercer._base.numbers import check_choice, fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator, RowsLike
from mercer.io import Table
from mercer.io.model_file.checks import check_loaded, expect
from mercer.kernels import Gaussian, RadialKernel
from mercer.kernels.jacobian import weighted_gradient
from mercer.model import Subspace
from mercer.model.rank import ShareUpTo
from mercer.model.subspace import require_variables
from mercer.points import as_points
from mercer.points.source import MemoryRows
from mercer.points.sparse import SparseRows

#: Rows of a batch in ``gradient``, which makes a rows × m array of weights.
ROWS = 256


@dataclass(frozen=True)
class NoveltyScore:
    """A score bound to a subspace: larger is newer.

    Attributes
    ----------
    subspace : Subspace
    inside : (q,) array
        a: weights of the squared scores.
    outside : float
        ρ: weight of the residual.
    """

    subspace: Subspace
    inside: Array
    outside: float

    def __call__(self, X: RowsLike) -> Array:
        """``sum_k a_k z_k² + rho r`` for each row; O(n m (d + q)) time."""
        return self.combined(*self.subspace.scores_and_residual(X))

    def combined(self, Z: Array, residual: Array) -> Array:
        """The same from scores and residuals."""
        return np.asarray(Z**2 @ self.inside + self.outside * residual)

    @property
    def at_infinity(self) -> float:
        """The score of a row far from all others, if the kernel fades; else infinite."""
        S = self.subspace
        if not isinstance(S.kernel, RadialKernel):
            return float("inf")
        nothing = np.zeros((1, S.n_components + 1), dtype=S.coef.dtype)
        return float(self.combined(*S.of_products(nothing, np.ones(1, dtype=S.coef.dtype)))[0])

    @property
    def reach(self) -> float:
        """That score where hardly any can be larger; infinite for T², which may be so nearby."""
        return float("inf") if self.inside.any() else self.at_infinity

    def gradient(self, X: Array) -> Array:
        """The gradient of the score by the input, (n, d); O(n m (d + q)) time.

        From ``r = k(x,x) - 2 cᵀk(S,x) + const - |z|²`` and ``z = Bᵀ k(S,x) - b``, everything but
        ``k(x,x)`` is one weighted sum of kernel gradients: ``G = 2 B ((a - rho) z) - 2 rho c``.
        """
        S = self.subspace

        def one(rows: slice) -> Array:
            Z = S.scores(X[rows])
            G = 2 * ((self.inside - self.outside) * Z) @ S.coef.T - 2 * self.outside * S.mean
            G = G.astype(S.coef.dtype, copy=False)
            slope = weighted_gradient(S.kernel, X[rows], S.points, G)
            return np.asarray(self.outside * S.kernel.diag_gradient(X[rows]) + slope)

        parts = thread_map(one, blocks(len(X), ROWS))
        return np.concatenate(parts) if parts else np.empty_like(X)


def novelty_score(kind: str, subspace: Subspace, variance: Array) -> NoveltyScore:
    """A score by its name.

    Parameters
    ----------
    kind : {"reconstruction", "hotelling", "combined"}
        ``"reconstruction"``: the squared distance from the subspace, Hoffmann's score.
        ``"hotelling"``: T², the squared scores in units of their variances.
        ``"combined"``: the Mahalanobis distance in feature space, as if every direction outside had
        the variance of the last one kept: ``sum_k z_k² / lam_k + r / lam_q``.
    subspace : Subspace
    variance : (q,) array
        λ: the variances of the scores on the training rows, decreasing.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.novelty import novelty_score
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = KernelPCA(5).fit(X)
    >>> score = novelty_score("reconstruction", model.subspace_, model.explained_variance_)
    >>> near, far = score(np.array([[0.0, 0.0], [9.0, 9.0]]))
    >>> bool(near < far)
    True
    """
    check_choice("measure", kind, KINDS)
    inside, outside = KINDS[kind](np.asarray(variance))
    return NoveltyScore(subspace, inside.astype(subspace.coef.dtype, copy=False), outside)


#: Name → (a, ρ) from the variances λ.
KINDS: dict[str, Callable[[Array], tuple[Array, float]]] = {
    "reconstruction": lambda lam: (np.zeros_like(lam), 1.0),
    "hotelling": lambda lam: (1 / lam, 0.0),
    "combined": lambda lam: (1 / lam, float(1 / lam[-1])),
}


# Which variables made a point new: the score, divided among them.
#
# Along the straight line from a reference :math:`p` (the same point as the model would have it) to
# :math:`x` the score changes by
#
# .. math:: s(x) - s(p) = \sum_j \underbrace{(x_j - p_j) \int_0^1 \partial_j s(p + t(x - p))\, dt}
#           _{\text{contribution of variable } j}
#
# (integrated gradients, Sundararajan, Taly & Yan 2017): nothing is left over, and a variable in
# which the point agrees with its reference contributes nothing: those of sparse rows are sparse.


#: Nodes of the Gauss-Legendre rule along the line.
NODES = 8
#: Entries of sparse rows that are dense at one time.
ENTRIES = 1 << 22


@blas_limited
def contributions(score: NoveltyScore, X: RowsLike, reference: RowsLike, nodes: int = NODES) -> Any:
    """Each variable's part in the score, (n, d); rows sum to ``score(X) - score(reference)``.

    Of sparse rows and references they are sparse; some rows at a time are made dense, 32 MB.

    Parameters
    ----------
    score : NoveltyScore
    X : (n, d) points to explain, sparse or not
    reference : (n, d) points to compare with, e.g. pre-images of the projections
    nodes : int, default=8
        Places along the line at which the gradient is taken. O(nodes · n m (d + q)) time.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.novelty import contributions, novelty_score
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> model = KernelPCA(10).fit(X)
    >>> score = novelty_score("reconstruction", model.subspace_, model.explained_variance_)
    >>> strange = np.array([[0.1, 4.0, -0.2]])
    >>> int(contributions(score, strange, model.denoise(strange)).argmax())
    1
    """
    require_variables(score.subspace, "contribute")
    points, others = (as_points(rows) for rows in (X, reference))
    if not (points.is_sparse and others.is_sparse):
        return along_the_line(score.gradient, points.to_dense(), others.to_dense(), nodes)

    def some(rows: slice) -> SparseRows:
        """At the places in which a row and its reference differ; elsewhere it is zero."""
        at, reference = points[rows], others[rows]
        places = SparseRows.of(at.to_scipy() - reference.to_scipy())
        parts = along_the_line(score.gradient, at.to_dense(), reference.to_dense(), nodes)
        return places.with_data(parts[places.row_numbers(), places.indices])

    first, *more = map(some, blocks(len(X), max(1, ENTRIES // points.width)))
    return first.joined(*more)


def along_the_line(
    gradient: Callable[[Array], Array], X: Array, reference: Array, nodes: int = NODES
) -> Array:
    """What each variable adds between references and rows to a function of rows, (n, d)."""
    places, weights = np.polynomial.legendre.leggauss(nodes)
    step = X - reference
    mean_slope = np.zeros_like(step)
    for done, (place, weight) in enumerate(zip(places, weights, strict=True)):
        announce("contributions", done, nodes)
        u = (1 + place) / 2  # from [-1, 1] to [0, 1]
        # t = u², dt = 2u du: most places near the reference, because a bounded kernel saturates
        # within a few lengths of the data, however far away x is.
        mean_slope += weight * u * gradient(reference + u**2 * step)
    return np.asarray(step * mean_slope)


# A table of verdicts: how new each row is, and whether it is called new.


def judge(model: Estimator, table: Table) -> Table:
    """Score, p-value and verdict of each row, read block by block and scored once.

    Parameters
    ----------
    model : KernelNovelty, or an estimator with ``reconstruction_error``
        The latter has no threshold, and gives scores alone.
    table : the rows; columns beside them stay beside the verdicts

    Returns
    -------
    Table
        Columns ``score`` (larger is newer), ``p_value`` and, beside them, ``new``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelNovelty
    >>> from mercer.novelty import judge
    >>> from mercer.io import MemoryRows, Table
    >>> rows = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = KernelNovelty(10, random_state=0).fit(rows)
    >>> judge(model, Table(MemoryRows(np.array([[0.0, 0.0], [9.0, 9.0]])))).beside["new"].tolist()
    [False, True]
    """
    if not hasattr(model, "p_values"):
        errors = np.concatenate([model.reconstruction_error(rows) for rows in table.blocks()])
        beside = table.beside_of(["score", "new"])
        return Table(MemoryRows(errors[:, None], ["score"]), beside)
    score = -np.concatenate([model.score_samples(rows) for rows in table.blocks()])
    verdicts = np.column_stack([score, model.conformal_.p_values(score)])
    beside = {"new": score > -model.offset_, **table.beside_of(["score", "p_value", "new"])}
    return Table(MemoryRows(verdicts, ["score", "p_value"]), beside)


#: For the distance from the subspace: many, while each has a variance to speak of.
MANY = ShareUpTo(0.8, 400, rows=2)
#: For T², which divides by their variances.
FEW = ShareUpTo(0.95, 40)
#: For rows with outliers among them, which further components would follow.
CORE = ShareUpTo(0.95, 10)
# All by the development list of ``python -m benchmarks defaults novelty``.


def default_rule(measure: str, *, contaminated: bool) -> ShareUpTo:
    """The number of components where nothing is asked for."""
    if contaminated:
        return CORE
    return MANY if measure == "reconstruction" else FEW


#: Which neighbour's distance stands for the distances between neighbours.
NEIGHBOUR = 5
#: The width in units of the geometric mean of that distance and the median distance.
SHARE = 0.6
#: The share of the rows that have another row within so many widths, at least.
SEEN, WIDTHS = 0.975, 1.5
#: Rows that are looked at.
SAMPLE = 1000


def neighbour_kernel(X: RowsLike) -> Gaussian:
    r"""A Gaussian for novelty, narrower than the median rule's in most cases.

    Its width is :math:`0.6 \sqrt{d_5\, d}`, with d the median distance between different points and
    :math:`d_5` the median distance to the fifth neighbour: the one alone is too wide for rows that
    fill a curved sheet or many clusters, the other too narrow for rows with many duplicates. It is
    no less than 2/3 of the distance within which 97.5 % of the rows have another one: if more
    normal rows than may be called new were out of the kernel's reach, no row could be called new.
    Above 1,000 rows a sample with a fixed seed is used, as for the median.

    Parameters
    ----------
    X : (n, d) rows
    """
    points = as_points(X)
    median = Gaussian().resolve(points.rows).length
    points = points.sample(SAMPLE, fixed_rng(0))
    # In units of the median, so that squares stay in the range of floats.
    squares = squareform(points.to_unit(median)[0].pair_squares())
    k = min(NEIGHBOUR, len(points) - 1)
    ordered = np.sqrt(np.partition(squares, (1, k), axis=1))  # the first is the row itself
    near = ordered[:, k]
    near = near[near > 0]  # rows with five copies have no say
    typical = float(np.median(near)) if len(near) else 1.0
    # At most the next to last, so that no row decides alone how far it is from the others.
    seen = float(np.quantile(ordered[:, 1], SEEN, method="lower"))
    return Gaussian(width=float(median * max(SHARE * np.sqrt(typical), seen / WIDTHS)))


@check_loaded.register
def _check_score(score: NoveltyScore) -> None:
    expect("inside", score.inside, (score.subspace.n_components,))
