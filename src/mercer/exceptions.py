"""Errors and warnings: each message says what happened, with numbers, and ends in a remedy.

Errors subclass ``ValueError`` so that code written for scikit-learn catches them unchanged.
"""

import warnings

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning
from sklearn.exceptions import NotFittedError

__all__ = [
    "ConvergenceError",
    "ConvergenceWarning",
    "DataError",
    "DegenerateKernelWarning",
    "IndefiniteKernelWarning",
    "KernelError",
    "MercerError",
    "MercerWarning",
    "ModelFileError",
    "NotFittedError",
    "OutputError",
    "RankWarning",
    "warn",
]


class MercerError(ValueError):
    """Base of every error that mercer raises on purpose."""


class DataError(MercerError):
    """The rows cannot be used: too few, not finite, or without any variance."""


class KernelError(MercerError):
    """The kernel is wrong for these rows: bad parameter, overflow, or not positive definite."""


class ModelFileError(MercerError):
    """A model file is damaged, foreign, or of a version that this library does not read."""


class OutputError(MercerError):
    """A table cannot be written there, or not in that form."""


class ConvergenceError(MercerError):
    """An iteration ended without a usable result."""


class MercerWarning(UserWarning):
    """Base of every warning that mercer gives."""


class DegenerateKernelWarning(MercerWarning):
    """The kernel matrix is close to the identity or to a constant: the width does not fit."""


class RankWarning(MercerWarning):
    """Fewer components exist than were asked for."""


class IndefiniteKernelWarning(MercerWarning):
    """Negative eigenvalues slightly beyond rounding were dropped."""


class ConvergenceWarning(MercerWarning, _SklearnConvergenceWarning):  # type: ignore[misc]
    """A solver stopped before it reached its tolerance; the result carries its residuals."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the caller of the library, however deep the cause lies."""
    warnings.warn(message, category, stacklevel=3)
