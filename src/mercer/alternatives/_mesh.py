"""A surface as a grid of nodes with two triangles in each square."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from mercer._linalg import Array, square_sums


@dataclass(frozen=True)
class Place:
    """Where points lie on a mesh: (n, 3) node numbers and weights, and the grid coordinates."""

    corners: Array
    weights: Array
    coordinates: Array
    squared_distance: Array

    def nearer(self, other: Place) -> Place:
        """Of two places for each point, the nearer."""
        closer = other.squared_distance < self.squared_distance
        fields = zip(vars(self).values(), vars(other).values(), strict=True)
        return Place(*(np.where(closer.reshape(-1, *[1] * (a.ndim - 1)), b, a) for a, b in fields))


@dataclass(frozen=True)
class Mesh:
    """Nodes of shape (g, g, d); the point at grid coordinates (i, j) is node [i, j]."""

    nodes: Array

    @property
    def side(self) -> int:
        """Nodes along each side, g."""
        return len(self.nodes)

    @property
    def flat(self) -> Array:
        """Nodes as (g², d)."""
        return self.nodes.reshape(-1, self.nodes.shape[-1])

    def at(self, coordinates: Array) -> Array:
        """The points at grid coordinates between 0 and g - 1, (n, d)."""
        square = np.clip(coordinates.astype(int), 0, self.side - 2)
        part = coordinates - square
        far = part.sum(axis=1) > 1
        part = np.where(far[:, None], 1 - part, part)
        corners = self._corners(square, far)
        return np.asarray(np.einsum("nk,nkd->nd", _weights(part), self.flat[corners]))

    def project(self, X: Array) -> Place:
        """The nearest point of the surface, among the eight triangles around the nearest node.

        O(n g² d) time.
        """
        near = pairwise_distances_argmin(X, self.flat)
        node = np.column_stack([near // self.side, near % self.side])
        places = [
            self._onto(X, np.clip(node - [di, dj], 0, self.side - 2), np.full(len(X), far))
            for di, dj, far in product((0, 1), (0, 1), (False, True))
        ]
        best = places[0]
        for place in places[1:]:
            best = best.nearer(place)
        return best

    def _corners(self, square: Array, far: Array) -> Array:
        """Node numbers of triangles: the near or the far corner of a square, and its neighbours."""
        g = self.side
        first = square[:, 0] * g + square[:, 1]
        near = first[:, None] + [0, g, 1]
        return np.where(far[:, None], first[:, None] + [g + 1, 1, g], near)

    def _onto(self, X: Array, square: Array, far: Array) -> Place:
        """The nearest point in one triangle for each row."""
        corners = self._corners(square, far)
        A, B, C = np.moveaxis(self.flat[corners], 1, 0)
        part = _nearest_in_triangle(X - A, B - A, C - A)
        weights = _weights(part)
        found = np.einsum("nk,nkd->nd", weights, self.flat[corners])
        coordinates = np.where(far[:, None], square + 1 - part, square + part)
        return Place(corners, weights, coordinates, square_sums(X - found))


def _weights(part: Array) -> Array:
    return np.column_stack([1 - part.sum(axis=1), part])


def _nearest_in_triangle(R: Array, E: Array, F: Array) -> Array:
    """(s, t) of the point s E + t F nearest to R with s, t >= 0 and s + t <= 1, (n, 2)."""
    ee, ef, ff = _dots(E, E), _dots(E, F), _dots(F, F)
    er, fr = _dots(E, R), _dots(F, R)
    zero = np.zeros_like(ee)
    along_e = np.clip(_ratio(er, ee), 0, 1)
    along_f = np.clip(_ratio(fr, ff), 0, 1)
    across = np.clip(_ratio(fr - er + ee - ef, ee - 2 * ef + ff), 0, 1)
    determinant = ee * ff - ef**2
    s = _ratio(ff * er - ef * fr, determinant)
    t = _ratio(ee * fr - ef * er, determinant)
    inside = (s >= 0) & (t >= 0) & (s + t <= 1) & (determinant > 0)
    edges = np.stack([[along_e, zero], [zero, along_f], [1 - across, across]])
    S, T = edges[:, 0], edges[:, 1]
    # |R - sE - tF|² without |R|², which is the same for all three edges
    cost = S**2 * ee + 2 * S * T * ef + T**2 * ff - 2 * (S * er + T * fr)
    best = cost.argmin(axis=0)
    rows = np.arange(len(R))
    on_edge = np.column_stack([S[best, rows], T[best, rows]])
    return np.where(inside[:, None], np.column_stack([s, t]), on_edge)


def _dots(A: Array, B: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", A, B))


def _ratio(a: Array, b: Array) -> Array:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
