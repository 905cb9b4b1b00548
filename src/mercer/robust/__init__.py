"""Outliers and missing values: bounded losses, reweighting, and imputation by projection."""

from mercer._base.linalg import one_hot_groups
from mercer.robust.filling import Filling, choose_filling, fill_missing, mixed_masks
from mercer.robust.impute import GaussianRows, Imputer, fit_gaussian, impute, shrinkage
from mercer.robust.reweight import Hampel, Loss, Reweighting, Tukey, as_loss, reweight

__all__ = ["Filling", "GaussianRows", "Hampel", "Imputer", "Loss", "Reweighting", "Tukey"]
__all__ += ["as_loss", "choose_filling", "fill_missing", "fit_gaussian"]
__all__ += ["impute", "mixed_masks", "one_hot_groups", "reweight", "shrinkage"]
