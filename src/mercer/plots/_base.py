"""What displays share: matplotlib when it is needed, a look, models and rows, and image tiles."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any, Self, dataclass_transform

import numpy as np
from sklearn.utils import get_tags

from mercer import model as models
from mercer._base.numbers import counted
from mercer._base.optional import require
from mercer._base.types import Array, Axes, Estimator, Figure, RowsLike, Targets
from mercer.estimators._validation import check_rows
from mercer.exceptions import DataError, KernelError, Remedy, argument
from mercer.model import Model, model_of
from mercer.plots._tables import of_tables

#: Ten colours that people with each kind of colour blindness tell apart (Petroff 2021,
#: arXiv:2107.02270), and that stand out on white and on black paper.
PALETTE = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6"),
    *("#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
)
#: What the eye shall find first: thresholds, representing vectors, new points.
ACCENT = "#e76300"
#: Panels beside each other before a new line begins.
COLUMNS = 3
#: Shapes for classes, so that no picture depends on colour alone.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")


def axes_or_new(ax: Axes, **figure_arguments: Any) -> Any:
    """The axes given, or those of a new figure."""
    return panels(ax, 1, 1, **figure_arguments)[0, 0]


def panels(ax: Axes, rows: int, columns: int, **figure_arguments: Any) -> Array:
    """A (rows, columns) array of axes: new, as given, or inside the one that was given."""
    if ax is None:
        figure_arguments = {"layout": "constrained", "squeeze": False, **figure_arguments}
        return np.asarray(_pyplot().subplots(rows, columns, **figure_arguments)[1])
    axes = np.asarray(ax, dtype=object)
    if axes.size == rows * columns:
        return axes.reshape(rows, columns)
    place = axes.item().get_subplotspec() if axes.size == 1 else None
    if place is None:
        remedy = f"give {rows * columns} axes, one made by plt.subplots, or none."
        both = f"the picture has {rows} × {columns} panels, and {axes.size} axes were given"
        raise DataError(f"{both}; {remedy}")
    axes.item().set_axis_off()
    return np.asarray(place.subgridspec(rows, columns).subplots(squeeze=False))


def panel_grid(
    ax: Axes,
    count: int,
    size: tuple[float, float],
    *names: str,
    columns: int = COLUMNS,
    margin: tuple[float, float] = (0.0, 0.0),
    **font: Any,
) -> Array:
    """As many axes in lines of ``columns``, or all beside each other if so many were given.

    Each has a ``size`` in a new figure, which is larger by ``margin``. The first of two names
    stands below the lowest axes, the second beside the first axes of each line.
    """
    columns = count if ax is not None and np.size(ax) == count else min(count, columns)
    lines = -(-count // columns)
    figsize = (size[0] * columns + margin[0], size[1] * lines + margin[1])
    axes = panels(ax, lines, columns, figsize=figsize).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    for panel in axes[count - columns : count]:
        panel.set_xlabel(names[0], **font)
    for panel in axes[:count:columns]:
        panel.set_ylabel(names[1], **font)
    return axes[:count]


def ink() -> str:
    """The colour of text in the current style: dark on white paper, light on black."""
    return str(_pyplot().rcParams["text.color"])


def tidy(ax: Axes) -> Any:
    """The axes with the two lines that carry numbers, and no others."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


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


@dataclass_transform()
class Display(ABC):
    """A picture and the numbers in it: ``from_estimator`` computes both, ``plot`` draws again.

    What was drawn is kept under names that end in an underscore, as in scikit-learn. Every subclass
    is a dataclass.
    """

    #: The axes that were drawn into, or all of several panels.
    ax_: Axes = None
    axes_: Axes = None
    # Of each tile, where a display draws images; it is a field of such a display.
    image_shape: Any

    @abstractmethod
    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if (own := vars(cls).get("from_estimator")) is not None:
            cls.from_estimator = classmethod(of_tables(own.__func__))  # type: ignore[attr-defined]
        dataclass(cls)

    @property
    def figure_(self) -> Figure:
        """The figure that the axes are in; None before anything is drawn."""
        ax = self.ax_ if self.axes_ is None else np.ravel(self.axes_)[0]
        return None if ax is None else ax.figure

    def _show(self, ax: Axes, cmap: Any, tiles: Array, limits: Any, **words: Any) -> Self:
        """Draw images, with the labels and names that :func:`show_tiles` takes."""
        words |= {"limits": limits, "cmap": cmap}
        self.ax_, self.image_ = show_tiles(ax, tiles, self.image_shape, **words)
        return self


