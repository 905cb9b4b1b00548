"""What the pictures share: figures without global state, and points in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._extras import require
from mercer._linalg import Array
from mercer._types import Axes
from mercer.plots._matplotlib import PALETTE, tidy

__all__ = ["INK", "PALE", "PALETTE", "cloud", "need_matplotlib", "plane", "sheet", "tidy"]

INK, PALE = "#1c2733", "#a9b4c0"


def need_matplotlib() -> Any:
    """matplotlib's ``Figure``, or an error that says how to get it."""
    return require("matplotlib.figure", "plot").Figure


def sheet(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Array]:
    """A figure of ``size`` inches, and its (rows, columns) axes."""
    figure = need_matplotlib()(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, np.asarray(axes)


def cloud(ax: Axes, points: Array, color: str = PALE, size: float = 6, **options: Any) -> None:
    """Points in the plane."""
    ax.scatter(points[:, 0], points[:, 1], s=size, color=color, linewidths=0, **options)


def plane(ax: Axes, title: str = "", *, ticks: bool = False) -> None:
    """Equal scales, and no frame."""
    ax.set_aspect("equal")
    ax.set_title(title, fontsize=10)
    ax.spines[:].set_visible(False)
    if not ticks:
        ax.set_xticks([])
        ax.set_yticks([])
