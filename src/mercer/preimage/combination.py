r"""Pre-images of sparse rows: weighted means of a few support rows each."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from mercer._base.machine import blocks, thread_map
from mercer._base.types import Array, Rows
from mercer.exceptions import KernelError
from mercer.model import Subspace
from mercer.points.sparse import SparseRows
from mercer.points.tiles import Tiles
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, Status, check_codes
from mercer.preimage.nearest import FromStart

#: Rows whose weights on all support points are held at a time.
ROWS = 256


class Combination(PreImageSolver):
    r"""Mika's fixed point for sparse rows: convex combinations of ``rows`` support rows.

    .. math:: z \leftarrow \frac{\sum_{i \in N} \delta_i^+ s_i}{\sum_{i \in N} \delta_i^+}, \qquad
              \delta_i = \gamma_i\, k'(\|z - s_i\|^2), \qquad \gamma = c + B z(x)

    with N the support rows of the largest weights. As in :class:`FixedPoint`, but weights below
    zero, and all but the largest, are left out: the point has entries only where these few rows
    have some, counts stay counts above zero, and nothing of the size n × d is dense.

    Parameters
    ----------
    rows : int, default=128
        The largest number of support rows that make up a point. The more, the nearer to the fixed
        point of dense rows, and the more entries.
    tol : float, default=1e-3
        Steps below ``tol`` times the kernel's length count as converged.
    max_iter : int, default=100

    Notes
    -----
    O(m entries) time per point and sweep; O(256 m) memory per thread. A point that no support row
    pulls is restarted at the support row nearest in feature space, and its status says so.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import random_array
    >>> from mercer import KernelPCA
    >>> X = random_array((200, 1000), density=0.02, format="csr", rng=np.random.default_rng(0))
    >>> model = KernelPCA(20, preimage="combination").fit(X)
    >>> model.denoise(X[:3]).shape
    (3, 1000)
    """

    requires: ClassVar[tuple[str, ...]] = ("radial",)

    def __init__(self, rows: int = 128, tol: float = 1e-3, max_iter: int = 100) -> None:
        self.rows = rows
        self.tol = tol
        self.max_iter = max_iter

    def init(self, subspace: Subspace) -> BoundPreImage:
        self.check_kernel(subspace.kernel)
        if min(self.rows, self.max_iter) < 1 or not self.tol >= 0:
            raise KernelError(f"{self!r}: give rows and max_iter of at least 1, tol of at least 0.")
        if not subspace.points.is_sparse:
            raise KernelError("Combination is not for dense rows; use preimage='fixed_point'.")
        support = subspace.support.to_scipy()
        return _BoundCombination(self, subspace, subspace.kernel.radial, support)


@dataclass(frozen=True)
class _BoundCombination(FromStart):
    radial: Any  # the kernel without a factor before it, which cancels
    support: Any  # (m, d) as SciPy has it

    def solve(self, Z: Array, start: Rows | None = None) -> PreImages:
        Z = check_codes(Z.astype(self.subspace.coef.dtype, copy=False))
        first = SparseRows.of(self.begin(Z, start))
        parts = thread_map(lambda i: self._iterate(Z[i], first[i]), blocks(len(Z), ROWS))
        points, rounds, status = zip(*parts, strict=True)
        ends = np.concatenate(status)
        good = (ends == Status.CONVERGED) | (ends == Status.RESTARTED)
        return PreImages(points[0].joined(*points[1:]), good, np.concatenate(rounds), ends)

    def _iterate(self, Z: Array, at: SparseRows) -> tuple[SparseRows, Array, Array]:
        G = self.subspace.expansion(Z)
        # What each will have come to when it settles.
        status = np.full(len(Z), Status.CONVERGED, dtype="U15")
        rounds, running = np.zeros(len(Z), dtype=int), np.arange(len(Z))
        small = (self.config.tol * self.radial.length) ** 2
        for _ in range(self.config.max_iter):
            image, pulled = self._image(at[running], G[running])
            rounds[running] += 1
            lost = running[~pulled]
            if lost.size:  # once at the nearest support row; a second time it has failed
                image = _replaced(image, ~pulled, self.nearest.solve(Z[lost]).points)
                again = status[lost] == Status.RESTARTED
                status[lost] = np.where(again, Status.FAILED, Status.RESTARTED)
            settled = pulled & (image.squared_differences(at[running]) <= small)
            at = _replaced(at, running, image)
            running = running[~settled & (status[running] != Status.FAILED)]
            if not running.size:
                break
        status[running] = Status.LIMIT
        return at, rounds, status

    def _image(self, at: SparseRows, G: Array) -> tuple[SparseRows, Array]:
        """One step of the iteration, and where there was a weight above zero."""
        radial, basis = self.radial, self.subspace.basis
        tiles = Tiles(radial.arguments, basis.pack(at), basis.packed, G.dtype)
        W = np.empty_like(G)
        for columns, t in tiles.of_rows(slice(0, len(G))):
            W[:, columns] = radial.profile_and_slope(t)[1]
        W = np.maximum(W * G, 0)  # Mika eq. (9)
        m = W.shape[1]
        kept = min(self.config.rows, m)
        which = np.sort(np.argpartition(W, m - kept, axis=1)[:, m - kept :], axis=1)
        weights = np.take_along_axis(W, which, axis=1)
        total = weights.sum(axis=1, keepdims=True)
        weights /= np.where(total > 0, total, 1)
        starts = np.arange(0, which.size + 1, kept)
        C = csr_array((weights.ravel(), which.ravel(), starts), shape=W.shape)
        return SparseRows.of(C @ self.support, G.dtype), total[:, 0] > 0


def _replaced(rows: SparseRows, which: Array, new: SparseRows) -> SparseRows:
    """The rows, with new ones in the places of some."""
    order = np.arange(len(rows))
    order[which] = len(rows) + np.arange(len(new))
    return rows.joined(new)[order]