#: More different numbers than this in ``y`` are a scale, not classes.
MOST_CLASSES = 20
_DETECTOR = "give a KernelNovelty, or KernelNovelty.from_fitted(model, X)."
_SPARSE = "fit SparseKernelPCA, or compress(model, n_kernels)."
#: Methods that a picture may need → what is said of a model without it, and what to do; at a shell
#: fit another, with an option.
NEEDS = {
    "inverse_transform": ("has no way back to input space", "give a KernelPCA.", ""),
    "update": ("watches no stream", "give that of KernelNovelty().fit(X).monitor().", ""),
    "p_values": ("has no threshold", _DETECTOR, " --model novelty"),
    "reconstruction_error": ("gives no novelty score", _DETECTOR, " --model novelty"),
    "sample": ("cannot draw samples", "use GenerativeKernelPCA.", " --model generative"),
    "trust": ("is not a model of a map", "give a MapModel.", " --map PLACES"),
    "span_error": ("has no representing vectors", _SPARSE, " --model sparse"),
}


def require_method(estimator: Estimator, method: str) -> None:
    """Refuse a model without one of :data:`NEEDS`."""
    if not hasattr(estimator, method):
        lack, python, option = NEEDS[method]
        remedy = Remedy(python, shell=f"fit one with 'mercer fit DATA{option}'.")
        raise DataError(f"{type(estimator).__name__} {lack}; " + remedy)


def model_to_draw(estimator: Estimator, method: str | None = None) -> Model:
    """What a fitted estimator of this library has learnt; of a pipeline only its last step has.

    It must have the ``method`` that the picture needs, one of :data:`NEEDS`.
    """
    if hasattr(estimator, "steps"):
        remedy = "give pipeline[-1], and pipeline[:-1].transform(X) as rows."
        raise DataError(f"{type(estimator).__name__}: a display draws one model; {remedy}")
    if method is not None:
        require_method(estimator, method)
    return model_of(estimator)


def rows_of(estimator: Estimator, X: RowsLike) -> Array:
    """The rows given, checked; or the model's support points, all that it keeps of its data."""
    subspace = model_to_draw(estimator).subspace
    if not subspace.points.has_coordinates:
        raise KernelError(f"{subspace.kernel!r} has no input space to draw; use one of vectors.")
    if X is None:
        return subspace.points.vectors("a picture")
    if get_tags(estimator).input_tags.allow_nan:
        X = estimator.impute(X)  # as its transform does
    points = check_rows(estimator, X, subspace.kernel, reset=False)
    return np.asarray(points.to_dense(), dtype=subspace.coef.dtype)


def check_labels(y: Targets, n: int, name: str = "y") -> Array | None:
    """One label for each of n rows, or None; rows without a class are a class of their own."""
    if y is None:
        return None
    if isinstance(y, str):
        raise DataError(f"{name}={y!r} is a text; give one label per row, such as table[{y!r}].")
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise DataError(f"{name} has shape {labels.shape} for {n} rows; give one label per row.")
    if is_scale(labels):
        return labels
    texts = np.array([class_name(label) for label in labels.tolist()])
    missing = np.isin(texts, ["", "nan", "None", "NaT", "<NA>"])
    return np.where(missing, "missing", texts) if missing.any() else labels


def classes_of(labels: Array | None) -> list[tuple[str | None, Any]]:
    """Name and rows of each class; all rows, without a name, where there are none."""
    if labels is None:
        return [(None, slice(None))]
    return [(class_name(label), labels == label) for label in np.unique(labels)]


