"""Tensors of samples: the first mode counts the samples, the others are those of one sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base.optional import require
from mercer._base.sklearn import Tags
from mercer._base.types import Array, ArrayLike, RowsLike
from mercer.alternatives._base import Alternative
from mercer.exceptions import DataError, RankWarning, warn

#: A number of components, or a share of the variance, for all modes or for each.
Ranks = int | float | Sequence[int | float]


def project(X: Array, factors: Sequence[Array], skip: int | None = None) -> Array:
    """Multiply mode k of every sample by the transpose of factor k, all modes but ``skip``."""
    for k, U in enumerate(factors, 1):
        if k - 1 != skip:
            X = np.moveaxis(np.tensordot(X, U, axes=(k, 0)), -1, k)
    return X


def expand(Z: Array, factors: Sequence[Array]) -> Array:
    """Multiply mode k of every sample by factor k: back from cores to tensors."""
    return project(Z, [U.T for U in factors])


def scatter(X: Array, k: int) -> Array:
    """The sum over samples of X_(k) X_(k)ᵀ, with X_(k) a sample unfolded along its mode k."""
    others = [axis for axis in range(X.ndim) if axis != k + 1]
    return np.asarray(np.tensordot(X, X, axes=(others, others)))


def count_ranks(ranks: Any, spectra: Sequence[Array]) -> tuple[int, ...]:
    """How many components each mode keeps, from the decreasing eigenvalues of its scatter."""
    K = len(spectra)
    wanted = [ranks] * K if isinstance(ranks, Real) else list(ranks)
    if len(wanted) != K:
        raise DataError(
            f"ranks has {len(wanted)} entries, but a sample has {K} modes; give one for each mode, "
            "or one number for all."
        )
    return tuple(_count(rank, values) for rank, values in zip(wanted, spectra, strict=True))


def require_tensorly() -> ModuleType:
    """TensorLy with its decompositions, or an error that says how to get it."""
    require("tensorly.decomposition", "tensor")
    module: ModuleType = require("tensorly", "tensor")
    return module


class TensorAlternative(Alternative):
    """An alternative for samples that are arrays of one or more modes."""

    tensor_shape_: tuple[int, ...]
    ranks_: tuple[int, ...]

    @property
    def _n_features_out(self) -> int:
        return math.prod(self.ranks_)

    def _fit_tensors(self, X: RowsLike) -> tuple[Array, np.dtype]:
        """Checked tensors in double precision, and the precision that they came in."""
        X, shape = _flatten(X)
        rows, dtype = self._fit_rows(X)
        self.tensor_shape_ = shape or rows.shape[1:]
        return rows.reshape(-1, *self.tensor_shape_), dtype

    def _new_samples(self, X: RowsLike) -> tuple[Array, np.dtype]:
        check_is_fitted(self)
        flat, shape = _flatten(X)
        if (shape or len(self.tensor_shape_) > 1) and shape != self.tensor_shape_:
            raise DataError(
                f"X has shape {np.shape(X)}, but {type(self).__name__} was fitted to samples of "
                f"shape {self.tensor_shape_}; give X of shape (n, "
                f"{', '.join(map(str, self.tensor_shape_))})."
            )
        rows, dtype = self._new_rows(flat)
        return rows.reshape(-1, *self.tensor_shape_), dtype

    def _check_cores(self, Z: ArrayLike) -> tuple[Array, np.dtype]:
        """Codes as tensors of shape ``ranks_``; they may come flat, as transform returns them."""
        check_is_fitted(self)
        if np.ndim(Z) > 2 and np.shape(Z)[1:] == self.ranks_:
            Z = np.reshape(Z, (len(Z), -1))
        codes, dtype = self._check_codes(Z)
        return codes.reshape(-1, *self.ranks_), dtype

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _flatten(X: RowsLike) -> tuple[Any, tuple[int, ...] | None]:
    """Rows for the checks at the door, and the shape of a sample; None for ordinary rows."""
    if isinstance(X, list | tuple) and np.ndim(X[0] if len(X) else 0) >= 2:
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise DataError(
                f"the {len(X)} samples differ in shape; give samples of equal shape."
            ) from error
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) < 3:
        return X, None
    if 0 in shape:
        raise DataError(f"X has shape {shape}; give at least 2 samples that are not empty.")
    return X.reshape(shape[0], math.prod(shape[1:])), tuple(shape[1:])


def _count(rank: Any, values: Array) -> int:
    if isinstance(rank, Integral) and not isinstance(rank, bool) and int(rank) >= 1:
        if int(rank) > len(values):
            warn(
                f"a mode of length {len(values)} has fewer than the {rank} components asked for; "
                "all of them are kept.",
                RankWarning,
            )
        return min(int(rank), len(values))
    if isinstance(rank, Real) and not isinstance(rank, Integral) and 0 < float(rank) <= 1:
        shares = np.cumsum(values) / values.sum()
        return min(int((shares < float(rank) * (1 - 1e-12)).sum()) + 1, len(values))
    raise DataError(
        f"{rank!r} as a rank: give a whole number of 1 or more, or a share of the variance above 0 "
        "and up to 1.0."
    )
