"""Rows that are images: many of them as one picture, with gaps that show the paper."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

import numpy as np

from mercer._base.types import Array, Axes
from mercer.exceptions import DataError, Remedy, argument
from mercer.plots._matplotlib import axes_or_new

#: Width of the gaps, as a share of an image.
GAP = 0.12
#: Fewer columns are a table, if nothing else is said.
SMALLEST = 16
#: The largest value of a pixel of one byte.
BRIGHTEST = 255
#: Images of ink are at their lowest value in at least this share of their pixels.
EMPTY = 0.25


def shape_of_image(d: int, image_shape: Any) -> tuple[int, ...]:
    """(h, w), or (h, w, 3) for colour, of rows with d columns; square if that is not said."""
    if image_shape is None:
        side = isqrt(d)
        if side * side != d:
            raise DataError(f"{d} columns form no square image; " + _say_shape(d))
        return side, side
    shape = tuple(int(length) for length in np.atleast_1d(image_shape))
    known = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    if not known or min(shape) < 1 or np.prod(shape) != d:
        raise DataError(
            argument("image_shape", image_shape)
            + f" does not fit {d} columns; give "
            + Remedy(
                "(height, width) or (height, width, 3)", shell="HEIGHTxWIDTH or HEIGHTxWIDTHx3"
            )
            + " whose product is that number."
        )
    return shape


def shape_of_rows(rows: Array, image_shape: Any) -> tuple[int, ...]:
    """As :func:`shape_of_image`, for rows that may be no images at all: then it must be said."""
    d = rows.shape[1]
    if image_shape is None and isqrt(d) ** 2 == d and not look_like_images(rows):
        few = (
            f"{d} columns are few for an image"
            if d < SMALLEST
            else "some values are not from 0 to 255"
        )
        raise DataError(f"these rows do not look like images: {few}; " + _say_shape(d))
    return shape_of_image(d, image_shape)


def _say_shape(d: int) -> Remedy:
    return (
        Remedy(
            f"give image_shape=(height, width), or (1, {d})",
            shell=f"give --image-shape HEIGHTxWIDTH, or --image-shape 1x{d}",
        )
        + " to draw each row as a strip."
    )


def look_like_images(rows: Array) -> bool:
    """Whether a square number of columns, not a few, has values as pixels have them: 0 to 255."""
    d = rows.shape[1]
    if d < SMALLEST or isqrt(d) ** 2 != d:
        return False
    return bool(rows.min() >= 0 and rows.max() <= BRIGHTEST)


def first_of_each(labels: Array | None, n: int, limit: int) -> Array:
    """Which rows to show: the first of each class, or the first ones."""
    if labels is None:
        return np.arange(min(n, limit))
    return np.sort(np.unique(labels, return_index=True)[1])[:limit]


def mosaic(tiles: Array, shape: tuple[int, ...]) -> Array:
    """One image of (r, c, d) tiles, NaN in the gaps: (height, width), or (height, width, 3)."""
    r, c, _ = tiles.shape
    h, w = shape[:2]
    step_h, step_w = h + _gap(shape), w + _gap(shape)
    sheet = np.full((r * step_h - _gap(shape), c * step_w - _gap(shape), *shape[2:]), np.nan)
    for i in range(r):
        for j in range(c):
            top, left = i * step_h, j * step_w
            sheet[top : top + h, left : left + w] = tiles[i, j].reshape(shape)
    return sheet


def tile_centres(count: int, length: int, shape: tuple[int, ...]) -> Array:
    """Where the middles of the tiles lie along an axis of the mosaic."""
    return np.arange(count) * (length + _gap(shape)) + (length - 1) / 2


def show_tiles(
    ax: Axes,
    tiles: Array,
    shape: tuple[int, ...],
    *,
    limits: tuple[float, float],
    row_labels: Sequence[str] = (),
    column_labels: Sequence[str] = (),
    cmap: Any = "gray_r",
) -> tuple[Any, Any]:
    """Draw (r, c, d) tiles into ``ax`` or a new figure; the axes and the image.

    ``limits`` are the values of paper and ink; what lies beyond is drawn as these. ``cmap=None``
    chooses by the tiles, see :func:`colours_of`.
    """
    r, c, _ = tiles.shape
    h, w = shape[:2]
    longest = max((len(part) for label in row_labels for part in label.split("\n")), default=0)
    ax = axes_or_new(ax, figsize=_figure_size(r, c, shape, longest, bool(column_labels)))
    sheet = mosaic(tiles, shape)
    if len(shape) == 3:
        image = ax.imshow(_colours(sheet, limits), interpolation="nearest")
    else:
        low, high = limits
        cmap = colours_of(tiles, limits) if cmap is None else cmap
        image = ax.imshow(sheet, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    ax.set_yticks(tile_centres(r, h, shape) if row_labels else [], list(row_labels))
    ax.set_xticks(tile_centres(c, w, shape) if column_labels else [], list(column_labels))
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    return ax, image


def colours_of(tiles: Array, limits: tuple[float, float]) -> str:
    """Black on white for ink, where much of the image is empty; as they are for photographs."""
    low, high = limits
    empty = (tiles <= low + 0.1 * (high - low)).sum() / max(np.isfinite(tiles).sum(), 1)
    return "gray_r" if empty > EMPTY else "gray"


def _gap(shape: tuple[int, ...]) -> int:
    return max(1, round(GAP * min(shape[:2])))


def _figure_size(
    r: int, c: int, shape: tuple[int, ...], letters: int, headed: bool
) -> tuple[float, float]:
    """In inches: tiles of 2 cm, less where there are many, and room for the labels."""
    width = min(9.0, 0.8 * c)
    height = width / c * r * shape[0] / shape[1]
    shrink = min(1.0, 9.0 / height)
    beside = 0.55 + 0.085 * letters if letters else 0.1
    return width * shrink + beside, max(height * shrink, 0.5) + (0.35 if headed else 0.15)


def _colours(sheet: Array, limits: tuple[float, float]) -> Array:
    """Red, green, blue and opacity: a gap has none."""
    low, high = limits
    seen = ~np.isnan(sheet).any(axis=-1, keepdims=True)
    values = np.clip((sheet - low) / max(high - low, np.finfo(float).tiny), 0, 1)
    return np.concatenate([np.where(seen, values, 0), seen.astype(float)], axis=-1)
