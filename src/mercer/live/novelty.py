"""How new each row is, and what a p-value in the page can promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._types import Estimator
from mercer.novelty import Conformal
from mercer.subspace import Subspace


def novelty_facts(
    model: Estimator, subspace: Subspace, Z: Array, error: Array, *, seen: bool
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The score ``Σ a_k z_k² + ρ r``, and calibration scores in order.

    Parameters
    ----------
    model : estimator
        A :class:`~mercer.KernelNovelty` brings its own score and its held-out rows. Of any other
        model the score is the reconstruction error, and the rows shown are the yardstick.
    subspace : Subspace
    Z, error : (n, q) scores and (n,) residuals of the rows shown
    seen : bool
        Whether the rows shown are those that the model was fitted to: then p-values are ranks, and
        too kind to them.

    Returns
    -------
    facts and arrays of the page
    """
    if hasattr(model, "conformal_"):
        score, fair, held_out = model.score_, model.conformal_, True
        inside, outside = score.inside, score.outside
        novelty = Z**2 @ inside + outside * error
        rate = float(model.false_alarm_rate)
    else:
        inside, outside, rate = np.zeros(subspace.n_components), 1.0, 0.05
        novelty, held_out = error, not seen
        eps = float(np.finfo(subspace.coef.dtype).eps)
        fair = Conformal.of(error, slack=64 * eps * float(np.abs(error).max()))
    facts = {
        "inside": [float(a) for a in inside],
        "outside": float(outside),
        "rate": rate,
        "slack": float(fair.slack),
        "heldOut": held_out,
    }
    arrays = {
        "novelty": np.asarray(novelty, dtype=np.float32),
        "pValues": fair.p_values(novelty).astype(np.float32),
        "calibration": fair.scores.astype(np.float64),
    }
    return facts, arrays
