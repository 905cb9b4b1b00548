"""How good samples are: fidelity, variety, likeness and copying, each by its own number.

No single one will do. A classifier's confidence in the samples is the worst: a degenerate kernel
whose samples are all the same blur scores higher there (0.90, and 0.987 with another network) than
good samples do, and its recall is zero.

The measures that count neighbours depend on the coordinates; for images use those of a network's
hidden layer, trained on other rows, as their authors do.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from mercer._base.machine import blas_limited, blocks
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.kernels import Basis, Kernel, as_kernel
from mercer.points import Vectors

__all__ = ["SampleReport", "coverage", "density", "judge", "mmd2", "nearest_distances", "precision"]
__all__ += ["recall"]

ROWS = 512


@dataclass(frozen=True)
class SampleReport:
    """Measures of one set of samples; see the functions of the same names.

    Attributes
    ----------
    precision, recall, density, coverage : float
        By k nearest neighbours.
    mmd2 : float
        Squared maximum mean discrepancy; 0 where samples and data have one distribution.
    nearest_train : float
        Mean distance to the nearest training row; NaN if no training rows were given.
    nearest_real : float
        The same for the real rows: copies lie far below it.
    """

    precision: float
    recall: float
    density: float
    coverage: float
    mmd2: float
    nearest_train: float
    nearest_real: float


@blas_limited
def judge(
    samples: RowsLike,
    real: RowsLike,
    *,
    train: RowsLike = None,
    k: int = 5,
    kernel: str | Kernel = "gaussian",
    features: Callable[[Array], Array] | None = None,
) -> SampleReport:
    """All measures at once.

    Parameters
    ----------
    samples : (n, d) array
    real : (m, d) array
        Rows that the generator has **not** seen.
    train : (t, d) array, optional
        Rows that it has seen, by which copies are recognised.
    k : int, default=5
        Neighbours that make the radius of a ball.
    kernel : str or Kernel, default="gaussian"
        Of the mean discrepancy; the median rule is applied to the real rows.
    features : function (n, d) -> (n, p), optional
        Coordinates for the measures by neighbours, for example the hidden layer of a network that
        was trained on other rows; the rows themselves if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.metrics import judge
    >>> rng = np.random.default_rng(0)
    >>> real, good = rng.normal(size=(2, 200, 2))
    >>> narrow = 0.01 * rng.normal(size=(200, 2))  # all alike, in the middle
    >>> for samples in (good, narrow):
    ...     report = judge(samples, real)
    ...     print(f"precision {report.precision:.1f}, recall {report.recall:.1f}")
    precision 1.0, recall 1.0
    precision 1.0, recall 0.0
    """
    A, B = _pair(samples, real)
    seen = None if train is None else _table(train, "train")
    P, Q = (A, B) if features is None else (features(A), features(B))
    measures = [measure(P, Q, k) for measure in (precision, recall, density, coverage)]
    measures.append(mmd2(A, B, kernel))
    near = [np.nan, np.nan]
    if seen is not None:
        near = [float(nearest_distances(X, seen).mean()) for X in (A, B)]
    return SampleReport(*measures, *near)


def precision(samples: RowsLike, real: RowsLike, k: int = 5) -> float:
    """Share of the samples inside a ball around a real row that reaches to its k-th neighbour.

    References
    ----------
    T. Kynkäänniemi et al. Improved precision and recall metric for assessing generative models.
    NeurIPS 2019.
    """
    A, B = _pair(samples, real)
    return float((_balls_around(B, A, k) > 0).mean())


def recall(samples: RowsLike, real: RowsLike, k: int = 5) -> float:
    """Share of the real rows inside a ball around a sample that reaches to its k-th neighbour.

    Kynkäänniemi et al. 2019. This measures variety: samples that are all alike reach few rows.
    """
    A, B = _pair(samples, real)
    return float((_balls_around(A, B, k) > 0).mean())


def density(samples: RowsLike, real: RowsLike, k: int = 5) -> float:
    """How many real balls a sample lies in, on the mean, over k; 1 for real rows, may exceed 1.

    As ``precision``, but one far real row with its huge ball cannot vouch for all samples.

    References
    ----------
    M. F. Naeem et al. Reliable fidelity and diversity metrics for generative models. ICML 2020.
    """
    A, B = _pair(samples, real)
    return float(_balls_around(B, A, k).mean() / k)


def coverage(samples: RowsLike, real: RowsLike, k: int = 5) -> float:
    """Share of the real rows with a sample nearer than their k-th real neighbour.

    Naeem et al. 2020. Unlike ``recall`` it cannot be raised by a few samples far out.
    """
    A, B = _pair(samples, real)
    return float((nearest_distances(B, A) <= _radii(B, k)).mean())


def mmd2(samples: RowsLike, real: RowsLike, kernel: str | Kernel = "gaussian") -> float:
    r"""Squared maximum mean discrepancy, the unbiased estimate (slightly negative for equals).

    .. math:: \frac{1}{n(n-1)} \sum_{i \ne j} k(a_i, a_j) - \frac{2}{nm} \sum_{i,j} k(a_i, b_j)
              + \frac{1}{m(m-1)} \sum_{i \ne j} k(b_i, b_j)

    Parameters
    ----------
    samples : (n, d) array
    real : (m, d) array
    kernel : str or Kernel, default="gaussian"
        Rules such as the median are resolved on the real rows.

    References
    ----------
    A. Gretton et al. A kernel two-sample test. JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.metrics import mmd2
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> bool(mmd2(X + 1, X) > 0.1 > 0.01 > abs(mmd2(rng.normal(size=(300, 2)), X)))
    True
    """
    A, B = _pair(samples, real)
    resolved = as_kernel(kernel).resolve(B)
    total = -2 * _sum_of_pairs(resolved, A, B) / (len(A) * len(B))
    for X in (A, B):
        within = _sum_of_pairs(resolved, X, X) - float(resolved.diag(X).sum())
        total += within / (len(X) * (len(X) - 1))
    return total


def nearest_distances(samples: RowsLike, train: RowsLike) -> Array:
    """(n,) distances from each sample to the nearest training row: zero for copies.

    Compare with the same of fresh real rows; a generator that copies is far below them.
    """
    A, B = _pair(samples, train, "train")
    return over_distances(A, B, lambda r: r.min(axis=1))


def _radii(X: Array, k: int) -> Array:
    """Distance of each row to its k-th neighbour among the others."""
    if not 1 <= k < len(X):
        raise DataError(f"k={k} neighbours of {len(X)} rows; give 1 <= k < {len(X)}.")
    # The 0-th neighbour is the row itself.
    return over_distances(X, X, lambda r: np.partition(r, k, axis=1)[:, k])


def _balls_around(centres: Array, points: Array, k: int) -> Array:
    """For each point the number of balls around centres that it lies in."""
    radii = _radii(centres, k)
    return over_distances(points, centres, lambda r: (r <= radii).sum(axis=1))


def over_distances(X: Array, Y: Array, reduce: Callable[[Array], Array]) -> Array:
    """A number for each row of X, computed from its distances to all rows of Y."""
    return np.concatenate([reduce(cdist(X[rows], Y)) for rows in blocks(len(X), ROWS)])


def _sum_of_pairs(kernel: Kernel, X: Array, Y: Array) -> float:
    return float(Basis(kernel, Vectors(Y)).matmat(X, np.ones((len(Y), 1))).sum())


def _pair(samples: RowsLike, real: RowsLike, name: str = "real") -> tuple[Array, Array]:
    A, B = _table(samples, "samples"), _table(real, name)
    if A.shape[1] != B.shape[1]:
        columns = f"samples have {A.shape[1]} columns and {name} rows {B.shape[1]}"
        raise DataError(f"{columns}; give rows of the same columns.")
    return A, B


def _table(X: RowsLike, name: str) -> Array:
    table: Array = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
        raise DataError(f"{name}: shape {table.shape}; give a finite table of at least 2 rows.")
    return table
