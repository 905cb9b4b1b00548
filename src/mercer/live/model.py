"""A fitted model as the page needs it: facts for JSON, and arrays of numbers.

Pure functions of the model and the rows: the same answer serves the single file, a server and a
notebook.
"""

from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from mercer._base.machine import blocks
from mercer._base.numbers import fixed_rng, shortened
from mercer._base.types import Array, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, KernelError, MercerWarning, Remedy, said, warn
from mercer.kernels import Basis, RadialKernel
from mercer.kernels.width import median_length
from mercer.landmarks import RPCholesky
from mercer.live.protocol import kernel_spec, page_kernels
from mercer.model import Subspace, names_of
from mercer.model.model import Detector, Reversible
from mercer.model.subspace import project_onto
from mercer.novelty import Conformal
from mercer.plots._base import check_labels, class_name, model_to_draw, rows_of, shape_of_image
from mercer.points.source import MemoryRows
from mercer.preimage import Smoother
from mercer.tables import Category, Date, TableEncoder, TableModel
from mercer.tables.columns import count_units

#: Facts for JSON, and arrays.
Contents = tuple[dict[str, Any], dict[str, Array]]


def column_facts(encoder: TableEncoder) -> list[dict[str, Any]]:
    """How each column comes back from the entries of a vector, ``width`` of them from ``at`` on."""
    facts, at = [], 0
    for name, column in encoder.used_.items():
        facts.append({"name": name, "at": at, **_decoding(column), "width": column.width})
        at += column.width
    return facts


def _decoding(column: Any) -> dict[str, Any]:
    if isinstance(column, Category):
        values = [f"{v:g}" if isinstance(v, float) else str(v) for v in column.values]
        return {"kind": "category", "values": values}
    if isinstance(column, Date):
        # Milliseconds, as JavaScript counts them.
        origin = float(np.datetime64(column.origin, "ms").astype(np.int64))
        unit = float(count_units(np.array(1, f"m8[{column.unit}]"), "ms"))
        when = {"origin": origin, "unit": unit, "day": column.unit == "D"}
        return {**_decoding(column.number), "kind": "date", **when}
    low, high = (None if np.isinf(edge) else edge for edge in (column.low, column.high))
    levels = list(column.levels)
    return {"kind": "number", **asdict(column), "low": low, "high": high, "levels": levels}


#: Most numbers (support and coefficients) of a page on which a pre-image still follows the hand.
LARGEST = 2_000_000
#: Landmarks that replace more support points than that; or four for each component, if more.
LANDMARKS = 500
#: Most kernel values (rows times support points) for exact scores: about ten seconds.
MOST_VALUES = 1_000_000_000
#: Rows whose scores on all components are in memory at a time.
BLOCK = 4096


