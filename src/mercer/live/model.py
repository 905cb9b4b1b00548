"""A fitted model as the page needs it: facts for JSON, and arrays of numbers.

Pure functions of the model and the rows: the same answer serves the single file, a server and a
notebook.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._numbers import shortened
from mercer._random import fixed_rng
from mercer._types import Estimator, RowsLike, Targets
from mercer.eigen import names_of
from mercer.exceptions import DataError, KernelError, MercerWarning, warn
from mercer.kernels import RadialKernel
from mercer.kernels.width import median_length
from mercer.live.columns import column_facts
from mercer.live.kernels import kernel_spec, page_kernels
from mercer.live.novelty import novelty_facts
from mercer.live.thin import LARGEST, thin
from mercer.plots._images import shape_of_image
from mercer.plots._models import (
    check_labels,
    nameless_rows,
    rows_of,
    shares_if_known,
    subspace_of,
)
from mercer.subspace import Subspace
from mercer.tables import TableEncoder, TableModel

#: Numbers of the rows that a page holds; of more rows it knows the scores alone.
MOST_ROWS = 2_000_000
#: Scores that a page holds of all rows together; at least two components of each.
MOST_SCORES = 1_000_000
#: More different labels than these are numbers on a scale, or too many to tell apart by colour.
MOST_CLASSES = 30
#: Directions of linear PCA, for the comparison in the denoising panel.
LINEAR = 64
#: Draws from the density of a generative model.
DRAWN = 200
#: Rounding of a score, as a share of the largest, above which float32 does not do.
ROUNDING = 1e-6


@dataclass(frozen=True)
class LiveModel:
    """What a page is made of.

    Attributes
    ----------
    facts : dict
        Everything that is not an array; can be written as JSON.
    arrays : dict of arrays
        float32 (float64 where that would show), or small whole numbers.
    """

    facts: dict[str, Any]
    arrays: dict[str, Array] = field(repr=False)


def describe(
    model: Estimator,
    X: RowsLike = None,
    labels: Targets = None,
    images: Any = None,
    *,
    names: Any = None,
    title: str | None = None,
    largest: int = LARGEST,
    encoder: TableEncoder | None = None,
) -> LiveModel:
    """The facts and arrays of a live page.

    Parameters
    ----------
    model : fitted estimator with a Subspace, or a TableModel around one
    X : (n, d) rows for the map, optional
        The model's support points if not given: of an exact model its training rows.
    labels : (n,) array, optional
        Classes, or numbers, by which the map is coloured.
    images : (height, width), (height, width, 3) or an array (n, height, width[, 3]), optional
        The shape of the image that each row is; or one picture for each row.
    names : d texts, optional
        What the columns are called; ``feature_names_in_`` if the model knows them.
    title : str, optional
    largest : int
        Numbers that the model may have before it is thinned, see :func:`~mercer.live.thin.thin`.
    encoder : TableEncoder, optional
        Made the rows of a table, and tells how they are shown; of a TableModel its own, and X is
        such a table.
    """
    if isinstance(model, TableModel):
        X, encoder = None if X is None else model.vectors(X), model.encoder_
        model = model.model_
    if encoder is not None:
        names = encoder.get_feature_names_out()
    full = subspace_of(model)
    rows = rows_of(model, X)
    if not len(rows):
        raise DataError("there are no rows to show; give at least one.")
    spec = kernel_spec(full.kernel)
    small, note = thin(full, largest)
    if note is not None:
        warn(f"{note} To choose the points yourself, give compress(model, n).", MercerWarning)
    shift = np.asarray(small.basis.origin if isinstance(full.kernel, RadialKernel) else 0.0)
    shift = np.broadcast_to(shift, small.support.shape[1:]).astype(np.float64)
    Z, error = full.scores_and_residual(rows)
    novelty, judged = novelty_facts(model, full, Z, error, seen=_is_support(rows, full))
    pictures, shape = _pictures(images, rows)
    shares = shares_if_known(model)
    facts = {
        "title": title or f"{type(model).__name__} of {len(rows):,} rows",
        "estimator": type(model).__name__,
        "kernel": spec,
        "kernels": page_kernels(),
        "kernelText": shortened(repr(full.kernel), 4),
        "centred": bool(np.any(full.mean)),
        "offset": small.offset.astype(np.float64).tolist(),
        "meanSquare": float(small.mean_square),
        "origin": shift.tolist(),
        "n": len(rows),
        "columns": None if encoder is None else column_facts(encoder),
        "names": _names(model, names, X, rows.shape[1]),
        "shares": None if shares is None else shares.astype(float).tolist(),
        "median": _median(rows),
        "imageShape": None if shape is None else list(shape),
        "limits": _limits(rows),
        "novelty": novelty,
        "notes": [] if note is None else [note],
    }
    arrays = {
        **_model_arrays(small, shift),
        **_row_arrays(rows, Z, error, shift, small),
        **judged,
        **_linear(rows, shift),
        **_drawn(model, full),
        **pictures,
    }
    label_facts, label_arrays = _labels(labels, len(rows))
    return LiveModel({**facts, **label_facts}, {**arrays, **label_arrays})


def _model_arrays(small: Subspace, shift: Array) -> dict[str, Array]:
    """Support, coefficients and mean; in float64 where rounding would show in the scores."""
    dtype = np.float32 if _rounding(small, shift) < ROUNDING else np.float64
    support = (small.support.astype(np.float64) - shift).astype(dtype)
    return {
        "support": support,
        "coef": small.coef.astype(dtype),
        "mean": small.mean.astype(dtype),
    }


def _rounding(small: Subspace, shift: Array) -> float:
    """How far float32 moves the scores, as a share of the largest one."""
    some = small.support[:: max(1, small.n_support // 64)].astype(np.float64)
    rounded = replace(
        small,
        support=(small.support - shift).astype(np.float32) + shift,
        coef=small.coef.astype(np.float32).astype(np.float64),
        mean=small.mean.astype(np.float32).astype(np.float64),
        offset=small.offset.astype(np.float64),
    )
    exact = small.scores(some.astype(small.coef.dtype))
    size = float(np.abs(exact).max(initial=0.0)) or 1.0
    return float(np.abs(rounded.scores(some) - exact).max(initial=0.0)) / size


def _row_arrays(
    rows: Array, Z: Array, error: Array, shift: Array, small: Subspace
) -> dict[str, Array]:
    """Scores and errors of all rows; the rows themselves unless they are the support, or many."""
    n, d = rows.shape
    q = min(Z.shape[1], small.n_components)
    shown = max(min(q, MOST_SCORES // n), min(q, 2))
    arrays = {"scores": Z[:, :shown].astype(np.float32), "error": error.astype(np.float32)}
    if _is_support(rows, small):
        return arrays
    # Where the support lies: a pre-image from scores alone begins at the nearest of its points.
    S_scores, S_residual = small.scores_and_residual(small.support)
    arrays["supportScores"] = S_scores.astype(np.float32)
    arrays["supportResidual"] = S_residual.astype(np.float32)
    if n * d <= MOST_ROWS:
        arrays["rows"] = (rows.astype(np.float64) - shift).astype(np.float32)
    return arrays


def _is_support(rows: Array, subspace: Subspace) -> bool:
    support = subspace.support
    return rows is support or (rows.shape == support.shape and np.array_equal(rows, support))


def _linear(rows: Array, shift: Array) -> dict[str, Array]:
    """Mean and principal axes of the rows themselves, from at most 5,000 of them."""
    some = rows[:: max(1, len(rows) // 5000)].astype(np.float64) - shift
    mean = some.mean(axis=0)
    axes = np.linalg.svd(some - mean, full_matrices=False)[2][:LINEAR]
    return {"linearMean": mean.astype(np.float32), "linearAxes": axes.astype(np.float32)}


def _drawn(model: Estimator, full: Subspace) -> dict[str, Array]:
    """Scores drawn from the density of a generative model."""
    if not hasattr(model, "density_"):
        return {}
    Z = model.density_.sample(DRAWN, fixed_rng(0))
    return {"drawn": Z.astype(np.float32)} if Z.shape[1] == full.n_components else {}


def _pictures(images: Any, rows: Array) -> tuple[dict[str, Array], tuple[int, ...] | None]:
    """A picture for each row, if they were given; and the shape that the rows themselves have."""
    if images is None:
        return {}, None
    if np.ndim(images) == 1:
        return {}, shape_of_image(rows.shape[1], images)
    pictures = np.asarray(images)
    colour = pictures.ndim == 4 and pictures.shape[3] == 3
    if len(pictures) != len(rows) or not (pictures.ndim == 3 or colour):
        raise DataError(
            f"images has shape {pictures.shape}, and there are {len(rows)} rows; give the shape "
            "(height, width[, 3]) that a row has, or one picture (height, width[, 3]) for each."
        )
    if pictures.dtype != np.uint8:
        low, high = float(pictures.min()), float(pictures.max())
        pictures = np.round(255 * (pictures - low) / ((high - low) or 1.0)).astype(np.uint8)
    return {"pictures": pictures}, None


def _labels(labels: Targets, n: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Classes as numbers with their names, or values on a scale."""
    y = check_labels(labels, n, "labels")
    if y is None:
        return {"classes": None}, {}
    kinds, codes = np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)
    if len(kinds) <= MOST_CLASSES:
        return {"classes": [str(kind) for kind in kinds]}, {"codes": codes.astype(np.uint8)}
    if y.dtype.kind not in "fiu":
        raise DataError(
            f"labels has {len(kinds)} different texts; give at most {MOST_CLASSES} classes, "
            "or numbers."
        )
    return {"classes": None}, {"values": y.astype(np.float32)}


def _names(model: Estimator, names: Any, X: RowsLike, d: int) -> list[str]:
    for given in (names, names_of(model), getattr(X, "columns", None)):
        if given is not None and len(given) == d:
            return [str(name) for name in given]
    return [f"x{j}" for j in range(d)]


def _median(rows: Array) -> float | None:
    """The median distance between rows, at which a width begins."""
    try:
        with nameless_rows():
            return median_length(rows)
    except (DataError, KernelError):  # one row, or all rows equal
        return None


def _limits(rows: Array) -> list[float]:
    """Values for paper and ink: all but the outermost thousandths."""
    some = rows[:: max(1, len(rows) // 2000)]
    low, high = (float(edge) for edge in np.quantile(some, [0.001, 0.999]))
    return [low, high if high > low else low + 1.0]
