r"""Conformal p-values: a score beside the scores of rows that the model has not seen.

If n calibration scores and a new one are exchangeable, the new one is equally likely to take any
of the n + 1 ranks. Whatever the score and the data, therefore

.. math:: p(x) = \frac{1 + \#\{i : s_i \ge s(x)\}}{n + 1}, \qquad P(p(x) \le \alpha) \le \alpha

(Vovk, Gammerman & Shafer 2005; Laxhammar & Falkman 2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import DataError

__all__ = ["Conformal"]


@dataclass(frozen=True)
class Conformal:
    """Scores of rows that the model has not seen, in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.novelty import Conformal
    >>> fair = Conformal.of(np.arange(99.0))
    >>> fair.p_values(np.array([-1.0, 50.0, 1000.0]))
    array([1.  , 0.5 , 0.01])
    >>> fair.threshold(0.05)  # 5 of 100 possible ranks lie above it
    94.0
    """

    scores: Array
    slack: float = 0.0

    @classmethod
    def of(cls, scores: Array, slack: float = 0.0) -> Conformal:
        """From scores in any order; differences up to ``slack`` are rounding, and no alarm."""
        if not len(scores):
            raise DataError("there are no rows to calibrate on; give at least one.")
        return cls(np.sort(scores), float(slack))

    @property
    def finest_rate(self) -> float:
        """The smallest false-alarm rate that so many scores can promise: ``1 / (n + 1)``."""
        return 1 / (len(self.scores) + 1)

    def p_values(self, scores: Array) -> Array:
        """The share of ranks at or above each score, (n,), never 0."""
        n = len(self.scores)
        at_least = n - np.searchsorted(self.scores, scores - self.slack, side="left")
        return np.asarray((1 + at_least) / (n + 1))

    def threshold(self, rate: float) -> float:
        """The score above which a point is called new; ``s > threshold`` just where ``p <= rate``.

        It is the ``ceil((n + 1)(1 - rate))``-th smallest score, or the largest where ``rate`` is
        finer than :attr:`finest_rate`, which then is the rate that holds.
        """
        n = len(self.scores)
        rank = ceil((n + 1) * (1 - rate) - 1e-9)  # 100 · 0.95 is 95, not 95.00000000000001
        return float(self.scores[min(max(rank, 1), n) - 1]) + self.slack
