"""Names beside points that do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._types import Axes

#: Distances from the point at which a place for the name is looked for, in points of type.
DISTANCES = (3, 9, 16, 26)


def place_labels(
    ax: Axes,
    tips: Array,
    outwards: Array,
    names: Sequence[str],
    colors: Sequence[str],
    avoid: Array,
) -> list[Any]:
    """A text near each tip, first outwards, then around it; None where there is no free place.

    Parameters
    ----------
    ax : axes with their final limits
    tips : (k, 2) where the names belong, the most important first
    outwards : (k, 2) directions in which there is likely room
    names, colors : (k,)
    avoid : (p, 2) points that no name shall cover
    """
    from matplotlib.transforms import Bbox

    figure = ax.figure
    figure.draw_without_rendering()  # the layout settles, and with it the size of the letters
    taken: list[Any] = [Bbox([at - 2, at + 2]) for at in ax.transData.transform(avoid)]
    placed = []
    for tip, direction, name, color in zip(tips, outwards, names, colors, strict=True):
        angle = float(np.arctan2(direction[1], direction[0]))
        text = ax.annotate(
            name,
            tuple(tip),
            (0, 0),
            textcoords="offset points",
            color=color,
            fontsize="x-small",
            fontweight="bold",
            zorder=5,
        )
        placed.append(text if _find_place(ax, text, angle, taken) else None)
        if placed[-1] is None:
            text.remove()
    return placed


def _find_place(ax: Axes, text: Any, angle: float, taken: list[Any]) -> bool:
    """Move the text to the first place that is free and inside the axes."""
    frame = ax.get_window_extent()
    for distance in DISTANCES:
        for turn in (0.0, 0.6, -0.6, 1.2, -1.2, 2.0, -2.0, 3.1):
            x, y = np.cos(angle + turn), np.sin(angle + turn)
            text.set_position((distance * x, distance * y))
            text.set_horizontalalignment("left" if x > 0.3 else "right" if x < -0.3 else "center")
            text.set_verticalalignment("bottom" if y > 0.3 else "top" if y < -0.3 else "center")
            box = text.get_window_extent().padded(1)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            inside &= frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                return True
    return False
