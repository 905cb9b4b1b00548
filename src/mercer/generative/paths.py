"""Ways through score space: from one point to another, and along a component."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, ArrayLike
from mercer.exceptions import DataError


def straight_line(start: Array, end: Array, steps: int) -> Array:
    """(steps, q) scores from one point to the other, both included.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.paths import straight_line
    >>> straight_line(np.zeros(2), np.array([2.0, 4.0]), 3)
    array([[0., 0.],
           [1., 2.],
           [2., 4.]])
    """
    check_count("steps", steps, 2)
    share = np.linspace(0, 1, steps)[:, None]
    return np.asarray((1 - share) * start + share * end, dtype=start.dtype)


def along_component(
    start: Array, component: int, deviations: Array, span: ArrayLike, steps: int
) -> Array:
    """(steps, q) scores that differ from ``start`` in one component.

    Parameters
    ----------
    start : (q,) scores
    component : int
        Counted from 0.
    deviations : (q,) array
        Standard deviations of the components over the training rows.
    span : float or pair of floats
        Ends of the way in standard deviations from ``start``; one number stands for (-span, span).
    steps : int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.paths import along_component
    >>> along_component(np.zeros(2), 1, np.array([1.0, 0.5]), span=2.0, steps=3)
    array([[ 0., -1.],
           [ 0.,  0.],
           [ 0.,  1.]])
    """
    check_count("steps", steps, 2)
    q = len(start)
    if not isinstance(component, Integral) or not 0 <= component < q:
        raise DataError(
            f"component={component!r}: the model has {q}; give a whole number from 0 to {q - 1}."
        )
    low, high = _ends(span)
    path = np.repeat(start[None], steps, axis=0)
    path[:, component] += deviations[component] * np.linspace(low, high, steps)
    return path


def largest_step(points: Array) -> float:
    """Largest step over mean step of a path: 1 for an even one, large where it jumps.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.paths import largest_step
    >>> largest_step(np.array([[0.0], [1.0], [2.0], [6.0]]))
    2.0
    """
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    mean = lengths.mean()
    return float(lengths.max() / mean) if mean > 0 else 1.0


def _ends(span: ArrayLike) -> tuple[float, float]:
    pair = (-span, span) if isinstance(span, Real) else tuple(np.ravel(span))
    if (
        len(pair) != 2
        or not all(isinstance(end, Real) for end in pair)
        or not np.isfinite(pair).all()
        or pair[0] == pair[1]
    ):
        raise DataError(
            f"span={span!r}: give a positive number of standard deviations, or two different ones."
        )
    return float(pair[0]), float(pair[1])
