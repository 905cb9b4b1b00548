r"""Conformal p-values: a score beside the scores of rows that the model has not seen.

If n calibration scores and a new one are exchangeable, the new one is equally likely to take any
of the n + 1 ranks. Whatever the score and the data, therefore

.. math:: p(x) = \frac{1 + \#\{i : s_i \ge s(x)\}}{n + 1}, \qquad P(p(x) \le \alpha) \le \alpha

(Vovk, Gammerman & Shafer 2005; Laxhammar & Falkman 2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import DataError


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

    @cached_property
    def bounds(self) -> Array:
        """Scores with the slack: a new score ranks above one of them where it exceeds its bound."""
        return np.asarray(self.scores + self.slack)

    def p_values(self, scores: Array) -> Array:
        """The share of ranks at or above each score, (n,), never 0."""
        n = len(self.scores)
        return _level(n - np.searchsorted(self.bounds, scores, side="left"), n)

    def threshold(self, rate: float) -> float:
        """The score above which a point is called new: ``s > threshold`` just where ``p <= rate``.

        With m the number of p-values up to ``rate`` that n scores can give, it is the m-th largest
        score, and infinite where ``rate`` is finer than :attr:`finest_rate`: then no score is large
        enough, and nothing is called new.
        """
        n = len(self.scores)
        # The very quotients that p_values gives, so that no rounding comes between the two.
        m = int(np.count_nonzero(_level(np.arange(n + 1), n) <= rate))
        if m == 0:
            return np.inf
        return float(self.bounds[n - m]) if m <= n else -np.inf


def _level(at_least: Array, n: int) -> Array:
    """The p-value where so many of n scores are at least as large."""
    return np.asarray((1 + at_least) / (n + 1))


def leave_one_out_p_values(scores: Array) -> Array:
    """p-values of the scores among each other: ranks from the top over their number."""
    ordered = np.sort(scores)
    return np.asarray((len(ordered) - np.searchsorted(ordered, scores)) / len(ordered))


def rows_needed(rate: float) -> int:
    """The fewest scores that can promise a rate: the least n with ``1 / (n + 1) <= rate``."""
    n = max(ceil(1 / Fraction(rate)) - 1, 1)
    # 1/3 as a float is a little less than 1/3, and still what 1 / (n + 1) gives.
    return n - 1 if n > 1 and 1 / n <= rate else n
