"""Outliers and missing values: bounded losses, reweighting, and imputation by projection."""

from mercer.robust.impute import Imputer, fill_missing, impute
from mercer.robust.loss import Hampel, Loss, Tukey, as_loss
from mercer.robust.reweight import Reweighting, reweight

__all__ = [
    "Hampel",
    "Imputer",
    "Loss",
    "Reweighting",
    "Tukey",
    "as_loss",
    "fill_missing",
    "impute",
    "reweight",
]