def class_name(label: Any) -> str:
    """What a class is called; 3, not 3.0, for numbers that a file or a gap has made floats."""
    return f"{label:g}" if isinstance(label, float | np.floating) else str(label)


def groups_of(
    labels: Array | None, colors: Sequence[str], cmap: str
) -> list[tuple[str | None, Any, dict[str, Any]]]:
    """Name, rows and look of each class; all rows at once where there are none, or a scale."""
    if is_scale(labels):
        from matplotlib import colormaps

        colours = colormaps[cmap].with_extremes(bad="0.75")
        return [(None, slice(None), {"c": labels, "cmap": colours, "plotnonfinite": True})]
    groups = []
    for k, (name, rows) in enumerate(classes_of(labels)):
        # Another shape for each class, and other pairs of colour and shape after the last colour.
        marker = MARKERS[(k + k // len(colors)) % len(MARKERS)]
        groups.append((name, rows, {"color": colors[k % len(colors)], "marker": marker}))
    return groups


def is_scale(labels: Array | None) -> bool:
    """Whether labels are numbers with so many values that they are a scale, not classes."""
    if labels is None or labels.dtype.kind not in "fiu":
        return False
    return len(np.unique(labels)) > MOST_CLASSES


def check_components(components: Any, available: int, default: int, at_least: int = 1) -> list[int]:
    """Components counted from 0: a list of them, how many of the first, or a usual number."""
    if available < at_least:
        held = f"the model has {counted(available, 'component')}, and this picture shows {at_least}"
        raise DataError(held + "; fit again with " + argument("n_components", at_least) + ".")
    components = min(default, available) if components is None else components
    whole = isinstance(components, int | np.integer)
    shown = [int(k) for k in (range(components) if whole else components)]
    known = set(shown) & set(range(available))
    if not at_least <= len(shown) == len(known):
        remedy = f"count from 0 to {available - 1}, and give at least {at_least}, each once."
        wrong = argument("components", components)
        raise DataError(wrong + f": the model has {available}; " + remedy)
    return shown


def names_of(estimator: Estimator, columns: Iterable[int]) -> tuple[str, ...]:
    """Names of variables, as they were in ``fit``."""
    names = models.names_of(estimator)
    return tuple(f"x{j}" if names is None else names[j] for j in columns)


def shares_of(model: Model, components: Sequence[int]) -> Array | None:
    """Shares of the true variance, or None: a detector of an old file does not keep them."""
    shares = model.explained_variance_ratio
    return None if shares is None else shares[components]


def component_names(components: Sequence[int], shares: Array | None) -> list[str]:
    """With their shares of the variance, where these are known."""
    text = [""] * len(components) if shares is None else [f" ({share:.1%})" for share in shares]
    return [f"component {k}{share}" for k, share in zip(components, text, strict=True)]


def plane(rows: Array, pair: list[int], grid: int) -> tuple[Array, Array, Array]:
    """Grid lines that cover two columns of the rows with a margin, and all points of the grid."""
    low, high = rows[:, pair].min(axis=0), rows[:, pair].max(axis=0)
    margin = 0.15 * np.where(high > low, high - low, 1)
    x, y = np.linspace(low - margin, high + margin, grid).T
    points = np.tile(rows.mean(axis=0), (grid * grid, 1))
    points[:, pair] = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return x, y, points.astype(rows.dtype)


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
    if image_shape is None and isqrt(d) ** 2 == d:
        return isqrt(d), isqrt(d)
    if image_shape is None:
        raise DataError(f"{d} columns form no square image; " + _say_shape(d))
    shape = tuple(int(length) for length in np.atleast_1d(image_shape))
    known = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    if not known or min(shape) < 1 or np.prod(shape) != d:
        wrong = argument("image_shape", image_shape) + f" does not fit {d} columns; "
        raise DataError(wrong + _say_shape(d))
    return shape


def shape_of_rows(rows: Array, image_shape: Any) -> tuple[int, ...]:
    """As :func:`shape_of_image`, for rows that may be no images at all: then it must be said."""
    d = rows.shape[1]
    if image_shape is None and isqrt(d) ** 2 == d and not look_like_images(rows):
        why = f"{d} columns are few for an image" if d < SMALLEST else "values lie beyond 0 to 255"
        raise DataError(f"these rows do not look like images: {why}; " + _say_shape(d))
    return shape_of_image(d, image_shape)


def _say_shape(d: int) -> Remedy:
    python = f"give image_shape=(height, width), or (1, {d}) to draw each row as a strip; "
    shell = f"give --image-shape HEIGHTxWIDTH, or --image-shape 1x{d} to draw each row as a strip; "
    return Remedy(python, shell=shell) + "colours are a third number, 3."


def look_like_images(rows: Array) -> bool:
    """Whether a square number of columns, not a few, has values as pixels have them: 0 to 255."""
    d = rows.shape[1]
    square = d >= SMALLEST and isqrt(d) ** 2 == d
    return square and bool(rows.min() >= 0 and rows.max() <= BRIGHTEST)


def first_of_each(labels: Array | None, n: int, limit: int) -> Array:
    """Which rows to show: the first of each class, or the first ones."""
    if labels is None:
        return np.arange(min(n, limit))
    return np.sort(np.unique(labels, return_index=True)[1])[:limit]


def in_lines(rows: Array, columns: int) -> Array:
    """(n, d) rows as tiles in reading order, NaN behind the last one."""
    spare = ((0, -len(rows) % columns), (0, 0))
    tiles = np.pad(rows.astype(float), spare, constant_values=np.nan)
    return tiles.reshape(-1, columns, rows.shape[1])


def mosaic(tiles: Array, shape: tuple[int, ...], gap: int | None = None) -> Array:
    """One image of (r, c, d) tiles, NaN in the gaps: (height, width), or (height, width, 3)."""
    (r, c, _), (h, w, *colour), gap = tiles.shape, shape, gap or _gap(shape)
    sheet = np.full((r, h + gap, c, w + gap, *colour), np.nan)
    sheet[:, :h, :, :w] = tiles.reshape(r, c, *shape).swapaxes(1, 2)
    return sheet.reshape(r * (h + gap), c * (w + gap), *colour)[:-gap, :-gap]


def tile_centres(count: int, length: int, shape: tuple[int, ...]) -> Array:
    """Where the middles of the tiles lie along an axis of the mosaic."""
    return np.arange(count) * (length + _gap(shape)) + (length - 1) / 2


def show_tiles(
    ax: Axes,
    tiles: Array,
    shape: tuple[int, ...],
    *,
    limits: Any,
    row_labels: Iterable[Any] | None = None,
    column_labels: Iterable[Any] | None = None,
    cmap: Any = "gray_r",
    **names: str,
) -> tuple[Any, Any]:
    """Draw (r, c, d) tiles into ``ax`` or a new figure; the axes and the image.

    The smallest and the largest of ``limits``, a pair or an array, are the values of paper and ink;
    what lies beyond is drawn as these. ``cmap=None`` chooses by the tiles, see :func:`colours_of`.
    ``xlabel`` and ``ylabel`` are names of the axes.
    """
    low, high = limits = float(np.min(limits)), float(np.max(limits))
    r, c, _ = tiles.shape
    h, w = shape[:2]
    beside, above = ([*map(str, () if x is None else x)] for x in (row_labels, column_labels))
    longest = max((len(part) for label in beside for part in label.split("\n")), default=0)
    ax = axes_or_new(ax, figsize=_figure_size(r, c, shape, longest, bool(above)))
    sheet = mosaic(tiles, shape)
    if len(shape) == 3:
        sheet = _colours(sheet, limits)
    cmap = colours_of(tiles, limits) if cmap is None else cmap
    image = ax.imshow(sheet, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    ax.set_yticks(tile_centres(r, h, shape) if beside else [], beside)
    ax.set_xticks(tile_centres(c, w, shape) if above else [], above)
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set(**names)
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
