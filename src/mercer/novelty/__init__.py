"""How new is a point? Scores, thresholds with a guaranteed false-alarm rate, and contributions."""

from mercer._base.held_out import held_out_scores
from mercer.model.rank import ShareUpTo
from mercer.novelty.calibration import (
    Calibrated,
    Calibration,
    Conformal,
    CrossFit,
    Split,
    as_calibration,
    calm_rows,
    honest_calibration,
    outlier_threshold,
)
from mercer.novelty.folds import gram_folds, landmark_folds
from mercer.novelty.score import (
    KINDS,
    NoveltyScore,
    contributions,
    judge,
    neighbour_kernel,
    novelty_score,
)

__all__ = [
    "KINDS",
    "Calibrated",
    "Calibration",
    "Conformal",
    "CrossFit",
    "NoveltyScore",
    "ShareUpTo",
    "Split",
    "as_calibration",
    "calm_rows",
    "contributions",
    "gram_folds",
    "held_out_scores",
    "honest_calibration",
    "judge",
    "landmark_folds",
    "neighbour_kernel",
    "novelty_score",
    "outlier_threshold",
]
