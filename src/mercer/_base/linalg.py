"""Small dense linear algebra that more than one layer needs."""

from operator import add
from typing import Any, Self

import numpy as np

from mercer._base.types import Array

#: Magnitudes below this, and above its inverse, have squares and sums of squares in float32.
SQUARABLE = 1e15
#: How near to orthonormal a first round has to come, as a multiple of eps.
NEARLY = 1e4
#: Numbers that stay in a core's cache between one step and the next.
CACHED = 1 << 17


class Sums:
    """The base of frozen dataclasses of sums over rows: those of parts add up, field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, vars(self).values(), vars(other).values()))


def fix_signs(V: Array) -> Array:
    """Signs (+1 or -1 per column) that make each column's largest-magnitude entry positive.

    Among entries that tie within rounding the first one decides, so that symmetric data do not
    flip from machine to machine.
    """
    if V.shape[0] == 0:
        return np.ones(V.shape[1], dtype=V.dtype)
    size = np.abs(V)
    ties = size >= size.max(axis=0) * (1 - 1e-6)
    first = ties.argmax(axis=0)
    signs = np.sign(V[first, np.arange(V.shape[1])])
    return np.where(signs == 0, 1, signs).astype(V.dtype)


def orthonormalize(V: Array, against: Array | None = None) -> Array:
    """An orthonormal basis of the columns of V, outside the orthonormal columns of ``against``.

    Two rounds of projection and QR: once is not enough when V nearly lies inside ``against``.
    """
    for _ in range(2):
        if against is not None and against.shape[1]:
            V = V - against @ (against.T @ V)
        V = _orthonormal(V)
    return V


def _orthonormal(V: Array) -> Array:
    """Q of V = Q R, by Cholesky's L = Rᵀ of VᵀV: a tenth of the time of Householder's.

    It errs by eps / (smallest pivot)² of columns of length one; a second round takes that away. By
    Householder's where the pivots are too small for it.
    """
    norms = np.linalg.norm(V, axis=0)
    if V.size and 0 < norms.min() <= norms.max() < np.inf:
        V = V / norms
        try:
            L = np.linalg.cholesky(V.T @ V)
        except np.linalg.LinAlgError:
            return np.linalg.qr(V).Q
        if np.diagonal(L).min() ** 2 > NEARLY * np.finfo(V.dtype).eps:
            return np.asarray(V @ np.linalg.inv(L).T)
    return np.linalg.qr(V).Q


def mirror(K: Array) -> Array:
    """Copy the lower triangle of a square array to the upper one, in place."""
    for start in range(0, len(K), 128):
        rows = slice(start, min(start + 128, len(K)))
        K[: rows.start, rows] = K[rows, : rows.start].T
        K[rows, rows] = np.tril(K[rows, rows]) + np.tril(K[rows, rows], -1).T
    return K


def evenly(rows: Array, count: int) -> Array:
    """At most ``count`` rows, evenly spaced: the same ones in every run."""
    if len(rows) <= count:
        return rows
    return np.asarray(rows[np.linspace(0, len(rows) - 1, count).astype(int)])


def unit_size(X: Array) -> Array:
    """X around its mean, over its largest entry: its squares neither over- nor underflow."""
    X = X - X.mean(axis=0)
    size = np.abs(X).max()
    return np.asarray(X / size if size > 0 else X)


def power_of_two(x: Any) -> Any:
    """The power of two at or below each |x|: to divide by it loses no digit. 1/2 for 0."""
    return np.ldexp(np.ones_like(x), np.frexp(x)[1] - 1)


def square_sums(X: Array) -> Array:
    """Row sums of squares without a temporary of the size of X."""
    return np.asarray(np.einsum("ij,ij->i", X, X))


def write_shifted(X: Array, shift: Array, factor: float, out: Array) -> None:
    """``out = (X - shift) * factor`` in the precision of X or a finer one, rounded at the end."""
    finer = np.result_type(X.dtype, out.dtype)
    shift = shift.astype(finer, copy=False)
    in_place = finer == out.dtype
    step = max(1, len(X) if in_place else CACHED // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        moved = np.subtract(X[rows], shift, out=out[rows] if in_place else None)
        if factor != 1:
            moved *= factor
        if not in_place:
            out[rows] = moved


def is_positive(A: Array) -> bool:
    """Whether a symmetric matrix is positive definite."""
    try:
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return False
    return True


def one_hot_groups(X: Array) -> Array:
    """A number for each column, (d,); neighbouring columns that make up a category share theirs.

    Such columns hold 0 or one height, and exactly one of them has its height in each row, as
    ``OneHotEncoder`` and :class:`~mercer.tables.TableEncoder` write them.

    Parameters
    ----------
    X : (n, d) array, NaN where a value is missing

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.robust import one_hot_groups
    >>> one_hot_groups(np.array([[0.3, 0, 2, 0], [0.4, 2, 0, 0], [0.1, 0, 0, 2]]))
    array([0, 1, 1, 1])
    """
    height = np.nanmax(X, axis=0, initial=0)
    slots = (height > 0) & ((X == 0) | (height == X) | np.isnan(X)).all(axis=0)
    hot = X / np.where(slots, height, 1)
    widths: list[int] = []
    while sum(widths) < X.shape[1]:
        widths.append(_width(hot, slots, sum(widths)))
    return np.repeat(np.arange(len(widths)), widths)


def _width(hot: Array, slots: Array, first: int) -> int:
    """Columns of the category that begins here; 1 if none does."""
    total = np.zeros(len(hot))
    for stop in range(first, len(slots)):
        total = total + hot[:, stop]
        if not slots[stop] or np.nanmax(total, initial=0) > 1:
            return 1
        if (np.isnan(total) | (total == 1)).all():
            return stop + 1 - first
    return 1


def first_unlike(K: Array, limit: float, count: int) -> Array:
    """The first ``count`` of some points whose similarity, ``|k| / √(k k)``, stays below a limit.

    ``K`` is their kernel matrix. A taken point stands for all that are like it.
    """
    own = np.sqrt(np.maximum(np.diagonal(K), np.finfo(K.dtype).tiny))
    alike = np.abs(K) > limit * np.outer(own, own)
    free, chosen = np.ones(len(K), dtype=bool), list[int]()
    while free.any() and len(chosen) < count:
        best = int(free.argmax())
        chosen.append(best)
        free &= ~alike[best]
        free[best] = False
    return np.array(chosen, dtype=np.intp)
