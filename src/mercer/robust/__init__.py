"""Outliers and missing values: bounded losses, reweighting, and imputation by projection."""

from mercer.robust.fill_missing import fill_missing
from mercer.robust.filling import Filling, choose_filling, mixed_masks
from mercer.robust.gaussian import GaussianRows, fit_gaussian
from mercer.robust.impute import Imputer, impute, shrinkage
from mercer.robust.loss import Hampel, Loss, Tukey, as_loss
from mercer.robust.one_hot import one_hot_groups
from mercer.robust.reweight import Reweighting, reweight

__all__ = [
    "Filling",
    "GaussianRows",
    "Hampel",
    "Imputer",
    "Loss",
    "Reweighting",
    "Tukey",
    "as_loss",
    "choose_filling",
    "fill_missing",
    "fit_gaussian",
    "impute",
    "mixed_masks",
    "one_hot_groups",
    "reweight",
    "shrinkage",
]
