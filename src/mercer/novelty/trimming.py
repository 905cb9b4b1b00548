r"""Normal rows among contaminated ones: those that a model of the calmest rows finds ordinary.

Outliers that stand together look normal to their neighbours, so that the first look is at the
whole: the distance from the mean in feature space, with a wide kernel, where even a tenth of the
rows weighs little. The strangest rows are set aside, the others are fitted, all rows are scored by
that model, and once more.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.kernels import Basis, Gaussian, Kernel, RadialKernel
from mercer.novelty.score import NoveltyScore

#: Share of the rows that is set aside where the contamination is unknown or small; twice it else.
ASIDE = 0.2
#: Rows that stand for all in the mean.
SAMPLE = 1000
#: Share of normal rows that ``"auto"`` may call outliers, were their scores' tail exponential.
TAIL = 0.005


def check_share(share: Any) -> None:
    """Refuse what is neither a share of outliers, nor ``"auto"``, nor None."""
    number = isinstance(share, Real) and not isinstance(share, bool) and 0 < float(share) <= 0.5
    if share is not None and share != "auto" and not number:
        raise DataError(
            f"contamination={share!r} is the share of outliers among the training rows; give a "
            "number in (0, 0.5], 'auto', or None for rows that are all normal."
        )


def calm_rows(
    learn: Callable[[Array], NoveltyScore], kernel: Kernel | None, X: Any, share: float | str
) -> Array:
    """The numbers of the rows to learn from, in order.

    Parameters
    ----------
    learn : callable
        ``learn(row numbers)`` fits those rows, and returns their score.
    kernel : Kernel, or None for a Gaussian of twice the median width
    X : (n, d) array, or n objects
    share : float or "auto"
        Of outliers among the rows.
    """
    n = len(X)
    aside = ASIDE if isinstance(share, str) else min(0.5, max(ASIDE, 2 * share))
    keep = max(2, n - int(aside * n))
    kernel = Gaussian(width=2 * Gaussian().resolve(X).length) if kernel is None else kernel
    first = np.sort(np.argsort(_from_mean(kernel.resolve(X), X), kind="stable")[:keep])
    scores = learn(first)(X)
    return np.sort(np.argsort(scores, kind="stable")[:keep])


def outlier_threshold(score: NoveltyScore, scores: Array, share: float | str) -> float:
    """The score above which a training row is called an outlier.

    Parameters
    ----------
    score : the fitted score
    scores : (n,) what it gives to all training rows
    share : float or "auto"
        The share to call; ``"auto"`` extends the tail of the normal rows, from its median and upper
        quartile (one halving) to where an exponential one would leave half a percent.
    """
    if not isinstance(share, str):
        ordered = np.sort(scores)
        return float(ordered[len(ordered) - 1 - round(share * len(ordered))])
    # The score of a bounded kernel saturates: beyond a few widths all rows are equally new.
    limit = _at_infinity(score)
    far = scores if limit is None else -np.log1p(-np.minimum(scores / limit, 1 - 1e-9))
    median, upper = np.quantile(far, [0.5, 0.75])
    fence = median + np.log2(0.5 / TAIL) * (upper - median)
    return float(fence if limit is None else -limit * np.expm1(-fence))


def _at_infinity(score: NoveltyScore) -> float | None:
    """The score where a radial kernel has fallen to zero; None for other kernels."""
    S = score.subspace
    if not isinstance(S.kernel, RadialKernel):
        return None
    square = float(S.offset @ S.offset)
    outside = score.outside * max(1 + S.mean_square - square, 0.0)
    return float(S.offset**2 @ score.inside + outside)


def _from_mean(kernel: Kernel, X: Any) -> Array:
    """Squared distance from the mean in feature space, less that mean's square."""
    points = kernel.points(X)
    if len(X) > SAMPLE:
        points = points.take(np.sort(fixed_rng(0).choice(len(X), SAMPLE, replace=False)))
    weight = np.full((len(points), 1), 1 / len(points), dtype=points.dtype)
    return np.asarray(kernel.diag(X) - 2 * Basis(kernel, points).matmat(X, weight)[:, 0])