def thin(subspace: Subspace, largest: int = LARGEST) -> tuple[Subspace, str | None]:
    """The subspace, on landmarks where it has more than ``largest`` numbers, and a note of that.

    Components keep their order, meaning and sign, as in :func:`mercer.compress`; the landmarks are
    drawn by randomly pivoted Cholesky, which is quick for very many support points.
    """
    (M, d), q = subspace.support.shape, subspace.n_components
    m = max(int(largest // (d + q + 1)), 2)
    if m >= M:
        return subspace, None
    m = min(m, max(LANDMARKS, 4 * q))
    big = subspace.leading(min(q, m))
    points = RPCholesky().select(big.kernel, big.support, m, fixed_rng(0))
    K = Basis(big.kernel, points, np.float64).gram()
    products = big.basis.matmat(points, np.column_stack([big.coef, big.mean]))
    # Directions that hold less than 1e-7 of the kernel would need coefficients beyond float32.
    cosines, small = project_onto(big, points, K, products, floor=1e-7)
    return small, (
        f"The model has {M:,} support points; the page keeps {len(points):,} of them as landmarks "
        f"({np.sum(cosines**2) / min(q, m):.1%} of its directions), so that it stays quick. "
        "Scores differ a little." + Remedy(" To choose them, give compress(model, n).", page="")
    )


def _scored(model: Estimator, subspace: Subspace, rows: Array, q: int) -> tuple[Array, ...]:
    """The first scores of all rows, q at most, their residuals, and how new they are."""
    shown = min(q, max(2, MOST_SCORES // len(rows)))
    parts = []  # block by block: the scores of many rows on many components are gigabytes
    for part in blocks(len(rows), BLOCK):
        Z, error = subspace.scores_and_residual(rows[part])
        novelty = model.score_.combined(Z, error) if isinstance(model, Detector) else error
        parts.append((Z[:, :shown].copy(), error, novelty))
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def novelty_facts(
    model: Estimator, subspace: Subspace, novelty: Array, *, seen: bool, complete: bool
) -> Contents:
    """The score ``Σ a_k z_k² + ρ r``, what it is of the rows (``novelty``), and p-values.

    A :class:`~mercer.KernelNovelty` brings its own score and its held-out rows. Rows that it has
    ``seen`` would get scores that are too small; if they were ``complete``, they get those that
    they had when they were held out, as far as it knows them. Of any other model the score is the
    reconstruction error, and the rows shown are the yardstick; if it has ``seen`` them, p-values
    are ranks.
    """
    rows: Array = np.arange(0)
    if detects := isinstance(model, Detector):
        inside, outside, rate = model.score_.inside, model.score_.outside, model.false_alarm_rate
        fair = model.conformal_
        if complete:
            rows = vars(model).get("calibration_rows_", rows)  # not in a model file
            ranks = np.rint(len(rows) * vars(model).get("calibration_p_values_", 0.0))
            novelty[rows] = np.sort(fair.scores)[len(rows) - np.asarray(ranks, dtype=int)]
    else:
        inside, outside, rate = np.zeros(subspace.n_components), 1.0, 0.05
        eps = float(np.finfo(subspace.coef.dtype).eps)
        fair = Conformal.of(novelty, slack=64 * eps * float(np.abs(novelty).max()))
    facts = {
        "inside": np.asarray(inside, dtype=float).tolist(),
        "outside": float(outside),
        "rate": float(rate),
        "slack": float(fair.slack),
        "heldOut": detects or not seen,
        "tooKind": detects and seen and len(rows) < len(novelty),
    }
    arrays = {"novelty": novelty, "pValues": fair.p_values(novelty)}
    return facts, {**_single(arrays), "calibration": fair.scores.astype(np.float64)}


def _stream(model: Estimator, rows: Array, seen: bool) -> Contents:
    """Rows that are new to a detector, in their order, as its monitor sees them."""
    if seen or not isinstance(model, Detector) or len(rows) > MOST_PLAYED:
        return {}, {}
    monitor = model.monitor()
    watched = monitor.update(rows)
    facts = {
        "level": monitor.level,
        "alarm": monitor.alarm_at_,
        "since": monitor.since_,
        "statistic": monitor.statistic_,
    }
    return {"stream": facts}, _single({"evidence": watched.log_martingale})


#: Most rows of a stream that is played; a monitor takes about 20 µs for each.
MOST_PLAYED = 50_000
#: Most numbers of rows on a page; of more rows it has only the scores.
MOST_ROWS = 2_000_000
#: Most scores on a page, of all rows together; at least two components of each row.
MOST_SCORES = 1_000_000
#: More distinct labels than these are a scale, or too many to tell apart by colour.
MOST_CLASSES = 30
#: Directions of linear PCA, for the comparison in the denoising panel.
LINEAR = 64
#: Draws from the density of a generative model.
DRAWN = 200
#: Rounding of a score, as a share of the largest, above which float32 is not enough.
ROUNDING = 1e-6


@dataclass(frozen=True)
class LiveModel:
    """The content of a page."""

    facts: dict[str, Any]  #: everything that is not an array; can be written as JSON
    #: float32 (float64 where that would show), or small whole numbers
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
        Numbers that the model may have before it is thinned, see :func:`~mercer.live.model.thin`.
    encoder : TableEncoder, optional
        Encoded the rows of a table, and says how they are shown; a TableModel has its own, and X is
        such a table.
    """
    original = X
    if isinstance(model, TableModel):
        if X is not None:  # an incomplete table is recognised by its values before it was filled in
            original, X = MemoryRows(model.vectors(X, missing=True)), model.vectors(X)
        model, encoder = model.model_, model.encoder_
    if encoder is not None:
        names = encoder.get_feature_names_out()
    learnt = model_to_draw(model)
    full, shares = learnt.subspace, learnt.explained_variance_ratio
    rows = rows_of(model, X)
    spec = kernel_spec(full.kernel)
    small, note = thin(full, largest)
    if note is not None:
        warn(note, MercerWarning)
    shift = np.asarray(small.basis.origin if isinstance(full.kernel, RadialKernel) else 0.0)
    shift = np.broadcast_to(shift, small.support.shape[1:]).astype(np.float64)
    # The p-values of a detector must be exact, whatever that costs.
    exact = isinstance(model, Detector) or len(rows) * full.n_support <= MOST_VALUES
    Z, error, novelty = _scored(model, full if exact else small, rows, small.n_components)
    seen, complete = (learnt.was_fitted_to(of, rows) for of in (original, X))
    judgement, judged = novelty_facts(model, full, novelty, seen=seen, complete=complete)
    stream, played = _stream(model, rows, seen)
    pictures, shape = _pictures(images, rows)
    label_facts, label_arrays = _labels(labels, len(rows))
    back = model.preimage_ if isinstance(model, Reversible) else None
    smoother = back.init(full) if isinstance(back, Smoother) else None
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
        "power": getattr(back, "power", None),  # of shrunk scores
        "smooths": None if smoother is None else {"count": smoother.count, "by": smoother.by},
        "median": _median(rows),
        "imageShape": shape,
        "limits": _limits(rows),
        "novelty": judgement,
        **stream | label_facts,
        "notes": [] if note is None else [said(note, "page")],
    }
    arrays = {
        **_model_arrays(small, shift),
        **_single({"scores": Z, "error": error}),
        **_row_arrays(rows, shift, small),
        **judged | played,
        **_linear(rows, shift),
        **_drawn(model, full),
        **pictures | label_arrays,
    }
    return LiveModel(facts, arrays)


def _single(arrays: dict[str, Array]) -> dict[str, Array]:
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _model_arrays(small: Subspace, shift: Array) -> dict[str, Array]:
    """Support, coefficients and mean; in float64 where rounding would show in the scores."""
    dtype = np.float32 if _rounding(small, shift) < ROUNDING else np.float64
    support = small.support.astype(np.float64) - shift
    arrays = {"support": support, "coef": small.coef, "mean": small.mean}
    return {name: array.astype(dtype) for name, array in arrays.items()}


def _rounding(small: Subspace, shift: Array) -> float:
    """How far float32 moves the scores, as a share of the largest one."""
    some = small.support[:: max(1, small.n_support // 64)].astype(np.float64)
    support = (small.support - shift).astype(np.float32) + shift
    narrow, wide = small.astype(np.float32), small.astype(np.float64)
    rounded = replace(narrow.astype(np.float64), support=support, offset=wide.offset)
    exact = small.scores(some.astype(small.coef.dtype))
    size = float(np.abs(exact).max(initial=0.0)) or 1.0
    return float(np.abs(rounded.scores(some) - exact).max(initial=0.0)) / size


def _row_arrays(rows: Array, shift: Array, small: Subspace) -> dict[str, Array]:
    """The rows, unless they are the support, or many, and then where the support lies."""
    if np.array_equal(rows, small.support):
        return {}
    # A pre-image from scores alone begins at the nearest of the support points.
    Z, error = small.scores_and_residual(small.support)
    arrays = {"supportScores": Z, "supportResidual": error}
    if rows.size <= MOST_ROWS:
        arrays["rows"] = rows.astype(np.float64) - shift
    return _single(arrays)


def _linear(rows: Array, shift: Array) -> dict[str, Array]:
    """Mean and principal axes of the rows themselves, from at most 5,000 of them."""
    some = rows[:: max(1, len(rows) // 5000)].astype(np.float64) - shift
    mean = some.mean(axis=0)
    axes = np.linalg.svd(some - mean, full_matrices=False)[2][:LINEAR]
    return _single({"linearMean": mean, "linearAxes": axes})


def _drawn(model: Estimator, full: Subspace) -> dict[str, Array]:
    """Scores drawn from the density of a generative model."""
    density = vars(model).get("density_")
    Z = np.empty((0, 0)) if density is None else density.sample(DRAWN, fixed_rng(0))
    return _single({"drawn": Z}) if Z.shape[1] == full.n_components else {}


def _pictures(images: Any, rows: Array) -> tuple[dict[str, Array], list[int] | None]:
    """A picture for each row, if they were given; and the shape that the rows themselves have."""
    if images is None:
        return {}, None
    if np.ndim(images) == 1:
        return {}, list(shape_of_image(rows.shape[1], images))
    pictures = np.asarray(images)
    colour = pictures.ndim == 4 and pictures.shape[3] == 3
    if len(pictures) != len(rows) or not (pictures.ndim == 3 or colour):
        wrong = f"images has shape {pictures.shape} for {len(rows)} rows"
        raise DataError(f"{wrong}; give the shape (height, width[, 3]), or one picture per row.")
    if pictures.dtype != np.uint8:
        low, high = float(pictures.min()), float(pictures.max())
        pictures = np.round(255 * (pictures - low) / ((high - low) or 1.0)).astype(np.uint8)
    return {"pictures": pictures}, None


def _labels(labels: Targets, n: int) -> Contents:
    """Classes as numbers with their names, or values on a scale."""
    y = check_labels(labels, n, "labels")
    if y is None:
        return {"classes": None}, {}
    kinds, codes = np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)
    if len(kinds) <= MOST_CLASSES:
        return {"classes": [class_name(kind) for kind in kinds]}, {"codes": codes.astype(np.uint8)}
    if y.dtype.kind not in "fiu":
        many = f"{len(kinds)} different labels"
        raise DataError(f"{many}; give at most {MOST_CLASSES} classes, or numbers.")
    return {"classes": None}, {"values": y.astype(np.float32)}


def _names(model: Estimator, names: Any, X: RowsLike, d: int) -> list[str]:
    for columns in (names, names_of(model), getattr(X, "columns", None)):
        if columns is not None and len(columns) == d:
            return [str(name) for name in columns]
    return [f"x{j}" for j in range(d)]


def _median(rows: Array) -> float | None:
    """The median distance between rows, at which a width begins."""
    with suppress(DataError, KernelError):  # one row, or all rows equal
        return median_length(rows)
    return None


def _limits(rows: Array) -> list[float]:
    """Values for paper and ink: all but the outermost thousandths."""
    some = rows[:: max(1, len(rows) // 2000)]
    low, high = (float(edge) for edge in np.quantile(some, [0.001, 0.999]))
    return [low, high if high > low else low + 1.0]
