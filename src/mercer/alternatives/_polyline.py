"""A curve as a fine polygon, run through at unit speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from mercer._linalg import Array, square_sums


@dataclass(frozen=True)
class Polyline:
    """Nodes, and the length of the curve up to each; a closed one ends where it begins."""

    nodes: Array
    arc: Array
    closed: bool

    @classmethod
    def through(cls, nodes: Array, *, closed: bool) -> Self:
        """The polygon through the nodes; the first is repeated at the end if it is closed."""
        if closed:
            nodes = np.vstack([nodes, nodes[:1]])
        steps = np.sqrt(square_sums(np.diff(nodes, axis=0)))
        return cls(nodes, np.concatenate([[0.0], np.cumsum(steps)]), closed)

    @property
    def length(self) -> float:
        """Length of the curve."""
        return float(self.arc[-1])

    def at(self, t: Array) -> Array:
        """The points at arc lengths t, (n, d)."""
        i = np.clip(np.searchsorted(self.arc, t, side="right") - 1, 0, len(self.nodes) - 2)
        step = self.arc[i + 1] - self.arc[i]
        part = np.divide(t - self.arc[i], step, out=np.zeros_like(t), where=step > 0)
        return np.asarray(self.nodes[i] + part[:, None] * (self.nodes[i + 1] - self.nodes[i]))

    def project(self, X: Array) -> tuple[Array, Array]:
        """Arc length of the nearest point of the curve, and the squared distance to it.

        The nearest node is found first, then the nearest point on the two pieces that meet there:
        right up to the distance between two nodes. O(n m d) time for m nodes.
        """
        last = len(self.nodes) - 1
        # Without the repeated first node of closed curves, so that ties do not occur.
        near = pairwise_distances_argmin(X, self.nodes[:-1] if self.closed else self.nodes)
        before = (near - 1) % last if self.closed else np.maximum(near - 1, 0)
        after = np.minimum(near, last - 1)
        (t1, d1), (t2, d2) = self._onto_piece(X, before), self._onto_piece(X, after)
        t = np.where(d1 < d2, t1, t2)
        if self.closed:
            t = np.where(t >= self.length * (1 - 1e-12), 0.0, t)
        return t, np.minimum(d1, d2)

    def _onto_piece(self, X: Array, i: Array) -> tuple[Array, Array]:
        start, along = self.nodes[i], self.nodes[i + 1] - self.nodes[i]
        size = square_sums(along)
        part = np.einsum("ij,ij->i", X - start, along)
        part = np.clip(np.divide(part, size, out=np.zeros_like(part), where=size > 0), 0, 1)
        apart = X - start - part[:, None] * along
        return self.arc[i] + part * np.sqrt(size), square_sums(apart)
