"""Non-negative and robust multilinear PCA of tensors, decomposed by TensorLy."""

import math
from dataclasses import KW_ONLY
from functools import reduce
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.preprocessing import normalize

from mercer._base import numbers, optional
from mercer._base.config import with_parameters
from mercer._base.types import Array, Seed
from mercer.alternatives import _base as base
from mercer.alternatives import multilinear
from mercer.alternatives.robust_pca import RobustPCA, split_rows
from mercer.exceptions import DataError


@with_parameters
class NonNegativeMultilinearPCA(multilinear.TensorAlternative, base.ReversibleAlternative):
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
    Needs TensorLy. Slower than :class:`MultilinearPCA`, and with a larger error for the same ranks:
    the price of interpretable parts.

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

    _takes = ("three_d_array", "positive_only")
    _saved = ("factors_", "ranks_", "tensor_shape_", "error_", "n_iter_", *base.SEEN)

    ranks: multilinear.Ranks = 0.97
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 100
    random_state: Seed = 0

    def _learn(self, tensors: Array, dtype: np.dtype) -> None:
        _check_sign(tensors, type(self).__name__)
        tensors = tensors / base.largest_entry(tensors)
        counts = multilinear.count_ranks(self.ranks, [p[0] for p in multilinear.axes(tensors)])
        (_, factors), errors = _tensorly(
            "non_negative_tucker_hals",
            tensors,
            rank=[min(len(tensors), math.prod(counts)), *counts],
            n_iter_max=self.max_iter,
            tol=self.tol,
            random_state=int(numbers.make_rng(self.random_state).integers(2**31)),
        )
        self.factors_ = [normalize(np.asarray(U), axis=0).astype(dtype) for U in factors[1:]]
        self.ranks_ = counts
        self.error_, self.n_iter_ = float(errors[-1]), len(errors)
        change = abs(float(errors[-1] - errors[-2])) if len(errors) > 1 else np.inf
        if change > self.tol:
            base.warn_unsettled(f"the error still changed by {change:.1e} in step {self.n_iter_}")

    def _encode(self, tensors: Array) -> Array:
        _check_sign(tensors, type(self).__name__)
        scale = tensors.max() or 1.0
        # Non-negative least squares in the span of the factors' products, which is small.
        Q, R = np.linalg.qr(reduce(np.kron, [U.astype(np.float64) for U in self.factors_]))
        inside = tensors.reshape(len(tensors), -1) / scale @ Q
        return np.array([scale * nnls(R, sample, maxiter=100 * len(R))[0] for sample in inside])

    def _decode(self, cores: Array) -> Array:
        return multilinear.expand(cores, self.factors_)


def _check_sign(X: Array, name: str) -> None:
    if X.min() < 0:
        first = tuple(int(i) for i in np.argwhere(X < 0)[0])
        # scikit-learn's checks look for the first words.
        wrong = f"Negative values in data passed to {name}: {X[first]:.4g} at {first} is the first"
        raise DataError(f"{wrong}; shift the data, or use MultilinearPCA.")


#: Growth of TensorLy's penalty in each step: slow enough not to freeze short of the minimum.
GROWTH = 1.1


