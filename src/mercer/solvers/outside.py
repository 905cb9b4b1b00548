r"""What a search space does not see: eigenvalues whose vectors are orthogonal to it.

Rows that repeat under a narrow kernel make K nearly block-diagonal. A search space that knows some
of the blocks is invariant, its residuals are zero, and nothing in it points to the other blocks.
So one has to look from outside, at the deflated matrix :math:`D = (I - VV^\top) A (I - VV^\top)`:

- its products with a few vectors of signs that neighbours share add up over a group of rows that V
  misses, and so tell around which rows most of it lies. They ride along with the first pass;
- the columns of D at some of these rows give, as in Nyström's method,
  :math:`C\,D_{II}^{-1} C^\top \preceq D` with :math:`C = D_{:I}`. Eigenvalues of the left side are
  *lower* bounds of those of D: one above the last eigenvalue kept proves that it was missed.

Groups of a few rows are lost among the sums of thousands. But an eigenvector v of a kernel without
negative values, :math:`\mu v_i = \sum_j K_{ij} v_j`, peaks at a row with
:math:`\mu \le \sum_j K_{ij}`, and holds :math:`\mu v_i^2 \le D_{ii}` there. Where only some rows
have such a sum, all of them are looked at, and no eigenvector that lives on few rows is missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._base.linalg import first_unlike, is_positive
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram import CenteredGram, ProbedGram

#: Rows that are drawn from, for each one taken: copies of a row are no news.
POOL = 4
#: Rows that are more similar than this are in one group, and a single one stands for it.
SIMILAR = 0.3
#: Shares of a row outside of V below this one are rounding.
FAINT = 1e-2
#: An eigenvector that lives on so few rows is looked for at each row at which it may peak, if these
#: are at most that share of all, and :data:`CANDIDATES`: more would cost as much as the fit.
FEW, CANDIDATES = {16: 1 / 16, 4: 1 / 2}, 512
#: Share of the largest entry below which a direction of the sampled columns is rounding.
NEGLIGIBLE = 1e-3
#: What is added to the diagonal, beside the largest entry, before directions are compared.
ROUNDED = 1e-6


@dataclass(frozen=True)
class Outside:
    """How much of a matrix A lies outside of V around each row."""

    operator: ProbedGram  #: A
    left: Array  #: (n,) the diagonal of D where V is invariant
    around: Array  #: (n,) an estimate of the largest eigenvalue of D around each row

    @classmethod
    def of(cls, operator: ProbedGram, V: Array, W: Array) -> Outside:
        """Outside of V, with W = A V."""
        left = operator.diagonal() - np.einsum("ij,ij->i", V, W)
        return cls(operator, left, _around(operator, V, W, left))

    def rows(self, count: int, bar: float) -> Array:
        """Rows around which most of the matrix is left, of different groups if there are any.

        Three quarters by what lies around them, the others by the diagonal; and all rows at which
        an eigenvector of few rows may peak that has an eigenvalue above ``bar``.
        """
        few, taken = count // 4, np.empty(0, dtype=np.intp)
        for score, many in ((self.around, count - few), (self.left, few)):
            pool = np.setdiff1d(largest(score, POOL * many), taken, assume_unique=True)
            taken = np.append(taken, pool[_different(self.operator, pool, many)])
        return np.union1d(taken, self._peaks(bar))

    def _peaks(self, bar: float) -> Array:
        for few, share in FEW.items():
            may_peak = (self.left * few > bar) & (peak_bounds(self.operator, few) > bar)
            if may_peak.sum() <= min(share * self.operator.n, CANDIDATES):
                return np.flatnonzero(may_peak)
        return np.empty(0, dtype=np.intp)


def peak_bounds(operator: ProbedGram, few: int) -> Array:
    """How large the eigenvalue of a vector of few rows can be that peaks at a row, (n,).

    With weights it is ``v_i / u_i`` that peaks there; centring adds ``|P K u| u_i / |v_i|``.
    """
    basis, u = operator.basis, operator.direction
    if basis is None or not basis.kernel.is_positive:
        return np.full(operator.n, np.inf)
    product = operator.mean_product
    is_centred = isinstance(operator, CenteredGram)
    spread = np.linalg.norm(product - u * (u @ product)) if is_centred else 0.0
    return np.asarray(product / np.maximum(u, np.finfo(u.dtype).tiny) + np.sqrt(few) * spread * u)


def outer_pairs(
    A: Array, V: Array, W: Array, index: Array, scale: float, bar: float
) -> tuple[Array, Array]:
    """Lower bounds of the leading eigenvalues outside of V, decreasing, and Y: vectors are ``A Y``.

    None where all are below ``bar``, which is the rule: ``C H⁻¹ Cᵀ ≺ bar``, and so
    ``Cᵀ C ≺ bar H``, is seen by one factorisation.

    Parameters
    ----------
    A : (n, b) columns of the matrix, overwritten by what is outside of V
    V, W : (n, k) orthonormal vectors, and their products with the matrix
    index : (b,) which columns
    scale : the largest entry of the matrix
    bar : what an eigenvalue outside has to exceed
    """
    A -= W @ V[index].T
    A -= V @ (V.T @ A)
    H = (A[index] + A[index].T) / 2
    square = A.T @ A
    below = (1 - 10 * ROUNDED) * bar  # what is close to the bar is to be computed
    if is_positive(below * (H + ROUNDED * scale * np.eye(len(H))) - square):
        return np.empty(0), np.empty((len(H), 0))
    s, Q = np.linalg.eigh(H)
    keep = s > NEGLIGIBLE * scale
    R = Q[:, keep] / np.sqrt(s[keep])
    bounds, Y = np.linalg.eigh(R.T @ square @ R)
    bounds, Y = bounds[::-1], Y[:, ::-1]
    return bounds, R @ (Y / np.sqrt(np.maximum(bounds, np.finfo(float).tiny)))


def _around(operator: ProbedGram, V: Array, W: Array, left: Array) -> Array:
    """For each row, an estimate of the largest eigenvalue of D around it, (n,).

    Signs that a group of rows shares add up to the group's eigenvalue μ, or to μ√p where V has all
    but a share p of it, of which the diagonal tells.
    """
    u, own = operator.direction, np.abs(operator.diagonal()) + np.finfo(float).tiny
    sums = operator.probe_products - W @ (V.T @ operator.probes)
    sums -= V @ (V.T @ sums)
    share = np.maximum(left / own, FAINT)
    # Weights may be next to nothing; what is divided by them then is rounding.
    u = np.maximum(u, 1e-6 * u.max())
    return np.asarray(np.sqrt((sums**2).mean(axis=1) / share) / u)


def largest(score: Array, count: int) -> Array:
    """Places of the largest numbers, decreasing."""
    count = min(len(score), count)
    places = np.argpartition(-score, count - 1)[:count]
    return np.asarray(places[np.argsort(-score[places])])


def _different(operator: ProbedGram, pool: Array, count: int) -> Array:
    """Positions of rows of different groups, best first; filled up by chance."""
    chosen = first_unlike(operator.base.block(pool, pool), SIMILAR, count)
    if len(chosen) == count:
        return chosen
    others = np.setdiff1d(np.arange(len(pool)), chosen)
    more = fixed_rng(2).permutation(others)[: count - len(chosen)]
    return np.append(chosen, more)
