"""How new is a point? Scores, thresholds that keep their promise, and which variables did it."""

from mercer._held_out import held_out_scores
from mercer._registry import ours
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
from mercer.novelty.score import KINDS, NoveltyScore, novelty_score
from mercer.novelty.width import WidthChoice, select_width

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
    "contributions",
    "held_out_scores",
    "novelty_score",
    "select_width",
]

ours("novelty", Conformal, CrossFit, NoveltyScore, ShareUpTo, Split)
