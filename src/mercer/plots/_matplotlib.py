"""matplotlib, imported when a picture is drawn and not before, and the look that pictures share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._base.optional import require
from mercer._base.types import Array, Axes, Figure
from mercer.exceptions import DataError

#: Ten colours that people with each kind of colour blindness tell apart (Petroff 2021,
#: arXiv:2107.02270), and that stand out on white and on black paper.
PALETTE = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#94a4a2",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#717581",
    "#92dadd",
)
#: What the eye shall find first: thresholds, representing vectors, new points.
ACCENT = "#e76300"
#: Panels beside each other before a new line begins.
COLUMNS = 3
#: Shapes for classes, so that no picture depends on colour alone.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")


def axes_or_new(ax: Axes, **figure_arguments: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    return _pyplot().subplots(layout="constrained", **figure_arguments)[1]


def panels(ax: Axes, rows: int, columns: int, **figure_arguments: Any) -> Array:
    """A (rows, columns) array of axes: new, as given, or inside the one that was given."""
    if ax is None:
        figure_arguments = {"layout": "constrained", "squeeze": False, **figure_arguments}
        return np.asarray(_pyplot().subplots(rows, columns, **figure_arguments)[1])
    given = np.asarray(ax, dtype=object)
    if given.size == rows * columns:
        return given.reshape(rows, columns)
    place = given.item().get_subplotspec() if given.size == 1 else None
    if place is None:
        raise DataError(
            f"the picture has {rows} × {columns} panels, and {given.size} axes were given; "
            f"give {rows * columns} axes, one made by plt.subplots, or none."
        )
    outer = given.item()
    outer.set_axis_off()
    inner = place.subgridspec(rows, columns)
    made = [outer.figure.add_subplot(inner[i, j]) for i in range(rows) for j in range(columns)]
    return np.asarray(made, dtype=object).reshape(rows, columns)


def panel_grid(ax: Axes, count: int, figsize: Callable[[int, int], Any]) -> tuple[Array, int]:
    """As many axes in lines of three (all beside each other if so many were given), and per line.

    ``figsize(lines, columns)`` is the size of a new figure.
    """
    columns = count if ax is not None and np.size(ax) == count else min(count, COLUMNS)
    lines = -(-count // columns)
    axes = panels(ax, lines, columns, figsize=figsize(lines, columns)).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    return axes[:count], columns


def ink() -> str:
    """The colour of text in the current style: dark on white paper, light on black."""
    return str(_pyplot().rcParams["text.color"])


def tidy(ax: Axes) -> None:
    """Leave the two axis lines that carry numbers."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_outside(ax: Axes, **arguments: Any) -> Any:
    """A legend to the right, where it hides no point."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
    return ax.legend(**{**place, "handletextpad": 0.2, "fontsize": "small", **arguments})


def legend_above(ax: Axes) -> Any:
    """A legend of one line above the axes, where it hides no point."""
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    return ax.legend(frameon=False, fontsize="small", ncols=4, handletextpad=0.3, **place)


def _pyplot() -> Any:
    return require("matplotlib.pyplot", "plot")


# What all displays have in common.


class Display:
    """A picture and the numbers in it: ``from_estimator`` computes both, ``plot`` draws again.

    What was drawn is kept under names that end in an underscore, as in scikit-learn.
    """

    #: The axes that were drawn into, or all of several panels.
    ax_: Axes = None
    axes_: Axes = None

    @property
    def figure_(self) -> Figure:
        """The figure that the axes are in; None before anything is drawn."""
        ax = self.ax_ if self.axes_ is None else np.ravel(self.axes_)[0]
        return None if ax is None else ax.figure