@with_parameters
class RobustMultilinearPCA(multilinear.TensorAlternative, base.ReversibleAlternative):
    r"""Multilinear PCA of tensors with gross errors in some of their entries.

    TensorLy's robust tensor PCA splits the samples into a part whose unfoldings all have low rank
    and a sparse part,

    .. math:: \min \sum_k \|L_{(k)}\|_* + \lambda \|S\|_1 \quad \text{subject to } L + S = X,

    and :class:`MultilinearPCA` is fitted to L. New samples are split with the factors held fast.

    Parameters
    ----------
    ranks : int, float or sequence of those, default=0.97
        As for :class:`MultilinearPCA`.
    penalty : float, optional
        λ. By default 1.5 times the sum over all modes, the samples' included, of
        :math:`1/\sqrt{m}` with m the longer side of the mode's unfolding: the universal choice
        for matrices, mode by mode, and a factor for what the modes know of each other (ours).
    tol : float, default=1e-6
        Bar for ‖X − L − S‖/‖X‖.
    max_iter : int, default=300

    Attributes
    ----------
    low_rank_, sparse_ : (n, d1, …, dK) arrays
        L and S of the training samples.
    model_ : MultilinearPCA
        Fitted to ``low_rank_``.
    ranks_, tensor_shape_ : tuples
        Shapes of a core and of a sample.
    penalty_ : float
    n_iter_ : int

    Notes
    -----
    Needs TensorLy. A complete decomposition of every unfolding in every
    step, and so the most costly method here. Not for whole samples that are outliers.

    References
    ----------
    D. Goldfarb & Z. Qin, "Robust low-rank tensor recovery: models and algorithms", SIAM Journal on
    Matrix Analysis and Applications 35, 2014; TensorLy: J. Kossaifi, Y. Panagakis, A. Anandkumar &
    M. Pantic, Journal of Machine Learning Research 20, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.alternatives import RobustMultilinearPCA
    >>> rng = np.random.default_rng(0)
    >>> cores = rng.standard_normal((40, 2, 2))
    >>> U, V = rng.standard_normal((15, 2)), rng.standard_normal((12, 2))
    >>> clean = np.einsum("nab,ia,jb->nij", cores, U, V)
    >>> wrong = rng.random(clean.shape) < 0.05
    >>> model = RobustMultilinearPCA(2).fit(clean + 20 * wrong)
    >>> bool(np.abs(model.low_rank_ - clean).max() < 1e-3)
    True
    """

    _saved = ("model_", "ranks_", "tensor_shape_", "penalty_", "n_iter_", *base.SEEN)

    split = RobustPCA.split

    ranks: multilinear.Ranks = 0.97
    _: KW_ONLY
    penalty: float | None = None
    tol: float = 1e-6
    max_iter: int = 300

    def _learn(self, tensors: Array, dtype: np.dtype) -> None:
        scale = base.largest_entry(tensors)
        n, shape = tensors.size, tensors.shape
        universal = 1.5 * sum(1 / math.sqrt(max(length, n / length)) for length in shape)
        self.penalty_ = float(universal if self.penalty is None else self.penalty)
        low_rank, sparse = self._decompose(tensors / scale)
        self.low_rank_ = (scale * low_rank).astype(dtype)
        self.sparse_ = (scale * sparse).astype(dtype)
        self.model_ = multilinear.MultilinearPCA(self.ranks).fit(self.low_rank_)
        self.ranks_ = self.model_.ranks_

    def _encode(self, tensors: Array) -> Array:
        return self.model_._encode(self._split(tensors))

    def _decode(self, cores: Array) -> Array:
        return self.model_._decode(cores)

    def _split(self, tensors: Array) -> Array:
        """The low-rank part, with the factors held fast."""
        mean = self.model_.mean_.astype(np.float64)
        factors = [U.astype(np.float64) for U in self.model_.factors_]

        def onto(rows: Array) -> Array:
            cores = multilinear.project(rows.reshape(-1, *self.tensor_shape_), factors)
            return multilinear.expand(cores, factors).reshape(len(rows), -1)

        low_rank, _ = split_rows((tensors - mean).reshape(len(tensors), -1), onto)
        return low_rank.reshape(tensors.shape) + mean

    def _decompose(self, tensors: Array) -> tuple[Array, Array]:
        size = float(np.linalg.norm(tensors))
        unfolded = [np.moveaxis(tensors, k, 0).reshape(n, -1) for k, n in enumerate(tensors.shape)]
        largest = max(np.linalg.norm(matrix, 2) for matrix in unfolded)
        low_rank, sparse, errors = _tensorly(
            "robust_pca",
            tensors,
            tol=self.tol * size,
            reg_E=self.penalty_,
            mu_init=1.25 / float(largest),
            mu_max=1e12,
            learning_rate=GROWTH,
            n_iter_max=self.max_iter,
            verbose=0,
        )
        self.n_iter_ = len(errors)
        if errors[-1] > self.tol * size:
            steps = f"after {len(errors)} steps with a residual of {errors[-1] / size:.1e}"
            base.warn_unsettled(f"robust tensor PCA stopped {steps}")
        return np.asarray(low_rank), np.asarray(sparse)


def _tensorly(method: str, tensors: Array, **options: object) -> Any:
    """TensorLy's decomposition of that name, on NumPy's arrays, and its errors."""
    decompose = getattr(optional.require("tensorly.decomposition", "tensor"), method)
    with optional.require("tensorly", "tensor").backend_context("numpy"):
        return decompose(tensors, return_errors=True, **options)
