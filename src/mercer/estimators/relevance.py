"""Which variables matter, and how sure we are, for every estimator with a Model."""

from collections.abc import Sequence
from typing import Any

from mercer._base.types import Array, ArrayLike, Estimator, RowsLike
from mercer.estimators._validation import check_weight
from mercer.estimators.door import as_asked, verb
from mercer.exceptions import DataError, Remedy, warn
from mercer.model import model_of, names_of
from mercer.points.source import Source
from mercer.relevance import Relevance, Uncertainty, measure_relevance, measure_uncertainty
from mercer.relevance import sensitivity as measure_sensitivity
from mercer.relevance.measure import MOST_ROWS, support_rows, support_weight

#: A share of the relevance that leaves nothing for other variables.
ALMOST_ALL = 0.9


@verb("source")
def relevance(
    self: Any,
    X: RowsLike = None,
    *,
    unit: str = "std",
    groups: Sequence[Any] | None = None,
    sample_weight: ArrayLike = None,
    max_rows: int | None = MOST_ROWS,
) -> Any:
    r"""How much each variable matters in each component.

    ``R_kj = var(x_j) · mean over rows of (∂z_k/∂x_j)²``: how far component k moves, squared,
    when variable j moves by one standard deviation. With the linear kernel and
    ``unit="raw"`` these are the squared loadings of PCA.

    Parameters
    ----------
    X : (n, d) array, data frame, file or row source, optional
        Rows to average over; without them the support points, of more than 2,000 a sample.
    unit : {"std", "raw", "share", "correlation"}, default="std"
        Per standard deviation of a variable, per unit of it, or shares that sum to 1 in each
        component. ``"correlation"`` is another measure, the squared correlation of score and
        variable over all rows: which variables go together with a component, not which it reacts
        to.
    groups : (d,) names, optional
        For each variable the column of the table that it comes from; variables of one column
        (one-hot codes) are added up.
    sample_weight : (n,) array, optional
        Weights of the rows of X. Without X the weights of the fit are used.
    max_rows : int or None, default=30_000
        If there are more rows, an even sample of about this many is used, which is accurate
        to a percent or so (see ``n_rows`` of the result); None takes all of them.

    Returns
    -------
    Relevance
        With ``components`` (q, d), ``overall`` (d,), weighted by the components' variances,
        ``error`` (d,) for the reconstruction error, and ``names``. After
        ``set_output(transform="pandas")`` or ``"polars"`` a data frame of these: a row for
        each component, then ``overall`` and ``error``.

    See Also
    --------
    sensitivity : the derivatives themselves, at chosen points.
    mercer.relevance.permutation : a slow second opinion.

    Notes
    -----
    O(n m q d) time; memory does not depend on n.

    Variables that say the same share credit: each of a group of ten needs to move a score by a
    tenth only, and may fall below a variable of no group. To find all members of such groups, take
    ``unit="correlation"``. It sees straight dependence only, and what merely goes with a cause: a
    score that is the distance from a middle correlates with no coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 6.28, 300)
    >>> noise = 0.2 * rng.standard_normal((300, 3))
    >>> X = np.column_stack([noise[:, 0], np.cos(angle), noise[:, 1:], np.sin(angle)])
    >>> found = KernelPCA(2).fit(X).relevance(X, unit="share")
    >>> sorted(found.overall.argsort()[-2:].tolist())  # the two that make the circle
    [1, 4]
    """
    measured = relevance_of(self, X, unit, sample_weight, max_rows)
    measured = measured if groups is None else measured.grouped(groups)
    if unit in ("std", "share"):
        _warn_of_one(measured)
    frame = as_asked(self, table := measured.table, None, measured.names)
    if frame is table:
        return measured
    # Rows are components, then overall and error; columns are variables.
    labels = [f"{type(self).__name__.lower()}{k}" for k in range(len(measured.components))]
    labels += ["overall", "error"]
    if hasattr(frame, "index"):
        return frame.set_axis(labels)
    return type(frame)({"component": labels}).hstack(frame)


