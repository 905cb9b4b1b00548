r"""Which variables made a point new: the score, divided among them.

Along the straight line from a reference :math:`p` (the same point as the model would have it) to
:math:`x` the score changes by

.. math:: s(x) - s(p) = \sum_j \underbrace{(x_j - p_j) \int_0^1 \partial_j s(p + t(x - p))\, dt}
          _{\text{contribution of variable } j}

(integrated gradients, Sundararajan, Taly & Yan 2017): nothing is left over, and a variable in which
the point agrees with its reference contributes nothing. So contributions of sparse rows are sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._parallel import blocks, held
from mercer._progress import announce
from mercer._types import RowsLike
from mercer.exceptions import KernelError
from mercer.novelty.score import NoveltyScore
from mercer.sparse_rows import SparseRows, concatenate, dense

#: Nodes of the Gauss-Legendre rule along the line.
NODES = 8
#: Entries of sparse rows that are dense at one time.
ENTRIES = 1 << 22


@held
def contributions(score: NoveltyScore, X: RowsLike, reference: RowsLike, nodes: int = NODES) -> Any:
    """Each variable's part in the score, (n, d); rows sum to ``score(X) - score(reference)``.

    Of sparse rows and references they are sparse; some rows at a time are made dense, 32 MB.

    Parameters
    ----------
    score : NoveltyScore
    X : (n, d) points to explain, sparse or not
    reference : (n, d) points to compare with, e.g. pre-images of the projections
    nodes : int, default=8
        Places along the line at which the gradient is taken. O(nodes · n m (d + q)) time.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.novelty import contributions, novelty_score
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> model = KernelPCA(10).fit(X)
    >>> score = novelty_score("reconstruction", model.subspace_, model.explained_variance_)
    >>> strange = np.array([[0.1, 4.0, -0.2]])
    >>> int(contributions(score, strange, model.denoise(strange)).argmax())
    1
    """
    if not score.subspace.points.can_wait:
        raise KernelError(
            f"{score.subspace.kernel!r} has no variables that could contribute; "
            "use a kernel of vectors."
        )
    if isinstance(X, SparseRows) and isinstance(reference, SparseRows):
        return concatenate(
            [
                _of_sparse(score, X[rows], reference[rows], nodes)
                for rows in blocks(len(X), max(1, ENTRIES // X.width))
            ]
        )
    return _along_the_line(score, dense(X), dense(reference), nodes)


def _of_sparse(score: NoveltyScore, X: SparseRows, reference: SparseRows, nodes: int) -> SparseRows:
    """At the places in which a row and its reference differ; elsewhere it is zero."""
    places = SparseRows.of(X.to_scipy() - reference.to_scipy())
    found = _along_the_line(score, X.to_dense(), reference.to_dense(), nodes)
    return places.with_data(found[places.row_numbers(), places.indices])


def _along_the_line(score: NoveltyScore, X: Array, reference: Array, nodes: int) -> Array:
    places, weights = np.polynomial.legendre.leggauss(nodes)
    step = X - reference
    mean_slope = np.zeros_like(step)
    for done, (place, weight) in enumerate(zip(places, weights, strict=True)):
        announce("contributions", done, nodes)
        u = (1 + place) / 2  # from [-1, 1] to [0, 1]
        # t = u², dt = 2u du: most places near the reference, because a bounded kernel saturates
        # within a few lengths of the data, however far away x is.
        mean_slope += weight * u * score.gradient(reference + u**2 * step)
    return np.asarray(step * mean_slope)
