"""Robust multilinear PCA: gross errors are split off the tensors first, through TensorLy."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from mercer._base.numbers import check_positive
from mercer._base.types import Array, ArrayLike, RowsLike, Targets
from mercer.alternatives._base import SEEN, ReversibleAlternative
from mercer.alternatives._split_rows import split_rows
from mercer.alternatives._tensor import Ranks, TensorAlternative, expand, project, require_tensorly
from mercer.alternatives.multilinear_pca import MultilinearPCA
from mercer.estimators.door import verb
from mercer.exceptions import ConvergenceWarning, DataError, warn

#: Growth of TensorLy's penalty in each step: slow enough not to freeze short of the minimum.
GROWTH = 1.1


class RobustMultilinearPCA(TensorAlternative, ReversibleAlternative):
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

    _saved: ClassVar[tuple[str, ...]] = (
        "model_",
        "ranks_",
        "tensor_shape_",
        "penalty_",
        "n_iter_",
        *SEEN,
    )

    def __init__(
        self,
        ranks: Ranks = 0.97,
        *,
        penalty: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 300,
    ) -> None:
        self.ranks = ranks
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter

    @verb()
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Split the samples, and fit multilinear PCA to the low-rank part.

        Parameters
        ----------
        X : (n, d1, …, dK) array, or (n, d) array or data frame
        y : ignored
        """
        tensorly = require_tensorly()
        if self.penalty is not None:
            check_positive("penalty", self.penalty, instead=", or None")
        self._check_limits()
        tensors, dtype = self._fit_tensors(X)
        scale = float(np.abs(tensors).max())
        if scale == 0:
            raise DataError("all entries are zero; give samples with something in them.")
        self.penalty_ = float(_universal(tensors.shape) if self.penalty is None else self.penalty)
        low_rank, sparse = self._decompose(tensorly, tensors / scale)
        self.low_rank_ = (scale * low_rank).astype(dtype)
        self.sparse_ = (scale * sparse).astype(dtype)
        self.model_ = MultilinearPCA(self.ranks).fit(self.low_rank_)
        self.ranks_ = self.model_.ranks_
        return self

    @verb()
    def transform(self, X: RowsLike) -> Array:
        """Cores of the low-rank part of samples, flattened, (n, p1 ⋯ pK)."""
        return self.model_.transform(self.split(X)[0])

    @verb()
    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Samples of the low-rank model with the given cores, (n, d1, …, dK)."""
        cores, dtype = self._check_cores(Z)
        return np.asarray(self.model_.inverse_transform(cores).astype(dtype))

    @verb()
    def split(self, X: RowsLike) -> tuple[Array, Array]:
        """The low-rank and the sparse part of new samples, two (n, d1, …, dK) arrays."""
        tensors, dtype = self._new_samples(X)
        shape, mean = tensors.shape, self.model_.mean_.astype(np.float64)
        factors = [U.astype(np.float64) for U in self.model_.factors_]

        def onto(rows: Array) -> Array:
            cores = project(rows.reshape(-1, *self.tensor_shape_), factors)
            return expand(cores, factors).reshape(len(rows), -1)

        low_rank, _ = split_rows((tensors - mean).reshape(len(tensors), -1), onto)
        low_rank = low_rank.reshape(shape) + mean
        return low_rank.astype(dtype), (tensors - low_rank).astype(dtype)

    def _decompose(self, tensorly: Any, tensors: Array) -> tuple[Array, Array]:
        size = float(np.linalg.norm(tensors))
        unfolded = [np.moveaxis(tensors, k, 0).reshape(n, -1) for k, n in enumerate(tensors.shape)]
        largest = max(np.linalg.norm(matrix, 2) for matrix in unfolded)
        with tensorly.backend_context("numpy"):
            low_rank, sparse, errors = tensorly.decomposition.robust_pca(
                tensors,
                tol=self.tol * size,
                reg_E=self.penalty_,
                mu_init=1.25 / float(largest),
                mu_max=1e12,
                learning_rate=GROWTH,
                n_iter_max=self.max_iter,
                return_errors=True,
                verbose=0,
            )
        self.n_iter_ = len(errors)
        if errors[-1] > self.tol * size:
            warn(
                f"robust tensor PCA stopped after {len(errors)} steps with a residual of "
                f"{errors[-1] / size:.1e}; raise max_iter or tol.",
                ConvergenceWarning,
            )
        return np.asarray(low_rank), np.asarray(sparse)


def _universal(shape: tuple[int, ...]) -> float:
    entries = math.prod(shape)
    return 1.5 * sum(1 / math.sqrt(max(length, entries / length)) for length in shape)
