"""Kernels from outside: a matrix computed elsewhere, or any Python function of two objects."""

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from mercer._base.types import Array, Precision, Rows, Targets
from mercer.exceptions import KernelError
from mercer.kernels.base import Kernel, Origin, PackedParts
from mercer.points import Columns


class _Foreign(Kernel):
    """A kernel of which nothing is known but its values."""

    is_mercer: ClassVar[bool] = False
    has_gradient = False
    #: What it is, for the message.
    _words: ClassVar[str]

    def gradient(self, Z: Array, S: Array, G: Array) -> NoReturn:  # noqa: ARG002
        self.diag_gradient(Z)

    def diag_gradient(self, Z: Array) -> NoReturn:  # noqa: ARG002
        raise KernelError(f"{self._words} has no gradient; use preimage='nearest'.")


class Precomputed(_Foreign):
    """The rows *are* kernel values.

    ``fit`` takes K (n, n), ``transform`` takes k(new, train) (m, n). The support points of a model
    with this kernel are column numbers. ``k(x, x)`` of new points is not in their rows, so that
    ``reconstruction_error`` needs another kernel.
    """

    is_pairwise: ClassVar[bool] = True
    _words: ClassVar[str] = "a precomputed kernel matrix"

    def points(self, X: Rows) -> Columns:
        return X if isinstance(X, Columns) else Columns(X)

    def resolve(self, X: Rows, weight: Array | None = None) -> "Precomputed":  # noqa: ARG002
        if X.ndim != 2 or X.shape[0] != X.shape[1]:
            raise KernelError(f"precomputed K must be square, not {X.shape}; give k(train, train).")
        size = np.abs(X).max(initial=0.0)
        skew = np.abs(X - X.T).max(initial=0.0)
        if skew > max(1e-10, 16 * float(np.finfo(X.dtype).eps)) * size:
            apart = f"|K - Kᵀ| reaches {skew:.3g} where |K| reaches {size:.3g}"
            raise KernelError(f"a precomputed K is not symmetric: {apart}; give (K + K.T) / 2.")
        return self

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> PackedParts:  # noqa: ARG002
        """Rows of the matrix, and which of its columns they stand for."""
        if np.issubdtype(X.dtype, np.integer) and X.ndim == 1:  # support: column numbers
            return PackedParts((X, X), X.dtype)
        values = X.astype(dtype or X.dtype, copy=False)
        return PackedParts((values, np.arange(len(X))), values.dtype)

    def fill(self, A: PackedParts, B: PackedParts, out: Array) -> None:
        values, columns = A.parts[0], B.parts[1]
        if columns.size and columns.max() >= values.shape[1]:
            have, need = values.shape[1], columns.max() + 1
            raise KernelError(f"rows have {have} kernel values, not {need}; give k(new, train).")
        if out.dtype == values.dtype:
            np.take(values, columns, axis=1, out=out, mode="clip")  # no copy in between
        else:
            out[...] = values[:, columns]

    def diag(self, X: Array) -> Array:
        if X.ndim != 2 or X.shape[0] != X.shape[1]:
            raise KernelError("k(x, x) of new rows is not in a precomputed K; use FunctionKernel.")
        return np.diagonal(X).copy()


class FunctionKernel(_Foreign):
    """Any function of two objects that returns a number: strings, graphs, sequences.

    Parameters
    ----------
    function : callable
        ``function(x, y) -> float``, symmetric. Called once per pair, O(n²) calls for a fit.

    Examples
    --------
    >>> from mercer import KernelPCA
    >>> from mercer.kernels import FunctionKernel
    >>> shared = FunctionKernel(lambda a, b: len(set(a) & set(b)))
    >>> KernelPCA(1, kernel=shared).fit_transform(["abc", "abd", "xyz"]).round(2).ravel()
    array([-0.78, -0.78,  1.56])
    """

    takes_objects: ClassVar[bool] = True
    _words: ClassVar[str] = "a function kernel"

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function = function

    def check(self) -> None:
        if not callable(self.function):
            raise KernelError(f"{self.function!r} cannot be called; give a function.")

    def pack(self, X: Rows, origin: Origin = None, dtype: Precision = None) -> PackedParts:  # noqa: ARG002
        """Objects, and their numbers for error messages."""
        return PackedParts((X, range(len(X))), np.dtype(np.float64))

    def fill(self, A: PackedParts, B: PackedParts, out: Array) -> None:
        (left, rows), (right, columns) = A.parts, B.parts
        for i, x in enumerate(left):
            for j, y in enumerate(right):
                out[i, j] = self._value(x, y, rows[i], columns[j])

    def diag(self, X: Rows) -> Array:
        return np.array([self._value(x, x, i, i) for i, x in enumerate(X)], dtype=np.float64)

    def _value(self, x: Rows, y: Targets, i: int, j: int) -> float:
        where = f"the kernel function at rows ({i}, {j})"
        try:
            value = np.asarray(self.function(x, y))
        except Exception as error:
            what = f"{where} raised {type(error).__name__}: {error}"
            raise KernelError(f"{what}; fix the function.") from error
        if value.size == 1 and value.dtype.kind in "fiub" and np.isfinite(value).all():
            return float(value.reshape(()))
        returned = value if value.size == 1 else f"{value.dtype} of shape {value.shape}"
        raise KernelError(f"{where} returned {returned}; it must return a finite number.")
