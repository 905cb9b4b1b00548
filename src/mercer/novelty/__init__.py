"""How new is a point? Scores, thresholds that keep their promise, and which variables did it."""

from mercer._held_out import held_out_scores
from mercer.novelty.calibration import (
    Calibrated,
    Calibration,
    CrossFit,
    Split,
    as_calibration,
)
from mercer.novelty.components import ShareUpTo
from mercer.novelty.conformal import Conformal
from mercer.novelty.contributions import contributions
from mercer.novelty.folds import gram_folds, landmark_folds
from mercer.novelty.judging import judge
from mercer.novelty.score import KINDS, NoveltyScore, novelty_score
from mercer.novelty.trimming import calm_rows, outlier_threshold
from mercer.novelty.width import WidthChoice, neighbour_kernel, select_width

__all__ = [
    "KINDS",
    "Calibrated",
    "Calibration",
    "Conformal",
    "CrossFit",
    "NoveltyScore",
    "ShareUpTo",
    "Split",
    "WidthChoice",
    "as_calibration",
    "calm_rows",
    "contributions",
    "gram_folds",
    "held_out_scores",
    "judge",
    "landmark_folds",
    "neighbour_kernel",
    "novelty_score",
    "outlier_threshold",
    "select_width",
]
