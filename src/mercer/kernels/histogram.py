r"""Kernels that compare entry by entry: Laplacian (city-block distance) and chi-squared."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from mercer._base.linalg import power_of_two
from mercer._base.types import Array, Precision
from mercer.exceptions import DataError
from mercer.kernels import require
from mercer.kernels.base import Kernel, Origin, PackedParts
from mercer.kernels.width import median_length


class _EntrywiseKernel(Kernel):
    r""":math:`\exp(-\gamma \sum_a \mathrm{cost}(x_a, y_a))`."""

    gamma: float | str
    is_positive = True

    def pack(self, X: Array, origin: Origin = None, dtype: Precision = None) -> PackedParts:  # noqa: ARG002
        # Rows as they are: the costs are summed in float64 whatever the tile's type is.
        precision = np.dtype(dtype or X.dtype)
        rows = X.astype(np.result_type(X.dtype, precision), copy=False)
        return PackedParts((rows,), precision)

    def _cost(self, X: Array, Y: Array) -> Array:
        """The sums of the costs of all pairs of rows."""
        raise NotImplementedError

    def formula(self, x: Any, y: Any, xp: Any) -> tuple[Any, Any]:
        """The cost of two entries and its derivative by x, pure; as of radial kernels."""
        raise NotImplementedError

    def fill(self, A: PackedParts, B: PackedParts, out: Array) -> None:
        cost = self._cost(*A.parts, *B.parts)
        with np.errstate(over="ignore"):  # what is infinitely far has the similarity 0
            np.multiply(cost, -require.number("gamma", self.gamma), out=out, casting="same_kind")
        np.exp(out, out=out)

    def exact(self, X: Array, Y: Array) -> Array:
        A, B = (np.asarray(rows, dtype=np.float64) for rows in (X, Y))
        cost = np.zeros((len(A), len(B)))
        with np.errstate(over="ignore"):
            for x, y in zip(A.T[..., None], np.ascontiguousarray(B.T), strict=True):
                cost += self.formula(x, y, np)[0]  # at any scale of the rows
            return np.asarray(np.exp(-require.number("gamma", self.gamma) * cost))

    def diag(self, X: Array) -> Array:
        return np.ones(len(X), dtype=X.dtype)

    def gradient(self, Z: Array, S: Array, G: Iterable[Array]) -> Array:
        """For each point its weights, (m,) or (q, m), times the slopes of k by its entries."""
        gamma = require.number("gamma", self.gamma)
        K = np.exp(-gamma * self._cost(Z, S))
        every = zip(Z, K, G, strict=True)
        return np.stack([(-gamma * w * k) @ self.formula(x, S, np)[1] for x, k, w in every])

    def diag_gradient(self, Z: Array) -> Array:
        return np.zeros_like(Z)


class Laplacian(_EntrywiseKernel):
    r""":math:`k(x, y) = \exp(-\gamma \sum_a |x_a - y_a|)`, as scikit-learn's ``laplacian_kernel``.

    For the exponential of the Euclidean distance take ``Matern(nu=0.5)``.

    Parameters
    ----------
    gamma : float or "median", default="median"
        ``"median"``: one over (√d × the median Euclidean distance), which is near the median
        city-block distance.
    """

    def __init__(self, gamma: float | str = "median") -> None:
        self.gamma = gamma

    def check(self) -> None:
        require.positive_or("gamma", self.gamma, ("median",))

    def resolve(self, X: Array, weight: Array | None = None) -> Self:
        self.check()
        if not isinstance(self.gamma, str):
            return self
        return type(self)(gamma=float(1 / (median_length(X, weight) * np.sqrt(X.shape[1]))))

    def _cost(self, X: Array, Y: Array) -> Array:
        return np.asarray(cdist(X, Y, "cityblock"))

    def formula(self, x: Any, y: Any, xp: Any) -> tuple[Any, Any]:
        return xp.abs(x - y), xp.sign(x - y)


class Chi2(_EntrywiseKernel):
    r""":math:`k(x, y) = \exp(-\gamma \sum_a (x_a - y_a)^2 / (x_a + y_a))` for histograms.

    Parameters
    ----------
    gamma : float, default=1.0

    Notes
    -----
    Entries must not be negative; where both are zero the term is zero.
    """

    is_nonnegative = True

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def check(self) -> None:
        require.positive("gamma", self.gamma)

    def resolve(self, X: Array, weight: Array | None = None) -> Self:
        super().resolve(X, weight)
        if isinstance(X, np.ndarray):  # a file is looked at block by block
            _refuse_negative(X, "row {row}, column {column} is")
        return self

    def pack(self, X: Array, origin: Origin = None, dtype: Precision = None) -> PackedParts:
        _refuse_negative(X, "column {column} has")  # one of many blocks: rows have other numbers
        return super().pack(X, origin, dtype)

    def _cost(self, X: Array, Y: Array) -> Array:
        from sklearn.metrics.pairwise import additive_chi2_kernel  # brings in all metrics

        # The cost is proportional to the rows: in their own unit no square overflows or vanishes.
        # The quotient is a copy, too; scikit-learn refuses rows that cannot be written to.
        unit = power_of_two(float(max(X.max(initial=0.0), Y.max(initial=0.0))))
        cost = np.asarray(additive_chi2_kernel(X / unit, Y / unit))
        with np.errstate(over="ignore"):
            return np.asarray(np.multiply(cost, -unit, out=cost))

    def formula(self, x: Any, y: Any, xp: Any) -> tuple[Any, Any]:
        # d/dx (x-y)²/(x+y) = (x-y)(x+3y)/(x+y)² = r (2 - r) with r = (x-y)/(x+y), 0 between zeros
        total = x + y
        r = (x - y) / (total + (1 - xp.sign(total)))
        return (x - y) * r, r * (2 - r)


def _refuse_negative(X: Array, where: str) -> None:
    if (X < 0).any():
        row, column = np.argwhere(X < 0)[0]
        entry = f"{where.format(row=row, column=column)} {X[row, column]:.4g}"
        raise DataError(f"Chi2 needs entries of 0 or more, but {entry}; use another kernel.")
