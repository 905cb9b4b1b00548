"""A MapModel as its page needs it: the map, the way back, and how sure that is."""

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._base.linalg import evenly
from mercer._base.types import Estimator, RowsLike, Targets
from mercer.estimators.maps import MapModel
from mercer.live import model as whole
from mercer.live.protocol import kernel_spec
from mercer.novelty.places import EMPTY, ERRORS
from mercer.plots._base import shape_of_image
from mercer.points import as_points
from mercer.preimage.ways import Back, on_landmarks
from mercer.tables import TableEncoder, TableModel

#: Places that are drawn, and searched for the nearest.
MOST_PLACES = 20_000


def describe_map(
    model: Estimator,
    X: RowsLike = None,
    labels: Targets = None,
    images: Any = None,
    *,
    title: str | None = None,
    encoder: TableEncoder | None = None,
    names: Any = None,
) -> whole.LiveModel:
    """The facts and arrays of the page of a map; see :func:`mercer.live.describe`."""
    if isinstance(model, TableModel):
        X, encoder, model = None if X is None else model.vectors(X), model.encoder_, model.model_
    back, sure = _thinned(model), model.certainty_
    Z = model.embedding_ if X is None else np.asarray(model.transform(X))
    names = encoder.get_feature_names_out() if encoder is not None else names
    label_facts, label_arrays = whole._labels(labels, len(Z))
    shown = evenly(np.arange(len(Z)), MOST_PLACES)
    known = as_points(model.forth_.known.rows)
    rows = known.take(evenly(np.arange(len(model.embedding_)), 2000)).to_dense()
    spread, radius = rows.std(axis=0), sure.back.threshold(0.1)
    d = model.n_features_in_
    facts = {
        "entry": "map_page",
        "title": title or f"A map of {len(Z):,} rows",
        "n": len(Z),
        "kernel": kernel_spec(back.kernel),
        "origin": back.mean.tolist(),
        "deviations": np.where(spread > 0, spread, 1.0).tolist(),
        "names": whole._names(model, names, X, d),
        "columns": None if encoder is None else whole.column_facts(encoder),
        "imageShape": None if images is None else list(shape_of_image(d, images)),
        "limits": whole._limits(rows),
        "usual": float(sure.missed.mean()),
        "radius": radius if np.isfinite(radius) else None,
        "errors": ERRORS,
        "empty": EMPTY,
        **label_facts,
    }
    arrays = {
        "places": Z[shown],
        "known": evenly(model.embedding_, MOST_PLACES),
        "centres": back.centres,
        "calibrated": sure.calibrated,
        "missed": sure.missed,
        "apart": sure.empty.scores,
    }
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}
    arrays["weights"] = back.weights.astype(np.float32)
    arrays |= {name: array[shown] for name, array in label_arrays.items()}
    return whole.LiveModel(facts, arrays)


def _thinned(model: MapModel) -> Back:
    """The way back on fewer landmarks where it has more numbers than a page can hold."""
    back = model.back_
    m = max(50, whole.LARGEST // model.n_features_in_)
    if len(back.centres) <= m:
        return back
    rows = as_points(model.forth_.known.rows)
    centres, weights, _ = on_landmarks(
        model.embedding_, rows, back.mean, back.kernel, back.alpha, m, np.arange(1)
    )
    return replace(back, centres=centres, weights=weights)
