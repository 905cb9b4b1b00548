"""Both ways of a map as ONNX graphs: rows to places, and places to rows."""

from typing import Any

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.types import Estimator, Names
from mercer.exceptions import DataError, ModelFileError
from mercer.io.model_file.onnx_kernels import (
    SAMPLE,
    Graph,
    Traced,
    check_outputs,
    node,
    warn_of_rounding,
    without_form,
)
from mercer.kernels.base import has_formula
from mercer.model.model import OnTables, of_vectors
from mercer.points import as_points
from mercer.preimage.near import LARGEST
from mercer.preimage.ways import NEAR, STEPS, Back, Forth

#: What a graph may give: the last from places Z, the others from rows X.
WAYS = ("transform", "denoise", "inverse_transform")


def is_map(model: Estimator) -> bool:
    """Whether it is a fitted model of a map, on tables or not."""
    return isinstance(getattr(of_vectors(model), "__dict__", {}).get("forth_"), Forth)


def map_graph(model: Estimator, outputs: Names | None, dtype: str) -> Any:
    """The graph of one or the other way."""
    inner, on_tables = of_vectors(model), isinstance(model, OnTables)
    ways = WAYS[:1] if outputs is None else tuple(outputs)
    _check(inner.forth_, ways, WAYS[:1] if on_tables else WAYS)
    if dtype == "float32" and ways != WAYS[:1]:
        warn_of_rounding(_rounding(inner.back_), "or a rougher kernel, such as Matern(nu=0.5)")
    texts = {"class": type(model).__name__, "kernel": repr(inner.back_.kernel)}
    d, q = inner.n_features_in_, inner.embedding_.shape[1]
    if ways == WAYS[2:]:
        g = Graph(dtype, "Z")
        g.output(ways[0], _rows(g, inner.back_, g.X), [d])
        return g.model(q, texts)
    g = Graph(dtype)
    if on_tables:
        g.X, texts["columns"] = model.encoder_.traced(g.X, g.xp)
        d = len({*model.encoder_.groups_})
    placed = _places(g, inner.forth_, g.X)
    if "transform" in ways:
        g.output("transform", placed, [q])
    if "denoise" in ways:
        g.output("denoise", _rows(g, inner.back_, placed), [d])
    return g.model(d, texts)


def _check(forth: Forth, ways: Names, known: Names) -> None:
    check_outputs(ways, known)
    if WAYS[2] not in ways:
        if as_points(forth.known.rows).is_sparse:
            raise ModelFileError("ONNX has no sparse rows as input; fit to X.toarray().")
        if forth.known.centres is not None:
            cells = f"of over {LARGEST:,} rows the way forth looks into cells, which ONNX has not"
            raise ModelFileError(f"{cells}; fit to fewer, or export outputs=['{WAYS[2]}'].")
    elif len(ways) > 1:
        raise DataError(f"outputs={list(ways)!r}: {WAYS[2]!r} has its own input; write two graphs.")


def _rounding(back: Back) -> float:
    """Relative error of rows where the sum over the places is computed in float32.

    The weights of a smooth and wide kernel are large, and cancel.
    """
    Z = back.centres[:: -(-len(back.centres) // SAMPLE)]
    rows, K = back.rows(Z), back.basis.at(Z).astype(np.float32)
    narrow = K @ back.weights.astype(np.float32) + back.mean.astype(np.float32)
    return float(np.abs(narrow - rows).max() / max(np.abs(rows).max(), np.finfo(float).tiny))


def _rows(g: Graph, back: Back, Z: Traced) -> Traced:
    """The way back, :class:`mercer.preimage.ways.Back`."""
    kernel: Any = back.kernel
    if not has_formula(kernel):
        raise without_form(kernel)
    # Difference by difference: kernels with a kink need small distances as they are.
    length = np.full((1, len(back.centres)), kernel.length)
    parts = [(g.column(Z, k) - at[None]) / length for k, at in enumerate(back.centres.T)]
    t = -sum((part * part for part in parts[1:]), start=parts[0] * parts[0])
    if (floor := kernel.floor(g.dtype)) != -np.inf:
        t = g.xp.maximum(t, floor)
    rows: Traced = kernel.formula(t, g.xp)[0] @ back.weights + back.mean[None]
    return rows


def _places(g: Graph, forth: Forth, X: Traced) -> Traced:
    """The way forth, :class:`mercer.preimage.ways.Forth`, in units in which all is about one."""
    rows = np.asarray(forth.known.rows, dtype=np.float64)
    origin, unit = rows.mean(axis=0)[None], np.full((1, rows.shape[1]), rows.std() or 1.0)
    # The same arithmetic for both: a row of the fit is at a distance of nothing from itself.
    A, S = (X - origin) / unit, (Traced(g, g.number(rows)) - origin) / unit
    half = square_sums((rows - origin) / unit)[None] / 2
    near = g.largest(A @ node(g, "Transpose", S) - half, min(forth.count, len(rows)))
    apart = g.with_axis("Unsqueeze", A, 1) - g.xp.take(S, near)
    apart = g.xp.sqrt(g.with_axis("ReduceSumSquare", apart, 2, keepdims=0))
    w = g.with_axis("Unsqueeze", _weights(g, apart, forth.sharpness), 2)
    middle, size = forth.places.mean(axis=0), forth.places.std()
    points = g.xp.take(np.asarray((forth.places - middle) / size), near)  # (n, k, q)
    z = g.sum(w * points) / g.sum(w)
    for _ in range(STEPS):
        away = points - z
        away = g.xp.sqrt(g.with_axis("ReduceSumSquare", away, 2, keepdims=1))
        least = g.sum(away, "ReduceMax") * NEAR
        nearer = w / g.xp.maximum(away, g.xp.where(least > 0.0, least, 1.0))
        z = g.sum(nearer * points) / g.sum(nearer)
    places: Traced = g.with_axis("Squeeze", z, 1) * np.full((1, len(middle)), size) + middle[None]
    return places


def _weights(g: Graph, apart: Traced, sharpness: float) -> Traced:
    """Those of :meth:`Forth.weights`, but for their sum."""
    nearest, reach = g.sum(apart, "ReduceMin"), g.sum(apart, "ReduceMax") * sharpness
    reach = g.xp.where(reach > 0.0, reach, 1.0)
    a, least = apart / reach, nearest / reach
    own = g.xp.where(g.xp.equal(apart, 0.0), 1.0, 0.0)
    return g.xp.where(nearest > 0.0, g.xp.exp(least * least - a * a), own)
