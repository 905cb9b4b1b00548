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

import numpy as np

from mercer._base.linalg import first_unlike
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.gram import ProbedGram
from mercer.kernels import Kernel

#: Rows that are drawn from, for each one taken: copies of a row are no news.
POOL = 4
#: Rows that are more similar than this are in one group, and a single one stands for it.
SIMILAR = 0.3
#: Shares of a row outside of V below this one are rounding.
FAINT = 1e-2
#: Rows that an eigenvector lives on, at most, to be local; and how many rows may be those at which
#: one peaks, if each of them is to be looked at.
FEW, CANDIDATES = 16, 512
#: Share of the largest entry below which a direction of the sampled columns is rounding.
NEGLIGIBLE = 1e-3


def unexplained_rows(operator: ProbedGram, V: Array, W: Array, count: int, bar: float) -> Array:
    """The numbers of rows around which most of the matrix lies outside of V, W = A V.

    Three quarters by what lies around them, the others by the diagonal; of different groups as far
    as there are any. And all at which an eigenvector of few rows may peak, with an eigenvalue above
    ``bar``.
    """
    # The diagonal of D where V is invariant.
    left = operator.diagonal() - np.einsum("ij,ij->i", V, W)
    around = _around(operator, V, W, left)
    taken, few = np.empty(0, dtype=np.intp), count // 4
    for score, many in ((around, count - few), (left, few)):
        size = min(operator.n, POOL * many)
        pool = np.argpartition(-score, size - 1)[:size]
        pool = np.setdiff1d(pool[np.argsort(-score[pool])], taken, assume_unique=True)
        taken = np.append(taken, pool[_different(operator, pool, many)])
    peaks = np.flatnonzero((left * FEW > bar) & (peak_bounds(operator) > bar))
    return np.union1d(taken, peaks) if len(peaks) <= min(operator.n // 2, CANDIDATES) else taken


def peak_bounds(operator: ProbedGram) -> Array:
    """How large the eigenvalue of a vector of few rows can be that peaks at a row, (n,).

    With weights it is ``v_i / u_i`` that peaks there; centring adds ``|P K u| u_i / |v_i|``.
    """
    rows, u = operator.packed_rows(), operator.direction
    if rows is None or not _is_positive(rows.kernel):
        return np.full(operator.n, np.inf)
    product = operator.mean_product
    spread = np.linalg.norm(product - u * (u @ product))
    return np.asarray(product / np.maximum(u, np.finfo(u.dtype).tiny) + np.sqrt(FEW) * spread * u)


def _is_positive(kernel: Kernel) -> bool:
    """Whether the kernel has no negative values, as far as it is known."""
    if kernel.parts:
        return all(_is_positive(part) for part in kernel.parts)
    return kernel.radial is not None


def outer_pairs(A: Array, V: Array, W: Array, index: Array, scale: float) -> tuple[Array, Array]:
    """Lower bounds of the leading eigenvalues outside of V, decreasing, and Y: vectors are ``A Y``.

    Parameters
    ----------
    A : (n, b) columns of the matrix, overwritten by what is outside of V
    V, W : (n, k) orthonormal vectors, and their products with the matrix
    index : (b,) which columns
    scale : the largest entry of the matrix
    """
    A -= W @ V[index].T
    A -= V @ (V.T @ A)
    H = A[index]
    s, Q = np.linalg.eigh((H + H.T) / 2)
    keep = s > NEGLIGIBLE * scale
    R = Q[:, keep] / np.sqrt(s[keep])
    bounds, Y = np.linalg.eigh(R.T @ (A.T @ A) @ R)
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


def _different(operator: ProbedGram, pool: Array, count: int) -> Array:
    """Positions of rows of different groups, best first; filled up by chance."""
    chosen = first_unlike(operator.base.block(pool, pool), SIMILAR, count)
    if len(chosen) == count:
        return chosen
    others = np.setdiff1d(np.arange(len(pool)), chosen)
    more = fixed_rng(2).permutation(others)[: count - len(chosen)]
    return np.append(chosen, more)
