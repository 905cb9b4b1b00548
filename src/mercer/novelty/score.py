r"""Novelty scores on a Subspace (Hoffmann 2007; Hotelling's T²), all of one form.

.. math:: s(x) = \sum_k a_k\, z_k(x)^2 + \rho\, r(x)

Scores :math:`z` measure a point inside the subspace, the residual :math:`r` outside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks, thread_map
from mercer._types import RowsLike
from mercer.exceptions import DataError
from mercer.kernels.jacobian import weighted_gradient
from mercer.sparse_rows import SparseRows
from mercer.subspace import Subspace

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
            if isinstance(S.support, SparseRows):
                slope = weighted_gradient(S.kernel, X[rows], S.support, G)
            else:
                slope = S.kernel.gradient(X[rows], S.support, G)
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
    if kind not in KINDS:
        raise DataError(
            f"measure={kind!r} is not known; give one of {', '.join(map(repr, KINDS))}."
        )
    inside, outside = KINDS[kind](np.asarray(variance))
    return NoveltyScore(subspace, inside.astype(subspace.coef.dtype, copy=False), outside)


#: Name → (a, ρ) from the variances λ.
KINDS: dict[str, Callable[[Array], tuple[Array, float]]] = {
    "reconstruction": lambda lam: (np.zeros_like(lam), 1.0),
    "hotelling": lambda lam: (1 / lam, 0.0),
    "combined": lambda lam: (1 / lam, float(1 / lam[-1])),
}
