"""The limited memory of quasi-Newton steps, for many small problems at once (Nocedal 1980)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer._linalg import Array

DEPTH = 6


@dataclass(frozen=True)
class Memory:
    """The last steps s and changes of gradient y of n problems; slots are used in turn."""

    steps: Array  # (n, DEPTH, d)
    changes: Array  # (n, DEPTH, d)
    rho: Array  # (n, DEPTH) 1 / s·y; 0 where a slot is empty
    count: Array  # (n,) pairs recorded so far

    @classmethod
    def start(cls, n: int, d: int) -> Memory:
        """Nothing known yet: the inverse Hessian is the identity."""
        return cls(
            np.zeros((n, DEPTH, d)), np.zeros((n, DEPTH, d)), np.zeros((n, DEPTH)), np.zeros(n, int)
        )

    def update(self, rows: Array, step: Array, change: Array) -> None:
        """Record pairs of positive curvature; others would spoil the approximation."""
        curvature = np.einsum("nd,nd->n", step, change)
        sizes = np.linalg.norm(step, axis=1) * np.linalg.norm(change, axis=1)
        good = curvature > 1e-10 * sizes
        at = rows[good]
        slot = self.count[at] % DEPTH
        self.steps[at, slot], self.changes[at, slot] = step[good], change[good]
        self.rho[at, slot] = 1 / curvature[good]
        self.count[at] += 1

    def apply(self, rows: Array, gradient: Array) -> Array:
        """The approximate inverse Hessian times the gradients, by the two-loop recursion."""
        q = gradient.copy()
        weight = np.zeros((len(rows), DEPTH))
        newest_first = (self.count[rows][:, None] - 1 - np.arange(DEPTH)) % DEPTH
        each = np.arange(len(rows))
        for j in range(DEPTH):
            slot = newest_first[:, j]
            s, y = self.steps[rows, slot], self.changes[rows, slot]
            weight[each, slot] = self.rho[rows, slot] * np.einsum("nd,nd->n", s, q)
            q -= weight[each, slot][:, None] * y
        q *= self._first_guess(rows)[:, None]
        for j in reversed(range(DEPTH)):
            slot = newest_first[:, j]
            s, y = self.steps[rows, slot], self.changes[rows, slot]
            correction = self.rho[rows, slot] * np.einsum("nd,nd->n", y, q)
            q += (weight[each, slot] - correction)[:, None] * s
        return q

    def _first_guess(self, rows: Array) -> Array:
        """``s·y / y·y`` of the newest pair."""
        slot = (self.count[rows] - 1) % DEPTH
        y = self.changes[rows, slot]
        square = np.einsum("nd,nd->n", y, y)
        rho = self.rho[rows, slot]
        known = (rho > 0) & (square > 0)
        return np.where(known, 1 / np.where(known, rho * square, 1), 1.0)