@verb("rows")
def sensitivity(self: Any, X: RowsLike) -> Array:
    """Derivatives of the scores by the variables at chosen points, (n, q, d).

    ``J[a, k, j] = ∂z_k/∂x_j`` at row a: kernel components bend, so that a variable may push a
    score up in one place and down in another.

    Parameters
    ----------
    X : (n, d) array or data frame

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> KernelPCA(2).fit(X).sensitivity(X[:5]).shape
    (5, 2, 3)
    """
    return measure_sensitivity(model_of(self).subspace, X)


@verb("source")
def uncertainty(
    self: Any, X: RowsLike = None, *, level: float = 0.95, sample_weight: ArrayLike = None
) -> Uncertainty:
    """How much the model would change with another sample of as many rows.

    Intervals of eigenvalues, shares and relevance, and how far each component turns, and into
    which others. (``report_.estimated_error`` is the solver's numerical error on these rows.)

    Parameters
    ----------
    X : (n, d) array, data frame, file or row source, optional
        The training rows; not needed for exact models, which keep them.
    level : float, default=0.95
    sample_weight : (n,) array, optional
        The weights of the fit; only with X.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> X = load_iris().data
    >>> found = KernelPCA(4).fit(X).uncertainty(X)
    >>> bool((found.shares.low < found.shares.high).all())
    True
    >>> print(found.advice[0].partition(":")[0])
    3 of 4 components are stable
    """
    subspace = model_of(self).subspace
    rows, weight = _given_rows(X, sample_weight) or _rows_of_the_fit(self)
    return measure_uncertainty(subspace, rows, level=level, weight=weight)


def relevance_of(
    model: Estimator,
    rows: Any,
    unit: str,
    sample_weight: ArrayLike = None,
    max_rows: int | None = MOST_ROWS,
) -> Relevance:
    """Relevance at rows that have been checked, or at the support points; never as a frame."""
    subspace = model_of(model).subspace
    rows, weight = _given_rows(rows, sample_weight) or support_rows(subspace)
    more: Any = {"weight": weight, "max_rows": max_rows}
    # Names are those of the entries of a vector, where the model is one of tables.
    return measure_relevance(subspace, rows, unit=unit, names=names_of(model), **more)


def _warn_of_one(result: Relevance) -> None:
    """A column in a small unit, and of large numbers, may be all that a kernel sees."""
    shares = result.overall / (result.overall.sum() or 1.0)
    if len(shares) > 1 and shares.max() > ALMOST_ALL:
        warn(
            f"{result.names[int(shares.argmax())]!r} holds {shares.max():.1%} of the relevance, so "
            "the model sees little else; if its unit is to blame, scale the columns: "
            + Remedy("TableModel(model, TableEncoder(scale='std')).", shell="fit with --scale std.")
        )


def _rows_of_the_fit(model: Estimator) -> tuple[Any, Array | None]:
    """Those that the model has kept; landmarks and centres are no sample of the data."""
    learnt = model_of(model)
    subspace, weight = learnt.subspace, support_weight(learnt.subspace)
    if weight is None and learnt.n_rows != subspace.n_support:
        remedy = Remedy("give these rows as X.", shell="name their file as DATA.")
        few = f"the model keeps {subspace.n_support} points, which are not a sample of the rows"
        raise DataError(f"{few} that it was fitted to; " + remedy)
    return subspace.support, weight


def _given_rows(rows: Any, sample_weight: ArrayLike) -> tuple[Any, Array | None] | None:
    if rows is None:
        if sample_weight is not None:
            raise DataError("sample_weight belongs to rows; give X, too.")
        return None
    if isinstance(rows, Source) and rows.allow_nan:
        shell = "fill them in first by 'mercer impute MODEL DATA'."
        remedy = Remedy("impute them first.", shell=shell)
        raise DataError("rows with missing values have no derivatives; " + remedy)
    return rows, check_weight(sample_weight, rows)
