"""Non-negative multilinear PCA: tensors as sums of non-negative parts, through TensorLy."""

from __future__ import annotations

import math
from typing import ClassVar, Self

import numpy as np

from mercer._base.numbers import make_rng
from mercer._base.sklearn import Tags
from mercer._base.types import Array, ArrayLike, Estimator, RowsLike, Seed, Targets
from mercer.alternatives._base import SEEN, ReversibleAlternative
from mercer.alternatives._tensor import (
    Ranks,
    TensorAlternative,
    count_ranks,
    expand,
    project,
    require_tensorly,
    scatter,
)
from mercer.estimators.door import verb
from mercer.exceptions import ConvergenceWarning, DataError, warn

#: Steps for the codes of new samples, and their bar in units of the largest code.
STEPS, SETTLED = 2000, 1e-8


class NonNegativeMultilinearPCA(TensorAlternative, ReversibleAlternative):
    r"""Non-negative tensors as non-negative cores times non-negative factors.

    .. math:: \min \sum_i \|X_i - Z_i \times_1 U_1 \cdots \times_K U_K\|^2
       \quad \text{with } Z_i \ge 0,\ U_k \ge 0.

    The factors come from TensorLy's non-negative Tucker decomposition (HALS) of all samples
    together; the codes of any samples from non-negative least squares with the factors held fast.
    Nothing is centred: parts add up, and never cancel.

    Parameters
    ----------
    ranks : int, float or sequence of those, default=0.97
        As for :class:`MultilinearPCA`; shares are those of the uncentred scatter.
    tol : float, default=1e-6
        Stop when the relative error changes by less.
    max_iter : int, default=100
    random_state : int, Generator, RandomState or None, default=0

    Attributes
    ----------
    factors_ : list of (dk, pk) arrays
        No entry below zero, columns of unit length.
    ranks_, tensor_shape_ : tuples
    error_ : float
        ‖X − X̂‖/‖X‖ of the training samples.
    n_iter_ : int

    Notes
    -----
    Needs TensorLy. Slower than :class:`MultilinearPCA`, and with a larger
    error for the same ranks: the price of parts that can be looked at.

    References
    ----------
    Y.-D. Kim & S. Choi, "Nonnegative Tucker decomposition", CVPR 2007; TensorLy: J. Kossaifi,
    Y. Panagakis, A. Anandkumar & M. Pantic, Journal of Machine Learning Research 20, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.alternatives import NonNegativeMultilinearPCA
    >>> images = load_digits().images[:100]
    >>> model = NonNegativeMultilinearPCA((5, 4), tol=1e-2).fit(images)
    >>> Z = model.transform(images)
    >>> Z.shape, bool((Z >= 0).all())
    ((100, 20), True)
    """

    _saved: ClassVar[tuple[str, ...]] = (
        "factors_",
        "ranks_",
        "tensor_shape_",
        "error_",
        "n_iter_",
        *SEEN,
    )

    def __init__(
        self,
        ranks: Ranks = 0.97,
        *,
        tol: float = 1e-6,
        max_iter: int = 100,
        random_state: Seed = 0,
    ) -> None:
        self.ranks = ranks
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @verb()
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Find the factors.

        Parameters
        ----------
        X : (n, d1, …, dK) array, or (n, d) array or data frame; no entry below zero
        y : ignored
        """
        tensorly = require_tensorly()
        self._check_limits()
        tensors, dtype = self._fit_tensors(X)
        _check_sign(tensors, self)
        scale = tensors.max()
        if scale == 0:
            raise DataError("all entries are zero; give samples with something in them.")
        tensors = tensors / scale
        spectra = [np.linalg.eigvalsh(scatter(tensors, k))[::-1] for k in range(tensors.ndim - 1)]
        counts = count_ranks(self.ranks, [np.maximum(values, 0.0) for values in spectra])
        with tensorly.backend_context("numpy"):
            (_, factors), errors = tensorly.decomposition.non_negative_tucker_hals(
                tensors,
                rank=[min(len(tensors), math.prod(counts)), *counts],
                n_iter_max=self.max_iter,
                tol=self.tol,
                random_state=int(make_rng(self.random_state).integers(2**31)),
                return_errors=True,
            )
        self.factors_ = [_unit_columns(np.asarray(U)).astype(dtype) for U in factors[1:]]
        self.ranks_ = counts
        self.error_, self.n_iter_ = float(errors[-1]), len(errors)
        change = abs(float(errors[-1] - errors[-2])) if len(errors) > 1 else np.inf
        if change > self.tol:
            warn(
                f"the error still changed by {change:.1e} after {self.n_iter_} steps; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        return self

    @verb()
    def transform(self, X: RowsLike) -> Array:
        """Non-negative cores of samples, flattened, (n, p1 ⋯ pK)."""
        tensors, dtype = self._new_samples(X)
        _check_sign(tensors, self)
        scale = tensors.max() or 1.0
        cores = scale * _codes(tensors / scale, [U.astype(np.float64) for U in self.factors_])
        return np.asarray(cores.reshape(len(cores), -1).astype(dtype))

    @verb()
    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Samples with the given cores, (n, d1, …, dK); Z may be flat or of the cores' shape."""
        cores, dtype = self._check_cores(Z)
        return np.asarray(expand(cores, self.factors_).astype(dtype))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _codes(X: Array, factors: list[Array]) -> Array:
    """Non-negative least squares for the cores, by accelerated projected gradients."""
    grams = [U.T @ U for U in factors]
    right = project(X, factors)
    step = 1 / math.prod(float(np.linalg.eigvalsh(G)[-1]) for G in grams)
    Z = ahead = np.zeros_like(right)
    momentum = np.ones((len(X),) + (1,) * (X.ndim - 1))
    axes = tuple(range(1, X.ndim))
    for _ in range(STEPS):
        gradient = project(ahead, grams) - right
        new = np.maximum(ahead - step * gradient, 0.0)
        change = new - Z
        # Momentum that points uphill is dropped, row by row (O'Donoghue & Candès 2015).
        uphill = ((ahead - new) * change).sum(axis=axes, keepdims=True) > 0
        momentum = np.where(uphill, 1.0, momentum)
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / grown * change
        Z, momentum = new, grown
        if np.abs(change).max() <= SETTLED * max(np.abs(Z).max(), 1e-300):
            break
    return Z


def _unit_columns(U: Array) -> Array:
    size = np.linalg.norm(U, axis=0)
    return np.asarray(U / np.where(size > 0, size, 1.0))


def _check_sign(X: Array, estimator: Estimator) -> None:
    if X.min() < 0:
        first = tuple(int(i) for i in np.argwhere(X < 0)[0])
        # scikit-learn's checks look for the first words.
        raise DataError(
            f"Negative values in data passed to {type(estimator).__name__}: {X[first]:.4g} at "
            f"{first} is the first; shift the data, or use MultilinearPCA."
        )
