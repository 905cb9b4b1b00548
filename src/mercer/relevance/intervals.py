"""Intervals, and those of relevance: how it changes when the components turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._base.machine import blocks, thread_map
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.kernels.jacobian import jacobian
from mercer.points import as_points

#: Replicates that relevance is measured on.
REPLICATES = 100
#: Derivatives that may be held at once for sparse rows, which have many variables.
MOST_ENTRIES = 1 << 26


@dataclass(frozen=True)
class Interval:
    """An estimate with its lower and upper limit, arrays of one shape."""

    estimate: Array
    low: Array
    high: Array

    def times(self, factor: float) -> Interval:
        """On another scale."""
        return Interval(self.estimate * factor, self.low * factor, self.high * factor)

    def contains(self, value: Any) -> Array:
        """Where the value lies between the limits."""
        return np.asarray((self.low <= value) & (value <= self.high))


def relevance_interval(resamples: Any, level: float) -> Interval:
    """Of the shares of relevance, (q, d), from components that turned and rows that were drawn.

    A component of a resample is ``sum_l V_lk w_l``, and so are its derivatives: those of the
    leading 2 q directions at a few hundred rows tell the relevance in every replicate.
    """
    R = resamples
    q = R.turns.shape[2]
    points, coef = R.directions.coefficients()
    V, rows = R.turns[:REPLICATES, : 2 * q], _dense_rows(R.rows, 2 * q)
    kernel = R.directions.subspace.kernel
    parts = thread_map(
        lambda part: jacobian(kernel, rows[part], points, coef[:, : 2 * q]),
        blocks(len(rows), 64),
    )
    J = np.concatenate(parts).astype(np.float64)
    n, p, d = J.shape
    mean = R.row_weight @ rows / R.row_weight.sum()
    variance = R.row_weight @ (rows - mean) ** 2 / R.row_weight.sum()
    columns = np.moveaxis(J, 1, 0).reshape(p, n * d)
    # The rows at hand stand for all: their weights vary as those of n rows would.
    damped = 1 + (R.weights - 1) * np.sqrt(min(1.0, n / R.n_rows))

    def shares(turn: Array, weight: Array) -> Array:
        squares = np.square(turn.T @ columns).reshape(-1, n, d)
        found = np.einsum("a,kaj->kj", weight, squares) * variance
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    estimate = shares(np.eye(p, q), R.row_weight)
    drawn = np.stack(
        thread_map(lambda b: shares(V[b], R.row_weight * damped[b, R.group]), list(range(len(V))))
    )
    # On the log, around the estimate: turning spreads relevance, which is a bias.
    logs = np.log(np.maximum(drawn, 1e-300))
    low, high = np.quantile(logs - logs.mean(axis=0), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(estimate, estimate * np.exp(low), np.minimum(estimate * np.exp(high), 1.0))


def _dense_rows(rows: Any, components: int) -> Array:
    """The rows; sparse ones dense, if the derivatives of so many components can be held."""
    points = as_points(rows)
    entries = len(points) * components * points.width
    if points.is_sparse and entries > MOST_ENTRIES:
        raise DataError(
            f"intervals of relevance need the derivatives of {components} components by all "
            f"{points.width} variables at {len(points)} rows, {entries * 8 >> 20} MB; fit fewer "
            "components or variables (max_features of the vectorizer), or use relevance() alone."
        )
    return np.asarray(points.to_dense())
